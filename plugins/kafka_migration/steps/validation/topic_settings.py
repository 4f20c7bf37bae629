"""How topics are compared: as the migration file says, else as their settings on both clusters say."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafka_migration.core.kafka.cluster import KafkaCluster
    from kafka_migration.steps.run import MigrationRun


def untimed_topics(run: MigrationRun, topics: Collection[str]) -> tuple[str, ...]:
    """Return the topics whose timestamps are not compared, because the target sets its own (`LogAppendTime`)."""
    kinds = run.target.effective_configs(topics, "message.timestamp.type") if topics else {}
    found = {topic: kind != "LogAppendTime" for topic, kind in kinds.items()}
    return _those(topics, found | _said(run.migration.validation.timestamps, topics), are=False)


def compacted_topics(run: MigrationRun, topics: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return, per side, the topics that the cluster compacts."""
    sides = {"source": run.source, "target": run.target} if topics else {}
    return {side: _compacted(run, cluster, topics) for side, cluster in sides.items()}


def _compacted(run: MigrationRun, cluster: KafkaCluster, topics: Collection[str]) -> tuple[str, ...]:
    policies = cluster.effective_configs(topics, "cleanup.policy")
    found = {topic: "compact" in policy for topic, policy in policies.items()}
    return _those(topics, found | _said(run.migration.validation.compacted, topics), are=True)


def _said(settings: Mapping[str, bool], topics: Collection[str]) -> dict[str, bool]:
    return {topic: value for topic, value in settings.items() if topic in topics}


def _those(topics: Collection[str], found: Mapping[str, bool], *, are: bool) -> tuple[str, ...]:
    return tuple(sorted(topic for topic in topics if found.get(topic) is are))
