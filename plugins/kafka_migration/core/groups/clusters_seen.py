"""One snapshot of both clusters, from which a plan of offsets is made without another request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_migration.core.groups.plan import TargetOnly
from kafka_migration.core.kafka.cluster import GroupDescription, GroupListing, TopicDescription
from kafka_migration.core.kafka.commits import Commits, GroupsCommits
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.translation.by_partition import OffsetRange, Prints
from kafka_migration.core.translation.by_topic import HowCopied


@dataclass(frozen=True, slots=True)
class SideSeen:
    """One cluster: topics, groups with all their commits, and log starts and ends of all partitions of the topics."""

    topics: Mapping[str, TopicDescription]
    groups: Mapping[str, GroupDescription]
    commits: GroupsCommits
    log_start: Offsets
    log_end: Offsets

    def of_topics(self, topics: Mapping[str, object]) -> tuple[TopicPartition, ...]:
        """Return the partitions of those of the topics that exist, sorted."""
        return tuple(sorted(p for t, each in self.topics.items() if t in topics for p in each.topic_partitions))


@dataclass(frozen=True, slots=True)
class RecordsSeen:
    """Numbers of records on the source, and the next records at positions on both sides."""

    counts: Mapping[OffsetRange, int] = field(default_factory=dict)
    source_prints: Prints = field(default_factory=dict)
    target_prints: Prints = field(default_factory=dict)


NO_RECORDS = RecordsSeen()


@dataclass(frozen=True, slots=True)
class ClustersSeen:
    """Both clusters, read once.

    :param listings: all groups of the cluster that the groups leave
    :param hows: how topics were copied, by their settings on the target; empty if the copy keeps offsets
    :param others: the source commits of groups that are not selected, or why they cannot be read
    :param elsewhere: for a rollback, the groups that also committed on other topics of the target
    :param target_only: for a rollback, the records that remain only on the target
    """

    at: str
    source: SideSeen
    target: SideSeen
    listings: tuple[GroupListing, ...] = ()
    hows: Mapping[str, HowCopied] = field(default_factory=dict)
    records: RecordsSeen = NO_RECORDS
    others: Mapping[str, Commits | str] = field(default_factory=dict)
    elsewhere: frozenset[str] = frozenset()
    target_only: tuple[TargetOnly, ...] = ()
