"""What one poll of a running MirrorMaker means: go on, drained, or failed with findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.lag import Known, Lag, Unknown, total
from kafka_migration.core.kafka.offsets import Offsets, Ranges, TopicPartition, ranges_to_document, to_document
from kafka_migration.core.mirror.diagnosis import health_findings, unassigned_finding
from kafka_migration.core.mirror.drain import (
    Drain,
    PartitionReading,
    drain_of,
    expected_next,
    gap_findings,
    gaps_of,
    lag_of,
)
from kafka_migration.core.mirror.engine import MirrorHealth
from kafka_migration.core.mirror.progress import ProgressMeter, progress_line

# Two passes in a row, so that one reading taken between two flushes cannot end the watch.
DRAINED_PASSES = 2
# The trigger ends by itself; Airflow's own limit is only the net below it.
TRIGGER_MARGIN = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class WatchLimits:
    """When a watch fails for being late, and after how long Airflow gives its trigger up; `None`: never."""

    deadline: datetime | None
    trigger_timeout: timedelta | None


def watch_limits(now: datetime, time_limit: timedelta | None, ends_at: datetime | None) -> WatchLimits:
    """Return the limits of a watch that begins now.

    `ends_at` is when the watch is to be ended wherever the copy stands: before that it is never late.
    """
    deadline = None if time_limit is None else max(now + time_limit, ends_at or now)
    last = deadline or ends_at
    return WatchLimits(deadline, None if last is None else max(last - now, timedelta()) + TRIGGER_MARGIN)


@dataclass(frozen=True, slots=True)
class Aim:
    """What a poll is measured against.

    `goals` are source ends; reaching them ends the watch only where `is_final`. `stage` is told in every progress
    line, and `doing`, where given, in place of the watch's own words. `unread` are partitions whose end could not be
    read just now: their goal is an earlier one and proves nothing. `findings` end the watch.
    """

    goals: Offsets
    is_final: bool = True
    stage: str = ""
    doing: str = ""
    unread: tuple[TopicPartition, ...] = ()
    findings: tuple[Finding, ...] = ()


# Without a word from MirrorMaker nothing is known to be given to a task.
NOTHING_SAID = MirrorHealth()


@dataclass(frozen=True, slots=True)
class Poll:
    """Everything one poll saw. `unreachable` holds the reason when something could not be asked.

    `health` is what MirrorMaker says of itself, `alarm` the log line that tells of lost records, if there is one.
    `aim` is what the readings were taken for; `None` where it is still that of the poll before. `remark` is told in
    the progress line beside the state.
    """

    readings: Mapping[TopicPartition, PartitionReading]
    health: MirrorHealth = NOTHING_SAID
    alarm: str = ""
    unreachable: str | None = None
    aim: Aim | None = None
    remark: str = ""

    @property
    def unassigned(self) -> frozenset[TopicPartition]:
        """The partitions of which it is not known that somebody copies them."""
        return frozenset(self.readings) - (self.health.assigned or frozenset())


class Outcome(StrEnum):
    """How the watch ended.

    `drained`: everything below the goals is proved copied. `behind`: the time for mirroring was over before that, or
    a person said stop; what was copied is kept. `followed`: a run that follows the source was ended as planned.
    """

    DRAINED = "drained"
    BEHIND = "behind"
    FOLLOWED = "followed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a watch ends without having reached a goal, in words, and what that makes it.

    One that is failed by it has `findings`.
    """

    outcome: Outcome
    reason: str
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class WatchResult:
    """The end of a watch: outcome, the last progress line, and when drained the goals that were proved.

    `proved` are offsets before which nothing is left to copy, `gaps` what the source deleted before it was copied.
    `fence` is the document of the fence proof, where the goals are fenced ends. `reason` says in words why a watch
    ended that did not reach its goals, `lag` the offsets left then, `rate` how many per second were copied
    on the average (`None`: not known).
    """

    outcome: Outcome
    progress: str
    findings: tuple[Finding, ...] = ()
    goals: Offsets = field(default_factory=dict)
    fence: Mapping[str, Any] | None = None
    reason: str = ""
    lag: int | None = None
    rate: float | None = None
    proved: Offsets = field(default_factory=dict)
    gaps: Ranges = field(default_factory=dict)

    def to_document(self) -> dict[str, Any]:
        """Return the trigger event's payload."""
        return {
            "outcome": str(self.outcome),
            "progress": self.progress,
            "findings": [finding.to_document() for finding in self.findings],
            "goals": to_document(self.goals),
            "reason": self.reason,
            "lag": self.lag,
            "rate": self.rate,
            "proved": to_document(self.proved),
            "gaps": ranges_to_document(self.gaps),
            **({} if self.fence is None else {"fence": dict(self.fence)}),
        }


@dataclass(slots=True)
class Watch:
    """The bookkeeping between polls: movement per partition, passes in a row, progress.

    `goals` are what it begins with; a poll's `aim` may bring new ones.

    `proved` are offsets before which, from the position that was probed on, there is no record to copy: that stays
    true, also when the source deletes the markers that lie there.

    All times are monotonic seconds of one process; a restarted watcher starts its stall clocks anew, while
    the deadline is absolute and lies with the caller.
    """

    start_positions: Offsets
    goals: Offsets
    stall_after_s: float
    started_s: float
    meter: ProgressMeter = field(init=False)
    aim: Aim = field(init=False)
    lag: Lag = field(init=False, default=Unknown("nothing was read yet"))
    passes: int = 0
    progress: str = ""
    proved: dict[TopicPartition, int] = field(default_factory=dict)
    _assigned_s: float = field(init=False)
    _moved: dict[TopicPartition, tuple[int, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.aim = Aim(self.goals)
        self.meter = ProgressMeter(self._total())
        self._assigned_s = self.started_s

    def take(self, poll: Poll, now_s: float) -> WatchResult | None:
        """Take one poll in; return the result when the watch is over."""
        self._aim_at(poll.aim or self.aim)
        self.proved |= {p: r.probe.offset for p, r in poll.readings.items() if r.probe is not None}
        self.lag = _lag(poll)
        if isinstance(self.lag, Known):
            self.meter.add(now_s, self.meter.total - min(self.lag.offsets, self.meter.total))
        self.progress = progress_line(self.meter, self.lag, now_s - self.started_s, self._state(poll))
        gaps = _gaps(poll)
        findings = (*self.aim.findings, *self._findings(poll, gaps, now_s))
        if findings:
            return WatchResult(Outcome.FAILED, self.progress, findings, proved=dict(self.proved), gaps=gaps)
        self.passes = self.passes + 1 if self.aim.is_final and self._all_drained(poll) else 0
        if self.passes < DRAINED_PASSES:
            return None
        proved = expected_next(self.goals, self.proved, {})
        return WatchResult(Outcome.DRAINED, self.progress, goals=self.goals, proved=proved)

    def end(self, ending: Ending) -> WatchResult:
        """Return the result of a watch that ends now, wherever the copy stands."""
        lag = self.lag.offsets if isinstance(self.lag, Known) else None
        return WatchResult(
            ending.outcome,
            self.progress,
            ending.findings,
            reason=ending.reason,
            lag=lag,
            rate=self.meter.average_rate(self.started_s),
            proved=dict(self.proved),
        )

    def _aim_at(self, aim: Aim) -> None:
        if aim.goals != self.goals:
            self.passes = 0
        self.aim, self.goals = aim, aim.goals
        self.meter.total = self._total()

    def _total(self) -> int:
        # A partition that the start did not know was added since: all of it is to be copied.
        return sum(max(0, goal - self.start_positions.get(p, 0)) for p, goal in self.goals.items())

    def needs_probe(self, partition: TopicPartition, expected_next: int) -> bool:
        """A probe is worth its cost only where the position stood still since the last poll."""
        return self._moved.get(partition, (None, 0.0))[0] == expected_next

    def _all_drained(self, poll: Poll) -> bool:
        return (
            poll.unreachable is None
            and not poll.unassigned
            and set(poll.readings) == set(self.goals)
            and all(drain_of(reading) is Drain.DRAINED for reading in poll.readings.values())
        )

    def _state(self, poll: Poll) -> str:
        return ", ".join(text for text in (self.aim.stage, poll.remark, self._words(poll)) if text)

    def _words(self, poll: Poll) -> str:
        if poll.unreachable is not None:
            return f"waiting, {poll.unreachable}"
        if self.aim.doing:
            return self.aim.doing
        if isinstance(self.lag, Unknown):
            return f"waiting, {self.lag.reason}"
        if poll.unassigned:
            return f"waiting, {len(poll.unassigned)} partition(s) are not given to a task yet"
        if self.lag.offsets == 0:
            return "at the goal, confirming" if self.aim.is_final else "at the end of the source"
        return "waiting for the first records" if self.meter.copied == 0 else "mirroring"

    def _findings(self, poll: Poll, gaps: Ranges, now_s: float) -> tuple[Finding, ...]:
        return (
            *health_findings(poll.health, poll.alarm),
            *gap_findings(gaps, Code.GAP_DURING_RUN),
            *self._unassigned(poll, now_s),
            *self._stalls(poll, now_s),
        )

    def _unassigned(self, poll: Poll, now_s: float) -> tuple[Finding, ...]:
        if poll.unreachable is not None or not poll.unassigned:
            self._assigned_s = now_s
        still_s = now_s - self._assigned_s
        return (unassigned_finding(poll.unassigned, still_s),) if still_s >= self.stall_after_s else ()

    def _stalls(self, poll: Poll, now_s: float) -> tuple[Finding, ...]:
        if poll.unreachable is not None:
            # Nobody saw whether it moved; and a MirrorMaker that died, or lost a cluster, gets its time anew.
            self._moved = {p: (position, now_s) for p, (position, _) in self._moved.items()}
        findings = []
        for partition, reading in sorted(poll.readings.items()):
            if reading.expected_next is None:
                continue
            position, since_s = self._moved.get(partition, (None, now_s))
            # At its goal a partition may rest for as long as it likes; its clock starts when a later goal comes.
            if position != reading.expected_next or drain_of(reading) is Drain.DRAINED:
                self._moved[partition] = (reading.expected_next, now_s)
            elif now_s - since_s >= self.stall_after_s:
                findings.append(_stalled(partition, reading, now_s - since_s))
        return tuple(findings)


def _lag(poll: Poll) -> Lag:
    if poll.unreachable is not None:
        return Unknown(poll.unreachable)
    return total(lag_of(reading) for reading in poll.readings.values())


def _gaps(poll: Poll) -> Ranges:
    return gaps_of(
        {p: r.expected_next for p, r in poll.readings.items() if r.expected_next is not None},
        {p: r.source_log_start for p, r in poll.readings.items() if r.source_log_start is not None},
    )


def _stalled(partition: TopicPartition, reading: PartitionReading, still_s: float) -> Finding:
    return Finding(
        Code.MIRROR_STALLED,
        str(partition),
        f"position {reading.expected_next:,} unchanged for {still_s:.0f} s, goal {reading.goal:,}",
        "movement within watch.stall_after",
        "Mend the cause and trigger the run again; what was copied stays.",
    )
