"""The phases of a run, and the deadlines that it had or has set."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from kafka_migration.core.cutover.approval import Ask
from kafka_migration.core.report.run_document import Deadline, RunDocument, TimedPhase
from kafka_migration.core.report.run_steps import DoneMove, PlannedGroups, StartedCopy, Steps, StoppedCopy, WatchedCopy
from kafka_migration.core.run.task_steps import RunPhase


def phases(run: RunDocument) -> Iterator[TimedPhase]:
    """Yield the phases that the run went through, in order."""
    for name, began_at, ended_at, did in _limits(run):
        seconds = seconds_between(began_at, ended_at)
        if seconds is not None:
            yield TimedPhase(name, str(began_at), seconds, did)


def _limits(run: RunDocument) -> Iterator[tuple[str, str | None, str | None, str]]:
    steps, judged_at = run.steps, run.judged_at
    start, watch, stop = _at(steps.start), _at(steps.watch), _at(steps.stop)
    asked_at, answered_at = (steps.approve.asked_at, steps.approve.answered_at) if steps.approve else (None, None)
    has_mirrored = bool(steps.start and steps.start.started)
    yield RunPhase.PREPARE, run.started_at, start or _at(steps.rollback_plan), ""
    if has_mirrored:
        yield RunPhase.COPY, start, watch, _copied(steps, seconds_between(start, watch))
        yield RunPhase.STOP, watch, stop, ""
    yield RunPhase.VALIDATE, stop if has_mirrored else start, judged_at, f"{_compared(run):,} records"
    yield RunPhase.PLAN_GROUPS, judged_at, _at(steps.offsets_plan), ""
    yield RunPhase.APPROVAL, asked_at, answered_at, ""
    yield RunPhase.WRITE_GROUPS, answered_at, _at(steps.done), ""


def _at(recorded: PlannedGroups | StartedCopy | WatchedCopy | StoppedCopy | DoneMove | None) -> str | None:
    return recorded.at if recorded else None


def seconds_between(began_at: str | None, ended_at: str | None) -> float | None:
    """Return the duration; `None` if a moment is missing or unreadable, or belongs to an earlier attempt."""
    if not began_at or not ended_at:
        return None
    try:
        seconds = (datetime.fromisoformat(ended_at) - datetime.fromisoformat(began_at)).total_seconds()
    except (TypeError, ValueError):
        return None
    return seconds if seconds >= 0 else None


def _copied(steps: Steps, seconds: float | None) -> str:
    """Return how many offsets were copied, and how fast."""
    positions = steps.plan.positions if steps.plan else {}
    goals = steps.watch.goals if steps.watch else {}
    count = sum(max(0, goal - positions.get(partition, 0)) for partition, goal in goals.items())
    return f"{count:,} offsets" + (f", {count // round(seconds):,}/s" if seconds and seconds >= 1 and count else "")


def _compared(run: RunDocument) -> int:
    # Most of the time of a small validation is Spark's start, so it has no rate.
    return sum(each.target or 0 for each in run.records.values())


def deadlines(steps: Steps) -> Iterator[Deadline]:
    """Yield the deadlines of questions without an answer, and the one that the run sets for the next run."""
    if steps.producers and steps.producers.chosen is None and steps.stop is None:
        yield Deadline("The producers on the source must stop", steps.producers.until)
    if steps.approve and steps.approve.answered_at is None and (until := _answer_until(steps.approve)):
        yield Deadline("The question for the approval must be answered", until)
    if steps.stop and (forecast := steps.stop.forecast) and not steps.cutover:
        # The topics that a cutover moved are not copied any more.
        yield Deadline("The next run must start", forecast.at, f"{forecast.partition}, {forecast.reason}")


def _answer_until(ask: Ask) -> str | None:
    try:
        until = datetime.fromisoformat(ask.asked_at) + timedelta(seconds=ask.time_limit_s)
    except (OverflowError, ValueError):
        return None
    return until.isoformat(timespec="seconds")
