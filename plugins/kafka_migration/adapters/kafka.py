"""A Kafka cluster over confluent-kafka (`core.cluster.KafkaCluster`)."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, TypeVar

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicCollection,
)
from confluent_kafka import (
    IsolationLevel as AdminIsolationLevel,
)
from confluent_kafka import (
    TopicPartition as ClientPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    OffsetSpec,
    ResourceType,
)
from confluent_kafka.admin import (
    NewTopic as ClientNewTopic,
)

from kafka_migration.core.cluster import ClusterFacts, NewTopic, TopicDescription
from kafka_migration.core.codes import Code
from kafka_migration.core.drain import Probe
from kafka_migration.core.errors import Finding, Refused, TransientError
from kafka_migration.core.migration import IsolationLevel
from kafka_migration.core.offsets import TopicPartition

T = TypeVar("T")
K = TypeVar("K")

CALL_TIMEOUT_S = 20.0
LEADER_TIMEOUT_S = 60.0
READ_TIMEOUT_S = 60.0
PROBE_TIMEOUT_S = 10.0
# One ListOffsets call for 10,000 partitions is slower than ten of 1,000 (librdkafka 2.16, facts).
OFFSETS_CHUNK = 1000
TOPICS_CHUNK = 100
# _NOENT is librdkafka's "no leaders found": no partition of the request exists, or none has a leader now.
_ABSENT = {
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError._NOENT,
}
_DENIED = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError._AUTHENTICATION,
}


class ConfluentCluster:
    """One cluster, reached with the librdkafka settings of an Airflow connection.

    `name` is what findings call it, for example `source (demo_source)`.
    """

    def __init__(self, name: str, config: Mapping[str, Any]) -> None:
        self.name = name
        self._config = dict(config)
        self._admin = AdminClient({**self._config, "logger": _quiet_logger()})

    def facts(self) -> ClusterFacts:
        """Return the cluster's id and broker count."""
        cluster = self._call(
            lambda: self._admin.describe_cluster(request_timeout=CALL_TIMEOUT_S).result(CALL_TIMEOUT_S)
        )
        return ClusterFacts(cluster.cluster_id, len(cluster.nodes))

    def topic_names(self) -> frozenset[str]:
        """Return the names of all topics that the client may see."""
        return frozenset(self._call(lambda: self._admin.list_topics(timeout=CALL_TIMEOUT_S)).topics)

    def describe_topics(self, topics: Collection[str]) -> Mapping[str, TopicDescription]:
        """Return the descriptions of those of the topics that exist."""
        if not topics:
            return {}
        futures = self._admin.describe_topics(TopicCollection(sorted(topics)), request_timeout=CALL_TIMEOUT_S)
        found = dict(self._results(futures))
        configs = self._topic_configs(found)
        return {
            topic: TopicDescription(
                topic,
                str(description.topic_id),
                len(description.partitions),
                {
                    name: entry.value
                    for name, entry in configs[topic].items()
                    if entry.source == ConfigSource.DYNAMIC_TOPIC_CONFIG.value and entry.value is not None
                },
            )
            for topic, description in found.items()
            if topic in configs
        }

    def effective_configs(self, topics: Collection[str], name: str) -> Mapping[str, str]:
        """Return the value of one topic configuration, defaults included, per existing topic."""
        configs = self._topic_configs(topics)
        return {topic: entries[name].value for topic, entries in configs.items() if name in entries}

    def create_topics(self, topics: Collection[NewTopic]) -> None:
        """Create topics and wait until every partition has a leader; an existing topic is left as it is."""
        findings: list[Finding] = []
        for chunk in _chunks(sorted(topics, key=lambda t: t.topic), TOPICS_CHUNK):
            futures = self._admin.create_topics(
                [ClientNewTopic(t.topic, t.partitions, t.replication_factor, config=dict(t.configs)) for t in chunk],
                operation_timeout=CALL_TIMEOUT_S,
                request_timeout=CALL_TIMEOUT_S,
            )
            findings += self._denials(futures, already_done=KafkaError.TOPIC_ALREADY_EXISTS)
        if findings:
            raise Refused(findings)
        self._wait_for_leaders({t.topic: t.partitions for t in topics})

    def create_partitions(self, partitions: Mapping[str, int]) -> None:
        """Grow topics to the given partition counts and wait for the leaders."""
        if not partitions:
            return
        futures = self._admin.create_partitions(
            [NewPartitions(topic, count) for topic, count in sorted(partitions.items())],
            operation_timeout=CALL_TIMEOUT_S,
            request_timeout=CALL_TIMEOUT_S,
        )
        findings = self._denials(futures, already_done=KafkaError.INVALID_PARTITIONS)
        if findings:
            raise Refused(findings)
        self._wait_for_leaders(partitions)

    def delete_topics(self, topics: Collection[str]) -> None:
        """Delete topics; one that is not there is left out silently."""
        if topics:
            futures = self._admin.delete_topics(sorted(topics), operation_timeout=CALL_TIMEOUT_S)
            list(self._results(futures))

    def log_start_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the first offset still held, per partition."""
        return self._offsets(partitions, OffsetSpec.earliest(), "read_uncommitted")

    def log_end_offsets(
        self, partitions: Collection[TopicPartition], isolation: IsolationLevel
    ) -> dict[TopicPartition, int]:
        """Return the end per partition: the last stable offset under `read_committed`, else the high watermark."""
        return self._offsets(partitions, OffsetSpec.latest(), isolation)

    def read_table(self, topic: str) -> Iterable[tuple[bytes | None, bytes | None]]:
        """Return the latest (key, value) of each key of a small compacted topic, read committed."""
        description = self.describe_topics([topic]).get(topic)
        if description is None:
            return []
        ends = self.log_end_offsets(description.topic_partitions, "read_committed")
        table: dict[bytes | None, bytes | None] = {}
        start = {partition: OFFSET_BEGINNING for partition, end in ends.items() if end > 0}
        with closing(self._reader(start, "read_committed")) as consumer:
            for message in self._read_to(consumer, {p: ends[p] for p in start}):
                table[message.key()] = message.value()
        return list(table.items())

    def probe(self, start: Mapping[TopicPartition, int], isolation: IsolationLevel) -> Mapping[TopicPartition, Probe]:
        """Return what a reader starting at these offsets meets first; a partition without an answer is missing."""
        probes: dict[TopicPartition, Probe] = {}
        deadline = time.monotonic() + PROBE_TIMEOUT_S
        with closing(self._reader(start, isolation)) as consumer:
            while len(probes) < len(start) and time.monotonic() < deadline:
                message = consumer.poll(0.2)
                if message is None:
                    continue
                error = message.error()
                if error is not None and error.code() != KafkaError._PARTITION_EOF:
                    raise self._translated(KafkaException(error))
                partition = TopicPartition(message.topic(), message.partition())
                probes.setdefault(partition, Probe(message.offset(), error is not None))
                consumer.pause([ClientPartition(*partition)])
        return probes

    def _offsets(
        self, partitions: Collection[TopicPartition], spec: OffsetSpec, isolation: IsolationLevel
    ) -> dict[TopicPartition, int]:
        level = AdminIsolationLevel[isolation.upper()]
        offsets: dict[TopicPartition, int] = {}
        for chunk in _chunks(sorted(partitions), OFFSETS_CHUNK):
            futures = self._call(
                lambda chunk=chunk: self._admin.list_offsets(  # type: ignore[misc]
                    {ClientPartition(*p): spec for p in chunk},
                    isolation_level=level,
                    request_timeout=CALL_TIMEOUT_S,
                )
            )
            for partition, result in self._results(futures):
                offsets[TopicPartition(partition.topic, partition.partition)] = result.offset
        return offsets

    def _topic_configs(self, topics: Collection[str]) -> dict[str, Mapping[str, Any]]:
        if not topics:
            return {}
        resources = [ConfigResource(ResourceType.TOPIC, topic) for topic in sorted(topics)]
        futures = self._admin.describe_configs(resources, request_timeout=CALL_TIMEOUT_S)
        return {resource.name: configs for resource, configs in self._results(futures)}

    def _reader(self, start: Mapping[TopicPartition, int], isolation: IsolationLevel) -> Consumer:
        consumer = Consumer(
            {
                **self._config,
                "group.id": f"kafka-migration-reader-{uuid.uuid4()}",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "earliest",
                "isolation.level": isolation,
                "logger": _quiet_logger(),
            }
        )
        consumer.assign([ClientPartition(p.topic, p.partition, offset) for p, offset in start.items()])
        return consumer

    def _read_to(self, consumer: Consumer, ends: Mapping[TopicPartition, int]) -> Iterator[Message]:
        """Yield every message before the ends; end-of-partition events end a partition as well."""
        open_partitions = set(ends)
        deadline = time.monotonic() + READ_TIMEOUT_S
        while open_partitions:
            if time.monotonic() > deadline:
                raise TransientError(
                    f"{self.name}: reading {sorted(open_partitions)[0]} took over {READ_TIMEOUT_S:.0f} s"
                )
            message = consumer.poll(0.5)
            if message is None:
                continue
            partition = TopicPartition(message.topic(), message.partition())
            error = message.error()
            if error is None:
                yield message
            elif error.code() != KafkaError._PARTITION_EOF:
                raise self._translated(KafkaException(error))
            if error is not None or message.offset() + 1 >= ends[partition]:
                open_partitions.discard(partition)

    def _results(self, futures: Mapping[K, Any]) -> Iterator[tuple[K, Any]]:
        """Yield (object, result) of a batched call, leaving out what does not exist."""
        for subject, future in futures.items():
            try:
                yield subject, future.result(CALL_TIMEOUT_S)
            except KafkaException as error:
                if error.args[0].code() not in _ABSENT:
                    raise self._translated(error) from error
            except TimeoutError as error:
                raise TransientError(f"{self.name} did not answer within {CALL_TIMEOUT_S:.0f} s") from error

    def _denials(self, futures: Mapping[str, Any], already_done: int) -> list[Finding]:
        findings = []
        for topic, future in futures.items():
            try:
                future.result(CALL_TIMEOUT_S)
            except KafkaException as error:
                if error.args[0].code() == already_done:
                    continue
                if error.args[0].retriable():
                    raise self._translated(error) from error
                findings.append(
                    Finding(
                        Code.TOPIC_NOT_CREATED,
                        f"topic {topic} on {self.name}",
                        error.args[0].str(),
                        "a created topic",
                        "Correct what the broker names, or create the topic by hand with the source's partition count.",
                    )
                )
        return findings

    def _wait_for_leaders(self, partitions: Mapping[str, int]) -> None:
        deadline = time.monotonic() + LEADER_TIMEOUT_S
        missing = set(partitions)
        while missing:
            metadata = self._call(lambda: self._admin.list_topics(timeout=CALL_TIMEOUT_S))
            missing = {t for t, n in partitions.items() if _led_partitions(metadata, t) < n}
            if missing and time.monotonic() > deadline:
                raise TransientError(f"{self.name}: no leader for every partition of {', '.join(sorted(missing))}")
            if missing:
                time.sleep(0.2)

    def _call(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except KafkaException as error:
            raise self._translated(error) from error
        except TimeoutError as error:
            raise TransientError(f"{self.name} did not answer within {CALL_TIMEOUT_S:.0f} s") from error

    def _translated(self, exception: KafkaException) -> Exception:
        """Turn a client error into ours: denied is a refusal, everything else may pass by itself."""
        error = exception.args[0]
        if error.code() in _DENIED:
            return Refused(
                [
                    Finding(
                        Code.CONNECTION_INVALID,
                        self.name,
                        error.str(),
                        "a login that may describe, read and (on the target) create and write the topics",
                        "Correct the credentials in the Airflow connection, or grant the missing right.",
                    )
                ]
            )
        return TransientError(f"{self.name}: {error.str()}")


def _led_partitions(metadata: Any, topic: str) -> int:
    known = metadata.topics.get(topic)
    return sum(1 for p in known.partitions.values() if p.leader >= 0) if known else 0


def _chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _quiet_logger() -> Any:
    """Return a logger that keeps librdkafka's connection chatter out of task logs; errors come as exceptions."""
    logger = logging.getLogger("kafka_migration.librdkafka")
    logger.setLevel(logging.CRITICAL)
    return logger
