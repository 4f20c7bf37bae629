"""The clients of a Kafka Connect worker: its own, those for a connector's tasks, and those of MirrorMaker's connectors.

The last are made as `MirrorConnectorConfig` makes their configurations.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from kafka_migration.mirrormaker_files.effective.kafka_version import MirrorVersion
from kafka_migration.mirrormaker_files.effective.layers import (
    JAVA_BLANKS,
    Layer,
    Layers,
    fixed,
    get,
    is_true,
    only,
    stripped,
    those,
)
from kafka_migration.mirrormaker_files.effective.readers import Given

_BYTES, _TEXT = "org.apache.kafka.common.serialization.ByteArray", "org.apache.kafka.common.serialization.String"
_LONGEST, _LARGEST = str(2**63 - 1), str(2**31 - 1)
_DEFAULT_ADDRESS = fixed({"bootstrap.servers": "localhost:9092"})
_CLIENT_PREFIXES = ("admin.", "producer.", "consumer.")
SOURCE, TARGET = "source", "target"


def has_exactly_once(worker: Layers) -> bool:
    """Return whether the worker writes with transactions (`DistributedConfig.exactlyOnceSourceEnabled`, since 3.3)."""
    return _word(worker, "exactly.once.source.support").lower() == "enabled"


def internal_producer(worker: Layers, kafka: MirrorVersion) -> Layers:
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
    return (fixed(forced), *_internal_id(worker, kafka, "offsets"), *worker)


def internal_consumer(worker: Layers, kafka: MirrorVersion) -> Layers:
    """Return what reads the worker's internal topics (`KafkaOffsetBackingStore.configure`)."""
    forced = {"key.deserializer": f"{_BYTES}Deserializer", "value.deserializer": f"{_BYTES}Deserializer"}
    if has_exactly_once(worker):
        forced["isolation.level"] = "read_committed"
    return (fixed(forced), *_internal_id(worker, kafka, "offsets"), *worker)


def internal_admin(worker: Layers, kafka: MirrorVersion) -> Layers:
    """Return what creates the worker's internal topics (`DistributedHerder`'s shared admin)."""
    return (*_internal_id(worker, kafka, "shared-admin"), *worker)


def _internal_id(worker: Layers, kafka: MirrorVersion, name: str) -> Layers:
    """Return the `client.id` of a worker's own client (`ConnectUtils.clientIdBase`, since 3.4)."""
    parts = (_word(worker, "group.id"), _word(worker, "client.id"), name)
    return (fixed({"client.id": "-".join(filter(None, parts))}),) if kafka.is_at_least("3.4") else ()


def task_producer(worker: Layers, connector: Layers, kafka: MirrorVersion, name: str) -> Layers:
    """Return what writes a connector's records (`Worker.baseProducerConfigs`, until 3.2 `producerConfigs`).

    Connect's defaults, then the worker's `producer.`, then the connector's `producer.override.`. With exactly-once
    `Worker.exactlyOnceSourceTaskProducerConfigs` sets two keys over them.
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
        defaults["enable.idempotence"] = "false"
    forced = _transactional(worker, given, name) if kafka.is_at_least("3.3") and has_exactly_once(worker) else ()
    return (*forced, *given, *_bootstrap(worker), fixed(defaults))


def _transactional(worker: Layers, given: Layers, name: str) -> Layers:
    """Return what `ConnectUtils.ensureProperty` sets: a value that is given stays if it is the same."""
    wanted = {"transactional.id": f"{_word(worker, 'group.id')}-{name}-0", "enable.idempotence": "true"}
    return (fixed({key: value for key, value in wanted.items() if _word(given, key).lower() != value.lower()}),)


def task_consumer(worker: Layers, connector: Layers, name: str) -> Layers:
    """Return what reads the offsets that a source connector keeps itself (`Worker.baseConsumerConfigs`).

    With exactly-once `isolation.level` cannot be changed.
    """
    given = (*stripped(connector, "consumer.override."), *stripped(worker, "consumer."))
    committed = fixed({"isolation.level": "read_committed"})
    defaults = {
        "key.deserializer": f"{_BYTES}Deserializer",
        "value.deserializer": f"{_BYTES}Deserializer",
        "enable.auto.commit": "false",
        "auto.offset.reset": "earliest",
        "group.id": f"connect-{name}",
        "client.id": f"connector-consumer-{name}-0",
    }
    layers = (*given, *_bootstrap(worker), fixed(defaults))
    return (committed, *layers) if has_exactly_once(worker) else (*layers, committed)


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
    """Return the addresses of the worker; without any, `DistributedConfig` has a default."""
    given = those(worker, "bootstrap", lambda key: key == "bootstrap.servers")
    return (*given, _DEFAULT_ADDRESS) if worker else ()


def _word(layers: Layers, key: str) -> str:
    given = get(layers, key)
    return given.value.strip(JAVA_BLANKS) if given else ""


class MirrorClients(NamedTuple):
    """The configurations of the clients of one connector, from the connector's own configuration."""

    connector: Layers
    kafka: MirrorVersion
    name: str

    def consumer(self, side: str, role: str = "") -> Layers:
        """Return `sourceConsumerConfig` or, since 3.0, `targetConsumerConfig`.

        Until 2.7 `auto.offset.reset` cannot be changed.
        """
        never, reset = {"enable.auto.commit": "false"}, {"auto.offset.reset": "earliest"}
        if not self.kafka.is_at_least("2.8"):
            return (fixed(never | reset), *self._client(side, "consumer", role))
        return (fixed(never), *self._client(side, "consumer", role), fixed(reset))

    def producer(self, side: str, role: str = "") -> Layers:
        """Return `sourceProducerConfig` or, since 3.0, `targetProducerConfig`."""
        return self._client(side, "producer", role)

    def admin(self, side: str, role: str = "") -> Layers:
        """Return `sourceAdminConfig` or `targetAdminConfig`."""
        return self._client(side, "admin", role)

    @property
    def syncs_side(self) -> str:
        """The cluster with the offset syncs (`offsetSyncsTopicLocation`): until 2.8 always the source."""
        given = get(self.connector, "offset-syncs.topic.location") if self.kafka.is_at_least("3.0") else None
        return SOURCE if given is None or given.value.strip(JAVA_BLANKS) == SOURCE else TARGET

    def _client(self, side: str, client: str, role: str) -> Layers:
        own = stripped(self.connector, f"{side}.{client}.")
        if not self.kafka.is_at_least("2.8") and client != "admin":
            own = ()
        of_both = stripped(self.connector, f"{client}.")
        of_cluster = only(stripped(self.connector, f"{side}.cluster."), self.kafka.client_names)
        layers = (*own, *of_both, *of_cluster)
        return (*self._client_id(layers, role), *layers) if self.kafka.is_at_least("3.5") else layers

    def _client_id(self, layers: Layers, role: str) -> Layers:
        """Return what `addClientId` sets since 3.5: the user's `client.id`, if there is one, and flow and role."""
        source, target = (self._alias(side) for side in (SOURCE, TARGET))
        made = "|".join(filter(None, (f"{source}->{target}", self.name, role)))
        given = get(layers, "client.id")
        value = replace(given, value=f"{given.value}|{made}") if given else Given(made)
        return (Layer({"client.id": value}),)

    def _alias(self, side: str) -> str:
        given = get(self.connector, f"{side}.cluster.alias")
        return given.value.strip(JAVA_BLANKS) if given else side
