"""The current progress and the last run's result, for monitoring. No decision uses them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.text.shown import duration

NEWS_SCHEMA = 1
# Findings about the present copy, which invalidate what earlier runs proved.
CONTRADICTING = frozenset(
    {
        Code.TARGET_WRITTEN_BY_OTHERS,
        Code.TARGET_TOPIC_RECREATED,
        Code.TARGET_TOPIC_MISSING,
        Code.SOURCE_TOPIC_RECREATED,
        Code.GAP,
        Code.GAP_DURING_RUN,
        Code.POSITION_MISSING,
        Code.POSITION_CHANGED,
        Code.POSITION_BEYOND_END,
        Code.STALE_MIRROR_STATE,
        Code.MOVED_TOPIC_CHANGED,
        Code.COPY_DIFFERS,
        Code.RECORDS_NOT_VERIFIABLE,
    }
)


@dataclass(frozen=True, slots=True)
class Contradiction:
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

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Contradiction:
        """Read it back."""
        return cls(*(_text(document[name]) for name in ("code", "subject", "found", "run", "at")))


@dataclass(frozen=True, slots=True)
class LastRun:
    """How the last run ended; `contradictions` includes those of earlier runs that no run has refuted since."""

    run: str
    at: str
    mode: str
    outcome: str
    verdict: str
    note: str = ""
    evidence: str = ""
    findings: tuple[Mapping[str, str], ...] = ()
    contradictions: tuple[Contradiction, ...] = ()

    def to_document(self) -> dict[str, Any]:
        """Return the document that is kept."""
        return {"schema": NEWS_SCHEMA, **asdict(self)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> LastRun:
        """Read back what `to_document` wrote; raises `KeyError`, `TypeError` or `ValueError` for anything else."""
        texts = {
            name: _text(document[name]) for name in ("run", "at", "mode", "outcome", "verdict", "note", "evidence")
        }
        _moment(texts["at"])
        findings = tuple(Finding.from_document(each).to_document() for each in _list(document["findings"]))
        contradictions = tuple(Contradiction.from_document(each) for each in _list(document["contradictions"]))
        return cls(**texts, findings=findings, contradictions=contradictions)


def contradictions(
    before: Iterable[Contradiction], findings: Iterable[Finding], run: str, at: str, refuted: Collection[str] | None
) -> tuple[Contradiction, ...]:
    """Return the contradictions that still hold after a run.

    `refuted` are the topics whose whole copy the run has proved, `None` for all topics of the migration.
    """
    kept = () if refuted is None else tuple(each for each in before if not each.is_about(refuted))
    new = (Contradiction(str(f.code), f.subject, f.found, run, at) for f in findings if f.code in CONTRADICTING)
    known = {(each.code, each.subject): each for each in (*kept, *new)}
    return tuple(known.values())


@dataclass(frozen=True, slots=True)
class Progress:
    """The current step of a run, and the last readings of its watch; `None` means *unknown*."""

    run: str
    at: str
    step: str
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
    silent: tuple[Mapping[str, str], ...] = field(default=())

    def to_document(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Progress:
        """Read the document that is kept; raises `KeyError`, `TypeError` or `ValueError` for anything else."""
        at = _moment(document["at"])
        silent = tuple(
            {name: _text(each[name]) for name in ("party", "since", "reason")} for each in _list(document.get("silent"))
        )
        return cls(
            run=_text(document["run"]),
            at=at,
            step=_text(document.get("step") or ""),
            stage=_text(document.get("stage") or ""),
            mode=_text(document.get("mode") or ""),
            generation=_whole(document.get("generation")),
            copied=_whole(document.get("copied")),
            total=_whole(document.get("total")),
            lag=_whole(document.get("lag")),
            rate=_number(document.get("rate")),
            eta_s=_number(document.get("eta_s")),
            outcome=_text(document.get("outcome") or "") or None,
            ended_at=_text(document.get("ended_at") or "") or None,
            silent=silent,
        )

    @property
    def words(self) -> str:
        """The progress of the copy: share, lag, rate, time left; empty before the first reading."""
        if self.copied is None or self.total is None:
            return ""
        share = 100.0 if not self.total else 100 * min(1.0, self.copied / self.total)
        lag = "unknown" if self.lag is None else f"{self.lag:,}"
        rate = "unknown" if self.rate is None else f"{self.rate:,.0f}/s"
        eta = "unknown" if self.eta_s is None else duration(self.eta_s)
        return f"{share:.1f}% ({self.copied:,} of {self.total:,} offsets), lag {lag}, rate {rate}, ETA {eta}"


def _moment(value: object) -> str:
    at = datetime.fromisoformat(_text(value))
    if at.tzinfo is None:
        raise ValueError("a moment without a time zone")
    return at.isoformat()


def age_words(at: str, now: datetime) -> str:
    """Say how long ago a moment was."""
    seconds = (now - datetime.fromisoformat(at)).total_seconds()
    return f"{duration(max(0.0, seconds))} ago"


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text was expected, not {type(value).__name__}")
    return value


def _whole(value: object) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise TypeError(f"a whole number was expected, not {type(value).__name__}")


def _number(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf"):
        return float(value)
    raise TypeError(f"a number was expected, not {value!r:.40}")


def _list(value: object) -> Sequence[Mapping[str, Any]]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise TypeError("a list of objects was expected")
    return value
