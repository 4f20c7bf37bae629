"""What Spark computes is what the digests' definitions say, and merges as they say."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_digest.keys.frames import record_rows
from kafka_digest.keys.key_tasks import PARTIAL, SUMS, roll_up
from kafka_digest.position.position_digest import block_rows
from tests.spark import definition
from tests.spark.conftest import FramesMaker, KafkaRecord, Place

# pyspark leaves its sockets to the garbage collector
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::ResourceWarning")]

PartitionLogs = dict[Place, list[KafkaRecord]]
PARTITIONS = range(12)
BLOCK_RECORDS = 8


def random_bytes(rng: random.Random) -> bytes | None:
    return rng.choice([None, b"", rng.randbytes(rng.randrange(1, 100)), rng.randbytes(rng.randrange(1, 5))])


def random_record(rng: random.Random) -> KafkaRecord:
    """Return a record of any shape, before or after 2026."""
    names = ["", "a", "trace", "größe", "鍵"]
    headers = [(rng.choice(names), random_bytes(rng)) for _ in range(rng.randrange(4))]
    key = rng.choice([random_bytes(rng), None, b"one", b"two"])
    return KafkaRecord(key, random_bytes(rng), headers, rng.randrange(-(10**12), 10**12))


@pytest.fixture(scope="module")
def logs() -> PartitionLogs:
    """Partitions of random records; the first is empty."""
    rng = random.Random(1)
    return {("orders", number): [random_record(rng) for _ in range(5 * number)] for number in PARTITIONS}


def test_the_hash_is_the_published_one() -> None:
    """XXH64 as written down anew gives the values that its author published."""
    assert 0xEF46DB3751D8E999 == definition.xxh64(b"", 0)
    assert 0xD24EC4F1A98C6E5B == definition.xxh64(b"a", 0)


def test_blocks_are_what_the_definition_says(kafka_frames: FramesMaker, logs: PartitionLogs) -> None:
    """By position: count and both sums of every block, on records of every shape and length."""
    found: dict[int, dict[int, definition.Block]] = {number: {} for number in PARTITIONS}
    for row in block_rows(kafka_frames(logs), "source", BLOCK_RECORDS, tasks=1).collect():
        found[row["partition"]][row["block"]] = row["records"], row["low_sum"], row["high_sum"]

    assert {place[1]: definition.blocks(log, BLOCK_RECORDS) for place, log in logs.items()} == found


def test_buckets_are_what_the_definition_says(kafka_frames: FramesMaker, logs: PartitionLogs) -> None:
    """By key: count and digest of every bucket, over all partitions of a topic."""
    units = {f"{topic}/{number}": 0 for topic, number in logs}
    rows = record_rows(kafka_frames(logs), null_keys_have_order=False).coalesce(1)
    sums = rows.mapInArrow(partial(roll_up, units=units, max_keys=1_000), PARTIAL).where(f"kind = {SUMS}").collect()

    assert definition.buckets({number: log for (_, number), log in logs.items()}) == {
        row["bucket"]: (row["records"], row["digest"] % (1 << 64)) for row in sums
    }


RECORDS = st.lists(st.randoms(use_true_random=False).map(random_record), max_size=30)


def added(*parts: dict[int, definition.Block]) -> dict[int, definition.Block]:
    """Return the blocks of parts put together."""
    found: dict[int, definition.Block] = {}
    for number in sorted({number for part in parts for number in part}):
        records, low_sums, high_sums = zip(*(part[number] for part in parts if number in part), strict=True)
        found[number] = sum(records), sum(low_sums), sum(high_sums)
    return found


@given(records=RECORDS, cut=st.integers(0, 30))
def test_parts_of_a_block_add_up(records: Sequence[KafkaRecord], cut: int) -> None:
    """Merge law by position: with the rank at which each begins, the sums of two parts add up to those of the whole."""
    whole, parts = definition.blocks(records, 4), (records[:cut], records[cut:])

    assert whole == added(definition.blocks(parts[0], 4), definition.blocks(parts[1], 4, len(parts[0])))


def test_small_blocks_add_up_to_large_ones(kafka_frames: FramesMaker, logs: PartitionLogs) -> None:
    """Merge law by position, in Spark: two blocks of a partition beside each other are one of twice as many records."""
    frame = kafka_frames(logs)
    large, small = (
        {
            (row["partition"], row["block"]): (row["records"], row["low_sum"], row["high_sum"])
            for row in block_rows(frame, "source", size, tasks=1).collect()
        }
        for size in (10, 5)
    )

    for number in PARTITIONS:
        halves = [{b // 2: content} for (partition, b), content in small.items() if partition == number]
        assert added(*halves) == {b: content for (partition, b), content in large.items() if partition == number}
