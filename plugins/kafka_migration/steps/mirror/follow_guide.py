"""Guides the watch of mode `follow`: the source's ends of each moment are its goals, and none is the last."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.migration.stop_request import StopRequest
from kafka_migration.core.mirror.fence import SourceEnds
from kafka_migration.core.mirror.watch import Aim, Ending, Outcome
from kafka_migration.core.mirror.watch_goals import FollowCourse
from kafka_migration.steps.mirror.plan_guide import QuietGuide
from kafka_migration.steps.run import MigrationRun, partitions_of


@dataclass(eq=False)
class FollowGuide(QuietGuide):
    """The `Guide` of a run that follows the source until the time given, or until it is asked to stop.

    It remembers nothing that a restarted triggerer would not find again.
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
        """Look at the source's ends, also of partitions that were added since the plan."""
        partitions = frozenset(self.course.goals) | frozenset(partitions_of(self.run.describe("source")))
        return self.course.aim(source_ends(self.run, partitions))

    def ending(self, asked: StopRequest | None = None) -> Ending | None:
        """End as planned: on request, or when the time has come."""
        if asked is not None:
            return Ending(Outcome.FOLLOWED, str(asked))
        until = self.run.request.follow_until
        if until is None or self.run.clock.now() < until:
            return None
        return Ending(Outcome.FOLLOWED, f"followed until {until.isoformat()}, as asked for (follow_until)")


def source_ends(run: MigrationRun, partitions: frozenset[TopicPartition]) -> SourceEnds:
    """Read both ends of the source's partitions; one that cannot be read is missing."""
    ordered = tuple(sorted(partitions))
    high_watermarks = run.source.log_end_offsets(ordered, "read_uncommitted")
    last_stable_offsets = run.source.log_end_offsets(ordered, "read_committed")
    return SourceEnds(run.clock.monotonic_s(), partitions, high_watermarks, last_stable_offsets)
