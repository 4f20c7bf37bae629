"""MirrorMaker 2, dedicated mode, from Kafka 3.9: configuration, positions, health.

The profile is the one tried in the facts of this project: topic names and partitions kept, the source cluster
never written to, configuration and status topics fresh per generation (MirrorMaker starts from what the last
run stored there), the offsets topic kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kafka_migration.clients.kafka_properties import SECRET_PROPERTIES
from kafka_migration.core.host import GENERATION_DIR, LOG4J_FILE, MirrorLaunch
from kafka_migration.core.migration import Migration
from kafka_migration.core.offsets import TopicPartition
from kafka_migration.engines.properties import render_properties

MAIN_CLASS = "org.apache.kafka.connect.mirror.MirrorMaker"
PROPERTIES_FILE = "mm2.properties"
CONNECTOR = "MirrorSourceConnector"
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
class InternalTopics:
    """MirrorMaker's own topics on the target, by what they hold."""

    offsets: str
    configs: str
    status: str

    @classmethod
    def of(cls, migration: Migration, generation: int) -> InternalTopics:
        """Return the names of one generation; the offsets topic is the same for all."""
        alias = migration.source.alias
        return cls(
            offsets=f"mm2-offsets.{alias}.internal",
            configs=f"mm2-configs.{alias}.g{generation}.internal",
            status=f"mm2-status.{alias}.g{generation}.internal",
        )


def stale_topics(migration: Migration, generation: int, topics: Iterable[str]) -> tuple[str, ...]:
    """Return the configuration and status topics of generations before this one, out of all `topics`."""
    pattern = re.compile(rf"^mm2-(?:configs|status)\.{re.escape(migration.source.alias)}\.g(\d+)\.internal$")
    numbered = ((topic, pattern.match(topic)) for topic in sorted(topics))
    return tuple(topic for topic, match in numbered if match and int(match[1]) < generation)


def launch(
    migration: Migration,
    generation: int,
    *,
    source_properties: Mapping[str, str],
    target_properties: Mapping[str, str],
    max_message_bytes: int,
) -> MirrorLaunch:
    """Return what the host needs to start this generation.

    `max_message_bytes` is the smallest `max.message.bytes` of the target topics: a producer that may send
    more than a topic takes makes MirrorMaker split and retry for ever.
    """
    mirror = migration.mirror
    clusters = {migration.source.alias: source_properties, migration.target.alias: target_properties}
    secrets = {
        f"secrets/{alias}.{name}": value
        for alias, properties in clusters.items()
        for name, value in properties.items()
        if name in SECRET_PROPERTIES
    }
    properties = render_properties(_properties(migration, generation, clusters, max_message_bytes, bool(secrets)))
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
    target, topics = migration.target.alias, InternalTopics.of(migration, generation)
    replication = str(migration.target_replication_factor)
    return {
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


def stored_positions(
    rows: Iterable[tuple[bytes | None, bytes | None]], migration: Migration
) -> dict[TopicPartition, int]:
    """Decode rows of the offsets topic into the next source offset to copy, per partition of the migration.

    MirrorMaker stores the offset of the last copied record, so next = stored + 1 (seen on Kafka 3.9.1). Rows
    of other connectors, other sources and other topics are left out; a row without a value was reset.
    """
    positions: dict[TopicPartition, int] = {}
    for key, value in rows:
        partition = _position_key(key, migration)
        if partition is not None and value is not None:
            positions[partition] = int(json.loads(value)["offset"]) + 1
    return positions


def _position_key(key: bytes | None, migration: Migration) -> TopicPartition | None:
    if key is None:
        return None
    connector, source = json.loads(key)
    if connector != CONNECTOR or source.get("cluster") != migration.source.alias:
        return None
    partition = TopicPartition(source["topic"], int(source["partition"]))
    return partition if partition.topic in migration.topics else None


@dataclass(frozen=True, slots=True)
class FailedTask:
    """A connector or task in state FAILED, with the first and the last cause of its trace."""

    name: str
    trace: str

    @property
    def causes(self) -> str:
        """The first line of the trace and its last `Caused by:` line, which names the reason."""
        lines = [line.strip() for line in self.trace.splitlines() if line.strip()]
        caused = [line for line in lines if line.startswith("Caused by:")]
        return " … ".join(dict.fromkeys([*lines[:1], *caused[-1:]])) or "no trace"


@dataclass(frozen=True, slots=True)
class Health:
    """What the status topic of a generation says."""

    running_tasks: int
    failed: tuple[FailedTask, ...]


def health(rows: Iterable[tuple[bytes | None, bytes | None]]) -> Health:
    """Decode rows of a generation's status topic; `status-topic-…` rows are of no interest."""
    running, failed = 0, []
    for key, value in rows:
        name = (key or b"").decode()
        if value is None or not name.startswith(("status-connector-", "status-task-")):
            continue
        status = json.loads(value)
        if status["state"] == "FAILED":
            failed.append(FailedTask(name, status.get("trace") or ""))
        elif status["state"] == "RUNNING" and name.startswith(f"status-task-{CONNECTOR}-"):
            running += 1
    return Health(running, tuple(sorted(failed, key=lambda task: task.name)))


def is_graceful(log_tail: str) -> bool:
    """Tell from the end of the log whether MirrorMaker ended by itself in order."""
    return STOPPED_LINE in log_tail
