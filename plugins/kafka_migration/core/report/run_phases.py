"""The section of a run's report on its phases: how long they took, and how fast they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from kafka_migration.core.kafka.offsets import from_document
from kafka_migration.core.text.markdown import escaped, table
from kafka_migration.core.text.terminal_text import duration

Document = Mapping[str, Any]


class TimedPhase(NamedTuple):
    """A phase of a run: when it started, how many seconds it took, and what it did."""

    name: str
    began_at: str
    seconds: float
    did: str


def course(run: Document) -> str:
    """Return the section; empty if the run did not reach any phase."""
    rows = [(phase.name, escaped(phase.began_at), duration(phase.seconds), phase.did or "–") for phase in phases(run)]
    if not rows:
        return ""
    started_at, finished_at = run.get("started_at"), run["finished_at"]
    total = _seconds(started_at, finished_at)
    words = (
        ""
        if total is None
        else f"\n\nTotal: {duration(total)}, from {escaped(str(started_at))} to {escaped(finished_at)}."
    )
    return f"## Times\n\n{table(('Phase', 'Started', 'Duration', 'Amount'), rows)}{words}"


def phases(run: Document) -> Iterator[TimedPhase]:
    """Yield the phases that the run went through, in order."""
    for name, began_at, ended_at, count, unit in _limits(run):
        seconds = _seconds(began_at, ended_at)
        if seconds is not None:
            yield TimedPhase(name, str(began_at), seconds, _did(count, unit, seconds) if unit else "")


def _limits(run: Document) -> Iterator[tuple[str, str | None, str | None, int, str]]:
    steps = run["steps"]
    start, stop, approve = _at(steps, "start"), _at(steps, "stop"), steps.get("approve", {})
    has_mirrored = bool(steps.get("start", {}).get("started"))
    yield "Check and prepare", run.get("started_at"), start or _at(steps, "rollback-plan"), 0, ""
    if has_mirrored:
        yield "Copy", start, _at(steps, "watch"), _copied(steps), "offsets"
        yield "Stop MirrorMaker", _at(steps, "watch"), stop, 0, ""
    yield "Validate", stop if has_mirrored else start, run.get("judged_at"), _compared(run), "records"
    yield "Plan the groups", run.get("judged_at"), _planned_at(steps), 0, ""
    yield "Wait for approval", approve.get("asked_at"), approve.get("answered_at"), 0, ""
    yield "Write the groups", approve.get("answered_at"), _at(steps, "cutover") or _at(steps, "rolled-back"), 0, ""


def _at(steps: Document, kind: str) -> str | None:
    at: str | None = steps.get(kind, {}).get("at")
    return at


def _planned_at(steps: Document) -> str | None:
    at: str | None = steps.get("offsets-plan", {}).get("plan", {}).get("at")
    return at


def _seconds(began_at: str | None, ended_at: str | None) -> float | None:
    """Return the duration; `None` if a moment is missing or belongs to an earlier attempt."""
    if not began_at or not ended_at:
        return None
    seconds = (datetime.fromisoformat(ended_at) - datetime.fromisoformat(began_at)).total_seconds()
    return seconds if seconds >= 0 else None


def _copied(steps: Document) -> int:
    positions = from_document(steps.get("plan", {}).get("positions", {}))
    goals = from_document(steps.get("watch", {}).get("goals", {}))
    return sum(max(0, goal - positions.get(partition, 0)) for partition, goal in goals.items())


def _compared(run: Document) -> int:
    return sum(records["target"] or 0 for records in run["records"].values())


def _did(count: int, unit: str, seconds: float) -> str:
    """Return the amount, and the rate of a copy; most of the time of a small validation is Spark's start."""
    rate = f", {count / seconds:,.0f}/s" if unit == "offsets" and seconds >= 1 and count else ""
    return f"{count:,} {unit}{rate}"
