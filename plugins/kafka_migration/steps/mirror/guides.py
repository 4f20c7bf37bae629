"""The guides of a watch: what sets its goals and decides when to end, in each mode."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from kafka_migration.core.clock import Clock
from kafka_migration.core.kafka.offsets import Lag, Offsets, TopicPartition
from kafka_migration.core.migration.settings import HookName
from kafka_migration.core.report.alerts import Alert
from kafka_migration.core.run.stop_request import StopRequest, stop_requested
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.text.terminal_text import duration, moment
from kafka_migration.core.watching.fence import FenceProof, FenceWatch, SourceEnds
from kafka_migration.core.watching.producers_question import StopProducers
from kafka_migration.core.watching.watch import Aim, Announced, Ending, Fenced, Outcome
from kafka_migration.core.watching.watch_goals import FOLLOWING, CutoverCourse, follow
from kafka_migration.steps.run.alert_sending import producers_alert, stop_producers
from kafka_migration.steps.run.migration_run import MigrationRun, partitions_of


@dataclass(eq=False)
class Noticing:
    """Has notices for the log of a watch."""

    _notices: list[str] = field(default_factory=list, kw_only=True)

    def take_notices(self) -> list[str]:
        """Return the new notices for the log since the last call."""
        notices, self._notices = self._notices, []
        return notices


class Guide(Noticing, ABC):
    """Sets the watcher's goals and decides when to end. The watches of the modes differ only in their guides.

    By default there is one stage, the goals are those of the plan, and no producer has to stop.
    """

    @property
    def stage(self) -> str:
        """The stage's name in the progress line; empty if there is only one."""
        return ""

    @property
    def waits_for_producers_since(self) -> datetime | None:
        """Since when the producers have to stop; `None` if the watch does not wait for that."""
        return None

    def aim(self) -> Aim | None:
        """Return the goals of this poll; `None` keeps those of the previous poll.

        Raises `TransientError` when the source cannot be read.
        """
        return None

    def took(self, lag: Lag) -> None:
        """Receive the lag of a poll after which the watch continues."""

    @abstractmethod
    def ending(self, asked: StopRequest | None = None) -> Ending | None:
        """Return why the watch must end now, regardless of the copy's progress; `None` if it continues.

        `asked` is the request to end mirroring, if there is one.
        """

    def proof(self) -> FenceProof | None:
        """Return the fence that proves the goals, if there is one."""
        return None

    def take_alert(self) -> Alert | None:
        """Return an alert that must be sent now, once."""
        return None


@dataclass(eq=False)
class PlanGuide(Guide):
    """The guide of a sync; `mirror_until` is the end of the mirroring window."""

    clock: Clock
    mirror_until: datetime | None = None

    def ending(self, asked: StopRequest | None = None) -> Ending | None:
        """End on request or when the window ends."""
        if asked is not None:
            return Ending(Outcome.BEHIND, str(asked))
        if self.mirror_until is None or self.clock.now() < self.mirror_until:
            return None
        return Ending(Outcome.BEHIND, f"the window for mirroring ended at {self.mirror_until.isoformat()}")


@dataclass(eq=False)
class FollowGuide(Guide):
    """The `Guide` of a run that follows the source until `follow_until` or a stop request.

    It has no state that a restarted triggerer would lose.
    """

    run: MigrationRun
    goals: Offsets = field(init=False)

    def __post_init__(self) -> None:
        self.goals = self.run.evidence.require(Stored.PLAN).goals

    @property
    def stage(self) -> str:
        """The stage's name in the progress line."""
        return FOLLOWING

    def aim(self) -> Aim:
        """Read the source's ends, including partitions that were added after the plan."""
        partitions = frozenset(self.goals) | frozenset(partitions_of(self.run.describe("source")))
        aim = follow(self.goals, source_ends(self.run, partitions), self.run.migration.mirror.isolation_level)
        self.goals = aim.goals
        return aim

    def ending(self, asked: StopRequest | None = None) -> Ending | None:
        """End on request or at `follow_until`."""
        if asked is not None:
            return Ending(Outcome.FOLLOWED, str(asked))
        until = self.run.request.follow_until
        if until is None or self.run.clock.now() < until:
            return None
        return Ending(Outcome.FOLLOWED, f"followed until {until.isoformat()}, as requested (follow_until)")


def source_ends(run: MigrationRun, partitions: frozenset[TopicPartition]) -> SourceEnds:
    """Read both ends of the source's partitions; one that cannot be read is missing."""
    ordered = tuple(sorted(partitions))
    high_watermarks = run.source.log_end_offsets(ordered, "read_uncommitted")
    last_stable_offsets = run.source.log_end_offsets(ordered, "read_committed")
    return SourceEnds(run.clock.monotonic_s(), partitions, high_watermarks, last_stable_offsets)


@dataclass(eq=False)
class CutoverGuide(Guide):
    """The `Guide` of a cutover, for one generation of MirrorMaker.

    A cleared run announces again, because the producers may have been restarted between its attempts.
    """

    run: MigrationRun
    generation: int
    course: CutoverCourse = field(init=False)
    announced_at: datetime | None = None
    _fence: FenceProof | None = None
    _alert: Alert | None = None

    def __post_init__(self) -> None:
        settings = self.run.migration.cutover
        goals = self.run.evidence.require(Stored.PLAN).goals
        self.course = CutoverCourse(goals, settings.near_offsets, self.run.migration.mirror.isolation_level)
        recorded = [each for each in self.run.evidence.of_attempt(Stored.WATCH) if each.generation == self.generation]
        announced = next((each for each in recorded if isinstance(each, Announced)), None)
        if announced is not None:
            self._begin_fence(datetime.fromisoformat(announced.announced_at), announced.lag)
        for fenced in recorded:
            if isinstance(fenced, Fenced):
                self.course.fenced_ends = fenced.ends
                self._fence = FenceProof.from_document(fenced.to_document())

    @property
    def stage(self) -> str:
        """The stage's name in the progress line."""
        return self.course.stage

    @property
    def waits_for_producers_since(self) -> datetime | None:
        """Since the announcement, until the fence is proved."""
        return self.announced_at if self.course.fenced_ends is None else None

    def aim(self) -> Aim:
        """Look at the source's ends and follow the course."""
        before = self.course.fenced_ends
        aim = self.course.aim(self._ends())
        after = self.course.fenced_ends
        if after is not None and after != before:
            self._record_fenced(after)
        elif before is not None and after is None:
            self._notices.append(f"THE FENCE BROKE: the source received records again ({aim.doing}).")
        return aim

    def took(self, lag: Lag) -> None:
        """Announce that the producers must stop, once the copy is near."""
        if self.course.is_near(lag):
            self._announce(lag)

    def ending(self, asked: StopRequest | None = None) -> Ending | None:
        """Fail on request: a cutover either reaches its goals or is refused."""
        return None if asked is None else Ending(Outcome.FAILED, str(asked), (stop_requested(asked),))

    def proof(self) -> FenceProof | None:
        """Return the proof while it holds."""
        return None if self.course.fenced_ends is None else self._fence

    def take_alert(self) -> Alert | None:
        """Return the alert to stop the producers, if it was announced since the last call."""
        alert, self._alert = self._alert, None
        return alert

    def _ends(self) -> SourceEnds:
        """Read the ends. While fencing, include partitions that were added after the plan."""
        partitions = frozenset(self.course.goals)
        if self.course.fence is not None:
            partitions |= frozenset(partitions_of(self.run.describe("source")))
        return source_ends(self.run, partitions)

    def _announce(self, lag: Lag) -> None:
        announced_at = self.run.clock.now()
        document = Announced(
            at=self.run.now(), generation=self.generation, announced_at=moment(announced_at), lag=str(lag)
        )
        self.run.evidence.write(Stored.WATCH, document)
        self._begin_fence(announced_at, str(lag))

    def _begin_fence(self, announced_at: datetime, lag: str) -> None:
        settings, clock = self.run.migration.cutover, self.run.clock
        elapsed_s = max(0.0, (clock.now() - announced_at).total_seconds())
        self.announced_at = announced_at
        self.course.fence = FenceWatch(settings.fence_quiet_s, settings.fence_wait_s, clock.monotonic_s() - elapsed_s)
        # Also after a restart: the first notice or alert may not have been delivered.
        stop = stop_producers(self.run, announced_at)
        self._alert = producers_alert(self.run, stop)
        self._notices.append(self._announcement(stop, lag))

    def _announcement(self, stop: StopProducers, lag: str) -> str:
        is_hooked = HookName.STOP_PRODUCERS in self.run.migration.cutover.hooks
        answer = "" if is_hooked else f" Answer the question: {self._question()}"
        return (
            f"{stop.at(self.run.clock.now())} Topics: {stop.named()}. Stop everything that writes to them; consumers "
            f"and MirrorMaker continue. The copy of {self.run.name} is near the end of the source (lag {lag} offsets). "
            f"The source must receive no records and have no open transaction for {duration(stop.quiet_s)}. If that "
            f"does not happen by {stop.deadline} (cutover.fence_wait), the run is refused.{answer}"
        )

    def _moment_of(self, monotonic_s: float) -> str:
        """Return the time of a reading of this process."""
        ago_s = self.run.clock.monotonic_s() - monotonic_s
        return moment(self.run.clock.now() - timedelta(seconds=ago_s))

    def _question(self) -> str:
        return self.run.deployment.run_link(self.run.identity, str(HookName.STOP_PRODUCERS))

    def _record_fenced(self, ends: Offsets) -> None:
        assert self.announced_at is not None
        assert self.course.fence is not None
        after_s, before_s = self.course.fence.last_growth_s
        self._fence = FenceProof(
            announced_at=moment(self.announced_at),
            quiet_s=self.run.migration.cutover.fence_quiet_s,
            ends=ends,
            proved_at=self.run.now(),
            grew_after=None if after_s is None else self._moment_of(after_s),
            grew_before=self._moment_of(before_s),
        )
        self.run.evidence.write(
            Stored.WATCH, Fenced.extended(self._fence, at=self.run.now(), generation=self.generation)
        )
        self._notices.append(
            f"The fence is proved: the source received no records for {self.run.migration.cutover.fence_quiet_s} s and "
            "has no open transaction. Its log end offsets are now the goals. Keep the producers stopped."
        )
