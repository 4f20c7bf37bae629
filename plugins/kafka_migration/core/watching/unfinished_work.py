"""Findings about a run that ended before its work was done: records left to copy or to validate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.ledger.window import Window
from kafka_migration.core.text.terminal_text import counted, duration
from kafka_migration.core.watching.watch import Outcome


def late_findings(
    migration: str, watch: Mapping[str, Any] | None, pending: Mapping[str, Any] | None
) -> tuple[Finding, ...]:
    """Return the findings of an unfinished watch and of a pending validation; none if everything was done."""
    behind = [behind_finding(migration, watch)] if watch and watch.get("outcome") == Outcome.BEHIND else []
    return (*behind, *([_pending_finding(migration, pending)] if pending else []))


def behind_finding(migration: str, watch: Mapping[str, Any]) -> Finding:
    """Return the finding of a watch that ended before everything was copied."""
    lag = watch.get("lag")
    number = "an unknown number of offsets" if lag is None else counted(lag, "offset")
    left = f"{number} left to copy ({watch.get('reason')})"
    forecast = _forecast(lag, watch.get("rate"))
    return Finding(
        Code.BEHIND,
        f"migration {migration}",
        f"{left}; {forecast}",
        "everything copied before that",
        "If the next runs do not catch up, set a longer window (nightly.until) or more tasks (mirror.tasks), or "
        "trigger mode sync at a quiet time.",
        happened=f"Mirroring ended with {left}; {forecast}.",
        matters="The target lacks these records for now. Copied records are kept, and the next run continues from "
        "there.",
    )


def pending_document(at: str, reason: str, windows: tuple[Window, ...]) -> dict[str, Any]:
    """Return the document of a validation that did not start or did not finish."""
    full = [window for window in windows if not window.is_empty]
    return {
        "at": at,
        "reason": reason,
        "windows": len(full),
        "source_offsets": sum(window.source_end - window.source_start for window in full),
    }


def _forecast(left: int | None, rate: float | None) -> str:
    if left is None or rate is None or rate <= 0:
        return "the time left is unknown"
    return f"at {rate:,.0f}/s, the rate of this run, they take {duration(left / rate)}"


def _pending_finding(migration: str, pending: Mapping[str, Any]) -> Finding:
    return Finding(
        Code.VALIDATION_PENDING,
        f"migration {migration}",
        f"{pending['windows']:,} windows with {pending['source_offsets']:,} source offsets not validated "
        f"({pending['reason']})",
        "every window validated before that",
        "To validate them now, clear validate_topics with downstream: a task that a user cleared has no time limit.",
        happened=f"The validation did not finish: {counted(pending['windows'], 'window')} with "
        f"{pending['source_offsets']:,} source offsets remain ({pending['reason']}).",
        matters="No verdict covers these records until the next run validates them.",
    )
