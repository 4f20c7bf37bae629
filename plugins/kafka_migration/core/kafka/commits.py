"""Committed offsets of several groups, and their CSV form for Kafka's own tool."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kafka_migration.core.kafka.cluster import CommittedOffset
from kafka_migration.core.kafka.offsets import TopicPartition

Commits = Mapping[TopicPartition, CommittedOffset]
"""Committed offsets of one group; a missing partition has none."""
GroupsCommits = Mapping[str, Commits]
"""Committed offsets of several groups, by name."""


def offsets_of(commits: Commits) -> dict[TopicPartition, int]:
    """Return the offsets without their metadata."""
    return {partition: commit.offset for partition, commit in commits.items()}


def topics_of(commits: Commits) -> set[str]:
    """Return the topics on which a group committed."""
    return {partition.topic for partition in commits}


def commits_on(commits: Commits, topics: Collection[str]) -> dict[TopicPartition, CommittedOffset]:
    """Return a group's committed offsets on these topics."""
    return {partition: commit for partition, commit in commits.items() if partition.topic in topics}


def reset_offsets_csv(groups: GroupsCommits, names: Mapping[str, str] | None = None) -> str:
    """Return lines `"group",topic,partition,offset` for `kafka-consumer-groups --reset-offsets --from-file`.

    `names` are the names of the topics on that cluster, if they differ.
    """
    real = names or {}
    lines = [
        f"{_quoted(group)},{real.get(partition.topic, partition.topic)},{partition.partition},{commit.offset}\n"
        for group in sorted(groups)
        for partition, commit in sorted(groups[group].items())
    ]
    return "".join(lines)


def _quoted(group: str) -> str:
    # The tool reads CSV without an escape character: a quote within quotes is doubled.
    doubled = group.replace('"', '""')
    return f'"{doubled}"'
