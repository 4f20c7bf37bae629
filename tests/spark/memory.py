"""Both clusters of a comparison in memory, and the whole comparison on them, from frames to verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from kafka_digest.keys.difference_file import DifferenceFile
from kafka_digest.keys.key_job import KeyJob
from kafka_digest.position.position_job import PositionJob
from kafka_digest.reading.kafka_clusters import SIDES
from kafka_digest.reading.read_windows import LogBounds, SideRange, WindowPlan, plan_window
from kafka_digest.reading.record_schema_ids import SchemaIds
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.records import NO_TIMESTAMP
from kafka_migration.core.validation.differences import FirstDifference
from kafka_migration.core.validation.judging import TopicVerdict, judge_topics
from kafka_migration.core.validation.judging_by_key import GenerationEvents
from kafka_migration.core.validation.untimed_records import with_untimed_records
from kafka_migration.core.validation.validation_contract import PartitionResult, TopicResult, ValidationResult
from tests.compaction.cleaner import Log, Record
from tests.compaction.histories import History, Side
from tests.compaction.product import MANY
from tests.spark.conftest import START, Place, Row, frame_of

NO_TIME = datetime(1970, 1, 1, tzinfo=UTC) - timedelta(milliseconds=1)


def time_of(timestamp: int) -> datetime:
    """Return the time of a record as Spark shows it; 1 ms before 1970 if a record has none."""
    return NO_TIME if timestamp == NO_TIMESTAMP else START + timedelta(seconds=timestamp)


def _text(value: int | None) -> bytes | None:
    return None if value is None else b"%d" % value


@dataclass
class Memory:
    """Both clusters as the job sees them (`Clusters`), each topic of a history of its own.

    :param histories: by topic
    :param cleaned: is called once, when the logs are asked for what is around the windows; it may clean them
    """

    session: SparkSession
    histories: Mapping[str, History]
    is_uncommitted_copy: bool = False
    tasks: int = 2
    cleaned: Callable[[], object] | None = None
    schema_ids: SchemaIds = field(default_factory=SchemaIds)

    @property
    def compacted(self) -> dict[str, frozenset[str]]:
        return {side: frozenset(t for t in self.histories if self.logs(side, t)[0].compacts) for side in SIDES}

    def logs(self, side: str, topic: str) -> Sequence[Log]:
        found: Side = getattr(self.histories[topic], side)
        return found.logs

    def read(self, side: str, ranges: Sequence[SideRange]) -> DataFrame | None:
        """Make a frame with a task for each range, in log order."""
        parts = [self._rows(side, piece) for piece in ranges if not piece.is_empty]
        return frame_of(self.session, [rows for rows in parts if rows]) if parts else None

    def _rows(self, side: str, piece: SideRange) -> list[Row]:
        found = self.logs(side, piece.topic)[piece.partition].read(piece.start, piece.end)
        return [(*piece.place, offset, time_of(r.timestamp), _text(r.key), _text(r.value), None) for offset, r in found]

    def around(self, side: str, ranges: Sequence[SideRange]) -> tuple[list[SideRange], list[SideRange]]:
        cleaned, self.cleaned = self.cleaned, None
        if cleaned is not None:
            cleaned()
        logs = [(piece, self.logs(side, piece.topic)) for piece in ranges]
        there = [(piece, found[piece.partition]) for piece, found in logs if piece.partition < len(found)]
        return (
            [SideRange(*piece.place, 0, piece.start) for piece, _ in there],
            [SideRange(*piece.place, piece.end, log.end) for piece, log in there],
        )

    def plans(self) -> list[WindowPlan]:
        return [plan for topic, made in self.histories.items() for plan in self._plans(topic, made)]

    def _plans(self, topic: str, made: History) -> list[WindowPlan]:
        plans = []
        for partition in range(max(len(made.source.logs), len(made.target.logs))):
            window = {
                "generation": made.last,
                "topic": topic,
                "target_topic": topic,
                "partition": partition,
                "pieces": [],
            }
            bounds: dict[str, dict[Place, LogBounds]] = {}
            for name in SIDES:
                side: Side = getattr(made, name)
                is_there = partition < len(side.logs)
                start, end = side.windows[partition] if is_there else (0, 0)
                log_end = side.logs[partition].end if is_there else 0
                window |= {f"{name}_start": start, f"{name}_end": end}
                bounds[name] = {(topic, partition): LogBounds(0, log_end, log_end)} if is_there else {}
            plans.append(plan_window(window, bounds["source"], bounds["target"]))
        return plans


@dataclass(frozen=True)
class Compared:
    """The verdict and the first difference of each topic."""

    verdicts: Mapping[str, TopicVerdict]
    first: Mapping[str, FirstDifference | None]

    def told(self, topics: Iterable[str]) -> dict[str, tuple[Verdict, dict[str, int]]]:
        """Return the verdict on each of these topics, and its differences by label."""
        found = {topic: self.verdicts[topic] for topic in topics}
        return {t: (v.verdict, {str(kind): n for kind, n in v.differences.counts.items()}) for t, v in found.items()}


def compared(memory: Memory, folder: Path) -> Compared:
    """Compare and judge histories of one level as a run does."""
    histories = memory.histories
    file = DifferenceFile(memory.session, str(folder / "differences.parquet"))
    killed = {h.last for h in histories.values() if h.last in h.killed}
    if any(h.by_key for h in histories.values()):
        entries, topics = KeyJob(memory, file, killed).run(memory.plans())  # type: ignore[arg-type]
    else:
        job = PositionJob(memory, file, 4, killed)  # type: ignore[arg-type]
        entries, topics = job.run(memory.plans()), []
    windows = tuple(PartitionResult.from_document(entry) for entry in entries)
    result = ValidationResult("4", "", "", windows, tuple(TopicResult.from_document(topic) for topic in topics))
    events = {topic: GenerationEvents(killed=h.killed) for topic, h in histories.items()}
    judged = with_untimed_records(judge_topics(result, events=events, tolerance=MANY), result)
    return Compared({v.topic: v for v in judged}, {w.window.topic: w.first_difference for w in windows})


def copy_of(source: Sequence[Record], target: Sequence[Record], compacts: tuple[bool, bool], by_key: bool) -> History:
    """Return a copy of one partition whose windows are all of it."""
    sides: list[Side] = []
    for records, side_compacts in zip((source, target), compacts, strict=True):
        log = Log(0, side_compacts)
        for record in records:
            log.append(record)
        log.roll()
        sides.append(Side([log], [(0, log.end)]))
    return History(by_key, sides[0], sides[1])
