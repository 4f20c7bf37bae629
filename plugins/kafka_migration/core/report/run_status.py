"""The current progress, the last run's result and the note of a run, for monitoring. No decision uses them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar, Literal

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.run_document import RunDocument
from kafka_migration.core.report.run_forecast import PastRun, require_plausible
from kafka_migration.core.run.task_steps import TaskId
from kafka_migration.core.text.local_time import LocalTime
from kafka_migration.core.text.terminal_text import duration
from kafka_migration.core.validation.judge_document import JudgedTopic
from kafka_migration.core.watching.drain import TopicLag
from kafka_migration.core.watching.retention_forecast import ForecastDocument


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
    """How the last run ended; `contradictions` includes those of earlier runs that no run has refuted since.

    `past` has the times of the newest run that has validated records, for forecasts. `next_start` is the moment before
    which the next run must start, as the newest run that stopped MirrorMaker has found it. People read its moments in
    `timezone`.
    """

    ADDED: ClassVar[frozenset[str]] = frozenset({"past", "next_start", "timezone"})

    run: str
    at: datetime
    mode: str
    outcome: str
    verdict: str
    note: str = ""
    evidence: str = ""
    findings: tuple[Finding, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    past: PastRun | None = None
    next_start: ForecastDocument | None = None
    timezone: str = "UTC"
    schema: Literal[1] = 1

    @property
    def codes(self) -> list[str]:
        """The codes of its findings, each once."""
        return list(dict.fromkeys(str(finding.code) for finding in self.findings))


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


def next_start(run: RunDocument, before: LastRun | None) -> ForecastDocument | None:
    """Return before when the next run must start; a run that did not stop MirrorMaker changes nothing.

    `None`: the source keeps everything, or a cutover has moved the topics.
    """
    if run.steps.cutover:
        return None
    if run.steps.stop:
        return run.steps.stop.forecast
    return before.next_start if before else None


@dataclass(frozen=True, slots=True)
class Silent(Document):
    """A party that does not answer, since when, and why."""

    party: str
    since: str
    reason: str


# What a Spark job says from time to time; `spark_progress.progress_line` writes it.
_READING = re.compile(r"(?P<read>[0-9,]+) of at most (?P<at_most>[0-9,]+) records read\b")


@dataclass(frozen=True, slots=True)
class Reading(Document):
    """How many records a Spark job has read on both sides at a moment; some of the offsets hold no record."""

    began_at: datetime
    at: datetime
    read: int
    at_most: int

    def __post_init__(self) -> None:
        require_plausible(self.read, self.at_most)

    @classmethod
    def of(cls, line: str, began_at: datetime, at: datetime) -> Reading | None:
        """Read a line of the job; `None` if it does not tell the progress."""
        found = _READING.match(line)
        return found and cls(began_at, at, *(int(number.replace(",", "")) for number in found.groups()))

    @property
    def left_s(self) -> float | None:
        """The seconds until everything is read at the rate so far; `None`: unknown."""
        so_far_s = (self.at - self.began_at).total_seconds()
        return max(0, self.at_most - self.read) * so_far_s / self.read if self.read else None

    @property
    def words(self) -> str:
        """The share, the records, and the time left."""
        share = f"{100 * min(1.0, self.read / self.at_most):.0f}% " if self.at_most else ""
        left = "unknown" if self.left_s is None else duration(self.left_s)
        return f"{share}({self.read:,} of at most {self.at_most:,} records read), ETA {left}"


@dataclass(frozen=True, slots=True)
class Progress(Document):
    """The current step of a run, and the last readings of its watch and of its Spark job; `None` means *unknown*.

    People read its moments in `timezone`.
    """

    ADDED: ClassVar[frozenset[str]] = frozenset({"step_at", "behind", "reading", "timezone"})

    run: str
    at: datetime
    step: str = ""
    step_at: datetime | None = None
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
    behind: tuple[TopicLag, ...] = ()
    reading: Reading | None = None
    timezone: str = "UTC"

    def __post_init__(self) -> None:
        require_plausible(self.copied, self.total, self.lag, self.rate, self.eta_s)

    @property
    def local(self) -> LocalTime:
        """How people read its moments."""
        return LocalTime(self.timezone)

    @property
    def words(self) -> str:
        """The progress of the current step; empty if the step has none, or while nothing is known of it."""
        if self.reading:
            return self.reading.words
        return self.copy_words if self.step == TaskId.WATCH_LAG else ""

    @property
    def share(self) -> float | None:
        """The done part of the current step, 0 to 1; `None`: the step has none, or it is unknown."""
        if self.reading:
            return min(1.0, self.reading.read / self.reading.at_most) if self.reading.at_most else None
        if self.step != TaskId.WATCH_LAG or not self.total or self.copied is None:
            return None
        return min(1.0, self.copied / self.total)

    @property
    def copy_left_s(self) -> float | None:
        """The seconds until the copy reaches its goals, during the watch; `None`: unknown."""
        return self.eta_s if self.step == TaskId.WATCH_LAG else None

    @property
    def copy_words(self) -> str:
        """The copy at the last poll: share, lag, rate, time left; empty while nothing is known of it."""
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


# Airflow keeps 1,000 characters, and a user's own note is kept below ours.
MAX_NOTE = 300
_LONGEST = 1000
_MAX_CODES = 3
_OURS = re.compile(rf"(?:{'|'.join(Mode)}) · ")


def run_note(run: RunDocument, report: str = "") -> str:
    """Return the note of a run, such as `cutover · PASS · 260,000 records · CHG-1234`, with a link to its report.

    Airflow shows a note as Markdown. A link that leaves no space for a user's own note is left out.
    """
    line = " · ".join(" ".join(part.split()) for part in _parts(run) if part)
    note = line if len(line) <= MAX_NOTE else f"{line[: MAX_NOTE - 1]}…"
    return f"{note} · [report]({report})" if 0 < len(report) <= MAX_NOTE else note


def joined_notes(ours: str, present: str | None) -> str:
    """Return our note with the user's text below it; our line of an earlier attempt is replaced."""
    lines = (present or "").splitlines()
    theirs = "\n".join(lines[1:] if lines and _OURS.match(lines[0]) else lines).strip()
    return f"{ours}\n\n{theirs}"[:_LONGEST] if theirs else ours


def _parts(run: RunDocument) -> Iterator[str]:
    yield run.mode
    yield run.verdict or ""
    if run.outcome != "success" or not run.verdict:
        yield ": ".join(filter(None, (run.outcome, ", ".join(run.codes[:_MAX_CODES]))))
    # How many records of the copy are proved in total.
    yield f"{sum(map(_proved, run.topics)):,} records" if run.topics else ""
    yield run.note


def _proved(topic: JudgedTopic) -> int:
    return (topic.whole and topic.whole.target_records) or 0
