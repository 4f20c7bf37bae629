"""The parts of Kafka that read the configuration of MirrorMaker's connectors, and of the worker that runs them.

The clients of connectors get their configurations as `MirrorConnectorConfig` makes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.effective.layers import (
    JAVA_BLANKS,
    Layer,
    Layers,
    fixed,
    get,
    is_true,
    merged,
    only,
    read_as,
    starting,
    stripped,
    those,
)
from kafka_migration.mirrormaker_files.effective.readers import Effective, Given, MirrorVersion, Reader
from kafka_migration.mirrormaker_files.model.readers_of_keys import CONNECT_SOURCE

_BYTES = "org.apache.kafka.common.serialization.ByteArray"
_LONGEST, _LARGEST = str(2**63 - 1), str(2**31 - 1)
_DEFAULT_ADDRESS = fixed({"bootstrap.servers": "localhost:9092"})
_CLIENT_PREFIXES = ("admin.", "producer.", "consumer.")
SOURCE, TARGET = "source", "target"
_WORDS = {
    "mirror_source": "source connector",
    "mirror_checkpoint": "checkpoint connector",
    "mirror_heartbeat": "heartbeat connector",
}
_DUTIES = {"mirror_source": "records", "mirror_checkpoint": "checkpoints", "mirror_heartbeat": "heartbeats"}


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
        value = given._replace(value=f"{given.value}|{made}") if given else Given(made)
        return (Layer({"client.id": value}),)

    def _alias(self, side: str) -> str:
        given = get(self.connector, f"{side}.cluster.alias")
        return given.value.strip(JAVA_BLANKS) if given else side


class ConnectorReaders(NamedTuple):
    """A connector with its own configuration, that of its worker, and the aliases of its clusters.

    `role` is `mirror_source`, `mirror_checkpoint` or `mirror_heartbeat`, and `name` its name on the worker.
    """

    role: str
    name: str
    source: str
    target: str
    own: Layers
    worker: Layers
    kafka: MirrorVersion

    @property
    def flow(self) -> str:
        """The flow, `A->B`."""
        return f"{self.source}->{self.target}"

    @property
    def title(self) -> str:
        """The connector in words."""
        return f"{_WORDS[self.role]} {self.flow}"

    def readers(self) -> Iterator[Effective]:
        """Yield the connector, its plug-ins, and its clients with their duties."""
        yield Effective(Reader(self.role, f"the {self.title}", self.flow), read_as(self.role, self.own))
        yield from self._of_connect()
        yield self._plug_in("replication_policy", "replication policy")
        if self.role == "mirror_source":
            yield from self._of_source()
        elif self.role == "mirror_checkpoint":
            yield from self._of_checkpoint()
        else:
            yield self._client("admin", TARGET, "heartbeats", self._clients.admin(TARGET, "heartbeats-target-admin"))
        yield from self._of_worker()

    def _of_connect(self) -> Iterator[Effective]:
        """Yield what Connect itself reads of the connector (`SourceConnectorConfig`), if it has such a key."""
        if any(get(self.own, key.name) for key in kafka_keys().of(CONNECT_SOURCE)):
            reader = Reader(CONNECT_SOURCE, f"Connect for the {self.title}", self.flow)
            yield Effective(reader, read_as(CONNECT_SOURCE, self.own))

    def _of_source(self) -> Iterator[Effective]:
        clients = self._clients
        yield self._plug_in("topic_filter", "topic filter")
        yield self._plug_in("config_property_filter", "filter of topic settings")
        yield self._client("consumer", SOURCE, "records", clients.consumer(SOURCE, "replication-consumer"))
        yield self._client("admin", SOURCE, "topics", clients.admin(SOURCE, "replication-source-admin"))
        yield self._client("admin", TARGET, "topics", clients.admin(TARGET, "replication-target-admin"))
        if is_true(self.own, "emit.offset-syncs.enabled", True) or not self.kafka.is_at_least("3.9"):
            side = clients.syncs_side
            yield self._syncs("producer", clients.producer(side, f"offset-syncs-{side}-producer"))
            yield self._syncs("admin", clients.admin(side, f"offset-syncs-{side}-admin"))

    def _of_checkpoint(self) -> Iterator[Effective]:
        clients, side = self._clients, self._clients.syncs_side
        yield self._plug_in("topic_filter", "topic filter")
        yield self._plug_in("group_filter", "group filter")
        yield self._client("admin", SOURCE, "checkpoints", clients.admin(SOURCE, "checkpoint-source-admin"))
        yield self._client("admin", TARGET, "checkpoints", clients.admin(TARGET, "checkpoint-target-admin"))
        yield self._syncs("consumer", clients.consumer(side, f"offset-syncs-{side}-consumer"))
        if self.kafka.is_at_least("3.7"):
            values = clients.consumer(TARGET, "checkpoints-target-consumer")
            yield self._client("consumer", TARGET, "checkpoints", values)

    def _of_worker(self) -> Iterator[Effective]:
        """Yield the clients that the worker makes for the connector's tasks."""
        producer = task_producer(self.worker, self.own, self.kafka, self.name)
        yield self._client("producer", TARGET, _DUTIES[self.role], producer)
        if has_own_offsets(self.worker, self.own):
            consumer = task_consumer(self.worker, self.own, self.name)
            yield self._client("consumer", TARGET, "worker", consumer)
        if uses_task_admin(self.worker, self.own):
            yield self._client("admin", TARGET, "worker", task_admin(self.worker, self.own, self.name))

    @property
    def _clients(self) -> MirrorClients:
        return MirrorClients(self.own, self.kafka, self.name)

    def _plug_in(self, role: str, words: str) -> Effective:
        values = read_as(role, self.own)
        if role == "replication_policy":
            # `DefaultReplicationPolicy.configure` reads the map itself, so blanks stay.
            values = merged(starting(self.own, "replication.policy."))
        return Effective(Reader(role, f"the {words} of the {self.title}", self.flow), values)

    def _syncs(self, client: str, values: Layers) -> Effective:
        return self._client(client, self._clients.syncs_side, "offset syncs", values)

    def _client(self, client: str, side: str, duty: str, values: Layers) -> Effective:
        cluster = self.source if side == SOURCE else self.target
        name = f"the {client} of the {self.title} for {duty} on {cluster}"
        return Effective(Reader(client, name, self.flow, cluster, duty), read_as(client, values))


def worker_readers(worker: Layers, flow: str, cluster: str, kafka: MirrorVersion) -> Iterator[Effective]:
    """Yield a worker, and the clients with which it keeps its internal topics."""
    title = f"the worker {flow}".strip()
    yield Effective(Reader("connect_worker", title, flow, cluster, "worker"), read_as("connect_worker", worker))
    clients = {
        "producer": internal_producer(worker, kafka),
        "consumer": internal_consumer(worker, kafka),
        "admin": internal_admin(worker, kafka),
    }
    for client, values in clients.items():
        name = f"the {client} of {title} for its internal topics"
        yield Effective(Reader(client, name, flow, cluster, "worker"), read_as(client, values))
