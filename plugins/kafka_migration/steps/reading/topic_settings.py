"""How topics are compared: as the migration file says, else as their settings on both clusters say."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.core.migration.settings import Migration

_COMPACTED, _TIMED = "cleanup.policy", "message.timestamp.type"


@dataclass(frozen=True, slots=True)
class ComparedTopics:
    """The topics of one side that the cluster compacts, and those to which it assigns its own timestamps."""

    compacted: tuple[str, ...]
    untimed: tuple[str, ...]


def compared_topics(cluster: KafkaCluster, migration: Migration, topics: Collection[str]) -> ComparedTopics:
    """Read the topics' settings on one side; what the migration file says comes first."""
    ruled = {topic: migration.settings_of(topic) for topic in topics}
    said_compacted = {topic: each.compacted for topic, each in ruled.items() if each.compacted is not None}
    said_timed = {topic: each.timestamps for topic, each in ruled.items() if each.timestamps is not None}
    found = cluster.effective_configs(topics, _COMPACTED, _TIMED) if topics else {}
    compacted = {topic: "compact" in each[_COMPACTED] for topic, each in found.items() if _COMPACTED in each}
    timed = {topic: each[_TIMED] != "LogAppendTime" for topic, each in found.items() if _TIMED in each}
    return ComparedTopics(
        _those(topics, {**compacted, **said_compacted}, are=True),
        _those(topics, {**timed, **said_timed}, are=False),
    )


def _those(topics: Collection[str], found: Mapping[str, bool], *, are: bool) -> tuple[str, ...]:
    return tuple(sorted(topic for topic in topics if found.get(topic) is are))
