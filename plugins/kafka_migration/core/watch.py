"""What one poll of a running MirrorMaker means: go on, drained, or failed with findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from kafka_migration.core.codes import Code
from kafka_migration.core.drain import Drain, PartitionReading, drain_of, gap_findings, lag_of
from kafka_migration.core.errors import Finding
from kafka_migration.core.lag import Lag, Unknown, total
from kafka_migration.core.offsets import TopicPartition
from kafka_migration.core.progress import ProgressMeter, progress_line

# Two passes in a row, so that one reading taken between two flushes cannot end the watch.
DRAINED_PASSES = 2


@dataclass(frozen=True, slots=True)
class Poll:
    """Everything one poll saw. `unreachable` holds the reason when something could not be asked."""

    readings: Mapping[TopicPartition, PartitionReading]
    process_alive: bool | None
    process_text: str = ""
    failed_tasks: tuple[str, ...] = ()
    unreachable: str | None = None


class Outcome(StrEnum):
    """How the watch ended."""

    DRAINED = "drained"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class WatchResult:
    """The end of a watch: outcome, the last progress line, proved offsets are the goals when drained."""

    outcome: Outcome
    progress: str
    findings: tuple[Finding, ...] = ()

    def to_document(self) -> dict[str, Any]:
        """Return the trigger event's payload."""
        return {
            "outcome": str(self.outcome),
            "progress": self.progress,
            "findings": [finding.to_document() for finding in self.findings],
        }


@dataclass(slots=True)
class Watch:
    """The bookkeeping between polls: movement per partition, passes in a row, progress.

    All times are monotonic seconds of one process; a restarted watcher starts its stall clocks anew, while
    the deadline is absolute and lies with the caller.
    """

    start_positions: Mapping[TopicPartition, int]
    goals: Mapping[TopicPartition, int]
    stall_after_s: float
    started_s: float
    meter: ProgressMeter = field(init=False)
    passes: int = 0
    progress: str = ""
    _moved: dict[TopicPartition, tuple[int, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.meter = ProgressMeter(
            sum(max(0, goal - self.start_positions.get(p, goal)) for p, goal in self.goals.items())
        )

    def take(self, poll: Poll, now_s: float) -> WatchResult | None:
        """Take one poll in; return the result when the watch is over."""
        lag = total(lag_of(reading) for reading in poll.readings.values())
        if poll.unreachable is not None:
            lag = Unknown(poll.unreachable)
        elif isinstance(lag, Unknown):
            pass
        else:
            self.meter.add(now_s, self.meter.total - min(lag.offsets, self.meter.total))
        self.progress = progress_line(self.meter, lag, now_s - self.started_s, self._state(poll, lag))
        findings = self._findings(poll, now_s)
        if findings:
            return WatchResult(Outcome.FAILED, self.progress, findings)
        self.passes = self.passes + 1 if self._all_drained(poll) else 0
        return WatchResult(Outcome.DRAINED, self.progress) if self.passes >= DRAINED_PASSES else None

    def needs_probe(self, partition: TopicPartition, expected_next: int) -> bool:
        """A probe is worth its cost only where the position stood still since the last poll."""
        return self._moved.get(partition, (None, 0.0))[0] == expected_next

    def _all_drained(self, poll: Poll) -> bool:
        return (
            poll.unreachable is None
            and set(poll.readings) == set(self.goals)
            and all(drain_of(reading) is Drain.DRAINED for reading in poll.readings.values())
        )

    def _state(self, poll: Poll, lag: Lag) -> str:
        if poll.unreachable is not None:
            return f"waiting, {poll.unreachable}"
        if isinstance(lag, Unknown):
            return f"waiting, {lag.reason}"
        if lag.offsets == 0:
            return "at the goal, confirming"
        if self.meter.copied == 0:
            return "waiting for the first records"
        return "mirroring"

    def _findings(self, poll: Poll, now_s: float) -> tuple[Finding, ...]:
        gaps = gap_findings(
            {p: r.expected_next for p, r in poll.readings.items() if r.expected_next is not None},
            {p: r.source_log_start for p, r in poll.readings.items() if r.source_log_start is not None},
        )
        return (*_process_findings(poll), *gaps, *self._stalls(poll, now_s))

    def _stalls(self, poll: Poll, now_s: float) -> tuple[Finding, ...]:
        findings = []
        for partition, reading in sorted(poll.readings.items()):
            if reading.expected_next is None:
                continue
            position, since_s = self._moved.get(partition, (None, now_s))
            if position != reading.expected_next:
                self._moved[partition] = (reading.expected_next, now_s)
            elif now_s - since_s >= self.stall_after_s and drain_of(reading) is not Drain.DRAINED:
                findings.append(_stalled(partition, reading, now_s - since_s))
        return tuple(findings)


def _stalled(partition: TopicPartition, reading: PartitionReading, still_s: float) -> Finding:
    return Finding(
        Code.MIRROR_STALLED,
        str(partition),
        f"position {reading.expected_next:,} unchanged for {still_s:.0f} s, goal {reading.goal:,}",
        "movement within watch.stall_after",
        "Look at the MirrorMaker log below for the cause (record too large, authorisation, not enough replicas, "
        "an open transaction), mend it, and trigger the run again; what was copied stays.",
    )


def _process_findings(poll: Poll) -> tuple[Finding, ...]:
    findings = [
        Finding(
            Code.MIRROR_TASK_FAILED,
            "MirrorMaker",
            task,
            "every task in state RUNNING",
            "Mend the cause that the trace names and trigger the run again; what was copied stays.",
        )
        for task in poll.failed_tasks
    ]
    if poll.process_alive is False:
        findings.append(
            Finding(
                Code.MIRROR_DEAD,
                "MirrorMaker",
                poll.process_text,
                "a living process until it is stopped",
                "Mend the cause that the log names and trigger the run again; what was copied stays.",
            )
        )
    return tuple(findings)
