"""Operations on a Kafka cluster: the Protocol that the adapter implements, and its values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, Protocol

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.kafka.offsets import CommittedOffset, Offsets, TopicPartition
from kafka_migration.core.kafka.records import LogRow, RecordPrint, RecordShape, SampledRecord

ResourceKind = Literal["topic", "group", "cluster", "transactional-id"]


class Operation(StrEnum):
    """An operation as `kafka-acls.sh` names it."""

    ALTER = "Alter"
    ALTER_CONFIGS = "AlterConfigs"
    CREATE = "Create"
    DELETE = "Delete"
    DESCRIBE = "Describe"
    DESCRIBE_CONFIGS = "DescribeConfigs"
    READ = "Read"
    WRITE = "Write"


@dataclass(frozen=True, slots=True, order=True)
class Resource:
    """What a right is on: one name, or every name with this prefix. The name `*` stands for all."""

    kind: ResourceKind
    name: str
    is_prefix: bool = False


@dataclass(frozen=True, slots=True, order=True)
class Acl:
    """One entry of an access control list; `operation` is named as by `kafka-acls.sh`."""

    resource: Resource
    principal: str
    host: str
    operation: str
    is_allowed: bool = True


THE_CLUSTER = Resource("cluster", "kafka-cluster")


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate: its names in RFC 4514's form, the hosts that it is for, and its dates in UTC."""

    subject: str
    issuer: str
    hosts: tuple[str, ...]
    starts: datetime
    ends: datetime

    def is_valid_at(self, moment: datetime) -> bool:
        """Whether its dates include a moment."""
        return self.starts <= moment <= self.ends


IsolationLevel = Literal["read_committed", "read_uncommitted"]
Side = Literal["source", "target"]


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """A topic as the cluster describes it; `configs` holds only the values set on the topic itself.

    `topic_id` is empty if the brokers have no topic ids (before Kafka 2.8). `replicas` is the smallest number of
    replicas of a partition (`None`: unknown).
    """

    topic: str
    topic_id: str
    partitions: int
    configs: Mapping[str, str]
    replicas: int | None = None

    @property
    def topic_partitions(self) -> tuple[TopicPartition, ...]:
        """All partitions of the topic."""
        return tuple(TopicPartition(self.topic, number) for number in range(self.partitions))

    def is_another_than(self, known_id: str | None) -> bool:
        """Return whether this topic has a different id; false if one of the ids is unknown."""
        return bool(self.topic_id and known_id) and self.topic_id != known_id


@dataclass(frozen=True, slots=True)
class NewTopic(Document):
    """A topic to create."""

    topic: str
    partitions: int
    replication_factor: int
    configs: Mapping[str, str]


class GroupState(StrEnum):
    """The state of a consumer group in Kafka's terms; a state that the client does not know is `UNKNOWN`."""

    UNKNOWN = "UNKNOWN"
    PREPARING_REBALANCING = "PREPARING_REBALANCING"
    COMPLETING_REBALANCING = "COMPLETING_REBALANCING"
    STABLE = "STABLE"
    DEAD = "DEAD"
    EMPTY = "EMPTY"
    ASSIGNING = "ASSIGNING"
    RECONCILING = "RECONCILING"

    @property
    def is_inactive(self) -> bool:
        """Whether the group has no members: it is empty or does not exist."""
        return self in {GroupState.EMPTY, GroupState.DEAD}


GroupKind = Literal["classic", "consumer", "streams", "connect", "share", "other"]
"""The protocol of a group: `consumer` is that of KIP-848, `streams` that of KIP-1071 (earlier Kafka Streams use
`classic`), `connect` that of the workers of Kafka Connect."""


def why_immovable(group: str, kind: GroupKind) -> str:
    """Return why a group cannot be moved; empty if a client may read and write its committed offsets.

    Old clients committed without a group id, and brokers keep such commits under the empty text.
    """
    if not group:
        return "its id is the empty text; Kafka's clients neither read nor write the offsets of such a group"
    if kind not in {"classic", "consumer"}:
        return f"it is of kind {kind}, and its position is not given by committed offsets"
    return ""


@dataclass(frozen=True, slots=True)
class GroupListing:
    """A group as the cluster lists it."""

    group: str
    state: GroupState
    kind: GroupKind

    @property
    def is_movable(self) -> bool:
        """Whether its position is given by committed offsets that a client may read and write."""
        return not why_immovable(self.group, self.kind)


@dataclass(frozen=True, slots=True)
class GroupMember:
    """An active member of a group and its assigned partitions."""

    member_id: str
    client_id: str
    host: str
    assigned: frozenset[TopicPartition] = frozenset()

    def __str__(self) -> str:
        return f"{self.client_id or self.member_id} on {self.host}"


@dataclass(frozen=True, slots=True)
class GroupDescription:
    """A group's state and active members; a group that does not exist is `DEAD` without members."""

    group: str
    state: GroupState
    members: tuple[GroupMember, ...] = ()

    @property
    def is_active(self) -> bool:
        """Whether the group has or may have members; only a group known to be empty or missing is inactive."""
        return bool(self.members) or not self.state.is_inactive


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """The cluster's id, number of brokers, and their advertised addresses (`host:port`)."""

    cluster_id: str
    brokers: int
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Probe:
    """The first thing that a temporary consumer found from a position: the end or a record, at `offset`."""

    offset: int
    is_end: bool

    def proves(self, goal: int) -> bool:
        """Return whether there is nothing to copy before the goal: the first thing found is at the goal or later."""
        return self.offset >= goal


class KafkaCluster(Protocol):
    """One Kafka cluster.

    Every method raises `TransientError` if the cluster does not answer in time and `Refused` if it
    denies the request. Topics and partitions that do not exist are missing from the answer.
    """

    def facts(self) -> ClusterFacts:
        """Return the cluster's id and broker count."""

    def certificates(self) -> Mapping[str, Certificate]:
        """Return the certificate of each broker by its address; empty without TLS."""

    def broker_settings(self, *names: str) -> Mapping[int, Mapping[str, str]]:
        """Return these settings of each broker, defaults included; those that a broker does not have are missing.

        Raises `Refused` (`RIGHT_MISSING`) if the login may not read them (DescribeConfigs on the cluster).
        """

    def topic_names(self) -> frozenset[str]:
        """Return the names of all topics that the client may describe."""

    def partition_counts(self) -> Mapping[str, int]:
        """Return the partition count of every topic that the client may describe."""

    def describe_topics(self, topics: Collection[str]) -> Mapping[str, TopicDescription]:
        """Return the descriptions of those of the topics that exist."""

    def topic_ids(self, topics: Collection[str]) -> Mapping[str, str]:
        """Return the ids of those of the topics that exist; empty texts if the brokers have no topic ids."""

    def effective_configs(self, topics: Collection[str], *names: str) -> Mapping[str, Mapping[str, str]]:
        """Return the values of topic configurations, defaults included, per existing topic, all of one moment."""

    def create_topics(self, topics: Collection[NewTopic]) -> None:
        """Create topics and wait until every partition has a leader; an existing topic is left unchanged.

        Raises `Refused` with one `TOPIC_NOT_CREATED` finding per topic that the cluster denied; the others are created.
        """

    def refused_topics(self, topics: Collection[NewTopic]) -> Mapping[str, str]:
        """Return the cluster's reason for each topic that it would refuse to create; nothing is created.

        An existing topic is not refused.
        """

    def create_partitions(self, partitions: Mapping[str, int]) -> None:
        """Grow topics to the given partition counts and wait for the leaders."""

    def delete_topics(self, topics: Collection[str]) -> None:
        """Delete topics; missing topics are ignored."""

    def alter_configs(self, configs: Mapping[str, Mapping[str, str | None]]) -> None:
        """Set configurations of topics, by topic and name; `None` removes the topic's own value.

        Waits until the new values can be read back.

        Raises `Refused` with one `TOPIC_NOT_CONFIGURED` finding per topic that the cluster denied or does not have.
        """

    def log_start_offsets(self, partitions: Collection[TopicPartition]) -> Offsets:
        """Return the log start offset per partition."""

    def log_end_offsets(self, partitions: Collection[TopicPartition], isolation: IsolationLevel) -> Offsets:
        """Return the end per partition: the last stable offset with `read_committed`, else the high watermark."""

    def offsets_for_time(
        self, partitions: Collection[TopicPartition], at: datetime, isolation: IsolationLevel
    ) -> Offsets:
        """Return per partition the first offset whose record has a timestamp at or after a moment.

        If there is no such record, it is the end, as in `log_end_offsets`.
        """

    def read_table(self, topic: str) -> Iterable[tuple[bytes | None, bytes | None]]:
        """Return the latest (key, value) of each key of a small compacted topic, read committed.

        A topic that does not exist is empty.
        """

    def read_log(self, topic: str, time_limit_s: float) -> Iterator[tuple[bytes | None, bytes | None]]:
        """Yield (key, value) of each record that the topic holds at the time of the call, read uncommitted.

        A topic that does not exist has none. Raises `TransientError` if the time limit is reached before the last
        record.
        """

    def log_rows(self, topic: str, start: Offsets) -> Sequence[LogRow]:
        """Return each record that a small topic holds from these offsets to its present end, read uncommitted.

        A partition without an offset begins with its first record. Records of a partition are in their order. A topic
        that does not exist has none.
        """

    def sampled_records(self, start: Offsets, end: Offsets, time_limit_s: float) -> Iterator[SampledRecord]:
        """Yield the records in [start, end) per partition, read uncommitted; after the time limit no more."""

    def record_shapes(
        self, start: Offsets, end: Offsets, isolation: IsolationLevel, time_limit_s: float
    ) -> Iterator[RecordShape]:
        """Yield the shapes of the visible records in [start, end) per partition; after the time limit no more."""

    def probe(self, start: Offsets, isolation: IsolationLevel) -> Mapping[TopicPartition, Probe]:
        """Return what a reader finds first from these offsets; a partition without an answer is missing."""

    def list_groups(self) -> tuple[GroupListing, ...]:
        """Return every group of any kind that the client may describe, sorted by name."""

    def describe_groups(self, groups: Collection[str]) -> Mapping[str, GroupDescription]:
        """Return state and members of every one of the groups; of the empty id nothing is known."""

    def connect_workers(self, group: str) -> tuple[str, ...]:
        """Return the REST address of each worker of the Kafka Connect cluster with this group, as a URL, sorted.

        Empty if the group does not exist, is not of Kafka Connect, or the client may not describe it. Raises
        `TransientError` while the workers rebalance, because their addresses are not known then.
        """

    def committed_offsets(
        self, group: str, partitions: Collection[TopicPartition] | None = None
    ) -> Mapping[TopicPartition, CommittedOffset]:
        """Return a group's committed offsets on these partitions (`None`: on all); those without one are missing.

        Raises `Refused` (`GROUP_UNREADABLE`) if its id is the empty text.
        """

    def alter_offsets(self, group: str, offsets: Mapping[TopicPartition, CommittedOffset]) -> None:
        """Set the offsets of an empty group; a group that does not exist is created.

        Raises `Refused`: `GROUP_ACTIVE` if the group has members, `OFFSETS_NOT_WRITTEN` with one finding per
        partition that was denied, `GROUP_UNREADABLE` if its id is the empty text.
        """

    def delete_group(self, group: str) -> None:
        """Delete an empty group with all its offsets; a missing group is ignored.

        Raises `Refused` (`GROUP_ACTIVE`) if the group has members.
        """

    def records_at(self, offsets: Offsets, isolation: IsolationLevel) -> Mapping[TopicPartition, RecordPrint | None]:
        """Return the first visible record at or after each offset; `None` if the end comes first.

        A partition without an answer in time is missing.
        """

    def prints_between(
        self, start: Offsets, end: Offsets, isolation: IsolationLevel
    ) -> Mapping[TopicPartition, Sequence[RecordPrint]]:
        """Return the visible records in [start, end) per partition, ascending; both have the same partitions.

        A partition with a record that the client cannot read is missing. Raises `TransientError` if reading takes too
        long, or if the log start offset is after a start.
        """

    def count_visible(self, start: Offsets, end: Offsets, isolation: IsolationLevel) -> Mapping[TopicPartition, int]:
        """Return the number of visible records in [start, end) per partition; both have the same partitions.

        A partition with a record that the client cannot read is missing. Raises `TransientError` as `prints_between`,
        because a partial count is useless.
        """

    def granted(self, resources: Collection[Resource]) -> Mapping[Resource, frozenset[Operation]]:
        """Return the operations that the login may do on each resource.

        Resources are named as on the cluster. Those whose rights the brokers do not report, such as missing topics,
        are missing from the answer.
        """

    def acls(self) -> tuple[Acl, ...]:
        """Return the access control lists on topics, groups, cluster and transactional ids, sorted.

        There are none if the cluster has no authorizer.
        """

    def close(self) -> None:
        """Close the connections kept between calls; the next call opens them again."""
