"""Findings about a run that ended before its work was done: records left to copy or to validate."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.text.terminal_text import counted, duration
from kafka_migration.core.watching.watch import Outcome, WatchResult


@dataclass(frozen=True, slots=True)
class PendingValidation(Document):
    """A validation that did not start or did not finish: why, its windows with offsets, and their source offsets."""

    at: str
    reason: str
    windows: int
    source_offsets: int

    @classmethod
    def of(cls, at: str, reason: str, windows: tuple[Window, ...]) -> PendingValidation:
        """Return what is left of a validation of these windows."""
        full = [window for window in windows if not window.is_empty]
        return cls(at, reason, len(full), sum(window.source_end - window.source_start for window in full))


def late_findings(migration: str, watch: WatchResult | None, pending: PendingValidation | None) -> tuple[Finding, ...]:
    """Return the findings of an unfinished watch and of a pending validation; none if everything was done."""
    behind = [behind_finding(migration, watch)] if watch and watch.outcome is Outcome.BEHIND else []
    return (*behind, *([_pending_finding(migration, pending)] if pending else []))


def behind_finding(migration: str, watch: WatchResult) -> Finding:
    """Return the finding of a watch that ended before everything was copied."""
    lag = watch.lag
    number = "an unknown number of offsets" if lag is None else counted(lag, "offset")
    left = f"{number} left to copy ({watch.reason})"
    forecast = _forecast(lag, watch.rate, watch.left_s)
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


def _forecast(left: int | None, rate: float | None, slowest_s: float | None) -> str:
    if left is None or rate is None or rate <= 0:
        return "the time left is unknown"
    if slowest_s is None or slowest_s <= left / rate:
        return f"at {rate:,.0f}/s, the rate of this run, they take {duration(left / rate)}"
    return f"the slowest task of MirrorMaker needs {duration(slowest_s)} for its part, at its rate of this run"


def _pending_finding(migration: str, pending: PendingValidation) -> Finding:
    return Finding(
        Code.VALIDATION_PENDING,
        f"migration {migration}",
        f"{pending.windows:,} windows with {pending.source_offsets:,} source offsets not validated ({pending.reason})",
        "every window validated before that",
        "To validate them now, clear the task validate_topics with its downstream tasks: it then has no time limit.",
        happened=f"The validation did not finish: {counted(pending.windows, 'window')} with "
        f"{pending.source_offsets:,} source offsets remain ({pending.reason}).",
        matters="No verdict covers these records until the next run validates them.",
    )
