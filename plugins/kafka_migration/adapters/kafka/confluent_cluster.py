"""A Kafka cluster over confluent-kafka (`core.kafka.cluster.KafkaCluster`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from confluent_kafka import IsolationLevel as AdminIsolationLevel
from confluent_kafka import KafkaError, KafkaException, TopicCollection, Uuid
from confluent_kafka import TopicPartition as ClientPartition
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    OffsetSpec,
    ResourceType,
)
from confluent_kafka.admin import NewTopic as ClientNewTopic

from kafka_migration.adapters.kafka.broker_tables import TableReader
from kafka_migration.adapters.kafka.kafka_brokers import BrokerCalls
from kafka_migration.adapters.kafka.kafka_client import RetryPauses, call_timeout_s, chunks, may_pass
from kafka_migration.adapters.kafka.kafka_groups import GroupCalls
from kafka_migration.adapters.kafka.kafka_records import RecordReads
from kafka_migration.adapters.kafka.listeners import certificates_at
from kafka_migration.core.connections.connection_checks import protocol_of
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.cluster import Certificate, ClusterFacts, IsolationLevel, NewTopic, TopicDescription
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.kafka.records import LogRow
from kafka_migration.core.text.shortened import some

LEADER_TIMEOUT_S = 60.0
# One broker took a minute and a half for 10,000 partitions.
LEADER_TIMEOUT_PER_PARTITION_S = 0.03
# librdkafka 2.16 needs more than twice the time for twice as many partitions in one call.
OFFSETS_CHUNK = 500
# A KRaft controller refuses a request for more than 10,000 partitions ("Excessively large number of partitions").
PARTITIONS_CHUNK = 5000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# A broker's answer if no record has the requested time or a later one.
NO_OFFSET = -1
# The client's text for a topic id of zeros.
NO_TOPIC_ID = str(Uuid(0, 0))


class ConfluentCluster(BrokerCalls, GroupCalls, RecordReads):
    """One cluster, reached with the librdkafka settings of an Airflow connection: topics, offsets, groups, records."""

    def __init__(self, name: str, config: Mapping[str, Any]) -> None:
        super().__init__(name, config)
        self._tables = TableReader(self._config)

    def facts(self) -> ClusterFacts:
        """Return the cluster's id and brokers; a refusal of the connection is raised without waiting longer."""
        cluster = self._described_cluster()
        addresses = tuple(sorted(f"{node.host}:{node.port}" for node in cluster.nodes))
        return ClusterFacts(cluster.cluster_id, len(addresses), addresses)

    def certificates(self) -> Mapping[str, Certificate]:
        """Return the certificate of each broker by its address; empty without TLS."""
        if not protocol_of(self._config).endswith("SSL"):
            return {}
        return certificates_at([f"{node.host}:{node.port}" for node in self._described_cluster().nodes])

    def topic_names(self) -> frozenset[str]:
        """Return the names of all topics that the client may describe."""
        return frozenset(self.partition_counts())

    def partition_counts(self) -> Mapping[str, int]:
        """Return the partition count of every topic that the client may describe."""
        topics = self._call(self._all_topics).topics
        return {name: len(topic.partitions) for name, topic in topics.items()}

    def describe_topics(self, topics: Collection[str]) -> Mapping[str, TopicDescription]:
        """Return the descriptions of those of the topics that exist."""
        if not topics:
            return {}
        found = self._described(topics)
        configs = self._topic_configs(found)
        return {
            topic: TopicDescription(
                topic,
                topic_id_of(description),
                len(description.partitions),
                {
                    name: entry.value
                    for name, entry in configs[topic].items()
                    if entry.source == ConfigSource.DYNAMIC_TOPIC_CONFIG.value and entry.value is not None
                },
                min((len(partition.replicas) for partition in description.partitions), default=None),
            )
            for topic, description in found.items()
            if topic in configs
        }

    def topic_ids(self, topics: Collection[str]) -> Mapping[str, str]:
        """Return the ids of those of the topics that exist; empty texts if the brokers have no topic ids."""
        return {topic: topic_id_of(found) for topic, found in self._described(topics).items()} if topics else {}

    def effective_configs(self, topics: Collection[str], *names: str) -> Mapping[str, Mapping[str, str]]:
        """Return the values of topic configurations, defaults included, per existing topic."""
        configs = self._topic_configs(topics)
        return {
            topic: {name: entries[name].value for name in names if name in entries and entries[name].value is not None}
            for topic, entries in configs.items()
        }

    def create_topics(self, topics: Collection[NewTopic]) -> None:
        """Create topics and wait until every partition has a leader; an existing topic is left unchanged."""
        reasons = self._refused(topics, validate_only=False)
        self._wait_for_leaders({t.topic: t.partitions for t in topics if t.topic not in reasons})
        if reasons:
            raise Refused(self._findings(_NOT_CREATED, reasons))

    def refused_topics(self, topics: Collection[NewTopic]) -> Mapping[str, str]:
        """Return the cluster's reason for each topic that it would refuse to create; nothing is created."""
        return self._refused(topics, validate_only=True)

    def _refused(self, topics: Collection[NewTopic], *, validate_only: bool) -> dict[str, str]:
        reasons: dict[str, str] = {}
        for chunk in topic_chunks(sorted(topics, key=lambda t: t.topic)):
            wanted = {
                t.topic: ClientNewTopic(t.topic, t.partitions, t.replication_factor, config=dict(t.configs))
                for t in chunk
            }
            reasons |= self._denials(
                lambda topics, wanted=wanted: self._admin.create_topics(  # type: ignore[misc]
                    [wanted[topic] for topic in topics],
                    operation_timeout=call_timeout_s(),
                    request_timeout=call_timeout_s(),
                    validate_only=validate_only,
                ),
                list(wanted),
                already_done=KafkaError.TOPIC_ALREADY_EXISTS,
            )
        return reasons

    def create_partitions(self, partitions: Mapping[str, int]) -> None:
        """Grow topics to the given partition counts and wait for the leaders."""
        if not partitions:
            return
        reasons = self._denials(
            lambda topics: self._admin.create_partitions(
                [NewPartitions(topic, partitions[topic]) for topic in topics],
                operation_timeout=call_timeout_s(),
                request_timeout=call_timeout_s(),
            ),
            sorted(partitions),
            already_done=KafkaError.INVALID_PARTITIONS,
        )
        if reasons:
            raise Refused(self._findings(_NOT_GROWN, reasons))
        self._wait_for_leaders(partitions)

    def delete_topics(self, topics: Collection[str]) -> None:
        """Delete topics; missing topics are ignored."""
        if topics:
            self._made_at = {topic: at for topic, at in self._made_at.items() if topic not in topics}
            self._results(
                lambda some: self._admin.delete_topics(list(some), operation_timeout=call_timeout_s()), sorted(topics)
            )

    def alter_configs(self, configs: Mapping[str, Mapping[str, str | None]]) -> None:
        """Set configurations of topics and wait until they can be read back; `None` removes the topic's own value."""
        changes = {
            topic: [_changed(name, value) for name, value in values.items()]
            for topic, values in sorted(configs.items())
            if values
        }

        def ask(topics: Collection[str]) -> Mapping[str, Any]:
            wanted = [ConfigResource(ResourceType.TOPIC, t, incremental_configs=changes[t]) for t in topics]
            futures = self._admin.incremental_alter_configs(wanted, request_timeout=call_timeout_s())
            return {resource.name: future for resource, future in futures.items()}

        if not changes:
            return
        if reasons := self._denials(ask, list(changes)):
            raise Refused(self._findings(_NOT_CONFIGURED, reasons))
        self._wait_until_shown({topic: configs[topic] for topic in changes})

    def log_start_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the log start offset per partition."""
        return self._offsets(partitions, OffsetSpec.earliest(), "read_uncommitted")

    def log_end_offsets(
        self, partitions: Collection[TopicPartition], isolation: IsolationLevel
    ) -> dict[TopicPartition, int]:
        """Return the end per partition: the last stable offset with `read_committed`, else the high watermark."""
        return self._offsets(partitions, OffsetSpec.latest(), isolation)

    def offsets_for_time(
        self, partitions: Collection[TopicPartition], at: datetime, isolation: IsolationLevel
    ) -> dict[TopicPartition, int]:
        """Return the first offset whose record has a timestamp at or after a moment; the end if there is none."""
        # Read the ends first: records that arrive meanwhile must not be before an end that stands for "none".
        ends = self.log_end_offsets(partitions, isolation)
        timestamp_ms = (at - EPOCH) // timedelta(milliseconds=1)
        found = self._offsets(partitions, OffsetSpec.for_timestamp(timestamp_ms), isolation)
        return {p: ends[p] if offset == NO_OFFSET else offset for p, offset in found.items() if p in ends}

    def read_table(self, topic: str) -> Iterable[tuple[bytes | None, bytes | None]]:
        """Return the latest (key, value) of each key of a small compacted topic, read committed.

        A repeated call reads only new records.
        """
        found = self._described([topic]).get(topic)
        if found is None:
            return []
        partitions = [TopicPartition(topic, number) for number in range(len(found.partitions))]
        ends = self._complete(partitions, self.log_end_offsets(partitions, "read_committed"))

        def starts() -> Offsets:
            return self._complete(partitions, self.log_start_offsets(partitions))

        table = self._call(lambda: self._tables.read(topic, str(found.topic_id), ends, starts))
        return list(table.items())

    def read_log(self, topic: str, time_limit_s: float) -> Iterator[tuple[bytes | None, bytes | None]]:
        """Yield (key, value) of each record that the topic holds at the time of the call, read uncommitted."""
        found = self._described([topic]).get(topic)
        partitions = [TopicPartition(topic, number) for number in range(len(found.partitions) if found else 0)]
        starts = self._complete(partitions, self.log_start_offsets(partitions))
        ends = self._complete(partitions, self.log_end_offsets(partitions, "read_uncommitted"))
        return self.records_between(starts, ends, time_limit_s)

    def log_rows(self, topic: str, start: Offsets) -> Sequence[LogRow]:
        """Return each record of a small topic from these offsets to its present end (`KafkaCluster.log_rows`)."""
        found = self._described([topic]).get(topic)
        partitions = [TopicPartition(topic, number) for number in range(len(found.partitions) if found else 0)]
        first = self._complete(partitions, self.log_start_offsets(partitions))
        ends = self._complete(partitions, self.log_end_offsets(partitions, "read_uncommitted"))
        return self.rows_between({p: max(start.get(p, 0), first[p]) for p in partitions}, ends)

    def _complete(self, partitions: Collection[TopicPartition], offsets: Offsets) -> Offsets:
        """Return the offsets. Raises `TransientError` if that of one of the partitions is unknown."""
        if unknown := set(partitions) - offsets.keys():
            raise TransientError(f"{self.name}: not all partitions of {min(unknown).topic} can be read now")
        return offsets

    def close(self) -> None:
        """Close the consumer that follows tables, if there is one; the next read starts from the beginning."""
        self._tables.close()

    def _described(self, topics: Collection[str]) -> dict[str, Any]:
        return self._results(
            lambda some: self._admin.describe_topics(TopicCollection(list(some)), request_timeout=call_timeout_s()),
            sorted(topics),
            str,
        )

    def _offsets(
        self, partitions: Collection[TopicPartition], spec: OffsetSpec, isolation: IsolationLevel
    ) -> dict[TopicPartition, int]:
        found = self._known_offsets(partitions, spec, isolation)
        missing = set(partitions) - found.keys()
        if missing:
            # After a request for a topic that did not exist yet, the client treats it as missing until it fetches all
            # topics again (seen with librdkafka 2.16).
            self.topic_names()
            found |= self._known_offsets(missing, spec, isolation)
        return found

    def _known_offsets(
        self, partitions: Collection[TopicPartition], spec: OffsetSpec, isolation: IsolationLevel
    ) -> dict[TopicPartition, int]:
        level = AdminIsolationLevel[isolation.upper()]

        def ask(some: Sequence[TopicPartition]) -> Mapping[TopicPartition, Any]:
            # All requests are sent before waiting for the first answer, so that they cost only one round trip.
            asked = [
                self._admin.list_offsets(
                    {ClientPartition(*p): spec for p in chunk}, isolation_level=level, request_timeout=call_timeout_s()
                )
                for chunk in chunks(some, OFFSETS_CHUNK)
            ]
            return {TopicPartition(p.topic, p.partition): future for futures in asked for p, future in futures.items()}

        found = self._results(ask, sorted(partitions), lambda partition: partition.topic)
        return {partition: result.offset for partition, result in found.items()}

    def _topic_configs(self, topics: Collection[str]) -> dict[str, Mapping[str, Any]]:
        if not topics:
            return {}

        def ask(some: Collection[str]) -> Mapping[str, Any]:
            resources = [ConfigResource(ResourceType.TOPIC, topic) for topic in some]
            futures = self._admin.describe_configs(resources, request_timeout=call_timeout_s())
            return {resource.name: future for resource, future in futures.items()}

        return self._results(ask, sorted(topics), str)

    def _denials(
        self,
        ask: Callable[[Sequence[str]], Mapping[str, Any]],
        topics: Sequence[str],
        already_done: int | None = None,
    ) -> dict[str, str]:
        """Return the cluster's reason for each topic for which it denies the request."""
        reasons = {}
        for topic, outcome in self._outcomes(ask, topics, str).items():
            if not isinstance(outcome, KafkaException) or outcome.args[0].code() == already_done:
                continue
            if may_pass(outcome.args[0]):
                raise self._translated(outcome) from outcome
            reasons[topic] = outcome.args[0].str()
        return reasons

    def _findings(self, denial: _Denial, reasons: Mapping[str, str]) -> list[Finding]:
        return [denial.finding(f"topic {topic} on {self.name}", reason) for topic, reason in reasons.items()]

    def _wait_for_leaders(self, partitions: Mapping[str, int]) -> None:
        self._made_at |= dict.fromkeys(partitions, time.monotonic())
        deadline = time.monotonic() + LEADER_TIMEOUT_S + sum(partitions.values()) * LEADER_TIMEOUT_PER_PARTITION_S
        missing = set(partitions)
        while missing:
            metadata = self._call(self._all_topics)
            missing = {t for t, n in partitions.items() if _led_partitions(metadata, t) < n}
            if missing and time.monotonic() > deadline:
                raise TransientError(f"{self.name}: no leader for every partition of {some(sorted(missing))}")
            if missing:
                time.sleep(0.2)

    def _wait_until_shown(self, configs: Mapping[str, Mapping[str, str | None]]) -> None:
        # A KRaft broker answers from metadata that it receives after its controller has accepted the change. The change
        # is valid in any case: if the broker formats a value differently, the wait ends after the time of one call.
        patience = RetryPauses(call_timeout_s())
        while not _are_shown(configs, self._topic_configs(configs)) and patience.waits():
            pass


class _Denial(NamedTuple):
    """The finding for a refusal of the cluster."""

    code: Code
    expected: str
    remedy: str
    act: str
    matters: str

    def finding(self, subject: str, found: str) -> Finding:
        """Return the finding for one topic."""
        happened = f"The broker did not {self.act} the {subject}: {found}."
        return Finding(self.code, subject, found, self.expected, self.remedy, happened=happened, matters=self.matters)


_NOT_CREATED = _Denial(
    Code.TOPIC_NOT_CREATED,
    "a created topic",
    "Correct what the broker names, or create the topic with the source's partition count. Then clear create_topics.",
    "create",
    "MirrorMaker cannot copy records to a topic that does not exist, so it was not started.",
)
_NOT_GROWN = _NOT_CREATED._replace(
    remedy="Correct what the broker names, or add the partitions manually. Then clear the task create_topics.",
    act="add partitions to",
    matters="MirrorMaker cannot copy records to a partition that does not exist, so it was not started.",
)
_NOT_CONFIGURED = _Denial(
    Code.TOPIC_NOT_CONFIGURED,
    "the changed configuration",
    "Correct what the broker names: a policy, a missing right AlterConfigs, a missing topic. Then clear the task.",
    "change the configuration of",
    "Records and offsets are not affected, but the topic does not have the settings that were planned.",
)


def _changed(name: str, value: str | None) -> ConfigEntry:
    operation = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
    return ConfigEntry(name, value, incremental_operation=operation)


def _are_shown(wanted: Mapping[str, Mapping[str, str | None]], found: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether every topic that still exists has the wanted values."""
    return all(
        _is_shown(value, found[topic][name])
        for topic, values in wanted.items()
        for name, value in values.items()
        if name in found.get(topic, {})
    )


def _is_shown(wanted: str | None, entry: Any) -> bool:
    is_default = entry.source != ConfigSource.DYNAMIC_TOPIC_CONFIG.value
    return bool(is_default if wanted is None else entry.value == wanted)


def topic_id_of(description: Any) -> str:
    """Return the id of a described topic; brokers before Kafka 2.8 have none, which the client shows as all zeros."""
    topic_id = str(description.topic_id)
    return "" if topic_id == NO_TOPIC_ID else topic_id


def _led_partitions(metadata: Any, topic: str) -> int:
    known = metadata.topics.get(topic)
    return sum(1 for p in known.partitions.values() if p.leader >= 0) if known else 0


def topic_chunks(topics: Sequence[NewTopic]) -> Iterator[list[NewTopic]]:
    """Yield the topics in groups that one request may create; a topic that exceeds the limit is alone."""
    chunk: list[NewTopic] = []
    for topic in topics:
        if chunk and sum(t.partitions for t in (*chunk, topic)) > PARTITIONS_CHUNK:
            yield chunk
            chunk = []
        chunk.append(topic)
    if chunk:
        yield chunk
