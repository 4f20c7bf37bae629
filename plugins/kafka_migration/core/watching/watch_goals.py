"""The goals of a watch that move with the source.

Mode follow has one stage: the goals are the source's current ends, and reaching them does not end the watch.

A cutover approaches the live end, proves the fence, and drains to the fenced ends:

approaching   goals are the source's current ends; near once the total lag is small enough
near          the producers were asked to stop; MirrorMaker continues while the fence is being proved
fenced        goals are the fenced ends; reaching them ends the watch
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kafka_migration.core.kafka.cluster import IsolationLevel
from kafka_migration.core.kafka.offsets import Known, Lag, Offsets
from kafka_migration.core.watching.fence import FenceStatus, FenceWatch, SourceEnds, held_offsets
from kafka_migration.core.watching.watch import Aim

FOLLOWING = "following"


def follow(goals: Offsets, ends: SourceEnds, isolation: IsolationLevel) -> Aim:
    """Return the next goals of a watch that follows the source; they never lose a partition."""
    live, held = _live_goals(goals, ends, isolation), _held_back(ends, isolation)
    return Aim(live, is_final=False, stage=FOLLOWING, unread=ends.unreadable, held_back=held)


@dataclass(slots=True)
class CutoverCourse:
    """The stage of the watch. `goals` start with the plan's and never lose a partition.

    `fence` is set from the announcement on, `fenced_ends` while the fence is proved and holds. A restarted watch passes
    both as they were recorded; ends that moved in between show at the first reading.
    """

    goals: Offsets
    near_offsets: int
    isolation: IsolationLevel
    fence: FenceWatch | None = None
    fenced_ends: Offsets | None = None

    @property
    def stage(self) -> str:
        """The stage's name, as in the progress line."""
        if self.fence is None:
            return "approaching"
        return "near" if self.fenced_ends is None else "fenced"

    def aim(self, ends: SourceEnds) -> Aim:
        """Add a reading of the source's ends; return the goals to measure the copy against."""
        self.goals = _live_goals(self.goals, ends, self.isolation)
        live = Aim(self.goals, is_final=False, unread=ends.unreadable)
        if self.fence is None:
            held = _held_back(ends, self.isolation)
            return replace(live, stage=self.stage, doing=f"near is a lag of {self.near_offsets:,}", held_back=held)
        status = self.fence.take(ends)
        self._judge_fence(ends, status)
        if self.fenced_ends is not None:
            return Aim(self.fenced_ends, stage=self.stage, unread=ends.unreadable)
        return replace(live, stage=self.stage, doing=f"fencing: {status}", findings=status.findings)

    def is_near(self, lag: Lag) -> bool:
        """Whether to ask for the producers to stop: once, and never if the lag is unknown."""
        return self.fence is None and isinstance(lag, Known) and lag.offsets <= self.near_offsets

    def _judge_fence(self, ends: SourceEnds, status: FenceStatus) -> None:
        """Keep a proved fence until a reading contradicts it; an unreadable partition does not."""
        if self.fenced_ends is not None and self._is_broken(self.fenced_ends, ends):
            self.fenced_ends = None
        if self.fenced_ends is None:
            self.fenced_ends = status.ends

    @staticmethod
    def _is_broken(fenced_ends: Offsets, ends: SourceEnds) -> bool:
        known = ends.known
        return bool(ends.open_transactions) or any(fenced_ends.get(p) != end for p, end in known.items())


def _held_back(ends: SourceEnds, isolation: IsolationLevel) -> int:
    return held_offsets(ends.open_transactions) if isolation == "read_committed" else 0


def _live_goals(goals: Offsets, ends: SourceEnds, isolation: IsolationLevel) -> Offsets:
    """Return the ends that MirrorMaker's consumer can see now; an unreadable end keeps its last value."""
    live = ends.last_stable_offsets if isolation == "read_committed" else ends.high_watermarks
    return {**goals, **{p: live[p] for p in ends.partitions if p in live}}
