"""What a run would do with each topic: for people who ask before they trigger it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.kafka.cluster import NewTopic, TopicDescription
from kafka_migration.core.kafka.offsets import Offsets
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.mirror.target_topics import (
    FROZEN_WHILE_SYNCING,
    NOT_COPIED,
    TopicPlan,
    plan_topics,
    wanted_configs,
)


class OnTarget(StrEnum):
    """What a run does with the topic on the target; `MISSING`: it does not exist and is not created."""

    CREATE = "create"
    GROW = "grow"
    EXISTS = "exists"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class ConfigDifference(Document):
    """The values of a topic setting: the one that a copy has, and the one on the target. `None`: it is not set."""

    wanted: str | None
    found: str | None


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


@dataclass(frozen=True, slots=True)
class TopicsSeen:
    """The topics of both sides, and what a run is about."""

    migration: Migration
    source: Mapping[str, TopicDescription]
    target: Mapping[str, TopicDescription]
    ledger: Ledger


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
        differences=_differences(seen, topic),
    )


def _differences(seen: TopicsSeen, topic: str) -> dict[str, ConfigDifference]:
    """Return the settings in which an existing topic is not what a run would create."""
    if topic not in seen.source:
        return {}
    wanted = wanted_configs(seen.source[topic], seen.migration.settings_of(topic))
    created = seen.ledger.topics.get(topic)
    wanted |= FROZEN_WHILE_SYNCING if created is not None and created.is_frozen else {}
    found = {name: value for name, value in seen.target[topic].configs.items() if name not in NOT_COPIED}
    return {
        name: ConfigDifference(wanted.get(name), found.get(name))
        for name in sorted({*wanted, *found})
        if wanted.get(name) != found.get(name)
    }
