"""Histories of the compaction model through Spark itself: the whole comparison, from frames to verdicts."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession, functions

from kafka_digest.keys.difference_file import DifferenceFile
from kafka_digest.keys.job import KeyJob
from kafka_digest.position import remainder
from kafka_digest.position.job import PositionJob
from kafka_digest.reading.clusters import SIDES
from kafka_digest.reading.windows import LogBounds, SideRange, WindowPlan, plan_window
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.validation.contract import PartitionResult, TopicResult, ValidationResult
from kafka_migration.core.validation.judging import judge_topics
from kafka_migration.core.validation.judging_by_key import GenerationEvents
from tests.compaction.cleaner import Log, Record
from tests.compaction.histories import DAMAGES, History, Side, history
from tests.compaction.product import MANY, verdict_on
from tests.present import present
from tests.spark.conftest import SCHEMA, START

pytestmark = pytest.mark.unit

SEEDS = range(int(os.environ.get("COMPACTION_SPARK_HISTORIES", "24")))
Place = tuple[str, int]
Compared = Callable[["Memory"], ValidationResult]


def _text(value: int | None) -> bytearray | None:
    return None if value is None else bytearray(b"%d" % value)


@dataclass
class Memory:
    """Both clusters as the job sees them (`Clusters`), each topic of a history of its own.

    :param cleaned: is called once, when the logs are asked for what is around the windows; it may clean them
    """

    session: SparkSession
    histories: Sequence[History]
    is_uncommitted_copy: bool = False
    tasks: int = 2
    reads: int = 0
    cleaned: Callable[[], object] | None = None

    @property
    def compacted(self) -> dict[str, frozenset[str]]:
        sides = {side: [getattr(h, side) for h in self.histories] for side in SIDES}
        return {
            name: frozenset(f"t{n}" for n, side in enumerate(sides[name]) if side.logs[0].compacts) for name in SIDES
        }

    def log(self, side: str, place: Place) -> Log:
        found: Side = getattr(self.histories[int(place[0][1:])], side)
        return found.logs[place[1]]

    def read(self, side: str, ranges: Sequence[SideRange]) -> DataFrame | None:
        """Make a frame with a task for each range, in log order."""
        self.reads += 1
        parts = [self._rows(side, piece) for piece in ranges if not piece.is_empty]
        parts = [rows for rows in parts if rows]
        if not any(not piece.is_empty for piece in ranges):
            return None
        tasks = self.session.range(0, max(1, len(parts)), 1, max(1, len(parts)))
        rows = self.session.createDataFrame(list(enumerate(parts)), f"id bigint, rows array<struct<{SCHEMA}>>")
        return tasks.join(functions.broadcast(rows), "id").selectExpr("inline(rows)")

    def _rows(self, side: str, piece: SideRange) -> list[tuple[Any, ...]]:
        found = self.log(side, piece.place).read(piece.start, piece.end)
        return [(*piece.place, offset, *self._columns(record)) for offset, record in found]

    @staticmethod
    def _columns(record: Record) -> tuple[Any, ...]:
        time = START.replace(microsecond=0).timestamp() + record.timestamp
        return START.fromtimestamp(time, START.tzinfo), _text(record.key), _text(record.value), None

    def around(self, side: str, ranges: Sequence[SideRange]) -> tuple[list[SideRange], list[SideRange]]:
        cleaned, self.cleaned = self.cleaned, None
        if cleaned is not None:
            cleaned()
        logs = [(piece, getattr(self.histories[int(piece.topic[1:])], side).logs) for piece in ranges]
        there = [(piece, found[piece.partition]) for piece, found in logs if piece.partition < len(found)]
        return (
            [SideRange(*piece.place, 0, piece.start) for piece, _ in there],
            [SideRange(*piece.place, piece.end, log.end) for piece, log in there],
        )

    def plans(self) -> list[WindowPlan]:
        return [plan for number in range(len(self.histories)) for plan in self._plans(number)]

    def _plans(self, number: int) -> list[WindowPlan]:
        made, topic = self.histories[number], f"t{number}"
        plans = []
        for partition in range(max(len(made.source.logs), len(made.target.logs))):
            window = {"generation": made.last, "topic": topic, "target_topic": topic, "partition": partition}
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


@pytest.fixture
def compared(spark: SparkSession, tmp_path: Path) -> Compared:
    """Compare histories as a run does; return the result."""

    def compare(memory: Memory) -> ValidationResult:
        file = DifferenceFile(spark, str(tmp_path / "differences.parquet"))
        killed = {h.last for h in memory.histories if h.last in h.killed}
        if memory.histories[0].by_key:
            entries, topics = KeyJob(memory, file, killed).run(memory.plans())  # type: ignore[arg-type]
        else:
            job = PositionJob(memory, file, 4, killed)  # type: ignore[arg-type]
            entries, topics = job.run(memory.plans()), []
        windows = tuple(PartitionResult.from_document(entry) for entry in entries)
        return ValidationResult("4", "", "", windows, tuple(TopicResult.from_document(topic) for topic in topics))

    return compare


def verdicts(memory: Memory, result: ValidationResult) -> dict[str, tuple[Verdict, dict[str, int]]]:
    """Return the verdict on each topic, and its differences by label."""
    events = {f"t{n}": GenerationEvents(killed=h.killed) for n, h in enumerate(memory.histories)}
    judged = judge_topics(result, events=events, tolerance=MANY)
    return {t.topic: (t.verdict, {str(kind): n for kind, n in t.differences.counts.items()}) for t in judged}


@pytest.mark.parametrize("by_key", [False, True], ids=["by position", "by key"])
def test_spark_comes_to_the_verdicts_of_the_model(spark: SparkSession, compared: Compared, by_key: bool) -> None:
    """What the model's fast comparison says of a history, the jobs say too: the same verdict and the same counts."""
    made = [
        history(seed, by_key=by_key, damage=DAMAGES[seed % len(DAMAGES)] if seed % 3 == 0 else None)
        for seed in SEEDS
        if not history(seed, by_key=by_key).killed - {2}
    ]
    memory = Memory(spark, made)
    expected = {f"t{n}": verdict_on(h) for n, h in enumerate(made)}

    found = verdicts(memory, compared(memory))

    assert {t: v for t, (v, _) in expected.items()} == {t: v for t, (v, _) in found.items()}
    # What is missing here and extra there is put together by Spark only: it moved, or its key was altered.
    single = {t: counts for t, (_, counts) in expected.items() if not {"missing", "extra"} <= counts.keys()}
    assert single == {t: found[t][1] for t in single}


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


RECORDS = [Record(number % 2, number, number) for number in range(12)]


@pytest.mark.parametrize("by_key", [False, True], ids=["by position", "by key"])
def test_a_cleaner_that_runs_between_two_readings_does_no_harm(
    spark: SparkSession, compared: Compared, by_key: bool
) -> None:
    """What it takes meanwhile is not there at the second reading: the records are counted and compared again."""
    lossy = copy_of(RECORDS, [*RECORDS[:3], *RECORDS[4:]], (True, True), by_key)
    good = copy_of(RECORDS, RECORDS, (True, True), by_key)
    good.target.logs[0].clean(0, 1)
    good.target.logs[0].clean(0, 4)
    memory = Memory(spark, [good, lossy])
    memory.cleaned = lambda: good.source.logs[0].clean(0, 9)

    found = verdicts(memory, compared(memory))

    assert [Verdict.PASS, Verdict.FAIL] == [found[f"t{n}"][0] for n in (0, 1)]


def test_sides_that_a_cleaner_made_equal_meanwhile_are_equal(spark: SparkSession, compared: Compared) -> None:
    """The digests differed, the second reading finds nothing: a cleaner ran, and there are holes to prove it."""
    made = [copy_of(RECORDS, RECORDS, (True, True), by_key) for by_key in (True, True)]
    for one in made:
        one.target.logs[0].clean(0)
    made[1].target.logs[0].entries[-1].record = Record(1, 99, 99)
    memory = Memory(spark, made)

    def clean_sources() -> None:
        for one in made:
            one.source.logs[0].clean(0)

    memory.cleaned = clean_sources

    found = verdicts(memory, compared(memory))

    assert [Verdict.PASS, Verdict.FAIL] == [found[f"t{n}"][0] for n in (0, 1)]


@pytest.mark.parametrize("place", [0, 5])
def test_keys_that_change_places_after_what_was_cleaned_are_found(
    spark: SparkSession, compared: Compared, place: int
) -> None:
    """Regression: by position, nothing compared the order between keys after the first record that was cleaned."""
    source = [Record(9, 0, 0), *RECORDS, Record(9, 1, 1)]
    swapped = [*RECORDS[:place], RECORDS[place + 1], RECORDS[place], *RECORDS[place + 2 :]]
    made = [
        copy_of(source, [Record(9, 0, 0), *middle, Record(9, 1, 1)], (True, False), False)
        for middle in (RECORDS, swapped)
    ]
    for one in made:
        one.source.logs[0].entries.pop(0)
    result = compared(Memory(spark, made))
    good, bad = judge_topics(result)
    first = present(result.partitions[1].first_difference)

    assert (Verdict.PASS, Verdict.FAIL) == (good.verdict, bad.verdict)
    assert ("reordered", place + 1, place + 1) == (first.kind, first.source_offset, first.target_offset)


def test_order_that_takes_too_many_masks_is_a_warning(
    spark: SparkSession, compared: Compared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not compared is said, and is no PASS."""
    monkeypatch.setattr("kafka_digest.position.job.MAX_MASKS", 0)
    made = copy_of(RECORDS, RECORDS, (True, False), False)
    made.source.logs[0].clean(0)

    (topic,) = judge_topics(compared(Memory(spark, [made])))

    assert (Verdict.WARN, ["ORDER_NOT_COMPARED"]) == (topic.verdict, [str(w.code) for w in topic.warnings])
    assert remainder.MAX_MASKS > 0


def test_holes_bound_what_is_explained(spark: SparkSession, compared: Compared) -> None:
    """Regression: two records lost and one hole: one of them may have been cleaned, the other was lost."""
    made = copy_of(RECORDS[:8], RECORDS[:8], (False, True), False)
    log = made.target.logs[0]
    log.entries = log.entries[2:]
    for entry in log.entries:
        entry.offset -= 1
    log.end, made.target.windows[0] = 7, (0, 7)

    (topic,) = judge_topics(compared(Memory(spark, [made])))

    assert (Verdict.FAIL, {"compacted": 1, "missing": 1}) == (
        topic.verdict,
        {str(k): n for k, n in topic.differences.counts.items()},
    )
