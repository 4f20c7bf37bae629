"""What the package asks of a Kafka cluster: values, and the Protocol that the adapter implements."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, Protocol

from kafka_migration.core.kafka.offsets import Offsets, TopicPartition


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """A topic as the cluster describes it; `configs` holds only the values set on the topic itself.

    `topic_id` is empty where brokers give none (before Kafka 2.8).
    """

    topic: str
    topic_id: str
    partitions: int
    configs: Mapping[str, str]

    @property
    def topic_partitions(self) -> tuple[TopicPartition, ...]:
        """All partitions of the topic."""
        return tuple(TopicPartition(self.topic, number) for number in range(self.partitions))

    def is_another_than(self, known_id: str | None) -> bool:
        """Tell whether this is not the topic of an id, as far as both ids are known."""
        return bool(self.topic_id and known_id) and self.topic_id != known_id


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A topic to create."""

    topic: str
    partitions: int
    replication_factor: int
    configs: Mapping[str, str]


class GroupState(StrEnum):
    """The state of a consumer group, as Kafka calls it; what a client does not know is `UNKNOWN`."""

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
        """Whether no member can be there: the group is empty, or does not exist."""
        return self in {GroupState.EMPTY, GroupState.DEAD}


GroupKind = Literal["classic", "consumer", "streams", "connect", "share", "other"]
"""The protocol that a group uses: `consumer` is that of KIP-848, `streams` that of KIP-1071 (Kafka Streams before it is
`classic`), `connect` that of Connect's workers among themselves."""


@dataclass(frozen=True, slots=True)
class GroupListing:
    """A group as the cluster lists it."""

    group: str
    state: GroupState
    kind: GroupKind

    @property
    def is_movable(self) -> bool:
        """Whether its place is told by committed offsets that a client may read and write."""
        return self.kind in {"classic", "consumer"}


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A living member of a group, and the partitions that are assigned to it."""

    member_id: str
    client_id: str
    host: str
    assigned: frozenset[TopicPartition] = frozenset()

    def __str__(self) -> str:
        return f"{self.client_id or self.member_id} on {self.host}"


@dataclass(frozen=True, slots=True)
class GroupDescription:
    """A group's state and living members; one that does not exist is `DEAD` without members."""

    group: str
    state: GroupState
    members: tuple[GroupMember, ...] = ()

    @property
    def is_active(self) -> bool:
        """Whether somebody reads, or might: only a group that is known to be empty or not there is not active."""
        return bool(self.members) or not self.state.is_inactive


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """The next record that a group will read, with the text its consumer left beside it."""

    offset: int
    metadata: str = ""


@dataclass(frozen=True, slots=True)
class RecordPrint:
    """A record: its offset, the SHA-256 (hex) of key, value, headers and timestamp, and its timestamp.

    `timestamp_ms` is -1 where a record has none.
    """

    offset: int
    digest: str
    timestamp_ms: int

    @classmethod
    def of(
        cls,
        offset: int,
        key: bytes | None,
        value: bytes | None,
        headers: Iterable[tuple[str, bytes | None]],
        timestamp_ms: int,
    ) -> RecordPrint:
        """Return the print of a record; a missing key, value or header value is not an empty one."""
        named = [field for name, content in headers for field in (name.encode(), content)]
        timestamp = max(timestamp_ms, -1)
        parts = b"".join(_encoded(field) for field in (key, value, *named))
        digest = hashlib.sha256(timestamp.to_bytes(8, "big", signed=True) + parts).hexdigest()
        return cls(offset, digest, timestamp)


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """Who the cluster is, and how many brokers it has."""

    cluster_id: str
    brokers: int


def _encoded(field: bytes | None) -> bytes:
    """Return a text that no other field, and no two fields, encode to: a null flag, the length, the bytes."""
    return b"\x00" if field is None else b"\x01" + len(field).to_bytes(8, "big") + field


class KafkaCluster(Protocol):
    """One Kafka cluster.

    Every method raises `TransientError` when the cluster does not answer in time and `Refused` when it
    denies the request. A topic or partition that does not exist is missing from the answer.
    """

    def facts(self) -> ClusterFacts:
        """Return the cluster's id and broker count."""

    def topic_names(self) -> frozenset[str]:
        """Return the names of all topics that the client may see."""

    def partition_counts(self) -> Mapping[str, int]:
        """Return the number of partitions of every topic that the client may see."""

    def describe_topics(self, topics: Collection[str]) -> Mapping[str, TopicDescription]:
        """Return the descriptions of those of the topics that exist."""

    def effective_configs(self, topics: Collection[str], name: str) -> Mapping[str, str]:
        """Return the value of one topic configuration, defaults included, per existing topic."""

    def create_topics(self, topics: Collection[NewTopic]) -> None:
        """Create topics and wait until every partition has a leader; an existing topic is left as it is.

        Raises `Refused` with one `TOPIC_NOT_CREATED` finding per topic that the cluster denied.
        """

    def create_partitions(self, partitions: Mapping[str, int]) -> None:
        """Grow topics to the given partition counts and wait for the leaders."""

    def delete_topics(self, topics: Collection[str]) -> None:
        """Delete topics; one that is not there is left out silently."""

    def alter_configs(self, configs: Mapping[str, Mapping[str, str | None]]) -> None:
        """Set configurations of topics, by topic and name; `None` takes the topic's own value away.

        A value that was set is read back at once.

        Raises `Refused` with one `TOPIC_NOT_CONFIGURED` finding per topic that the cluster denied or does not have.
        """

    def log_start_offsets(self, partitions: Collection[TopicPartition]) -> Offsets:
        """Return the first offset still held, per partition."""

    def log_end_offsets(self, partitions: Collection[TopicPartition], isolation: IsolationLevel) -> Offsets:
        """Return the end per partition: the last stable offset under `read_committed`, else the high watermark."""

    def offsets_for_time(
        self, partitions: Collection[TopicPartition], at: datetime, isolation: IsolationLevel
    ) -> Offsets:
        """Return per partition the first offset whose record has a timestamp at or after a moment.

        Where no record is that late, it is the end, as `log_end_offsets` gives it.
        """

    def read_table(self, topic: str) -> Iterable[tuple[bytes | None, bytes | None]]:
        """Return the latest (key, value) of each key of a small compacted topic, read committed.

        A topic that does not exist is empty.
        """

    def read_log(self, topic: str, time_limit_s: float) -> Iterator[tuple[bytes | None, bytes | None]]:
        """Yield (key, value) of each record that the topic holds when it is asked, read uncommitted.

        A topic that does not exist has none. Raises `TransientError` when the time is over before the last record.
        """

    def probe(self, start: Offsets, isolation: IsolationLevel) -> Mapping[TopicPartition, Probe]:
        """Return what a reader starting at these offsets meets first; a partition without an answer is missing."""

    def list_groups(self) -> tuple[GroupListing, ...]:
        """Return every group that the client may see, of whatever kind, sorted by name."""

    def describe_groups(self, groups: Collection[str]) -> Mapping[str, GroupDescription]:
        """Return state and members of every one of the groups."""

    def committed_offsets(
        self, group: str, partitions: Collection[TopicPartition] | None = None
    ) -> Mapping[TopicPartition, CommittedOffset]:
        """Return what a group committed on these partitions (`None`: on all); never committed is missing."""

    def alter_offsets(self, group: str, offsets: Mapping[TopicPartition, CommittedOffset]) -> None:
        """Set the offsets of an empty group; one that does not exist is made.

        Raises `Refused`: `GROUP_ACTIVE` when the group has members, `OFFSETS_NOT_WRITTEN` with one finding per
        partition that was denied.
        """

    def delete_group(self, group: str) -> None:
        """Delete an empty group with all its offsets; one that is not there is left out silently.

        Raises `Refused` (`GROUP_ACTIVE`) when the group has members.
        """

    def records_at(self, offsets: Offsets, isolation: IsolationLevel) -> Mapping[TopicPartition, RecordPrint | None]:
        """Return the first visible record at or after each offset; `None` where the end was met first.

        A partition without an answer in time is missing.
        """

    def count_visible(self, start: Offsets, end: Offsets, isolation: IsolationLevel) -> Mapping[TopicPartition, int]:
        """Return the number of visible records in [start, end) per partition; both name the same partitions.

        Raises `TransientError` when reading takes too long: part of a count is no count.
        """

    def close(self) -> None:
        """End what is kept between calls; the next call begins it anew."""


@dataclass(frozen=True, slots=True)
class Probe:
    """What a throw-away consumer met first from a position on: the end, or a record, at `offset`."""

    offset: int
    is_end: bool

    def proves(self, goal: int) -> bool:
        """Nothing to copy lies before the goal when the first thing met lies at the goal or beyond."""
        return self.offset >= goal


IsolationLevel = Literal["read_committed", "read_uncommitted"]
