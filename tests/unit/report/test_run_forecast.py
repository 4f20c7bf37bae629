"""Rules of the forecast of a run's end."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.report.run_document import TimedPhase
from kafka_migration.core.report.run_forecast import Doing, PastRun, forecast
from kafka_migration.core.report.run_status import LastRun, next_start
from kafka_migration.core.run.task_steps import RunPhase
from kafka_migration.core.stored.stored_documents import CutoverDocument
from kafka_migration.core.text.local_time import IN_UTC
from kafka_migration.core.validation.judge_document import RecordCounts
from kafka_migration.core.watching.retention_forecast import ForecastDocument
from tests.present import present
from tests.unit.report.test_run_assembly import BEGUN, run_with

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
PAST = PastRun({"Copy": 600.0, "Stop MirrorMaker": 5.0, "Validate": 60.0, "Plan the groups": 20.0}, 1_000)


def doing(step: str, mode: str = "sync", *, left_s: float | None = None, offsets: int | None = 500) -> Doing:
    """A run that began a step 40 s ago, and told 10 s ago how long it would still take."""
    return Doing(step, mode, NOW - timedelta(seconds=40), NOW - timedelta(seconds=10), left_s, offsets)


def test_copy_is_followed_by_the_phases_of_an_earlier_run() -> None:
    """The rest of the copy is that of the watch, less the age of its news; the others take as long as before."""
    found = present(forecast(doing("watch_lag", left_s=100), PAST, NOW))

    assert {"Copy": 90.0, "Stop MirrorMaker": 5.0, "Validate": 60.0} == found.seconds
    assert (NOW + timedelta(seconds=155), ()) == (found.ends_at, found.unknown)
    assert "about 12:02:35 UTC (copy 1m30s, stop MirrorMaker 5s, validate 1m00s)" == found.words(IN_UTC)


def test_night_without_records_teaches_nothing() -> None:
    """A run that compared nothing leaves the times of the run before; one that did keeps what only others know."""
    idle = replace(BEGUN, phases=(TimedPhase("Validate", "", 1.0, ""),))
    busy = replace(idle, records={"orders": RecordCounts(7, 7), "audit": RecordCounts(3, None)})

    assert PAST == PastRun.of(idle, PAST)
    assert PastRun({**PAST.seconds, "Validate": 1.0}, 7) == PastRun.of(busy, PAST)
    assert PastRun({"Validate": 1.0}, 7) == PastRun.of(busy, None)


@pytest.mark.parametrize(
    ("before", "offsets", "seconds"),
    [
        (1_000_000, 3_000_000, 180.0),
        (1_000_000, 10, 60.0),
        (1_000_000, None, 60.0),
        (1_000, 3_000, 60.0),
        (1_000, 200_000, 60.0),
        (1_000, 600_000, 180.0),
    ],
)
def test_validation_grows_with_the_records(before: int, offsets: int | None, seconds: float) -> None:
    """Three times the records take three times as long; less than Spark reads during a start takes as long as that."""
    past = replace(PAST, records=before)
    found = present(forecast(doing("watch_lag", left_s=1, offsets=offsets), past, NOW))

    assert seconds == found.seconds["Validate"]


def test_current_phase_counts_from_its_begin() -> None:
    """Without news of its own, a phase takes as long as before, less the time that it has run."""
    found = present(forecast(doing("validate_topics", "rehearse"), PAST, NOW))

    assert {"Validate": 20.0, "Plan the groups": 20.0} == found.seconds


@pytest.mark.parametrize(("left_s", "past"), [(None, PAST), (5.0, None), (5.0, PastRun({"Copy": 1.0}, 1))])
def test_one_unknown_phase_makes_the_end_unknown(left_s: float | None, past: PastRun | None) -> None:
    """An unknown time is never counted as zero."""
    found = present(forecast(doing("watch_lag", left_s=left_s), past, NOW))

    assert found.ends_at is None
    assert found.unknown
    assert found.words(IN_UTC).startswith("unknown (")


@pytest.mark.parametrize(
    ("step", "mode"),
    [("watch_lag", "follow"), ("plan_rollback", "restore"), ("finish", "sync"), ("", "sync"), ("plan", "x")],
)
def test_run_without_a_forecast(step: str, mode: str) -> None:
    """The end of a run that follows or rolls back, and of a step that is none of a run, is not forecast."""
    assert forecast(doing(step, mode), PAST, NOW) is None


def test_cutover_names_the_wait_for_people() -> None:
    """The time in which a cutover waits for an answer is not part of the forecast, and the text says so."""
    found = present(forecast(doing("watch_lag", "cutover", left_s=10), PAST, NOW))

    assert (True, (str(RunPhase.WRITE_GROUPS),)) == (found.waits_for_people, found.unknown)
    assert "plus the time in which the run waits for people" in found.words(IN_UTC)


def test_run_that_stopped_mirrormaker_sets_the_next_start() -> None:
    """A run that stopped MirrorMaker sets the moment, another run keeps it, and a cutover removes it."""
    known = ForecastDocument("2030-01-02T00:00:00+00:00", "orders[0]", "retention.ms 1")
    before = LastRun("r", NOW, "sync", "success", "PASS", next_start=known)
    stopped = run_with({Kind.STOP: {"forecast": None}})

    assert known == next_start(BEGUN, before)
    assert next_start(BEGUN, None) is None
    assert next_start(run_with({Kind.STOP: {"forecast": known.to_document()}}), None) == known
    assert next_start(stopped, before) is None
    moved = CutoverDocument("r", "t", ("billing",), ("orders",), False, next_steps=())
    assert next_start(run_with({Kind.CUTOVER: moved.to_document()}), before) is None
