"""When a run will end: the rest of its copy and its validation, and the other phases as long as in an earlier run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_migration.core.documents.codec import Document, DoesNotFit
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.run_document import RunDocument
from kafka_migration.core.run.task_steps import STEPS, RunPhase, idle_phases
from kafka_migration.core.text.local_time import LocalTime
from kafka_migration.core.text.terminal_text import duration


def require_plausible(*numbers: float | None) -> None:
    """Raise `DoesNotFit` for a number that no run tells: beyond 64 bits, or none. Anyone may write these documents."""
    if not all(number is None or abs(number) < _TOO_LARGE for number in numbers):
        raise DoesNotFit("a number is beyond 64 bits")


_TOO_LARGE = 2**63
# Spark reads so many records faster than it starts, so the time for fewer is that of its start (docs/adr/0058).
_READ_DURING_A_START = 200_000


@dataclass(frozen=True, slots=True)
class PastRun(Document):
    """How many seconds each phase of a run took, and how many records of the target it compared."""

    seconds: Mapping[str, float]
    records: int

    def __post_init__(self) -> None:
        require_plausible(self.records, *self.seconds.values())

    @classmethod
    def of(cls, run: RunDocument, before: PastRun | None) -> PastRun | None:
        """Return the times of a run; a run that compared nothing, as many nights, only adds what was unknown."""
        own, known = {each.name: each.seconds for each in run.phases}, before.seconds if before else {}
        if records := sum(each.target or 0 for each in run.records.values()):
            return cls({**known, **own}, records)
        return before


@dataclass(frozen=True, slots=True)
class Doing:
    """What an active run does: its step since a moment, and the seconds that were left of it `at` the last news.

    `offsets` is how many source offsets the run copies. `None`: unknown.
    """

    step: str
    mode: str
    since: datetime
    at: datetime
    left_s: float | None
    offsets: int | None


@dataclass(frozen=True, slots=True)
class Forecast(Document):
    """The seconds that each phase of an active run will still take, without the time in which it waits for people.

    `unknown` are the phases whose time is unknown; with one of them, the end is unknown too.
    """

    ends_at: datetime | None
    seconds: Mapping[str, int]
    unknown: tuple[str, ...]
    waits_for_people: bool

    def words(self, local: LocalTime) -> str:
        """Return when the run ends, and how long its phases take until then."""
        known = ", ".join(f"{_lower(name)} {duration(seconds)}" for name, seconds in self.seconds.items())
        unknown = f"{', '.join(map(_lower, self.unknown))}: not known" if self.unknown else ""
        waits = " plus the time in which the run waits for people" if self.waits_for_people else ""
        when = "unknown" if self.ends_at is None else f"about {local.clock(self.ends_at, self.ends_at, seconds=True)}"
        return f"{when}{waits} ({'; '.join(filter(None, (known, unknown)))})"


def _lower(name: str) -> str:
    return name[:1].lower() + name[1:]


def forecast(doing: Doing, past: PastRun | None, now: datetime) -> Forecast | None:
    """Return when an active run ends; `None` if that depends on no work, as in modes `follow` and rollbacks."""
    current = _PHASES.get(doing.step)
    if current is None or doing.mode not in _FORECAST:
        return None
    left = {phase: _seconds(phase, current, doing, past, now) for phase in _left(current, Mode(doing.mode))}
    seconds = {str(phase): round(each) for phase, each in left.items() if each is not None}
    unknown = tuple(str(phase) for phase, each in left.items() if each is None)
    ends_at = None if unknown else now + timedelta(seconds=sum(seconds.values()))
    return Forecast(ends_at, seconds, unknown, RunPhase.WRITE_GROUPS in left and current is not RunPhase.WRITE_GROUPS)


_PHASES = {str(step.task): step.phase for step in STEPS}
_FORECAST = frozenset(str(mode) for mode in Mode if mode is not Mode.FOLLOW and not mode.rolls_back)


def _left(current: RunPhase, mode: Mode) -> Iterator[RunPhase]:
    """Yield the phases of a mode that are not over yet, without the one that waits for people."""
    phases = tuple(RunPhase)
    left_out = {
        RunPhase.APPROVAL,
        *idle_phases(mode),
        *(() if mode.plans_groups else (RunPhase.PLAN_GROUPS,)),
        *(() if mode.moves_groups else (RunPhase.WRITE_GROUPS,)),
    }
    yield from (phase for phase in phases[phases.index(current) :] if phase not in left_out)


def _seconds(phase: RunPhase, current: RunPhase, doing: Doing, past: PastRun | None, now: datetime) -> float | None:
    """Return how long a phase will still take; `None`: unknown."""
    if phase is current and doing.left_s is not None:
        return max(0.0, doing.left_s - (now - doing.at).total_seconds())
    if phase is RunPhase.COPY or past is None or phase not in past.seconds:
        return None
    whole = past.seconds[phase]
    if phase is RunPhase.VALIDATE and doing.offsets is not None:
        # A part of the time is Spark's start, so fewer records do not take proportionally less.
        whole *= max(1.0, doing.offsets / max(past.records, _READ_DURING_A_START))
    return max(0.0, whole - (now - doing.since).total_seconds()) if phase is current else whole
