"""The clients that a Kafka Connect worker makes: its own, and those that it makes for a connector's tasks."""

from __future__ import annotations

from kafka_migration.mirrormaker_files.effective.kafka_version import KafkaVersion
from kafka_migration.mirrormaker_files.effective.layers import Layers, fixed, get, is_true, stripped, those

_BYTES, _TEXT = "org.apache.kafka.common.serialization.ByteArray", "org.apache.kafka.common.serialization.String"
_LONGEST, _LARGEST = str(2**63 - 1), str(2**31 - 1)
# Below the lists and the locks of two or more clients.
_CLIENT_PREFIXES = ("admin.", "producer.", "consumer.")


def has_exactly_once(worker: Layers) -> bool:
    """Return whether the worker writes with transactions (`DistributedConfig.exactlyOnceSourceEnabled`)."""
    given = get(worker, "exactly.once.source.support")
    return given is not None and given.value.strip().lower() == "enabled"


def internal_producer(worker: Layers, kafka: KafkaVersion) -> Layers:
    """Return what writes the offsets of the worker's connectors (`KafkaOffsetBackingStore.configure`).

    It gets the worker's keys without a prefix: `producer.` reaches only the connectors' producers. Those of the status
    and the configurations differ in the serializer of the key.
    """
    forced = {
        "key.serializer": f"{_BYTES}Serializer",
        "value.serializer": f"{_BYTES}Serializer",
        "delivery.timeout.ms": _LARGEST,
    }
    if kafka.is_at_least("3.1"):
        forced["enable.idempotence"] = "false"
    return (fixed(forced), *worker)


def internal_consumer(worker: Layers) -> Layers:
    """Return what reads the worker's internal topics (`KafkaOffsetBackingStore.configure`)."""
    forced = {"key.deserializer": f"{_BYTES}Deserializer", "value.deserializer": f"{_BYTES}Deserializer"}
    if has_exactly_once(worker):
        forced["isolation.level"] = "read_committed"
    return (fixed(forced), *worker)


def task_producer(worker: Layers, connector: Layers, kafka: KafkaVersion, name: str) -> Layers:
    """Return what writes a connector's records (`Worker.baseProducerConfigs`, until 3.2 `producerConfigs`).

    Connect's defaults, then the worker's `producer.`, then the connector's `producer.override.`.
    """
    given = (*stripped(connector, "producer.override."), *stripped(worker, "producer."))
    defaults = {
        "key.serializer": f"{_BYTES}Serializer",
        "value.serializer": f"{_BYTES}Serializer",
        "max.block.ms": _LONGEST,
        "acks": "all",
        "max.in.flight.requests.per.connection": "1",
        "delivery.timeout.ms": _LARGEST,
        "client.id": f"connector-producer-{name}-0",
    }
    if not kafka.is_at_least("3.0"):
        defaults["request.timeout.ms"] = _LARGEST
    if kafka.is_at_least("3.1"):
        defaults["enable.idempotence"] = "true" if has_exactly_once(worker) else "false"
    return (*given, *_bootstrap(worker), fixed(defaults))


def task_consumer(worker: Layers, connector: Layers, name: str) -> Layers:
    """Return what reads a source connector's own offsets, with exactly-once only (`Worker.baseConsumerConfigs`)."""
    given = (*stripped(connector, "consumer.override."), *stripped(worker, "consumer."))
    defaults = {
        "key.deserializer": f"{_BYTES}Deserializer",
        "value.deserializer": f"{_BYTES}Deserializer",
        "enable.auto.commit": "false",
        "auto.offset.reset": "earliest",
        "client.id": f"connector-consumer-{name}-0",
    }
    return (fixed({"isolation.level": "read_committed"}), *given, *_bootstrap(worker), fixed(defaults))


def task_admin(worker: Layers, connector: Layers, name: str) -> Layers:
    """Return what creates topics for a connector with `topic.creation.` keys (`Worker.adminConfigs`)."""
    given = (*stripped(connector, "admin.override."), *stripped(worker, "admin."))
    bare = those(worker, "bare", lambda key: not key.startswith(_CLIENT_PREFIXES))
    return (*given, *bare, fixed({"client.id": f"connector-adminclient-{name}-0"}))


def uses_task_admin(worker: Layers, connector: Layers) -> bool:
    """Return whether Connect itself creates topics for a connector (`SourceConnectorConfig.usesTopicCreation`)."""
    is_asked = get(connector, "topic.creation.default.replication.factor") is not None
    return has_exactly_once(worker) or (is_asked and is_true(worker, "topic.creation.enable", True))


def has_own_offsets(worker: Layers, connector: Layers) -> bool:
    """Return whether a connector keeps its offsets itself (`Worker.offsetStoreForRegularSourceTask`)."""
    return has_exactly_once(worker) or get(connector, "offsets.storage.topic") is not None


def _bootstrap(worker: Layers) -> Layers:
    return those(worker, "bootstrap", lambda key: key == "bootstrap.servers")
