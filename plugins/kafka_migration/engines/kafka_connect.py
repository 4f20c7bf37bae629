"""MirrorMaker's source connector on a Kafka Connect cluster: its configuration, positions and health.

It keeps partitions, and writes through the producer of the workers, so their Kafka must be the target. Its positions
are in an offsets topic of its own, whatever the workers use. A worker that is lost, or a task that is restarted, sends
records again that were not stored; the run then ends the generation.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from kafka_migration.core.connect.connect_config import BYTES, ConnectLaunch, copier_name
from kafka_migration.core.connect.connect_tools import SOURCE_CONNECTOR
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import KafkaCluster, Side
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.mirror.connect_reply import ConnectReply
from kafka_migration.core.mirror.engine import LaunchFacts, MirrorHealth
from kafka_migration.core.mirror.mirror_process import HowEnded, ProcessEnding
from kafka_migration.core.text.quoting import shell_word
from kafka_migration.engines.foreign_rows import ForeignRows
from kafka_migration.engines.launching import (
    FETCH_MAX_BYTES,
    LINGER_MS,
    OF_THE_SYSTEM,
    fetch_sizes,
    producer_sizes,
    tuned,
)
from kafka_migration.engines.mirrormaker2 import POLICIES, TRANSACTION_TIMEOUT_MS, never_copied_findings
from kafka_migration.engines.mirrormaker2_topics import InternalTopics, partitions_named, stored_positions


@dataclass(frozen=True, slots=True)
class KafkaConnect:
    """MirrorMaker's source connector on Kafka Connect (`core.mirror.engine.MirrorEngine`)."""

    migration: Migration
    source: KafkaCluster
    target: KafkaCluster
    _foreign: ForeignRows = field(default_factory=ForeignRows, compare=False, repr=False)

    def setting_findings(self, kafka_version: str) -> Iterable[Finding]:
        """Return the settings that the connector would ignore or misread; the workers' version is another check."""
        return never_copied_findings(self.migration)

    def launch(self, generation: int, facts: LaunchFacts) -> ConnectLaunch:
        """Return the configuration of the connector. Raises `Refused` like `producer_sizes`."""
        clusters: dict[Side, Mapping[str, str]] = {"source": facts.source_properties, "target": facts.target_properties}
        name = {"name": copier_name(self.migration.name)}
        logins, own = _logins(self.migration, clusters), profile(self.migration)
        return ConnectLaunch({**name, **logins, **own, **self._sizes(facts)})

    def _sizes(self, facts: LaunchFacts) -> dict[str, str]:
        """Return the sizes that fit into a heap of `mirror.heap_mb` by default; that of the workers is not known."""
        fetch, producer = fetch_sizes(self.migration, facts), producer_sizes(self.migration, facts)
        return {**_of("source.consumer", fetch), **_of("producer.override", producer)}

    def stale_topics(self, generation: int, topics: Iterable[str]) -> tuple[str, ...]:
        """Return none: the connector has no topic of one generation."""
        return ()

    def stored_positions(self, topics: Collection[str]) -> Offsets:
        """Return the next source offset to copy, as the connector stored it; a partition without one is missing."""
        (topic,) = self.position_topics()
        rows, name = self.target.read_table(topic), copier_name(self.migration.name)
        return stored_positions(rows, self.migration.source.alias, topics, self._foreign.of(topic), name)

    def rewind(self, positions: Offsets) -> None:
        """Raise `ValueError`: it stores only acknowledged positions, so they are never reset."""
        raise ValueError("the positions of the connector are never set back")

    def health(self, generation: int, reply: ConnectReply) -> MirrorHealth:
        """Return what the reply says of the connector; failed tasks end the generation before."""
        tasks = (partitions_named(task.assigned) for task in reply.tasks or ())
        return MirrorHealth.of_tasks(tasks, differences=tuple(_differences(reply.config, profile(self.migration))))

    def ending(self, reply: ConnectReply) -> ProcessEnding:
        """Return how a generation ended: in order if each task ran once and its worker said that it has ended.

        A task that ends waits for the answers of the target, but only for the workers' `offset.flush.timeout.ms`.
        """
        if reply.is_running:
            return ProcessEnding(HowEnded.UNKNOWN, resent=reply.resent)
        how = HowEnded.KILLED if reply.is_lost else HowEnded.UNKNOWN
        how = HowEnded.ORDERLY if reply.is_orderly else how
        return ProcessEnding(how, resent=reply.resent, is_flushed=False)

    def position_topics(self) -> tuple[str, ...]:
        """Return the connector's own offsets topic."""
        return (InternalTopics.of(self.migration.name, 0).offsets,)

    def restore_command(self, partition: TopicPartition, position: int) -> str:
        """Return nothing: no Kafka tool can write its offsets topic."""
        return ""

    def reset_command(self) -> str:
        """Return the command that deletes the offsets topic on the target."""
        (topic,) = self.position_topics()
        return f"kafka-topics.sh --bootstrap-server <target> --delete --topic {shell_word(topic)}"


def profile(migration: Migration) -> dict[str, str]:
    """Return the configuration of the connector without addresses, logins and the limits of the target's topics."""
    return {**_flow(migration), **_clients(migration), **_exactly_once(migration)}


def _flow(migration: Migration) -> dict[str, str]:
    replication, names = str(migration.target_replication_factor), migration.mirror.topic_names
    return {
        "connector.class": SOURCE_CONNECTOR,
        "source.cluster.alias": migration.source.alias,
        "target.cluster.alias": migration.target.alias,
        "topics": ",".join(map(re.escape, migration.topics)),
        "tasks.max": str(migration.mirror.tasks),
        "replication.policy.class": names.policy_class or POLICIES[names.naming],
        # The workers' own converters may be others, which would change the records.
        "key.converter": BYTES,
        "value.converter": BYTES,
        "header.converter": BYTES,
        "offsets.storage.topic": InternalTopics.of(migration.name, 0).offsets,
        "offset-syncs.topic.location": "target",
        "sync.topic.configs.enabled": "false",
        "sync.topic.acls.enabled": "false",
        "refresh.topics.interval.seconds": "60",
        "replication.factor": replication,
        "offset-syncs.topic.replication.factor": replication,
    }


def _clients(migration: Migration) -> dict[str, str]:
    consumer = {
        "isolation.level": migration.mirror.isolation_level,
        "auto.offset.reset": "earliest",
        "fetch.max.bytes": FETCH_MAX_BYTES,
        "receive.buffer.bytes": OF_THE_SYSTEM,
        **tuned(migration, "consumer"),
    }
    producer = {
        "enable.idempotence": "true",
        "acks": "all",
        # An idempotent producer keeps the order with up to 5.
        "max.in.flight.requests.per.connection": "5",
        "linger.ms": LINGER_MS,
        "send.buffer.bytes": OF_THE_SYSTEM,
        **tuned(migration, "producer"),
    }
    return {**_of("source.consumer", consumer), **_of("producer.override", producer)}


def _exactly_once(migration: Migration) -> dict[str, str]:
    if not migration.mirror.exactly_once:
        return {}
    return {
        "exactly.once.support": "required",
        "transaction.boundary": "poll",
        "producer.override.transaction.timeout.ms": str(TRANSACTION_TIMEOUT_MS),
    }


def _logins(migration: Migration, clusters: Mapping[Side, Mapping[str, str]]) -> dict[str, str]:
    """Return addresses and logins of both clusters, with the references of the file in place of secrets."""
    connect = migration.mirror.connect
    references = connect.secrets if connect else {}
    return {
        f"{side}.cluster.{name}": references.get(side, {}).get(name, value)
        for side, properties in clusters.items()
        for name, value in properties.items()
    }


def _of(prefix: str, properties: Mapping[str, str]) -> dict[str, str]:
    return {f"{prefix}.{name}": value for name, value in properties.items()}


def _differences(stored: Mapping[str, str], expected: Mapping[str, str]) -> Iterable[str]:
    for key in sorted(expected):
        if stored.get(key) != expected[key]:
            yield f"connector: {key} is {stored.get(key, 'not set')}, rendered as {expected[key]}"
