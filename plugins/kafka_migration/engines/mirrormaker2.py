"""MirrorMaker 2 in dedicated mode: its configuration, launch, positions and health.

It keeps partitions and never writes to the source cluster. The configuration and status topics are new for each
generation, because MirrorMaker would start from the stored state of the last run. The offsets topic is kept.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.kafka.reserved_topics import is_heartbeats, is_replica
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.mirror.causes import CONNECTOR_REFUSED, OUT_OF_MEMORY, SPLITTING, WORKER_ENDED
from kafka_migration.core.mirror.engine import LaunchFacts, MirrorHealth
from kafka_migration.core.mirror.host import GENERATION_DIR, HostReply, MirrorLaunch
from kafka_migration.core.mirror.mirror_process import ProcessEnding
from kafka_migration.core.text.quoting import shell_word
from kafka_migration.engines.foreign_rows import ForeignRows
from kafka_migration.engines.launching import (
    FETCH_MAX_BYTES,
    LINGER_MS,
    LOGGING_FILES,
    OF_THE_SYSTEM,
    fetch_sizes,
    java_options,
    producer_sizes,
    provider_properties,
    render_properties,
    secret_files,
    shown_properties,
    tuned,
)
from kafka_migration.engines.mirrormaker2_topics import (
    InternalTopics,
    assigned_partitions,
    differences,
    failed_tasks,
    stale_topics,
    stored_positions,
)
from kafka_migration.engines.required_versions import version_findings

MAIN_CLASS = "org.apache.kafka.connect.mirror.MirrorMaker"
PROPERTIES_FILE = "mm2.properties"
STOPPED_LINE = "Kafka MirrorMaker stopped."
POLICIES = {
    "identity": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
    "prefixed": "org.apache.kafka.connect.mirror.DefaultReplicationPolicy",
}
# After a kill its transactions remain open until they time out, and read_committed consumers wait for them. The timeout
# must be longer than a broker's failover on the target, or a task fails.
TRANSACTION_TIMEOUT_MS = 30_000


@dataclass(frozen=True, slots=True)
class MirrorMaker2:
    """MirrorMaker 2 in dedicated mode (`core.mirror.engine.MirrorEngine`)."""

    migration: Migration
    source: KafkaCluster
    target: KafkaCluster
    _foreign: ForeignRows = field(default_factory=ForeignRows, compare=False, repr=False)

    def setting_findings(self, kafka_version: str) -> Iterable[Finding]:
        """Return the settings that MirrorMaker of `kafka_version` ("" if unknown) would ignore, misread or refuse."""
        return (*never_copied_findings(self.migration), *version_findings(self.migration, kafka_version))

    def launch(self, generation: int, facts: LaunchFacts) -> MirrorLaunch:
        """Return what the host needs to start a generation."""
        return launch(self.migration, generation, facts)

    def stale_topics(self, generation: int, topics: Iterable[str]) -> tuple[str, ...]:
        """Return the configuration and status topics of earlier generations."""
        return stale_topics(self.migration.name, generation, topics)

    def stored_positions(self, topics: Collection[str]) -> Offsets:
        """Return the next source offset to copy, as MirrorMaker stored it; a partition without one is missing."""
        topic = self._internal(0).offsets
        rows = self.target.read_table(topic)
        return stored_positions(rows, self.migration.source.alias, topics, self._foreign.of(topic))

    def rewind(self, positions: Offsets) -> None:
        """Raise `ValueError`: it stores only acknowledged positions, so they are never reset."""
        raise ValueError("the positions of MirrorMaker 2 are never set back")

    def health(self, generation: int, reply: HostReply) -> MirrorHealth:
        """Return the health from the status and configuration topics of a generation."""
        internal = self._internal(generation)
        configs, malformed = tuple(self.target.read_table(internal.configs)), self._foreign.of(internal.configs)
        failed = failed_tasks(self.target.read_table(internal.status), self._foreign.of(internal.status))
        return MirrorHealth.of_tasks(
            assigned_partitions(configs, malformed),
            failed=failed,
            differences=differences(configs, stored_configuration(self.migration, generation), malformed),
        )

    def ending(self, reply: HostReply) -> ProcessEnding:
        """Return how a generation ended, by the end of its log; a stored position is that of an acknowledged record."""
        return reply.ending(is_orderly=STOPPED_LINE in reply.log)

    def position_topics(self) -> tuple[str, ...]:
        """Return the offsets topic."""
        return (self._internal(0).offsets,)

    def restore_command(self, partition: TopicPartition, position: int) -> str:
        """Return nothing: no Kafka tool can write its offsets topic."""
        return ""

    def reset_command(self) -> str:
        """Return the command that deletes the offsets topic on the target."""
        return f"kafka-topics.sh --bootstrap-server <target> --delete --topic {shell_word(self._internal(0).offsets)}"

    def _internal(self, generation: int) -> InternalTopics:
        return InternalTopics.of(self.migration.name, generation)


def launch(migration: Migration, generation: int, facts: LaunchFacts) -> MirrorLaunch:
    """Return what the host needs to start this generation; raises `Refused` like `producer_sizes`."""
    mirror = migration.mirror
    clusters = {migration.source.alias: facts.source_properties, migration.target.alias: facts.target_properties}
    secrets = {
        path: value for alias, cluster in clusters.items() for path, value in secret_files(alias, cluster).items()
    }
    properties = {
        **_clusters(clusters),
        **provider_properties(bool(secrets)),
        **_profile(migration, generation),
        **_of(migration.source.alias, "consumer", fetch_sizes(migration, facts)),
        **_of(migration.target.alias, "producer", producer_sizes(migration, facts)),
    }
    return MirrorLaunch(
        main_class=MAIN_CLASS,
        arguments=(f"{GENERATION_DIR}/{PROPERTIES_FILE}", "--clusters", migration.target.alias),
        files={PROPERTIES_FILE: render_properties(properties), **LOGGING_FILES, **secrets},
        java_options=java_options(migration, facts, bool(secrets)),
        kafka_home=mirror.kafka_home,
        java_home=mirror.java_home,
        lease_s=mirror.lease_s,
        alarms=(SPLITTING, WORKER_ENDED, CONNECTOR_REFUSED, OUT_OF_MEMORY),
    )


def stored_configuration(migration: Migration, generation: int) -> dict[str, str]:
    """Return the configuration that a connector of this generation must have stored, in MirrorMaker's names there.

    The names were seen on Kafka 3.9.1. Addresses, logins and the clients' sizes are not included: they are known only
    at the launch, and a login must not appear in a text about a difference.
    """
    source, target = migration.source.alias, migration.target.alias
    renamed = {
        f"{source}->{target}.": "",
        f"{source}.consumer.": "source.consumer.",
        f"{target}.producer.": "target.producer.",
        f"{target}.": "target.cluster.",
    }
    stored = {"source.cluster.alias": source, "target.cluster.alias": target}
    for key, value in _profile(migration, generation).items():
        prefix = next((p for p in renamed if key.startswith(p)), "")
        if not key.startswith((f"{target}->{source}.", *_OF_THE_WORKER)):
            stored[renamed.get(prefix, "") + key.removeprefix(prefix)] = value
    return stored


# Top-level settings of MirrorMaker's worker that connectors do not receive.
_OF_THE_WORKER = (
    "offset.storage.",
    "config.storage.",
    "status.storage.",
    "task.shutdown.",
    "dedicated.mode.",
    "listeners",
)


def _clusters(clusters: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    properties = {"clusters": ", ".join(clusters)}
    for alias, cluster in clusters.items():
        properties |= {f"{alias}.{name}": value for name, value in shown_properties(alias, cluster).items()}
    return properties


def _of(alias: str, client: str, properties: Mapping[str, str]) -> dict[str, str]:
    return {f"{alias}.{client}.{name}": value for name, value in properties.items()}


def _profile(migration: Migration, generation: int) -> dict[str, str]:
    return {
        **_flow(migration),
        **_storage(migration, generation),
        **_exactly_once(migration),
        **_clients(migration),
    }


def _flow(migration: Migration) -> dict[str, str]:
    source, target = migration.source.alias, migration.target.alias
    replication = str(migration.target_replication_factor)
    names = migration.mirror.topic_names
    return {
        f"{source}->{target}.enabled": "true",
        f"{target}->{source}.enabled": "false",
        f"{source}->{target}.topics": ",".join(re.escape(topic) for topic in migration.topics),
        # Group offsets are planned and written by this package; no group of this name exists.
        f"{source}->{target}.groups": f"no-group-of-{migration.name}",
        "replication.policy.class": names.policy_class or POLICIES[names.naming],
        "tasks.max": str(migration.mirror.tasks),
        "emit.heartbeats.enabled": "false",
        "heartbeats.topic.replication.factor": replication,
        "offset-syncs.topic.location": "target",
        "sync.topic.configs.enabled": "false",
        "sync.topic.acls.enabled": "false",
        "sync.group.offsets.enabled": "false",
        "refresh.topics.interval.seconds": "60",
        "refresh.groups.interval.seconds": "60",
        "emit.checkpoints.interval.seconds": "60",
        "replication.factor": replication,
        "checkpoints.topic.replication.factor": replication,
        "offset-syncs.topic.replication.factor": replication,
    }


def _storage(migration: Migration, generation: int) -> dict[str, str]:
    target, topics = migration.target.alias, InternalTopics.of(migration.name, generation)
    replication = str(migration.target_replication_factor)
    return {
        # The default contains only the source's alias, which two migrations may share.
        f"{target}.group.id": f"{migration.name}-source-mm2",
        f"{target}.offset.storage.topic": topics.offsets,
        f"{target}.config.storage.topic": topics.configs,
        f"{target}.status.storage.topic": topics.status,
        "offset.storage.replication.factor": replication,
        "config.storage.replication.factor": replication,
        "status.storage.replication.factor": replication,
        # Top-level worker settings work only for a few prefixes; these need the prefix of the target's worker.
        f"{target}.offset.flush.interval.ms": "5000",
        f"{target}.offset.flush.timeout.ms": "30000",
        "task.shutdown.graceful.timeout.ms": "60000",
    }


def _exactly_once(migration: Migration) -> dict[str, str]:
    if not migration.mirror.exactly_once:
        return {}
    target = migration.target.alias
    return {
        f"{target}.exactly.once.source.support": "enabled",
        # MirrorMaker processes fence each other through it. With only one process it is not called.
        "dedicated.mode.enable.internal.rest": "true",
        "listeners": "http://127.0.0.1:0",
        f"{target}.producer.transaction.timeout.ms": str(TRANSACTION_TIMEOUT_MS),
    }


def _clients(migration: Migration) -> dict[str, str]:
    source, target = migration.source.alias, migration.target.alias
    return {
        f"{source}.consumer.isolation.level": migration.mirror.isolation_level,
        f"{source}.consumer.auto.offset.reset": "earliest",
        f"{source}.consumer.fetch.max.bytes": FETCH_MAX_BYTES,
        f"{source}.consumer.receive.buffer.bytes": OF_THE_SYSTEM,
        f"{target}.producer.enable.idempotence": "true",
        f"{target}.producer.acks": "all",
        # Connect's value is 1, one request per round trip. An idempotent producer keeps the order with up to 5.
        f"{target}.producer.max.in.flight.requests.per.connection": "5",
        f"{target}.producer.linger.ms": LINGER_MS,
        f"{target}.producer.send.buffer.bytes": OF_THE_SYSTEM,
        **_of(source, "consumer", tuned(migration, "consumer")),
        **_of(target, "producer", tuned(migration, "producer")),
    }


def never_copied_findings(migration: Migration) -> Iterable[Finding]:
    """Return one finding per topic that MirrorMaker 2 would not copy to its `Migration.target_topic`."""
    # Every engine that may rename topics does so by MirrorMaker 2's policies, which skip some names.
    for topic in migration.topics if migration.mirror.abilities.renames_topics else ():
        problem = _problem(migration, topic)
        if problem:
            yield Finding(
                Code.TOPIC_NEVER_COPIED,
                f"{migration.name}.yaml: topics, {topic}",
                problem[0],
                "topics that MirrorMaker 2 copies under the names in the migration file",
                problem[1],
                happened=f"Topic {topic} has {problem[0]}.",
                matters="Its records would be missing on the target, or in another topic than the migration file says, "
                "so the file is refused.",
            )


def _problem(migration: Migration, topic: str) -> tuple[str, str] | None:
    """Return the problem of a topic and its remedy; `None` if it is copied."""
    naming = migration.mirror.topic_names.naming
    if is_replica(topic):
        remedy = "Before the first run, set mirror.engine to mirrormaker1, or move the topic to another migration file."
        return "a name that MirrorMaker 2 skips by default (.*\\.replica)", remedy
    if naming == "identity" and is_heartbeats(topic):
        return (
            f"a name that MirrorMaker 2 treats as its heartbeats topic and copies to {migration.source.alias}.{topic}",
            "Copy it with a second migration file that has mirror.engine mirrormaker1, or mirror.topic_names.naming "
            "prefixed.",
        )
    if naming == "prefixed" and migration.target.alias in topic.split(".")[:-1]:
        return (
            f"a name that contains the target's alias {migration.target.alias}, which MirrorMaker 2 treats as a cycle",
            "Give the migration another name, because the target's alias is derived from it.",
        )
    return None
