"""What a run would do with each topic, and the settings in which existing topics of the target differ from that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import NewTopic, TopicDescription
from kafka_migration.core.kafka.offsets import Offsets
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.target.target_topics import (
    NOT_COPIED,
    TopicPlan,
    frozen_settings,
    partition_command,
    plan_topics,
    wanted_configs,
)
from kafka_migration.core.text.quoting import shell_word
from kafka_migration.core.text.shortened import brief


@dataclass(frozen=True, slots=True)
class ConfigDifference(Document):
    """The values of a topic setting: the one that a copy has, and the one on the target. `None`: it is not set."""

    wanted: str | None
    found: str | None

    def __str__(self) -> str:
        wanted, found = ("not set" if value is None else brief(value, 60) for value in (self.wanted, self.found))
        return f"{found} instead of {wanted}"


@dataclass(frozen=True, slots=True)
class TopicsSeen:
    """The topics of both sides, and what a run is about."""

    migration: Migration
    source: Mapping[str, TopicDescription]
    target: Mapping[str, TopicDescription]
    ledger: Ledger


def config_differences(seen: TopicsSeen, topic: str) -> dict[str, ConfigDifference]:
    """Return the settings in which an existing topic is not what a run would create, by name."""
    if topic not in seen.source or topic not in seen.target:
        return {}
    wanted = wanted_configs(seen.source[topic], seen.migration.settings_of(topic))
    created = seen.ledger.own_topics.get(topic)
    wanted |= frozen_settings(created) if created is not None and created.is_frozen else {}
    found = {name: value for name, value in seen.target[topic].configs.items() if name not in NOT_COPIED}
    return {
        name: ConfigDifference(wanted.get(name), found.get(name))
        for name in sorted({*wanted, *found})
        if wanted.get(name) != found.get(name)
    }


_IF_EMPTY = ", and if the topic has no records"


def drift_findings(seen: TopicsSeen) -> Iterator[Finding]:
    """Yield a warning for each existing topic of the target that differs, with the command to change it."""
    for topic in seen.migration.topics:
        yield from _partition_drift(seen, topic)
        if differences := config_differences(seen, topic):
            name = seen.migration.target_topic(topic)
            found = "; ".join(f"{setting} {difference}" for setting, difference in differences.items())
            yield Finding(
                Code.TOPIC_CONFIG_DIFFERS,
                f"topic {name}",
                found,
                "the settings with which a run would create the topic",
                f"If the difference is not intended: {alter_command(name, differences)}",
                happened=f"The target's topic {name} has other settings than a run would give it: {found}.",
                matters="A run does not change these settings, so records may be kept, compacted or refused "
                "differently than on the source.",
            )


def _partition_drift(seen: TopicsSeen, topic: str) -> Iterator[Finding]:
    """Yield a warning if a topic that is partitioned again has other partitions than a run would give it."""
    if seen.migration.keeps_partitions or topic not in seen.source or topic not in seen.target:
        return
    own, found = seen.migration.settings_of(topic).partitions, seen.target[topic].partitions
    wanted = own or seen.source[topic].partitions
    grows = own is None and topic in seen.ledger.own_topics
    if found > wanted or (found < wanted and not grows):
        name = seen.migration.target_topic(topic)
        yield Finding(
            Code.TOPIC_CONFIG_DIFFERS,
            f"topic {name}",
            f"{found} partitions instead of {wanted}",
            "the partitions with which a run would create the topic",
            f"If the difference is not intended{_IF_EMPTY if found > wanted else ''}: "
            f"{partition_command(name, found, wanted)}",
            happened=f"The target's topic {name} has {found} partitions; a run would create it with {wanted}.",
            matters="A run does not change this number, so records are spread over more or fewer partitions than "
            "planned.",
        )


def alter_command(topic: str, differences: Mapping[str, ConfigDifference]) -> str:
    """Return the command of Kafka that gives a topic of the target the wanted settings."""
    added = [f"{name}={_listed(each.wanted)}" for name, each in differences.items() if each.wanted is not None]
    deleted = [name for name, each in differences.items() if each.wanted is None]
    words = ["kafka-configs.sh --bootstrap-server TARGET:9092 --alter --entity-type topics --entity-name"]
    words.append(shell_word(topic))
    words += ["--add-config", shell_word(",".join(added))] if added else []
    words += ["--delete-config", shell_word(",".join(deleted))] if deleted else []
    return " ".join(words)


def _listed(value: str) -> str:
    """Return a value for `--add-config`, which takes a list in brackets."""
    return f"[{value}]" if "," in value else value


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
