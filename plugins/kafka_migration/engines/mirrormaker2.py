"""MirrorMaker 2, dedicated mode: configuration and launch, and where its positions and health are.

The profile is the one tried in the facts of this project: topic names and partitions kept, the source cluster
never written to, configuration and status topics fresh per generation (MirrorMaker starts from what the last
run stored there), the offsets topic kept.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from kafka_migration.clients.kafka_properties import SECRET_PROPERTIES
from kafka_migration.core.cluster import KafkaCluster
from kafka_migration.core.engine import LaunchFacts, MirrorHealth
from kafka_migration.core.errors import Finding
from kafka_migration.core.host import GENERATION_DIR, LOG4J_FILE, MirrorLaunch
from kafka_migration.core.migration import Migration
from kafka_migration.core.offsets import Offsets
from kafka_migration.engines.mirrormaker2_topics import (
    InternalTopics,
    assigned_partitions,
    failed_tasks,
    stale_topics,
    stored_positions,
)
from kafka_migration.engines.properties import render_properties

MAIN_CLASS = "org.apache.kafka.connect.mirror.MirrorMaker"
PROPERTIES_FILE = "mm2.properties"
SECRETS_PROVIDER = "org.apache.kafka.common.config.provider.DirectoryConfigProvider"
STOPPED_LINE = "Kafka MirrorMaker stopped."
DEFAULT_MAX_REQUEST_BYTES = 1_048_576
DEFAULT_BATCH_BYTES = 16_384

# Log size is bounded: MirrorMaker was seen to write 658 MB of warnings in 25 s.
LOG4J = """\
log4j.rootLogger=INFO, file
log4j.appender.file=org.apache.log4j.RollingFileAppender
log4j.appender.file.File=${mirror.log.dir}/mirrormaker.log
log4j.appender.file.MaxFileSize=20MB
log4j.appender.file.MaxBackupIndex=4
log4j.appender.file.layout=org.apache.log4j.PatternLayout
log4j.appender.file.layout.ConversionPattern=[%d] %p %m (%c)%n
log4j.logger.org.reflections=ERROR
"""


@dataclass(frozen=True, slots=True)
class MirrorMaker2:
    """MirrorMaker 2 in dedicated mode (`core.engine.MirrorEngine`)."""

    migration: Migration
    source: KafkaCluster
    target: KafkaCluster

    keeps_partitions = True

    def setting_findings(self, kafka_version: str) -> Iterable[Finding]:
        """Name what this MirrorMaker, from Kafka `kafka_version` ("" if unknown), would ignore, misread or refuse."""
        return ()

    def launch(self, generation: int, facts: LaunchFacts) -> MirrorLaunch:
        """Return what the host needs to start a generation."""
        return launch(self.migration, generation, facts)

    def stale_topics(self, generation: int, topics: Iterable[str]) -> tuple[str, ...]:
        """Return the configuration and status topics of earlier generations."""
        return stale_topics(self.migration.name, generation, topics)

    def stored_positions(self, topics: Collection[str]) -> Offsets:
        """Return the next source offset to copy, as MirrorMaker stored it; a partition without one is missing."""
        rows = self.target.read_table(self._internal(0).offsets)
        return stored_positions(rows, self.migration.source.alias, topics)

    def rewind(self, positions: Offsets) -> None:
        """Raise `ValueError`: it stores only what the target has acknowledged, so nobody has to ask."""
        raise ValueError("the positions of MirrorMaker 2 are never set back")

    def health(self, generation: int) -> MirrorHealth:
        """Return what status and configuration topic of a generation say."""
        internal = self._internal(generation)
        return MirrorHealth(
            failed=failed_tasks(self.target.read_table(internal.status)),
            assigned=assigned_partitions(self.target.read_table(internal.configs)),
        )

    def is_graceful(self, log_tail: str) -> bool:
        """Tell from the end of the log whether MirrorMaker ended by itself in order."""
        return STOPPED_LINE in log_tail

    def distrusts_position(self, log_tail: str) -> bool:
        """Return False: a stored position is that of a record which the target has acknowledged."""
        return False

    def reset_command(self) -> str:
        """Return the command that deletes the offsets topic on the target."""
        return f"kafka-topics.sh --bootstrap-server <target> --delete --topic '{self._internal(0).offsets}'"

    def _internal(self, generation: int) -> InternalTopics:
        return InternalTopics.of(self.migration.name, generation)


def launch(migration: Migration, generation: int, facts: LaunchFacts) -> MirrorLaunch:
    """Return what the host needs to start this generation."""
    mirror = migration.mirror
    clusters = {migration.source.alias: facts.source_properties, migration.target.alias: facts.target_properties}
    secrets = {
        f"secrets/{alias}.{name}": value
        for alias, properties in clusters.items()
        for name, value in properties.items()
        if name in SECRET_PROPERTIES
    }
    properties = render_properties(_properties(migration, generation, clusters, facts.max_message_bytes, bool(secrets)))
    return MirrorLaunch(
        main_class=MAIN_CLASS,
        arguments=(f"{GENERATION_DIR}/{PROPERTIES_FILE}", "--clusters", migration.target.alias),
        files={PROPERTIES_FILE: properties, LOG4J_FILE: LOG4J, **secrets},
        java_options=(
            f"-Xmx{mirror.heap_mb}m",
            f"-Dmirror.log.dir={GENERATION_DIR}",
            # An allow-list (Kafka 3.8+): nothing in a configuration may read files through another provider.
            f"-Dorg.apache.kafka.automatic.config.providers={SECRETS_PROVIDER if secrets else 'none'}",
        ),
        kafka_home=mirror.kafka_home,
        java_home=mirror.java_home,
        lease_s=mirror.lease_s,
    )


def _properties(
    migration: Migration,
    generation: int,
    clusters: Mapping[str, Mapping[str, str]],
    max_message_bytes: int,
    has_secrets: bool,
) -> dict[str, str]:
    source, target = migration.source.alias, migration.target.alias
    properties = {"clusters": f"{source}, {target}"}
    for alias, cluster in clusters.items():
        properties |= {f"{alias}.{name}": _shown(alias, name, value) for name, value in cluster.items()}
    if has_secrets:
        properties |= {
            "config.providers": "dir",
            "config.providers.dir.class": SECRETS_PROVIDER,
            "config.providers.dir.param.allowed.paths": f"{GENERATION_DIR}/secrets",
        }
    return {
        **properties,
        **_flow(migration),
        **_storage(migration, generation),
        **_clients(migration, max_message_bytes),
    }


def _shown(alias: str, name: str, value: str) -> str:
    """Return the value, or for a secret a reference: MirrorMaker stores its configuration in a topic."""
    return f"${{dir:{GENERATION_DIR}/secrets:{alias}.{name}}}" if name in SECRET_PROPERTIES else value


def _flow(migration: Migration) -> dict[str, str]:
    source, target = migration.source.alias, migration.target.alias
    replication = str(migration.target_replication_factor)
    return {
        f"{source}->{target}.enabled": "true",
        f"{target}->{source}.enabled": "false",
        f"{source}->{target}.topics": ",".join(re.escape(topic) for topic in migration.topics),
        # No group of this name exists: group offsets are planned and written by this package.
        f"{source}->{target}.groups": f"no-group-of-{migration.name}",
        "replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
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
        # Its default is made of the source's alias, which two migrations may share.
        f"{target}.group.id": f"{migration.name}-source-mm2",
        f"{target}.offset.storage.topic": topics.offsets,
        f"{target}.config.storage.topic": topics.configs,
        f"{target}.status.storage.topic": topics.status,
        "offset.storage.replication.factor": replication,
        "config.storage.replication.factor": replication,
        "status.storage.replication.factor": replication,
        # Worker settings at top level are read for a few prefixes only; these belong to the target's worker.
        f"{target}.offset.flush.interval.ms": "5000",
        f"{target}.offset.flush.timeout.ms": "30000",
        "task.shutdown.graceful.timeout.ms": "60000",
    }


def _clients(migration: Migration, max_message_bytes: int) -> dict[str, str]:
    source, target = migration.source.alias, migration.target.alias
    request_bytes = max_message_bytes
    return {
        f"{source}.consumer.isolation.level": migration.mirror.isolation_level,
        f"{source}.consumer.auto.offset.reset": "earliest",
        f"{target}.producer.enable.idempotence": "true",
        f"{target}.producer.acks": "all",
        f"{target}.producer.max.request.size": str(request_bytes),
        f"{target}.producer.batch.size": str(min(DEFAULT_BATCH_BYTES, request_bytes)),
    }
