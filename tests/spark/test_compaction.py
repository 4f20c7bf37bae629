"""Histories of the compaction model through Spark itself: the whole comparison, from frames to verdicts.

All histories of a level are topics of one comparison, because each comparison takes several Spark jobs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from kafka_digest.keys.difference_file import DifferenceFile
from kafka_digest.keys.job import KeyJob
from kafka_digest.position import remainder
from kafka_digest.position.job import PositionJob
from kafka_digest.reading.clusters import SIDES
from kafka_digest.reading.windows import LogBounds, SideRange, WindowPlan, plan_window
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.validation.contract import PartitionResult, TopicResult, ValidationResult
from kafka_migration.core.validation.differences import FirstDifference
from kafka_migration.core.validation.judging import TopicVerdict, judge_topics
from kafka_migration.core.validation.judging_by_key import GenerationEvents
from tests.compaction.cleaner import Log, Record
from tests.compaction.histories import DAMAGES, History, Side, history
from tests.compaction.product import MANY, verdict_on
from tests.present import present
from tests.spark.conftest import START, Row, frame_of

# pyspark leaves its sockets to the garbage collector
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::ResourceWarning")]

SEEDS = range(int(os.environ.get("COMPACTION_SPARK_HISTORIES", "24")))
Place = tuple[str, int]


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
    reads: int = 0
    cleaned: Callable[[], object] | None = None

    @property
    def compacted(self) -> dict[str, frozenset[str]]:
        return {side: frozenset(t for t in self.histories if self.logs(side, t)[0].compacts) for side in SIDES}

    def logs(self, side: str, topic: str) -> Sequence[Log]:
        found: Side = getattr(self.histories[topic], side)
        return found.logs

    def read(self, side: str, ranges: Sequence[SideRange]) -> DataFrame | None:
        """Make a frame with a task for each range, in log order."""
        self.reads += 1
        parts = [self._rows(side, piece) for piece in ranges if not piece.is_empty]
        return frame_of(self.session, [rows for rows in parts if rows]) if parts else None

    def _rows(self, side: str, piece: SideRange) -> list[Row]:
        found = self.logs(side, piece.topic)[piece.partition].read(piece.start, piece.end)
        return [
            (*piece.place, offset, START + timedelta(seconds=r.timestamp), _text(r.key), _text(r.value), None)
            for offset, r in found
        ]

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
    judged = judge_topics(result, events=events, tolerance=MANY)
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


RECORDS = [Record(number % 2, number, number) for number in range(12)]
SWAPPED = (0, 5)
Case = tuple[History, Callable[[], object]]  # what a cleaner does between the two readings


def _nothing() -> None:
    pass


def by_seed(by_key: bool) -> dict[str, History]:
    """Return the histories of the model."""
    return {
        f"seed-{seed}": history(seed, by_key=by_key, damage=DAMAGES[seed % len(DAMAGES)] if seed % 3 == 0 else None)
        for seed in SEEDS
        if not history(seed, by_key=by_key).killed - {2}
    }


def cleaned_meanwhile(by_key: bool) -> dict[str, Case]:
    """A good copy that is cleaned between two readings, and one that lacks a record."""
    lossy = copy_of(RECORDS, [*RECORDS[:3], *RECORDS[4:]], (True, True), by_key)
    good = copy_of(RECORDS, RECORDS, (True, True), by_key)
    good.target.logs[0].clean(0, 1)
    good.target.logs[0].clean(0, 4)
    return {"good": (good, lambda: good.source.logs[0].clean(0, 9)), "lossy": (lossy, _nothing)}


def made_equal_meanwhile() -> dict[str, Case]:
    """A cleaned copy whose source is cleaned between two readings, and one that also has another record."""
    same, other = (copy_of(RECORDS, RECORDS, (True, True), by_key=True) for _ in range(2))
    for one in (same, other):
        one.target.logs[0].clean(0)
    other.target.logs[0].entries[-1].record = Record(1, 99, 99)
    return {
        "same": (same, lambda: same.source.logs[0].clean(0)),
        "other": (other, lambda: other.source.logs[0].clean(0)),
    }


def swapped_after_a_cleaned_one(place: int | None) -> Case:
    """A copy whose source has lost its first record to a cleaner, with two later records of different keys swapped."""
    middle = list(RECORDS)
    if place is not None:
        middle[place : place + 2] = reversed(middle[place : place + 2])
    source, target = ([Record(9, 0, 0), *records, Record(9, 1, 1)] for records in (RECORDS, middle))
    made = copy_of(source, target, (True, False), by_key=False)
    made.source.logs[0].entries.pop(0)
    return made, _nothing


def two_lost_in_one_hole() -> Case:
    """A copy that lacks two records and has one hole."""
    made = copy_of(RECORDS[:8], RECORDS[:8], (False, True), by_key=False)
    log = made.target.logs[0]
    log.entries = log.entries[2:]
    for entry in log.entries:
        entry.offset -= 1
    log.end, made.target.windows[0] = 7, (0, 7)
    return made, _nothing


def cases(by_key: bool) -> dict[str, Case]:
    """Return the cases of a level by topic."""
    of_model: dict[str, Case] = {topic: (made, _nothing) for topic, made in by_seed(by_key).items()}
    if by_key:
        return of_model | cleaned_meanwhile(by_key) | made_equal_meanwhile()
    swapped = {f"swapped-{place}": swapped_after_a_cleaned_one(place) for place in (None, *SWAPPED)}
    return of_model | cleaned_meanwhile(by_key) | swapped | {"one-hole": two_lost_in_one_hole()}


Level = Callable[[bool], Compared]


@pytest.fixture(scope="module")
def level(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Level:
    """Compare all cases of a level, once."""

    @cache
    def run(by_key: bool) -> Compared:
        made = cases(by_key)
        memory = Memory(spark, {topic: one for topic, (one, _) in made.items()})
        memory.cleaned = lambda: [clean() for _, clean in made.values()]
        return compared(memory, tmp_path_factory.mktemp("differences"))

    return run


LEVELS = pytest.mark.parametrize("by_key", [False, True], ids=["by position", "by key"])


@LEVELS
def test_spark_comes_to_the_verdicts_of_the_model(level: Level, by_key: bool) -> None:
    """What the model's fast comparison says of a history, the jobs say too: the same verdict and the same counts."""
    expected = {topic: verdict_on(made) for topic, made in by_seed(by_key).items()}

    found = level(by_key).told(expected)

    assert {t: v for t, (v, _) in expected.items()} == {t: v for t, (v, _) in found.items()}
    # What is missing here and extra there is put together by Spark only: it moved, or its key was altered.
    single = {t: counts for t, (_, counts) in expected.items() if not {"missing", "extra"} <= counts.keys()}
    assert single == {t: found[t][1] for t in single}


@LEVELS
def test_a_cleaner_that_runs_between_two_readings_does_no_harm(level: Level, by_key: bool) -> None:
    """What it takes meanwhile is not there at the second reading: the records are counted and compared again."""
    verdicts = level(by_key).verdicts

    assert (Verdict.PASS, Verdict.FAIL) == (verdicts["good"].verdict, verdicts["lossy"].verdict)


def test_sides_that_a_cleaner_made_equal_meanwhile_are_equal(level: Level) -> None:
    """The digests differed, the second reading finds nothing: a cleaner ran, and there are holes to prove it."""
    verdicts = level(True).verdicts

    assert (Verdict.PASS, Verdict.FAIL) == (verdicts["same"].verdict, verdicts["other"].verdict)


@pytest.mark.parametrize("place", SWAPPED)
def test_keys_that_change_places_after_what_was_cleaned_are_found(level: Level, place: int) -> None:
    """Regression: by position, nothing compared the order between keys after the first record that was cleaned."""
    found = level(False)
    good, bad = found.verdicts["swapped-None"], found.verdicts[f"swapped-{place}"]
    first = present(found.first[f"swapped-{place}"])

    assert (Verdict.PASS, Verdict.FAIL) == (good.verdict, bad.verdict)
    assert ("reordered", place + 1, place + 1) == (first.kind, first.source_offset, first.target_offset)


def test_holes_bound_what_is_explained(level: Level) -> None:
    """Regression: two records lost and one hole: one of them may have been cleaned, the other was lost."""
    assert {"one-hole": (Verdict.FAIL, {"compacted": 1, "missing": 1})} == level(False).told(["one-hole"])


def test_order_that_takes_too_many_masks_is_a_warning(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not compared is said, and is no PASS."""
    monkeypatch.setattr("kafka_digest.position.job.MAX_MASKS", 0)
    made = copy_of(RECORDS, RECORDS, (True, False), by_key=False)
    made.source.logs[0].clean(0)

    topic = compared(Memory(spark, {"cleaned": made}), tmp_path).verdicts["cleaned"]

    assert (Verdict.WARN, ["ORDER_NOT_COMPARED"]) == (topic.verdict, [str(w.code) for w in topic.warnings])
    assert remainder.MAX_MASKS > 0
