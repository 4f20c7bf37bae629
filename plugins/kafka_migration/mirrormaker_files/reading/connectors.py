"""Connectors of MirrorMaker 2 on Kafka Connect: JSON of its REST API, or properties of a standalone worker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import yaml

from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, Flow, MirrorFile, Place
from kafka_migration.mirrormaker_files.reading.documents import WrongDocument, fields, flat, items, node_of
from kafka_migration.mirrormaker_files.reading.mirrormaker2 import prefixed
from kafka_migration.mirrormaker_files.reading.properties import Entry

CLASS = "connector.class"


def connectors_file(name: str, text: str) -> MirrorFile:
    """Return the connectors of a JSON document: one, a list, or Connect's answer with `expand=info`.

    Raises `WrongDocument` if no part of it has a `connector.class`.
    """
    found = [list(flat(node)) for node in _configs(node_of(text, is_json=True))]
    if not found:
        raise WrongDocument(f"no configuration with {CLASS}")
    return _file(name, found)


def connector_properties_file(name: str, entries: Sequence[Entry]) -> MirrorFile:
    """Return one connector, given as properties."""
    return _file(name, [entries])


def _configs(node: yaml.Node) -> Iterator[yaml.Node]:
    inner = fields(node)
    if CLASS in inner:
        yield node
        return
    for child in (*inner.values(), *items(node)):
        yield from _configs(child)


def _file(name: str, configs: Sequence[Sequence[Entry]]) -> MirrorFile:
    named = [(_name(entries, position), entries) for position, entries in enumerate(configs, 1)]
    settings = tuple(prefixed(entry, Place.CONNECTOR, owner, entry.name) for owner, es in named for entry in es)
    flows = tuple(dict.fromkeys(filter(None, (_flow(entries) for entries in configs))))
    clusters = tuple(dict.fromkeys(alias for flow in flows for alias in (flow.source, flow.target)))
    return MirrorFile(name, FileKind.CONNECTORS, settings, clusters, flows)


def _name(entries: Iterable[Entry], position: int) -> str:
    values = {entry.name: entry.value for entry in entries}
    return values.get("name") or f"{values[CLASS].rpartition('.')[2]} {position}"


def _flow(entries: Iterable[Entry]) -> Flow | None:
    values = {entry.name: entry.value.strip() for entry in entries}
    source, target = values.get("source.cluster.alias"), values.get("target.cluster.alias")
    return Flow(source, target) if source and target else None
