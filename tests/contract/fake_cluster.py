"""An in-memory Kafka cluster for fast tests, held to the real one by `cluster_contract.py`.

What it does not do: transactions (every record is committed), compaction, replicas.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from kafka_migration.core.cluster import ClusterFacts, NewTopic, TopicDescription
from kafka_migration.core.codes import Code
from kafka_migration.core.drain import Probe
from kafka_migration.core.errors import Finding, Refused, TransientError
from kafka_migration.core.migration import IsolationLevel
from kafka_migration.core.offsets import Offsets, TopicPartition

Record = tuple[bytes | None, bytes | None]


@dataclass
class FakePartition:
    """A log: `records[0]` stands at offset `log_start`."""

    log_start: int = 0
    records: list[Record] = field(default_factory=list)

    @property
    def end(self) -> int:
        """The offset after the last record."""
        return self.log_start + len(self.records)


@dataclass
class FakeTopic:
    """A topic with an id that no other topic ever had."""

    topic_id: str
    configs: dict[str, str]
    partitions: list[FakePartition]


class FakeCluster:
    """`core.cluster.KafkaCluster` in memory; `is_down` makes every call time out."""

    def __init__(self, cluster_id: str = "fake", brokers: int = 1) -> None:
        self.cluster_id = cluster_id
        self.brokers = brokers
        self.topics: dict[str, FakeTopic] = {}
        self.is_down = False
        self._ids = 0

    def produce(self, topic: str, partition: int, *records: Record) -> None:
        """Append records to a partition."""
        self.topics[topic].partitions[partition].records += records

    def purge(self, topic: str, partition: int, log_start: int) -> None:
        """Delete everything before an offset, as retention does."""
        log = self.topics[topic].partitions[partition]
        log.records = log.records[log_start - log.log_start :]
        log.log_start = log_start

    def facts(self) -> ClusterFacts:
        """Return the cluster's id and broker count."""
        self._answer()
        return ClusterFacts(self.cluster_id, self.brokers)

    def topic_names(self) -> frozenset[str]:
        """Return the names of all topics."""
        self._answer()
        return frozenset(self.topics)

    def describe_topics(self, topics: Collection[str]) -> Mapping[str, TopicDescription]:
        """Return the descriptions of those of the topics that exist."""
        self._answer()
        return {
            name: TopicDescription(name, known.topic_id, len(known.partitions), dict(known.configs))
            for name in topics
            if (known := self.topics.get(name)) is not None
        }

    def effective_configs(self, topics: Collection[str], name: str) -> Mapping[str, str]:
        """Return the value of one topic configuration per existing topic."""
        self._answer()
        defaults = {"max.message.bytes": "1048588"}
        return {t: self.topics[t].configs.get(name, defaults[name]) for t in topics if t in self.topics}

    def create_topics(self, topics: Collection[NewTopic]) -> None:
        """Create topics; an existing one is left as it is."""
        self._answer()
        denied = [t for t in topics if t.replication_factor > self.brokers]
        if denied:
            raise Refused(
                Finding(Code.TOPIC_NOT_CREATED, f"topic {t.topic}", "too many replicas", "a created topic", "Mend it.")
                for t in denied
            )
        for topic in topics:
            if topic.topic not in self.topics:
                self._ids += 1
                partitions = [FakePartition() for _ in range(topic.partitions)]
                self.topics[topic.topic] = FakeTopic(f"{self.cluster_id}-{self._ids}", dict(topic.configs), partitions)

    def create_partitions(self, partitions: Mapping[str, int]) -> None:
        """Grow topics to the given partition counts."""
        self._answer()
        for topic, count in partitions.items():
            logs = self.topics[topic].partitions
            logs += [FakePartition() for _ in range(count - len(logs))]

    def delete_topics(self, topics: Collection[str]) -> None:
        """Delete topics; one that is not there is left out silently."""
        self._answer()
        for topic in topics:
            self.topics.pop(topic, None)

    def log_start_offsets(self, partitions: Collection[TopicPartition]) -> Offsets:
        """Return the first offset still held, per partition."""
        return {p: log.log_start for p, log in self._logs(partitions)}

    def log_end_offsets(self, partitions: Collection[TopicPartition], isolation: IsolationLevel) -> Offsets:
        """Return the end per partition."""
        return {p: log.end for p, log in self._logs(partitions)}

    def read_table(self, topic: str) -> Iterable[Record]:
        """Return the latest (key, value) of each key."""
        self._answer()
        known = self.topics.get(topic)
        table = {key: value for log in (known.partitions if known else ()) for key, value in log.records}
        return list(table.items())

    def probe(self, start: Offsets, isolation: IsolationLevel) -> Mapping[TopicPartition, Probe]:
        """Return what a reader starting at these offsets meets first."""
        return {p: Probe(max(start[p], log.log_start), is_end=start[p] >= log.end) for p, log in self._logs(start)}

    def _logs(self, partitions: Iterable[TopicPartition]) -> list[tuple[TopicPartition, FakePartition]]:
        self._answer()
        return [
            (p, self.topics[p.topic].partitions[p.partition])
            for p in partitions
            if p.topic in self.topics and p.partition < len(self.topics[p.topic].partitions)
        ]

    def _answer(self) -> None:
        if self.is_down:
            raise TransientError(f"{self.cluster_id} did not answer within 20 s")
