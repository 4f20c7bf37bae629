"""One snapshot of both clusters, from which a plan of offsets is made without another request, and its groups."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from kafka_migration.core.groups.offsets_plan import TargetOnly
from kafka_migration.core.kafka.cluster import GroupDescription, GroupListing, TopicDescription
from kafka_migration.core.kafka.offsets import Commits, GroupsCommits, Offsets, TopicPartition
from kafka_migration.core.translation.by_partition import OffsetRange, Prints
from kafka_migration.core.translation.by_topic import HowCopied
from kafka_migration.core.translation.copies import Resent


@dataclass(frozen=True, slots=True)
class SideSeen:
    """One cluster: topics, groups with all their commits, and log starts and ends of all partitions of the topics.

    A group of `unreadable` has no commits here; it is there with the reason.
    """

    topics: Mapping[str, TopicDescription]
    groups: Mapping[str, GroupDescription]
    commits: GroupsCommits
    log_start: Offsets
    log_end: Offsets
    unreadable: Mapping[str, str] = field(default_factory=dict)

    def of_topics(self, topics: Collection[str]) -> tuple[TopicPartition, ...]:
        """Return the partitions of those of the topics that exist, sorted."""
        return tuple(sorted(p for t, each in self.topics.items() if t in topics for p in each.topic_partitions))


@dataclass(frozen=True, slots=True)
class CommittedGroup:
    """A group on both clusters, with its commits on the migration's partitions.

    `commits_elsewhere` says whether it committed on topics outside the migration. `later_topics` are topics of the
    migration on which it committed and that this run does not move, `unproved_topics` those that the run leaves out
    because their copy is not proved. `lost_topics` were cut over without the group, and its commits on them no longer
    exist. `unreadable` says why state or offsets are not known; empty if they are.
    """

    source: GroupDescription
    target: GroupDescription
    source_commits: Commits
    target_commits: Commits
    commits_elsewhere: bool = False
    later_topics: tuple[str, ...] = ()
    lost_topics: tuple[str, ...] = ()
    unreadable: str = ""
    unproved_topics: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """The group's name."""
        return self.source.group

    @property
    def is_concerned(self) -> bool:
        """Whether the group may read the migration's topics; `False` only if all its commits are on other topics."""
        return bool(self.source_commits or self.lost_topics or self.unproved_topics) or not self.commits_elsewhere


@dataclass(frozen=True, slots=True)
class RecordsSeen:
    """Places of records that may be on the target twice, numbers of records on the source, and the next records at
    positions on both sides."""

    resent: Mapping[TopicPartition, Resent] = field(default_factory=dict)
    counts: Mapping[OffsetRange, int | None] = field(default_factory=dict)
    source_prints: Prints = field(default_factory=dict)
    target_prints: Prints = field(default_factory=dict)


NO_RECORDS = RecordsSeen()


@dataclass(frozen=True, slots=True)
class ClustersSeen:
    """Both clusters, read once.

    :param listings: all groups of the cluster that the groups leave
    :param hows: how topics were copied, by their settings on the target; empty if the copy keeps offsets
    :param compacted: the topics that a side compacts; only if the copy keeps offsets
    :param untimed: the topics to which the target assigns its own timestamps
    :param readable: source partitions with a record, of those on which a selected group has not committed although it
        committed on the topic
    :param topic_names: the names of all topics of the source
    :param others: the source commits of groups that are not selected, or why they cannot be read
    :param elsewhere: for a rollback, the groups that also committed on other topics of the target
    :param target_only: for a rollback, the records that remain only on the target
    """

    at: str
    source: SideSeen
    target: SideSeen
    listings: tuple[GroupListing, ...] = ()
    hows: Mapping[str, HowCopied] = field(default_factory=dict)
    compacted: frozenset[str] = frozenset()
    untimed: frozenset[str] = frozenset()
    records: RecordsSeen = NO_RECORDS
    readable: frozenset[TopicPartition] = frozenset()
    topic_names: frozenset[str] = frozenset()
    others: Mapping[str, Commits | str] = field(default_factory=dict)
    elsewhere: frozenset[str] = frozenset()
    target_only: tuple[TargetOnly, ...] = ()

    def unreadable(self, group: str) -> str:
        """Return why a group cannot be read on one of the clusters; empty if it can."""
        sides = {"source": self.source, "target": self.target}
        return "; ".join(
            f"on the {name}: {side.unreadable[group]}" for name, side in sides.items() if group in side.unreadable
        )
