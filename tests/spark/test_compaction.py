"""Histories of the compaction model through Spark itself: the whole comparison, from frames to verdicts.

All histories of a level are topics of one comparison, because each comparison takes several Spark jobs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafka_digest.position import rest_in_order as remainder
from kafka_migration.core.findings.verdict import Verdict
from tests.compaction.cleaner import Record
from tests.compaction.histories import DAMAGES, History, history
from tests.compaction.product import verdict_on
from tests.present import present
from tests.spark.memory import Compared, Memory, compared, copy_of

# pyspark leaves its sockets to the garbage collector
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::ResourceWarning")]

SEEDS = range(int(os.environ.get("COMPACTION_SPARK_HISTORIES", "24")))
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
    monkeypatch.setattr("kafka_digest.position.position_job.MAX_MASKS", 0)
    made = copy_of(RECORDS, RECORDS, (True, False), by_key=False)
    made.source.logs[0].clean(0)

    topic = compared(Memory(spark, {"cleaned": made}), tmp_path).verdicts["cleaned"]

    assert (Verdict.WARN, ["ORDER_NOT_COMPARED"]) == (topic.verdict, [str(w.code) for w in topic.warnings])
    assert remainder.MAX_MASKS > 0
