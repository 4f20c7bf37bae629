"""Asks a cluster about many groups, so that one that cannot be read does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

from kafka_migration.adapters.system.deadlines import of_each
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.kafka.cluster import GroupDescription, KafkaCluster
from kafka_migration.core.kafka.offsets import Commits, TopicPartition

T = TypeVar("T")


def described(cluster: KafkaCluster, groups: Collection[str]) -> dict[str, GroupDescription | str]:
    """Return each group's description, or why it cannot be read.

    Raises `TransientError` if the cluster does not answer at all.
    """
    try:
        return dict(cluster.describe_groups(groups))
    except (Refused, TransientError):
        # One group fails the whole call.
        return _each(cluster, groups, lambda group: cluster.describe_groups([group])[group])


def commits_of(
    cluster: KafkaCluster, groups: Collection[str], partitions: Collection[TopicPartition] | None = None
) -> dict[str, Commits | str]:
    """Return each group's commits on these partitions (`None`: on all), or why they cannot be read."""
    if partitions is None:
        return _each(cluster, groups, cluster.committed_offsets)
    return _each(cluster, groups, lambda group: cluster.committed_offsets(group, partitions))


def unreadable_of(*answers: Mapping[str, object]) -> dict[str, str]:
    """Return the groups for which one of the answers is a reason, with it."""
    return {group: why for found in answers for group, why in found.items() if isinstance(why, str)}


def _each(cluster: KafkaCluster, groups: Collection[str], ask: Callable[[str], T]) -> dict[str, T | str]:
    def answer(group: str) -> T | str:
        try:
            return ask(group)
        except Refused as refused:
            return "; ".join(finding.found for finding in refused.findings)
        except TransientError as error:
            # Of a cluster that does not answer nothing is known, about no group.
            cluster.facts()
            return str(error)

    return of_each(groups, answer)
