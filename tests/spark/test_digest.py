"""Rules of the block digest, one per trap of hashing in Spark SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_digest.position.blocks import Block, compare_blocks, window_digest
from kafka_digest.position.position_digest import block_rows
from kafka_digest.reading.hashing import RECORD, hash_of
from kafka_digest.reading.kafka_clusters import without_timestamps
from tests.spark.conftest import FrameMaker, FramesMaker, KafkaRecord

Blocks = Callable[..., list[Block]]
Differ = Callable[[Sequence[KafkaRecord], Sequence[KafkaRecord]], bool]
# pyspark leaves its sockets to the garbage collector
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::ResourceWarning")]

PLAIN = [KafkaRecord(key=b"%d" % n, value=b"v%d" % n, timestamp_ms=n) for n in range(7)]


@pytest.fixture
def blocks(kafka_frame: FrameMaker) -> Blocks:
    """Return the blocks of records, three to a block."""

    def digest(records: Sequence[KafkaRecord], block_records: int = 3, **kwargs: Any) -> list[Block]:
        rows = block_rows(kafka_frame(records, **kwargs), "source", block_records, tasks=1).collect()
        return sorted((Block(*row[3:]) for row in rows), key=lambda block: block.number)

    return digest


@pytest.fixture
def differ(blocks: Blocks) -> Differ:
    """Tell whether two partitions digest differently."""

    def compare(one: Sequence[KafkaRecord], other: Sequence[KafkaRecord]) -> bool:
        return compare_blocks(blocks(one), blocks(other)).differing_blocks > 0

    return compare


def test_blocks_count_ranks_not_offsets(blocks: Blocks) -> None:
    """Equal records are equal whatever their offsets and the holes between them."""
    ours, theirs = blocks(PLAIN), blocks(PLAIN, offsets=[100, 102, 107, 108, 120, 121, 150])

    assert [b.content for b in ours] == [b.content for b in theirs]
    assert [b.records for b in ours] == [3, 3, 1]
    assert [(b.first_offset, b.last_offset) for b in theirs] == [(100, 107), (108, 121), (150, 150)]


def test_digest_of_a_window_depends_on_its_records_and_their_order_alone(blocks: Blocks) -> None:
    """Neither the length of the blocks nor the offsets make a difference; two records exchanged do."""
    swapped = [PLAIN[1], PLAIN[0], *PLAIN[2:]]
    digest = window_digest(blocks(PLAIN))

    assert {digest} == {window_digest(blocks(PLAIN, length)) for length in (1, 2, 100)}
    assert digest == window_digest(blocks(PLAIN, offsets=[100, 102, 107, 108, 120, 121, 150]))
    assert digest != window_digest(blocks(swapped))


def test_blocks_count_the_bytes_of_keys_and_values(blocks: Blocks) -> None:
    """Bytes are those of key and value; a null has none."""
    counted = blocks([KafkaRecord(b"four", b"sixsix"), KafkaRecord(None, b"ab"), KafkaRecord(b"abc", None)])

    assert [block.key_value_bytes for block in counted] == [15]


ALIKE = [
    pytest.param(KafkaRecord(key=None), KafkaRecord(key=b""), id="null key, empty key"),
    pytest.param(KafkaRecord(value=None), KafkaRecord(value=b""), id="null value, empty value"),
    pytest.param(KafkaRecord(None, b"x"), KafkaRecord(b"x", None), id="key as value"),
    pytest.param(KafkaRecord(b"ab", b"c"), KafkaRecord(b"a", b"bc"), id="byte moved from key to value"),
    pytest.param(
        KafkaRecord(headers=[("a", None), ("b", b"c")]),
        KafkaRecord(headers=[("a", b"b"), ("c", None)]),
        id="header null folds to the next header's key",
    ),
    pytest.param(KafkaRecord(headers=[("a", None)]), KafkaRecord(headers=[("a", b"")]), id="header null, header empty"),
    pytest.param(
        KafkaRecord(headers=[("a", b"bc")]), KafkaRecord(headers=[("ab", b"c")]), id="byte moved inside a header"
    ),
    pytest.param(
        KafkaRecord(headers=[("a", b"1"), ("b", b"2")]),
        KafkaRecord(headers=[("b", b"2"), ("a", b"1")]),
        id="headers in another order",
    ),
    pytest.param(
        KafkaRecord(headers=[("a", b"1")]), KafkaRecord(headers=[("a", b"1"), ("a", b"1")]), id="header twice"
    ),
    pytest.param(KafkaRecord(headers=None), KafkaRecord(headers=[("", None)]), id="no header, empty header"),
    pytest.param(KafkaRecord(timestamp_ms=1), KafkaRecord(timestamp_ms=2), id="timestamp"),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_records_that_look_alike_differ(differ: Differ, one: KafkaRecord, other: KafkaRecord) -> None:
    """Trap: records that a naive hash folds together, by their nulls or headers, have different digests."""
    assert differ([one], [other])


def test_no_headers_is_one_thing(differ: Differ) -> None:
    """Trap: Spark gives a record without headers as null or as an empty array; both mean the same."""
    assert not differ([KafkaRecord(headers=None)], [KafkaRecord(headers=[])])


def test_two_identical_extra_records_do_not_cancel(differ: Differ) -> None:
    """Trap: two copies of one record more are seen, also in place of two of another (an exclusive or loses them)."""
    assert differ(PLAIN[:1], [PLAIN[0], PLAIN[1], PLAIN[1]])
    assert differ([PLAIN[0], PLAIN[2], PLAIN[2]], [PLAIN[0], PLAIN[1], PLAIN[1]])


def test_ranks_are_those_of_the_partition_however_many_a_task_reads(
    kafka_frames: FramesMaker,
) -> None:
    """Trap: counted after partitions were put into one task, ranks would go on from one partition to the next."""
    both = kafka_frames({("orders", 0): PLAIN, ("orders", 1): PLAIN})

    found = sorted((r["partition"], r["block"], r["low_sum"]) for r in block_rows(both, "source", 3, 1).collect())

    assert [(1, *block[1:]) for block in found[:3]] == found[3:]
    assert [0, 1, 2] == [block for _, block, _ in found[:3]]


def test_timestamps_of_named_topics_are_left_out(kafka_frame: FrameMaker) -> None:
    """A topic whose target makes timestamps of its own compares without them; other topics keep theirs."""

    def content(topic: str, timestamp_ms: int) -> set[int]:
        frame = without_timestamps(kafka_frame([KafkaRecord(timestamp_ms=timestamp_ms)], topic=topic), ["orders"])
        return {row["low_sum"] for row in block_rows(frame, "source", 3, 1).collect()}

    assert content("orders", 1) == content("orders", 2)
    assert content("audit", 1) != content("audit", 2)


def test_swapped_records_differ(differ: Differ) -> None:
    """The same records in another order are not the same partition, also inside one block."""
    assert differ(PLAIN[:3], [PLAIN[1], PLAIN[0], PLAIN[2]])


def test_sums_do_not_overflow(spark: SparkSession) -> None:
    """Trap: a sum of 64-bit hashes overflows with an error on Spark 4 (ANSI); halves of them never do."""
    assert spark.conf.get("spark.sql.ansi.enabled") == "true"
    rows = spark.range(100_000).selectExpr(
        "'t' as topic",
        "0 as partition",
        "id as offset",
        "timestamp_millis(id) as timestamp",
        "cast(string(id) as binary) as key",
        "cast(null as binary) as value",
        "cast(null as array<struct<key: string, value: binary>>) as headers",
    )

    (block,) = block_rows(rows.coalesce(1), "source", 1 << 24, tasks=1).collect()

    assert block["records"] == 100_000
    assert block["low_sum"] > 1 << 40
    assert block["high_sum"] > 1 << 40


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_records_that_look_alike_have_other_hashes(
    kafka_frame: FrameMaker, one: KafkaRecord, other: KafkaRecord
) -> None:
    """Records that a naive hash folds together have different hashes."""
    rows = kafka_frame([one, other]).selectExpr(f"{hash_of(*RECORD)} as hash").collect()

    assert len({row["hash"] for row in rows}) == 2


def test_the_definition_is_pinned(spark: SparkSession, kafka_frame: FrameMaker) -> None:
    """A change of the record hash is a new version of the digest: its value for one record is fixed."""
    frame = kafka_frame([KafkaRecord(b"key", b"value", [("h", b"x"), ("n", None)], 5)])

    (row,) = frame.selectExpr(f"{hash_of(*RECORD, rank='0L')} as x").collect()

    assert row["x"] == -3394473560215116607
