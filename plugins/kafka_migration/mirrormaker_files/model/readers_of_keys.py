"""Which of Kafka's parts read a key at its place, as `MirrorMakerConfig` and `MirrorConnectorConfig` hand keys on."""

from __future__ import annotations

from functools import lru_cache

from kafka_migration.core.text.regex import regex
from kafka_migration.kafka_tables.accepted import nearest
from kafka_migration.kafka_tables.kafka_keys import SIMILAR
from kafka_migration.mirrormaker_files.model.lint_limits import LONGEST_CLASS
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorSetting, Place

# The key that makes a group of settings a connector.
CLASS = "connector.class"
# What Kafka Connect itself reads of a source connector.
CONNECT_SOURCE = "connect_source"
# `MirrorMakerConfig.allConfigNames` has no keys of Connect, so MirrorMaker hands those on from flows only.
_CONNECTOR_ROLES_AT_TOP = (
    "mirror_source",
    "mirror_checkpoint",
    "mirror_heartbeat",
    "mirror_connector",
    "topic_filter",
    "group_filter",
    "config_property_filter",
    "replication_policy",
)
CONNECTOR_ROLES = (*_CONNECTOR_ROLES_AT_TOP, CONNECT_SOURCE)
CLASSES = {
    "mirror_source": "MirrorSourceConnector",
    "mirror_checkpoint": "MirrorCheckpointConnector",
    "mirror_heartbeat": "MirrorHeartbeatConnector",
}
# Connect finds a plug-in also without the end of its name.
_ROLES = {each: role for role, name in CLASSES.items() for each in (name, name.removesuffix("Connector"))}
_ROLES_IN_LOWER_CASE = {name.lower(): role for role, name in CLASSES.items()}
# Keys that clusters hand to all of their clients.
_CLUSTER_ROLES = ("mirror_client",)
_WORKER = "connect_worker"
# `MirrorMakerConfig.workerConfig` reads these at the top level, over those of the cluster.
TOP_OF_WORKER = (
    "offset.storage",
    "config.storage",
    "status.storage",
    "key.converter",
    "value.converter",
    "header.converter",
    "task",
    "worker",
)
# The dedicated MirrorMaker reads worker keys at the top level only if they begin like this. At the last two it looks
# for the classes of configuration providers.
_TOP_WORKER = (*TOP_OF_WORKER, "replication.policy", "plugin.path", "plugin.discovery")
STORAGE_TOPICS = ("config.storage.topic", "offset.storage.topic", "status.storage.topic")
CONVERTERS = ("key.converter", "value.converter", "header.converter")
BYTES_CONVERTER = "org.apache.kafka.connect.converters.ByteArrayConverter"
BYTES_CONVERTERS = dict.fromkeys(CONVERTERS, BYTES_CONVERTER)
# Keys that a plug-in reads, or whose names are made of names that a user chooses.
_FREE = regex(
    r"(?:(?:key|value|header)\.converter|transforms|predicates|config\.providers|topic\.creation|metrics|"
    r"(?:config|offset|status)\.storage|internal\.(?:key|value)\.converter|replication\.policy|forwarding\.admin|rest\.extension|listener\.name)\..+"
)
# Keys that Kafka's scripts and MirrorMaker 1 read besides those of the clients.
NOT_IN_TABLES = frozenset({"producer.type"})
_CONSUMER = "Remove it; the consumer does not use ZooKeeper."
OLD_KEYS = {
    "zookeeper.connect": "Write `bootstrap.servers` with the addresses of the brokers.",
    "zookeeper.session.timeout.ms": _CONSUMER,
    "zookeeper.connection.timeout.ms": _CONSUMER,
    "zookeeper.sync.time.ms": _CONSUMER,
    "socket.receive.buffer.bytes": "Write `receive.buffer.bytes`.",
    "socket.timeout.ms": "Write `request.timeout.ms`.",
    "auto.commit.enable": "Remove it; MirrorMaker commits by itself.",
    "auto.commit.interval.ms": "Remove it; MirrorMaker commits by itself.",
    "consumer.timeout.ms": "Remove it.",
    "dual.commit.enabled": _CONSUMER,
    "offsets.storage": "Remove it; offsets are in Kafka.",
    "rebalance.max.retries": _CONSUMER,
    "rebalance.backoff.ms": _CONSUMER,
    "num.consumer.fetchers": "Remove it.",
    "fetch.message.max.bytes": "Write `max.partition.fetch.bytes`.",
    "queued.max.message.chunks": "Remove it.",
    "shallow.iterator.enable": "Remove it.",
    "metadata.broker.list": "Write `bootstrap.servers`.",
    "broker.list": "Write `bootstrap.servers`.",
    "request.required.acks": "Write `acks`.",
    "compression.codec": "Write `compression.type`.",
    "serializer.class": "Remove it; MirrorMaker copies bytes.",
    "key.serializer.class": "Remove it; MirrorMaker copies bytes.",
    "message.send.max.retries": "Write `retries`.",
    "queue.buffering.max.ms": "Write `linger.ms`.",
    "queue.buffering.max.messages": "Write `buffer.memory`.",
    "queue.enqueue.timeout.ms": "Write `max.block.ms`.",
    "batch.num.messages": "Write `batch.size`.",
    "topic.metadata.refresh.interval.ms": "Write `metadata.max.age.ms`.",
}


@lru_cache(maxsize=256)
def role_of_class(name: str) -> str | None:
    """Return the role of a connector's class, also of a misspelt one; `None` if it is not like one of MirrorMaker."""
    simple = name.strip().rpartition(".")[2][:LONGEST_CLASS]
    return _ROLES.get(simple) or _ROLES_IN_LOWER_CASE.get(nearest(simple.lower(), _ROLES_IN_LOWER_CASE, SIMILAR))


def is_of_storage(key: str) -> bool:
    """Return whether a key belongs to the topics in which workers keep their state."""
    return key.startswith(("config.storage.", "offset.storage.", "status.storage."))


def is_free(setting: MirrorSetting) -> bool:
    """Return whether no table can know the key, or Kafka's tables leave it out."""
    return setting.key in NOT_IN_TABLES or _FREE.fullmatch(setting.key) is not None


def roles_at(kind: FileKind, setting: MirrorSetting) -> tuple[str, ...]:
    """Return the roles whose keys Kafka reads at the setting's place."""
    if setting.place is Place.TOP:
        return _at_top(setting)
    if setting.place is Place.CLIENT:
        return ("consumer",) if kind is FileKind.CONSUMER else ("producer",)
    if setting.client in {"producer", "consumer", "admin"}:
        return (setting.client,)
    if setting.place is Place.WORKER:
        return (_WORKER,)
    if setting.client == "cluster":
        return (*_CLUSTER_ROLES, "admin")
    if setting.place is Place.CLUSTER:
        return (*_CLUSTER_ROLES, _WORKER)
    return CONNECTOR_ROLES if setting.place in {Place.FLOW, Place.CONNECTOR} else ()


def _at_top(setting: MirrorSetting) -> tuple[str, ...]:
    if setting.client:
        return ()
    roles = (*_CONNECTOR_ROLES_AT_TOP, "mirror_maker", *_CLUSTER_ROLES)
    return (*roles, _WORKER) if setting.key.startswith(_TOP_WORKER) else roles
