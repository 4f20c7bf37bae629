"""Guides the watch of mode `follow`: the goals are always the current log end offsets of the source."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.run.stop_request import StopRequest
from kafka_migration.core.watching.fence import SourceEnds
from kafka_migration.core.watching.watch import Aim, Ending, Outcome
from kafka_migration.core.watching.watch_goals import FollowCourse
from kafka_migration.steps.mirror.plan_guide import QuietGuide
from kafka_migration.steps.run.migration_run import MigrationRun, partitions_of


@dataclass(eq=False)
class FollowGuide(QuietGuide):
    """The `Guide` of a run that follows the source until `follow_until` or a stop request.

    It has no state that a restarted triggerer would lose.
    """

    run: MigrationRun
    course: FollowCourse = field(init=False)

    def __post_init__(self) -> None:
        self.course = FollowCourse(self.run.plan_offsets().goals, self.run.migration.mirror.isolation_level)

    @property
    def stage(self) -> str:
        """The stage's name in the progress line."""
        return self.course.stage

    def aim(self) -> Aim:
        """Read the source's ends, including partitions that were added after the plan."""
        partitions = frozenset(self.course.goals) | frozenset(partitions_of(self.run.describe("source")))
        return self.course.aim(source_ends(self.run, partitions))

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
