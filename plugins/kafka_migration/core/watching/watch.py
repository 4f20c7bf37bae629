"""The result of one poll of a running MirrorMaker: continue, drained, or failed with findings; and its evidence."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar, Literal

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.offsets import Known, Lag, Offsets, Ranges, TopicPartition, Unknown, total
from kafka_migration.core.mirror.diagnosis import health_findings, unassigned_finding
from kafka_migration.core.mirror.engine import MirrorHealth
from kafka_migration.core.text.terminal_text import duration
from kafka_migration.core.watching.drain import (
    Drain,
    PartitionReading,
    TopicLag,
    deletion_findings,
    drain_of,
    expected_next,
    gaps_of,
    lag_of,
    topics_behind,
)
from kafka_migration.core.watching.fence import FenceProof
from kafka_migration.core.watching.lag_trend import LagMoment, remembered, with_trend
from kafka_migration.core.watching.progress import ProgressMeter, Share, progress_line

# Two passes in a row, so that a single reading between two flushes cannot end the watch.
DRAINED_PASSES = 2
# The trigger ends by itself; Airflow's own limit is only a safety net.
TRIGGER_MARGIN = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class WatchLimits:
    """When a watch fails because it is late, and after how long Airflow times out its trigger; `None`: never."""

    deadline: datetime | None
    trigger_timeout: timedelta | None


def watch_limits(now: datetime, time_limit: timedelta | None, ends_at: datetime | None) -> WatchLimits:
    """Return the limits of a watch that starts now.

    `ends_at` is when the watch ends in any case; before that it is never late.
    """
    deadline = None if time_limit is None else max(now + time_limit, ends_at or now)
    last = deadline or ends_at
    return WatchLimits(deadline, None if last is None else max(last - now, timedelta()) + TRIGGER_MARGIN)


@dataclass(frozen=True, slots=True)
class Aim:
    """The goals against which a poll is measured.

    `goals` are source ends; reaching them ends the watch only if `is_final`. Every progress line shows `stage`, and
    `doing`, if given, instead of the watch's own state. `unread` are partitions whose end could not be read now: their
    goal is an earlier end and proves nothing. `findings` end the watch.
    `held_back` is the number of source offsets after open transactions.
    """

    goals: Offsets
    is_final: bool = True
    stage: str = ""
    doing: str = ""
    unread: tuple[TopicPartition, ...] = ()
    findings: tuple[Finding, ...] = ()
    held_back: int = 0


# As long as MirrorMaker reports nothing, no partition counts as assigned.
NOTHING_SAID = MirrorHealth()


@dataclass(frozen=True, slots=True)
class Poll:
    """The readings of one poll. `unreachable` holds the reason if a system did not answer.

    `health` is MirrorMaker's own report, `alarm` a log line about lost records, if there is one. `aim` holds the goals
    of these readings; `None` means those of the poll before. The progress line shows `remark` next to the state.
    `findings` end the watch.
    """

    readings: Mapping[TopicPartition, PartitionReading]
    health: MirrorHealth = NOTHING_SAID
    alarm: str = ""
    unreachable: str | None = None
    aim: Aim | None = None
    remark: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def unassigned(self) -> frozenset[TopicPartition]:
        """The partitions that are not known to be assigned to a task."""
        return frozenset(self.readings) - (self.health.assigned or frozenset())


class Outcome(StrEnum):
    """How the watch ended.

    `drained`: everything below the goals is proved to be copied. `behind`: the time for mirroring ended before that, or
    a user requested a stop; copied records are kept. `followed`: a run in mode follow ended as planned.
    """

    DRAINED = "drained"
    BEHIND = "behind"
    FOLLOWED = "followed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a watch ends without reaching its goals, and its outcome.

    A failed one has `findings`.
    """

    outcome: Outcome
    reason: str
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class WatchResult(Document):
    """The end of a watch: outcome, the last progress line, and when drained the goals that were proved.

    `proved` are offsets before which nothing is left to copy. `gaps` are ranges that the source deleted before they
    were copied. `fence` is the proof of the fence, if the goals are fenced ends. If the watch did not reach
    its goals, `reason` says why, `lag` is the number of offsets left, `rate` the average number copied per second, and
    `left_s` the seconds that the slowest task needs for the rest at its average rate (`None`: unknown).
    """

    # The event of a trigger that an earlier version started may lack them.
    ADDED: ClassVar[frozenset[str]] = frozenset(
        {"findings", "goals", "fence", "reason", "lag", "rate", "left_s", "proved", "gaps"}
    )

    outcome: Outcome
    progress: str
    findings: tuple[Finding, ...] = ()
    goals: Offsets = field(default_factory=dict)
    fence: FenceProof | None = None
    reason: str = ""
    lag: int | None = None
    rate: float | None = None
    left_s: float | None = None
    proved: Offsets = field(default_factory=dict)
    gaps: Ranges = field(default_factory=dict)


@dataclass(slots=True)
class Watch:
    """The state between polls: movement per partition, passes in a row, progress.

    `goals` and `held_back` are the first ones; a poll's `aim` may bring new ones.

    `proved` are offsets: between the probed position and such an offset there is no record to copy. This remains true
    if the source later deletes the markers in between.

    All times are monotonic seconds of one process. A restarted watch starts its stall clocks again; the deadline is
    absolute and belongs to the caller.
    """

    start_positions: Offsets
    goals: Offsets
    stall_after_s: float
    started_s: float
    held_back: int = 0
    meter: ProgressMeter = field(init=False)
    aim: Aim = field(init=False)
    lag: Lag = field(init=False, default=Unknown("nothing read yet"))
    behind: tuple[TopicLag, ...] = field(init=False, default=())
    passes: int = 0
    progress: str = ""
    proved: dict[TopicPartition, int] = field(default_factory=dict)
    _assigned_s: float = field(init=False)
    _moved: dict[TopicPartition, tuple[int, float]] = field(default_factory=dict)
    _moments: tuple[LagMoment, ...] = ()
    _tasks: tuple[frozenset[TopicPartition], ...] = ()

    def __post_init__(self) -> None:
        self.aim = Aim(self.goals, held_back=self.held_back)
        self.meter = ProgressMeter(self._total())
        self._assigned_s = self.started_s

    def take(self, poll: Poll, now_s: float) -> WatchResult | None:
        """Add a poll; return the result when the watch is over."""
        self._aim_at(poll.aim or self.aim)
        self.proved |= {p: r.probe.offset for p, r in poll.readings.items() if r.probe is not None}
        self.lag, self.behind = _lag(poll), with_trend(topics_behind(poll.readings), self._moments, now_s)
        self._moments = remembered(self._moments, self.behind, now_s)
        if isinstance(self.lag, Known):
            self.meter.add(now_s, self.meter.total - min(self.lag.offsets, self.meter.total))
            self._tasks = poll.health.tasks or self._tasks
            self.meter.add_parts(now_s, {task: self._share(task, poll) for task in self._tasks})
        self.progress = progress_line(self.meter, self.lag, now_s - self.started_s, self._state(poll))
        gaps = _gaps(poll)
        findings = (*self.aim.findings, *poll.findings, *self._findings(poll, gaps, now_s))
        if findings:
            return WatchResult(Outcome.FAILED, self.progress, findings, proved=dict(self.proved), gaps=gaps)
        self.passes = self.passes + 1 if self.aim.is_final and self._all_drained(poll) else 0
        if self.passes < DRAINED_PASSES:
            return None
        proved = expected_next(self.goals, self.proved, {})
        return WatchResult(Outcome.DRAINED, self.progress, goals=self.goals, proved=proved)

    def end(self, ending: Ending) -> WatchResult:
        """Return the result of a watch that ends now, whether or not it reached its goals."""
        lag = self.lag.offsets if isinstance(self.lag, Known) else None
        return WatchResult(
            ending.outcome,
            self.progress,
            ending.findings,
            reason=ending.reason,
            lag=lag,
            rate=self.meter.average_rate(self.started_s),
            left_s=None if lag is None else self.meter.average_left_s(self.started_s),
            proved=dict(self.proved),
        )

    def _aim_at(self, aim: Aim) -> None:
        if aim.goals != self.goals:
            self.passes = 0
        self.aim, self.goals = aim, aim.goals
        self.meter.total = self._total()

    def _total(self) -> int:
        return sum(map(self._to_copy, self.goals))

    def _to_copy(self, partition: TopicPartition) -> int:
        # A partition that did not exist at the start was added since: all of it must be copied.
        return max(0, self.goals.get(partition, 0) - self.start_positions.get(partition, 0))

    def _share(self, task: Collection[TopicPartition], poll: Poll) -> Share:
        """Return how far the partitions of a task are copied; all lags are known."""
        lag = total(lag_of(poll.readings[p]) for p in task if p in poll.readings)
        to_copy = sum(map(self._to_copy, task))
        return Share(to_copy - min(lag.offsets, to_copy) if isinstance(lag, Known) else 0, to_copy)

    def needs_probe(self, partition: TopicPartition, expected_next: int) -> bool:
        """Whether to probe a partition: only if its position did not move since the last poll."""
        return self._moved.get(partition, (None, 0.0))[0] == expected_next

    def _all_drained(self, poll: Poll) -> bool:
        return (
            poll.unreachable is None
            and not poll.unassigned
            and set(poll.readings) == set(self.goals)
            and all(drain_of(reading) is Drain.DRAINED for reading in poll.readings.values())
        )

    def _state(self, poll: Poll) -> str:
        held = self.aim.held_back
        after = f"{held:,} offsets wait for open transactions" if held else ""
        return ", ".join(text for text in (self.aim.stage, poll.remark, self._words(poll), after) if text)

    def _words(self, poll: Poll) -> str:
        if poll.unreachable is not None:
            return f"waiting, {poll.unreachable}"
        if self.aim.doing:
            return self.aim.doing
        if isinstance(self.lag, Unknown):
            return f"waiting, {self.lag.reason}"
        if poll.unassigned:
            return f"waiting, {len(poll.unassigned)} partition(s) not assigned to a task yet"
        if self.lag.offsets == 0:
            return "at the goal, confirming" if self.aim.is_final else "at the end of the source"
        return "waiting for the first records" if self.meter.copied == 0 else "mirroring"

    def _findings(self, poll: Poll, gaps: Ranges, now_s: float) -> tuple[Finding, ...]:
        return (
            *health_findings(poll.health, poll.alarm),
            *deletion_findings(gaps),
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
            # Movement was not observed; a MirrorMaker that died or lost a cluster gets the full time again.
            self._moved = {p: (position, now_s) for p, (position, _) in self._moved.items()}
        findings = []
        for partition, reading in sorted(poll.readings.items()):
            if reading.expected_next is None:
                continue
            position, since_s = self._moved.get(partition, (None, now_s))
            # A partition at its goal cannot stall; its clock starts again with the next goal.
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
        "progress within watch.stall_after",
        "Remove the cause: an open transaction on the source, a quota on MirrorMaker's user, or what its log names "
        "(mirrormaker.log on the host, or the logs of the Kafka Connect workers). Then trigger the run again.",
        happened=f"MirrorMaker has made no progress on {partition} (position {reading.expected_next:,}, goal "
        f"{reading.goal:,}) for {duration(still_s)}, longer than watch.stall_after allows.",
        matters="The records up to the goal are not on the target. Copied records are kept.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Announced(Document):
    """The watch announced that the producers must stop; `lag` is the copy's lag at that time, as text."""

    at: str
    generation: int
    announced_at: str
    lag: str
    stage: Literal["announced"] = "announced"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fenced(FenceProof):
    """The fence is proved: the source receives no records any more, and its ends are the goals."""

    at: str
    generation: int
    stage: Literal["fenced"] = "fenced"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchEnded(WatchResult):
    """The watch is over. `generation` is the last one of MirrorMaker; `None` if the run started none."""

    at: str
    generation: int | None

    @classmethod
    def without_mirror(cls, at: str, goals: Offsets, left: int, reason: str) -> WatchEnded:
        """Return the end of a run that started no MirrorMaker: the goals were reached before, or offsets are left."""
        reached = WatchResult(Outcome.DRAINED, "", goals=goals)
        result = WatchResult(Outcome.BEHIND, "", reason=reason, lag=left) if left else reached
        return cls.extended(result, at=at, generation=None)


WatchRecord = Announced | Fenced | WatchEnded
