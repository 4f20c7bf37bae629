"""What the package asks of a Kafka cluster: values, and the Protocol that the adapter implements."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from kafka_migration.core.drain import Probe
from kafka_migration.core.migration import IsolationLevel
from kafka_migration.core.offsets import Offsets, TopicPartition


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """A topic as the cluster describes it; `configs` holds only the values set on the topic itself."""

    topic: str
    topic_id: str
    partitions: int
    configs: Mapping[str, str]

    @property
    def topic_partitions(self) -> tuple[TopicPartition, ...]:
        """All partitions of the topic."""
        return tuple(TopicPartition(self.topic, number) for number in range(self.partitions))


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A topic to create."""

    topic: str
    partitions: int
    replication_factor: int
    configs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """Who the cluster is, and how many brokers it has."""

    cluster_id: str
    brokers: int


class KafkaCluster(Protocol):
    """One Kafka cluster.

    Every method raises `TransientError` when the cluster does not answer in time and `Refused` when it
    denies the request. A topic or partition that does not exist is missing from the answer.
    """

    def facts(self) -> ClusterFacts:
        """Return the cluster's id and broker count."""

    def topic_names(self) -> frozenset[str]:
        """Return the names of all topics that the client may see."""

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

    def log_start_offsets(self, partitions: Collection[TopicPartition]) -> Offsets:
        """Return the first offset still held, per partition."""

    def log_end_offsets(self, partitions: Collection[TopicPartition], isolation: IsolationLevel) -> Offsets:
        """Return the end per partition: the last stable offset under `read_committed`, else the high watermark."""

    def read_table(self, topic: str) -> Iterable[tuple[bytes | None, bytes | None]]:
        """Return the latest (key, value) of each key of a small compacted topic, read committed.

        A topic that does not exist is empty.
        """

    def probe(self, start: Offsets, isolation: IsolationLevel) -> Mapping[TopicPartition, Probe]:
        """Return what a reader starting at these offsets meets first; a partition without an answer is missing."""
