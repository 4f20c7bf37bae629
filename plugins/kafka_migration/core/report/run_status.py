"""The current progress and the last run's result, for monitoring. No decision uses them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.text.terminal_text import duration


@dataclass(frozen=True, slots=True)
class Contradiction(Document):
    """A finding of a run that contradicts an earlier good verdict."""

    code: str
    subject: str
    found: str
    run: str
    at: str

    def __str__(self) -> str:
        return f"{self.code} · {self.subject}: found {self.found} (by {self.run} at {self.at})"

    def is_about(self, topics: Collection[str]) -> bool:
        """Whether its subject names one of the topics."""
        return not set(re.findall(r"[A-Za-z0-9._-]+", self.subject)).isdisjoint(topics)


@dataclass(frozen=True, slots=True)
class LastRun(Document):
    """How the last run ended; `contradictions` includes those of earlier runs that no run has refuted since."""

    run: str
    at: datetime
    mode: str
    outcome: str
    verdict: str
    note: str = ""
    evidence: str = ""
    findings: tuple[Finding, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    schema: Literal[1] = 1


def contradictions(
    before: Iterable[Contradiction], findings: Iterable[Finding], run: str, at: str, refuted: Collection[str] | None
) -> tuple[Contradiction, ...]:
    """Return the contradictions that still hold after a run.

    `refuted` are the topics whose whole copy the run has proved, `None` for all topics of the migration.
    """
    kept = () if refuted is None else tuple(each for each in before if not each.is_about(refuted))
    new = (Contradiction(str(f.code), f.subject, f.found, run, at) for f in findings if f.code.contradicts)
    known = {(each.code, each.subject): each for each in (*kept, *new)}
    return tuple(known.values())


@dataclass(frozen=True, slots=True)
class Silent(Document):
    """A party that does not answer, since when, and why."""

    party: str
    since: str
    reason: str


@dataclass(frozen=True, slots=True)
class Progress(Document):
    """The current step of a run, and the last readings of its watch; `None` means *unknown*."""

    run: str
    at: datetime
    step: str = ""
    stage: str = ""
    mode: str = ""
    generation: int | None = None
    copied: int | None = None
    total: int | None = None
    lag: int | None = None
    rate: float | None = None
    eta_s: float | None = None
    outcome: str | None = None
    ended_at: str | None = None
    silent: tuple[Silent, ...] = ()

    @property
    def words(self) -> str:
        """The progress of the copy: share, lag, rate, time left; empty while nothing is known of it."""
        if self.copied is None or self.total is None or (self.lag is None and not self.total):
            return ""
        share = 100.0 if not self.total else 100 * min(1.0, self.copied / self.total)
        lag = "unknown" if self.lag is None else f"{self.lag:,}"
        rate = "unknown" if self.rate is None else f"{self.rate:,.0f}/s"
        eta = "unknown" if self.eta_s is None else duration(self.eta_s)
        return f"{share:.1f}% ({self.copied:,} of {self.total:,} offsets), lag {lag}, rate {rate}, ETA {eta}"


def progress_of(document: Mapping[str, object]) -> Progress:
    """Read the latest progress. A run that has not read anything yet has no more than its name and the time."""
    nothing = Progress("", datetime.min.replace(tzinfo=UTC)).to_document()
    return Progress.from_document({**nothing, "run": None, "at": None, **document})


def age_words(at: datetime, now: datetime) -> str:
    """Say how long ago a moment was."""
    return f"{duration(max(0.0, (now - at).total_seconds()))} ago"
