"""The two clusters of a request: the bounds of their logs, and frames over offset ranges."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession, functions

from kafka_digest.reading.hashing import UNTIMED
from kafka_digest.reading.kafka_silence import noticing_silence
from kafka_digest.reading.kafka_source import read_ranges
from kafka_digest.reading.log_bounds import read_log_bounds
from kafka_digest.reading.read_windows import LogBounds, SideRange, WindowPlan, plan_window, requested_range
from kafka_digest.reading.record_schema_ids import SchemaIds
from kafka_digest.reading.spark_progress import KafkaScans, Workload, telling_progress
from kafka_digest.runtime.job_errors import naming
from kafka_digest.runtime.rate_limit import limited_options, reading_at_most

SIDES = ("source", "target")


@dataclass(frozen=True)
class Clusters:
    """Source and target of one job.

    :param clients: per side, the options of Spark's Kafka reader
    :param untimed: per side, the topics whose timestamps are not compared
    :param compacted: per side, the compacted topics (by the source's names)
    :param is_uncommitted_copy: whether the target may hold records of transactions that the source aborted
    :param max_bytes_per_s: the broker quota for reading, if any
    :param workload: counts the planned and read records
    :param schema_ids: collects the schema ids of the target's records
    """

    session: SparkSession
    clients: Mapping[str, Mapping[str, str]]
    isolation_level: str
    untimed: Mapping[str, Collection[str]]
    compacted: Mapping[str, Collection[str]] = field(default_factory=lambda: dict.fromkeys(SIDES, ()))
    is_uncommitted_copy: bool = False
    max_bytes_per_s: int | None = None
    workload: Workload = field(default_factory=Workload)
    schema_ids: SchemaIds = field(default_factory=SchemaIds)

    @property
    def tasks(self) -> int:
        """The number of tasks that read a side: one per core, regardless of the number of partitions."""
        return int(self.session.sparkContext.defaultParallelism)

    def plan(self, windows: Sequence[Mapping[str, Any]]) -> list[WindowPlan]:
        """Return what can be read of each window. Raises `JobError` if a cluster does not answer."""
        source, target = (self.log_bounds(side, [requested_range(w, side) for w in windows]) for side in SIDES)
        plans = [plan_window(window, source, target) for window in windows]
        self.workload.plan(plans)
        return plans

    @contextmanager
    def reading(self, topics: Mapping[str, Collection[str]]) -> Iterator[None]:
        """Limit what the body reads of these topics per side, log its progress, and end it if a cluster is silent.

        Raises `JobError` as `noticing_silence` and `reading_at_most` do.
        """
        jvm = self.session._jvm
        with (
            noticing_silence(self, topics) as reading,
            reading_at_most(jvm, self.clients, self.max_bytes_per_s),
            reading.interruptible(jvm),
            telling_progress(KafkaScans(self.session).records, self.workload),
        ):
            yield

    def log_bounds(self, side: str, ranges: Sequence[SideRange]) -> dict[tuple[str, int], LogBounds]:
        """Return the log bounds of the partitions of all ranges that are not empty. Raises `JobError`."""
        return self._bounds_of(side, {piece.place for piece in ranges if not piece.is_empty})

    def _bounds_of(self, side: str, places: Collection[tuple[str, int]]) -> dict[tuple[str, int], LogBounds]:
        address = self.clients[side].get("kafka.bootstrap.servers")
        with naming(f"asking the {side} cluster ({address}) for the log bounds of {len(places)} partitions"):
            return read_log_bounds(self.session._jvm, self.clients[side], places, self.isolation_level)

    def read(self, side: str, ranges: Sequence[SideRange], isolation_level: str | None = None) -> DataFrame | None:
        """Return one frame over these ranges of a side; `None` if all are empty. Raises `JobError`.

        :param isolation_level: if it is not that of the job
        """
        self.workload.note(side, ranges)
        client = {**limited_options(self.max_bytes_per_s), **self.clients[side]}
        frame = read_ranges(self.session, client, ranges, isolation_level or self.isolation_level)
        return None if frame is None else without_timestamps(frame, self.untimed[side])

    def around(self, side: str, ranges: Sequence[SideRange]) -> tuple[list[SideRange], list[SideRange]]:
        """Return what the logs of a side hold before and after these ranges. Raises `JobError`."""
        bounds = self._bounds_of(side, {piece.place for piece in ranges})
        there = [(piece, bounds[piece.place]) for piece in ranges if piece.place in bounds]
        return (
            [SideRange(*p.place, found.log_start, min(p.start, found.readable_end)) for p, found in there],
            [SideRange(*piece.place, max(piece.end, found.log_start), found.readable_end) for piece, found in there],
        )


def without_timestamps(frame: DataFrame, topics: Collection[str]) -> DataFrame:
    """Return the frame without the timestamps of these topics' records; hashes skip nulls."""
    if not topics:
        return frame
    is_left_out = functions.col("topic").isin(*topics)
    return frame.withColumn("timestamp", functions.when(~is_left_out, functions.col("timestamp")))


def with_null_timestamps(frame: DataFrame) -> DataFrame:
    """Return the frame with null as the timestamp of each record that has none; hashes skip nulls."""
    return frame.withColumn("timestamp", functions.expr(f"if({UNTIMED}, null, timestamp)"))
