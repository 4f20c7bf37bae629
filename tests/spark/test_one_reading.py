"""A clean comparison is one Spark job, which reads each range once per side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark import Accumulator, SparkContext
from pyspark.sql import DataFrame, SparkSession

from kafka_digest.reading.read_windows import SideRange
from kafka_migration.core.findings.verdict import Verdict
from tests.compaction.cleaner import Log, Record
from tests.compaction.histories import History, Side
from tests.spark.memory import Memory, compared

# pyspark leaves its sockets to the garbage collector
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::ResourceWarning")]

LEVELS = pytest.mark.parametrize("by_key", [False, True], ids=["by position", "by key"])
RECORDS = [Record(number % 3, number, number) for number in range(30)]
Read = tuple[str, str, int]  # side, topic, partition


@dataclass
class Counting(Memory):
    """Clusters that count the records that Spark's tasks get from each range, each time it is read."""

    read_records: dict[Read, Accumulator[int]] = field(default_factory=dict)

    def read(self, side: str, ranges: Sequence[SideRange]) -> DataFrame | None:
        """Return the frame of these ranges, whose records are counted as they pass."""
        frame = super().read(side, ranges)
        context = self.session.sparkContext
        counts = {piece.place: self._counter(context, (side, *piece.place)) for piece in ranges}

        def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for place in zip(batch["topic"].to_pylist(), batch["partition"].to_pylist(), strict=True):
                    counts[place].add(1)
                yield batch

        return None if frame is None else frame.mapInArrow(count, frame.schema)

    def _counter(self, context: SparkContext, read: Read) -> Accumulator[int]:
        return self.read_records.setdefault(read, context.accumulator(0))

    @property
    def counted(self) -> dict[Read, int]:
        """How many records were read of each partition."""
        return {read: counter.value for read, counter in self.read_records.items()}


def copied(by_key: bool, damaged: bool) -> History:
    """Return a copy of three partitions, one of them empty; a damaged copy lacks a record."""

    def side(logs: Sequence[Sequence[Record]]) -> Side:
        made = [Log(delete_retention=0, compacts=False) for _ in logs]
        for log, records in zip(made, logs, strict=True):
            for record in records:
                log.append(record)
        return Side(made, [(0, log.end) for log in made])

    source = [RECORDS[:20], RECORDS[20:], []]
    return History(by_key, side(source), side([RECORDS[1:20], *source[1:]] if damaged else source))


def job_number(session: SparkSession, name: str) -> int:
    """Run a Spark job in a group of its own, and return its number; all jobs of a session are numbered in order."""
    context = session.sparkContext
    context.setJobGroup(name, name)
    context.parallelize([0], 1).count()
    context.setLocalProperty("spark.jobGroup.id", None)
    (number,) = context.statusTracker().getJobIdsForGroup(name)
    return int(number)


def jobs_of(memory: Counting, folder: Path) -> tuple[int, set[Verdict]]:
    """Compare, and return how many Spark jobs that took and the verdicts."""
    before = job_number(memory.session, f"before {folder}")
    verdicts = {topic.verdict for topic in compared(memory, folder).verdicts.values()}
    return job_number(memory.session, f"after {folder}") - before - 1, verdicts


@LEVELS
def test_clean_comparison_is_one_job_that_reads_each_record_once(
    spark: SparkSession, tmp_path: Path, by_key: bool
) -> None:
    """All topics are compared by one Spark job, which gets each record of each range once per side."""
    memory = Counting(spark, {name: copied(by_key, damaged=False) for name in ("orders", "audit")})

    assert (1, {Verdict.PASS}) == jobs_of(memory, tmp_path)
    assert {read: count for read, count in memory.counted.items() if read[-1] != 2 or count} == {
        (side, topic, partition): records
        for side in ("source", "target")
        for topic in ("orders", "audit")
        for partition, records in enumerate((20, 10))
    }


@LEVELS
def test_only_a_damaged_topic_is_read_again(spark: SparkSession, tmp_path: Path, by_key: bool) -> None:
    """A second reading takes more jobs and is counted; the clean topic next to the damaged one is read once."""
    memory = Counting(spark, {"clean": copied(by_key, damaged=False), "damaged": copied(by_key, damaged=True)})

    jobs, verdicts = jobs_of(memory, tmp_path)

    assert jobs > 1
    assert {Verdict.PASS, Verdict.FAIL} == verdicts
    assert (20, 10) == tuple(memory.counted["source", "clean", partition] for partition in (0, 1))
    assert memory.counted["source", "damaged", 0] > 20
