"""What a run would do with each topic: for people who ask before they trigger it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import Offsets
from kafka_migration.core.target.drift import ConfigDifference, TopicsSeen, config_differences
from kafka_migration.core.target.target_topics import TopicPlan, plan_topics


class OnTarget(StrEnum):
    """What a run does with the topic on the target; `MISSING`: it does not exist and is not created."""

    CREATE = "create"
    GROW = "grow"
    EXISTS = "exists"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class PlannedTopic(Document):
    """What a run does with one topic.

    `partitions` are those after the run; `None` if the topic is missing. `replication_factor` and `configs` belong to a
    topic that is created, `differences` to one that exists. `offsets_to_copy` is `None` if the run does not mirror, or
    if the source does not have the topic.
    """

    topic: str
    target_topic: str
    on_target: OnTarget
    partitions: int | None
    is_new: bool = False
    replication_factor: int | None = None
    configs: Mapping[str, str] = field(default_factory=dict)
    differences: Mapping[str, ConfigDifference] = field(default_factory=dict)
    offsets_to_copy: int | None = None


def offsets_to_copy(positions: Offsets, goals: Offsets) -> Counter[str]:
    """Return the number of offsets between the positions and the goals, by topic."""
    to_copy: Counter[str] = Counter()
    for partition, goal in goals.items():
        to_copy[partition.topic] += max(0, goal - positions.get(partition, 0))
    return to_copy


def planned_topics(
    seen: TopicsSeen, new: Collection[str], to_copy: Mapping[str, int] | None
) -> tuple[PlannedTopic, ...]:
    """Return what a run does with each topic of the migration.

    `new` are topics that no run has copied yet. `to_copy` is `None` for a run that does not mirror.
    """
    plan = TopicPlan((), {}, {})
    if to_copy is not None:
        plan = plan_topics(seen.migration, seen.source, seen.target, seen.ledger)
    created = {each.topic: each for each in plan.create}
    return tuple(
        replace(
            _planned(seen, topic, created.get(topic), plan.grow.get(topic)),
            is_new=topic in new,
            offsets_to_copy=None if to_copy is None or topic not in seen.source else to_copy.get(topic, 0),
        )
        for topic in seen.migration.topics
    )


def _planned(seen: TopicsSeen, topic: str, created: NewTopic | None, grown: int | None) -> PlannedTopic:
    """Return what a run does with a topic on the target."""
    missing = PlannedTopic(topic, seen.migration.target_topic(topic), OnTarget.MISSING, None)
    if created is not None:
        return replace(
            missing,
            on_target=OnTarget.CREATE,
            partitions=created.partitions,
            replication_factor=created.replication_factor,
            configs=created.configs,
        )
    if topic not in seen.target:
        return missing
    return replace(
        missing,
        on_target=OnTarget.EXISTS if grown is None else OnTarget.GROW,
        partitions=grown or seen.target[topic].partitions,
        differences=config_differences(seen, topic),
    )
