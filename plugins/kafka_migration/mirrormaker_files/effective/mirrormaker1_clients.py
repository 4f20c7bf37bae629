"""MirrorMaker 1: its consumers and its producer, each with a file of its own."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_migration.mirrormaker_files.effective.layers import Layer, fixed, read_as
from kafka_migration.mirrormaker_files.effective.readers import Effective, Given, Reader
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, Place

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
