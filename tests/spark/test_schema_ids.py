"""The job collects the schema ids of the target's records while it compares them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_digest.reading.read_windows import LogBounds, SideRange, plan_window
from kafka_digest.reading.record_schema_ids import LARGE, MAX_IDS, SchemaIds
from kafka_digest.runtime.job_errors import JobError
from kafka_migration.core.findings.verdict import Verdict
from tests.compaction.cleaner import Log, Record
from tests.compaction.histories import History, Side
from tests.spark.conftest import FrameMaker, KafkaRecord, Row
from tests.spark.memory import compared
from tests.spark.test_one_reading import LEVELS, Counting, jobs_of

# pyspark leaves its sockets to the garbage collector
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::ResourceWarning")]

BOTH = ("key", "value")


def framed(schema_id: int, data: bytes = b"data") -> bytes:
    """Return data as a serializer of a schema registry writes it."""
    return b"\0" + schema_id.to_bytes(4, "big") + data


def found_in(
    frame_of: FrameMaker, values: Sequence[bytes | None], parts: Collection[str] = BOTH
) -> list[dict[str, Any]]:
    """Return what is found in records with these values and the key of schema 9."""
    ids = SchemaIds({"orders": parts})
    frame = ids.watched("target", frame_of([KafkaRecord(framed(9), value) for value in values])).select("offset")
    frame.collect()
    ids.note(frame, [SideRange("orders", 0, 0, len(values))])
    return ids.documents(())


def of(part: str, ids: Sequence[int], topic: str = "orders", **flags: bool) -> dict[str, Any]:
    """Return an entry of the result."""
    usual = {"large": False, "too_many": False, "complete": True}
    return {"topic": topic, "part": part, "ids": list(ids), **usual, **flags}


def test_ids_are_the_four_bytes_after_a_zero_byte(kafka_frame: FrameMaker) -> None:
    """Each different id is found once, up to 2^20 - 1."""
    values = [framed(7), framed(7), framed(0), framed(100_001), framed(LARGE - 1)]

    assert [of("key", [9]), of("value", [0, 7, 100_001, LARGE - 1])] == found_in(kafka_frame, values)


@pytest.mark.parametrize("value", [None, b"", b"\0", b"\0\0\0\0", b"\1\0\0\0\7data", b"{}", b"data"])
def test_other_values_have_no_id(kafka_frame: FrameMaker, value: bytes | None) -> None:
    """A tombstone, a short value and a value that does not begin with a zero byte have no id."""
    assert of("value", []) == found_in(kafka_frame, [value])[1]


def test_value_of_only_an_id_has_it(kafka_frame: FrameMaker) -> None:
    """Five bytes are enough: a schema without fields has no data."""
    assert of("value", [7]) == found_in(kafka_frame, [framed(7, b"")])[1]


def test_large_number_is_no_id(kafka_frame: FrameMaker) -> None:
    """A number of 2^20 or more is only noted."""
    assert of("value", [7], large=True) == found_in(kafka_frame, [framed(7), framed(LARGE), framed(0xFFFFFFFF)])[1]
    assert of("value", [7]) == found_in(kafka_frame, [framed(7)])[1]


def test_too_many_numbers_are_no_ids(kafka_frame: FrameMaker) -> None:
    """Of more than the largest number of ids none are given."""
    values = [framed(number) for number in range(MAX_IDS + 1)]

    assert of("value", range(MAX_IDS)) == found_in(kafka_frame, values[:-1])[1]
    assert of("value", [], too_many=True) == found_in(kafka_frame, values)[1]


def test_only_wanted_parts_are_looked_at(kafka_frame: FrameMaker) -> None:
    """A part or topic that was not asked for has no entry, whatever it holds."""
    assert [of("value", [7])] == found_in(kafka_frame, [framed(7)], parts=("value",))
    assert [] == found_in(kafka_frame, [framed(7)], parts=())


@dataclass
class Framed(Counting):
    """Clusters whose keys begin with the schema id 50, and whose values begin with ids that their length decides."""

    def _rows(self, side: str, piece: SideRange) -> list[Row]:
        base = 10 if piece.topic == "orders" else 20
        rows = super()._rows(side, piece)
        return [(*row[:4], framed(50, row[4] or b""), _framed_value(base, row[5]), row[6]) for row in rows]


def _framed_value(base: int, value: bytes | None) -> bytes | None:
    return None if value is None else framed(base + len(value), value)


def history(by_key: bool, source: Sequence[Record], target: Sequence[Record]) -> History:
    """Return a copy of one partition."""

    def side(records: Sequence[Record]) -> Side:
        log = Log(delete_retention=0, compacts=False)
        for record in records:
            log.append(record)
        return Side([log], [(0, log.end)])

    return History(by_key, side(source), side(target))


RECORDS = [Record(number % 3, number, number) for number in range(30)]


@LEVELS
def test_ids_are_collected_in_the_one_job_of_a_clean_comparison(
    spark: SparkSession, tmp_path: Path, by_key: bool
) -> None:
    """Collecting ids starts no further job and reads no record twice."""
    copies = {topic: history(by_key, RECORDS, RECORDS) for topic in ("orders", "audit")}
    memory = Framed(spark, copies, schema_ids=SchemaIds({"orders": BOTH, "audit": ("value",)}))

    assert (1, {Verdict.PASS}) == jobs_of(memory, tmp_path)
    assert set(memory.counted.values()) == {30}
    assert memory.schema_ids.documents(memory.plans()) == [
        of("value", [21, 22], topic="audit"),
        of("key", [50]),
        of("value", [11, 12]),
    ]


@LEVELS
def test_ids_of_the_target_count(spark: SparkSession, tmp_path: Path, by_key: bool) -> None:
    """The ids are those of the target's records, also if the copy differs and is read again."""
    memory = Framed(spark, {"orders": history(by_key, RECORDS, RECORDS[:10])}, schema_ids=SchemaIds({"orders": BOTH}))

    assert Verdict.FAIL is compared(memory, tmp_path).verdicts["orders"].verdict
    assert [of("key", [50]), of("value", [11])] == memory.schema_ids.documents(memory.plans())


def test_frame_that_was_not_watched_is_an_error(kafka_frame: FrameMaker) -> None:
    """Records whose ids are unknown are not taken for records without ids."""
    frame = kafka_frame([KafkaRecord(b"k", framed(7))])
    frame.collect()

    with pytest.raises(JobError, match="did not keep the schema ids"):
        SchemaIds({"orders": BOTH}).note(frame, [SideRange("orders", 0, 0, 1)])


ENDS = pytest.mark.parametrize(
    ("asked", "bounds", "reads", "complete"),
    [
        ((0, 0), LogBounds(0, 9, 9), [], True),
        ((0, 9), LogBounds(0, 9, 9), [(0, 9)], True),
        ((0, 9), LogBounds(0, 9, 9), [], False),
        ((0, 9), LogBounds(4, 9, 9), [(4, 9)], True),
        ((0, 9), LogBounds(9, 9, 9), [], True),
        ((0, 9), LogBounds(0, 9, 5), [(0, 5)], False),
        ((0, 9), None, [], False),
    ],
    ids=["empty", "read", "not read", "beginning deleted", "all deleted", "open transaction", "topic gone"],
)


@ENDS
def test_topic_is_complete_if_all_that_is_left_was_read(
    kafka_frame: FrameMaker,
    asked: tuple[int, int],
    bounds: LogBounds | None,
    reads: Sequence[tuple[int, int]],
    complete: bool,
) -> None:
    """Records that the target deleted have no reader; all others of the windows must have been read."""
    window = {"topic": "orders", "target_topic": "orders", "partition": 0, "source_start": 0, "source_end": 0}
    window |= {"target_start": asked[0], "target_end": asked[1]}
    plan = plan_window(window, {}, {} if bounds is None else {("orders", 0): bounds})
    ids = SchemaIds({"orders": ("value",)})
    for start, end in reads:
        frame = ids.watched("target", kafka_frame([KafkaRecord(b"k", framed(7))])).select("offset")
        frame.collect()
        ids.note(frame, [SideRange("orders", 0, start, end, plan.target.unreadable, plan.target.is_expired)])

    (found,) = ids.documents([plan])
    assert complete is found["complete"]
