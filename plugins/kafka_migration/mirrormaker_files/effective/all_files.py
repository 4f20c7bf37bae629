"""Who reads the files that belong together: of MirrorMaker 1, of the dedicated MirrorMaker 2, and on Kafka Connect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_migration.mirrormaker_files.effective.dedicated import Dedicated, own_name
from kafka_migration.mirrormaker_files.effective.kafka_version import MirrorVersion, kafka_version
from kafka_migration.mirrormaker_files.effective.layers import Layer, Layers, fixed, get, layer_of, read_as, stripped
from kafka_migration.mirrormaker_files.effective.mirror_readers import ConnectorReaders, worker_readers
from kafka_migration.mirrormaker_files.effective.readers import Effective, Given, Reader, Readers
from kafka_migration.mirrormaker_files.effective.strimzi_config import strimzi_readers
from kafka_migration.mirrormaker_files.model.mirror_settings import CLIENTS, FileKind, MirrorFile, Place
from kafka_migration.mirrormaker_files.model.readers_of_keys import role_of_class

_LARGEST, _LONGEST = str(2**31 - 1), str(2**63 - 1)
_BYTES = "org.apache.kafka.common.serialization.ByteArray"
# What `kafka.tools.MirrorMaker` sets unless the file does (`maybeSetDefaultProperty`), and what it always sets.
_CONSUMER = {"enable.auto.commit": "false"}
_CONSUMER_ALWAYS = {"key.deserializer": f"{_BYTES}Deserializer", "value.deserializer": f"{_BYTES}Deserializer"}
_PRODUCER = {
    "delivery.timeout.ms": _LARGEST,
    "max.block.ms": _LONGEST,
    "acks": "all",
    "max.in.flight.requests.per.connection": "1",
}
_PRODUCER_ALWAYS = {"key.serializer": f"{_BYTES}Serializer", "value.serializer": f"{_BYTES}Serializer"}
_CLIENTS = {
    FileKind.CONSUMER: ("consumer", "reads", "source", _CONSUMER, _CONSUMER_ALWAYS),
    FileKind.PRODUCER: ("producer", "writes", "target", _PRODUCER, _PRODUCER_ALWAYS),
}


def readers_of(files: Sequence[MirrorFile], version: str = "") -> Readers:
    """Return all readers of files. `version` is the Kafka version of MirrorMaker; an empty one means the latest."""
    return Readers(tuple(_readers(files, version)))


def _readers(files: Sequence[MirrorFile], version: str) -> Iterator[Effective]:
    for file in files:
        kafka = kafka_version(version or file.kafka_version)
        if file.kind is FileKind.MIRRORMAKER2:
            yield from Dedicated(file, kafka).readers()
        elif file.kind is FileKind.STRIMZI:
            yield from strimzi_readers(file, kafka)
        else:
            yield from mirrormaker1_readers(file)
    yield from connect_readers(files, kafka_version(version))


def mirrormaker1_readers(file: MirrorFile) -> Iterator[Effective]:
    """Yield the client that gets a consumer or producer file."""
    if file.kind in _CLIENTS:
        role, verb, cluster, defaults, always = _CLIENTS[file.kind]
        # In a resource of Strimzi a field's name is not the key.
        own = Layer({each.key: Given(each.value, file.name, each) for each in file.at(Place.CLIENT)})
        layers = (fixed(always | _client_id(file)), own, fixed(defaults))
        reader = Reader(role, f"the {role} of MirrorMaker 1, which {verb} the records", "", cluster, "records")
        yield Effective(reader, read_as(role, layers))


def _client_id(file: MirrorFile) -> dict[str, str]:
    """Return the `client.id` of the first consumer: MirrorMaker names each after the group, whatever the file says."""
    group = file.last(Place.CLIENT, "group.id") if file.kind is FileKind.CONSUMER else None
    return {"client.id": f"{group.value}-0"} if group else {}


def connect_readers(files: Sequence[MirrorFile], kafka: MirrorVersion) -> Iterator[Effective]:
    """Yield the readers of the workers' files and of the connectors, which all run on these workers."""
    workers = [file for file in files if file.kind is FileKind.WORKER]
    layers: Layers = ()
    for file in workers:
        own = (layer_of(file, file.settings),)
        layers = (*own, *layers)
        yield from worker_readers(own, "", "", kafka)
        yield from _of_all_connectors(own)
    for file in files:
        if file.kind is FileKind.CONNECTORS:
            yield from _connectors(file, layers, kafka)


def _of_all_connectors(worker: Layers) -> Iterator[Effective]:
    """Yield the clients that a worker makes for the tasks of any connector."""
    for client in CLIENTS:
        name = f"each {client} that the worker makes for a connector"
        yield Effective(Reader(client, name, duty="connectors"), read_as(client, stripped(worker, f"{client}.")))


def _connectors(file: MirrorFile, worker: Layers, kafka: MirrorVersion) -> Iterator[Effective]:
    for owner in dict.fromkeys(each.owner for each in file.at(Place.CONNECTOR)):
        own: Layers = (layer_of(file, file.at(Place.CONNECTOR, owner)),)
        kind = get(own, "connector.class")
        role = role_of_class(kind.value) if kind else None
        if role:
            source, target = (_alias(own, side) for side in ("source", "target"))
            yield from ConnectorReaders(role, own_name(own, owner), source, target, own, worker, kafka).readers()


def _alias(own: Layers, side: str) -> str:
    """Return the alias of a cluster. Kafka's default for the target's is `target`; the source's is required."""
    given = get(own, f"{side}.cluster.alias")
    return given.value.strip() if given else side
