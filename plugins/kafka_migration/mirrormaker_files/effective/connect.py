"""MirrorMaker's connectors on Kafka Connect, and the workers that run them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_migration.mirrormaker_files.effective.dedicated import own_name
from kafka_migration.mirrormaker_files.effective.kafka_version import MirrorVersion
from kafka_migration.mirrormaker_files.effective.layers import Layers, get, layer_of, read_as, stripped
from kafka_migration.mirrormaker_files.effective.mirror_readers import ConnectorReaders, worker_readers
from kafka_migration.mirrormaker_files.effective.readers import Effective, Reader
from kafka_migration.mirrormaker_files.model.mirror_settings import CLIENTS, FileKind, MirrorFile, Place
from kafka_migration.mirrormaker_files.model.readers_of_keys import role_of_class


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
