"""Connectors of MirrorMaker 2 on Kafka Connect: JSON of its REST API, or properties of a standalone worker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import yaml

from kafka_migration.kafka_tables.accepted import nearest
from kafka_migration.mirrormaker_files.formats.properties_reader import Entry, prefixed
from kafka_migration.mirrormaker_files.formats.yaml_documents import (
    fields,
    flat,
    is_null,
    items,
    json_node,
    line_of,
    repaired_json,
    repeats,
)
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, Flow, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.readers_of_keys import CLASS, role_of_class
from kafka_migration.mirrormaker_files.model.remarks import Oddity, Remark, WrongDocument

# The fields of a request, and those that Connect adds in its answer.
_FIELDS = frozenset({"name", "config", "initial_state", "tasks", "type"})


@dataclass(frozen=True, slots=True)
class Connector:
    """The settings of one connector, and what was noticed about its text."""

    entries: Sequence[Entry]
    remarks: Sequence[Remark] = ()


def connectors_file(name: str, text: str) -> MirrorFile:
    """Return the connectors of a JSON document: one, a list, or Connect's answer with `expand=info`.

    Raises `WrongDocument` if no part of it has a `connector.class`.
    """
    text, wrong = repaired_json(text)
    root = json_node(text)
    found = [Connector(list(flat(node)), list(not_texts(node))) for node in _configs(root)]
    if not found:
        raise WrongDocument(f"no configuration with {CLASS}")
    return file_of_connectors(name, found, [*wrong, *repeats(root), *_strange_fields(root)])


def not_texts(config: yaml.Node | None) -> Iterator[Remark]:
    """Yield a remark for each value that Connect does not take: a list, an object, or `null`."""
    for key, value in fields(config).items():
        if not isinstance(value, yaml.ScalarNode):
            yield Remark(Oddity.NOT_TEXT, line_of(value), key)
        elif is_null(value):
            yield Remark(Oddity.NULL, line_of(value), key)


def _strange_fields(root: yaml.Node) -> Iterator[Remark]:
    """Yield a remark for each field that no request `{"name": …, "config": …}` has, as `CreateConnectorRequest`.

    A document of another shape is no request, such as one of a further tool, or Connect's answer.
    """
    for node in items(root) or [root]:
        inner = fields(node)
        holders = [name for name, value in inner.items() if CLASS in fields(value)]
        is_request = isinstance(inner.get("name"), yaml.ScalarNode) and len(holders) == 1
        if not is_request or CLASS in inner or (holders != ["config"] and not _is_like_config(holders[0])):
            continue
        for key, _ in node.value:
            if key.value not in _FIELDS:
                yield Remark(Oddity.REQUEST_FIELD, line_of(key), key.value)


def _is_like_config(name: str) -> bool:
    return name.lower() in {"configuration", "conf", "cfg"} or bool(nearest(name.lower(), ["config"], 0.8))


def _configs(node: yaml.Node) -> Iterator[yaml.Node]:
    inner = fields(node)
    if CLASS in inner:
        yield node
        return
    for child in (*inner.values(), *items(node)):
        yield from _configs(child)


def file_of_connectors(name: str, connectors: Sequence[Connector], remarks: Sequence[Remark] = ()) -> MirrorFile:
    """Return the file with the settings of all its connectors."""
    configs = [each.entries for each in connectors]
    named = [(_name(entries, position), entries) for position, entries in enumerate(configs, 1)]
    settings = tuple(_setting(entry, owner, entries) for owner, entries in named for entry in entries)
    flows = tuple(dict.fromkeys(filter(None, (_flow(entries) for entries in configs))))
    clusters = tuple(dict.fromkeys(alias for flow in flows for alias in (flow.source, flow.target)))
    noticed = [*remarks, *(remark for each in connectors for remark in _noticed(each))]
    return MirrorFile(name, FileKind.CONNECTORS, settings, clusters, flows, remarks=tuple(noticed))


def _noticed(connector: Connector) -> Iterator[Remark]:
    yield from connector.remarks
    for entry in connector.entries:
        if entry.name == CLASS and _is_foreign(connector.entries):
            yield Remark(Oddity.OTHER_PRODUCT, entry.line, entry.name)


def _setting(entry: Entry, owner: str, entries: Sequence[Entry]) -> MirrorSetting:
    """Return a setting at its place. No table has the keys of another product, so they are not judged."""
    if entry.name != CLASS and _is_foreign(entries):
        return MirrorSetting(entry.line, entry.name, entry.value, Place.FIELD, entry.name, owner)
    return prefixed(entry, Place.CONNECTOR, owner, entry.name)


def _is_foreign(entries: Sequence[Entry]) -> bool:
    name = next((entry.value for entry in reversed(entries) if entry.name == CLASS), "")
    is_like = role_of_class(name) is not None or "mirror" in name.lower()
    return not is_like and "$" not in name and "{{" not in name and bool(name.strip())


def _name(entries: Iterable[Entry], position: int) -> str:
    values = {entry.name: entry.value for entry in entries}
    return values.get("name") or f"{values.get(CLASS, '').rpartition('.')[2]} {position}".strip()


def _flow(entries: Iterable[Entry]) -> Flow | None:
    values = {entry.name: entry.value.strip() for entry in entries}
    # The default of Kafka for the target.
    source, target = values.get("source.cluster.alias"), values.get("target.cluster.alias", "target")
    return Flow(source, target) if source and target else None
