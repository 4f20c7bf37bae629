"""The KafkaMirrorMaker2 resource of Strimzi, with the fields of its versions v1beta2 and v1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import yaml

from kafka_migration.mirrormaker_files.formats.properties_files import prefixed
from kafka_migration.mirrormaker_files.formats.properties_reader import Entry
from kafka_migration.mirrormaker_files.formats.yaml_documents import (
    fields,
    flat,
    is_null,
    items,
    line_of,
    repeats,
    text_of,
)
from kafka_migration.mirrormaker_files.manifests.resource_fields import resource_faults
from kafka_migration.mirrormaker_files.model.mirror_settings import (
    CLIENTS,
    EMPTY,
    Fault,
    FileKind,
    Flow,
    MirrorFile,
    MirrorSetting,
    Place,
)
from kafka_migration.mirrormaker_files.model.strimzi_keys import CONNECTOR_FIELDS, PATTERN_FIELDS

KIND = "KafkaMirrorMaker2"


def strimzi_file(name: str, resource: yaml.Node) -> MirrorFile:
    """Return the settings of the resource."""
    spec = fields(fields(resource).get("spec"))
    target = spec.get("target")
    clusters = [*items(spec.get("clusters")), *([target] if target else [])]
    mirrors = items(spec.get("mirrors"))
    is_first = text_of(fields(resource).get("apiVersion")) == "kafka.strimzi.io/v1alpha1"
    clusters += [source for mirror in mirrors if (source := fields(mirror).get("source"))]
    settings = [each for node in clusters for each in _cluster(node)]
    settings += [each for node in mirrors for each in _mirror(node, _alias(target), keeps_unknown=is_first)]
    settings += list(_rest(spec))
    flows = tuple(dict.fromkeys(_flow(node, _alias(target)) for node in mirrors))
    aliases = tuple(dict.fromkeys(_alias(node) for node in clusters))
    version, line = text_of(spec.get("version")), line_of(resource)
    faults = resource_faults(resource)
    unknown = {each.path.rpartition(".")[2] for each in faults if each.fault is Fault.UNKNOWN}
    settings = [_as_field(each) if each.name.partition(".")[0] in unknown else each for each in settings]
    remarks = tuple(repeats(resource))
    marks = tuple(each for each in _marks(mirrors, _alias(target)) if each[1] not in unknown)
    return MirrorFile(name, FileKind.STRIMZI, tuple(settings), aliases, flows, version, line, remarks, faults, marks)


def _as_field(setting: MirrorSetting) -> MirrorSetting:
    """Return a setting within a field that the resource does not have, so that no part of Kafka gets it."""
    return replace(setting, place=Place.FIELD, key=setting.name, client="") if setting.place is Place.FLOW else setting


def _marks(mirrors: Sequence[yaml.Node], target: str) -> Iterator[tuple[str, str, int]]:
    for mirror in mirrors:
        for key, value in mirror.value if isinstance(mirror, yaml.MappingNode) else ():
            if isinstance(key, yaml.ScalarNode) and key.value in CONNECTOR_FIELDS and not is_null(value):
                yield str(_flow(mirror, target)), key.value, line_of(key)


def _alias(node: yaml.Node | None) -> str:
    return text_of(fields(node).get("alias"))


def _cluster(node: yaml.Node) -> Iterator[MirrorSetting]:
    alias, inner = _alias(node), fields(node)
    for entry in flat(inner.get("config")):
        client, _, rest = entry.name.partition(".")
        is_client = client in CLIENTS
        key = rest if is_client else entry.name
        yield MirrorSetting(entry.line, entry.name, entry.value, Place.CLUSTER, key, alias, client if is_client else "")
    for entry in flat(node):
        if entry.name == "bootstrapServers":
            yield MirrorSetting(entry.line, entry.name, entry.value, Place.CLUSTER, "bootstrap.servers", alias)
        elif not entry.name.startswith("config."):
            yield MirrorSetting(entry.line, entry.name, entry.value, Place.FIELD, entry.name, alias)
    yield from empty_fields(node, alias)


def empty_fields(node: yaml.Node, owner: str) -> Iterator[MirrorSetting]:
    """Yield the fields without content, such as `tls: {}`, which say something all the same."""
    for name, value in fields(node).items():
        if isinstance(value, yaml.MappingNode) and not value.value:
            yield MirrorSetting(line_of(value), name, EMPTY, Place.FIELD, name, owner)


def _flow(node: yaml.Node, target: str) -> Flow:
    inner = fields(node)
    source = text_of(inner.get("sourceCluster")) or _alias(inner.get("source"))
    return Flow(source, text_of(inner.get("targetCluster")) or target)


def _mirror(node: yaml.Node, target: str, *, keeps_unknown: bool) -> Iterator[MirrorSetting]:
    """Yield the settings of a mirror. The operators of v1alpha1 hand unknown fields to the connectors as keys."""
    owner = str(_flow(node, target))
    for entry in flat(node):
        connector, _, rest = entry.name.partition(".")
        if entry.name in PATTERN_FIELDS:
            yield MirrorSetting(entry.line, entry.name, entry.value, Place.FLOW, PATTERN_FIELDS[entry.name][0], owner)
        elif connector in CONNECTOR_FIELDS:
            yield _of_connector(entry, owner, rest)
        elif keeps_unknown and entry.name not in {"sourceCluster", "targetCluster"} and entry.name in fields(node):
            yield prefixed(entry, Place.FLOW, owner, entry.name)
        elif connector != "source":
            yield MirrorSetting(entry.line, entry.name, entry.value, Place.FIELD, entry.name, owner)
    yield from empty_fields(node, owner)


def _of_connector(entry: Entry, owner: str, rest: str) -> MirrorSetting:
    if rest == "tasksMax":
        return MirrorSetting(entry.line, entry.name, entry.value, Place.FLOW, "tasks.max", owner)
    if rest.startswith("config."):
        return prefixed(entry, Place.FLOW, owner, rest.removeprefix("config."))
    return MirrorSetting(entry.line, entry.name, entry.value, Place.FIELD, entry.name, owner)


def _rest(spec: dict[str, yaml.Node]) -> Iterator[MirrorSetting]:
    """Yield the fields beside clusters and mirrors."""
    for name, node in spec.items():
        if name in {"clusters", "mirrors", "target"}:
            continue
        if isinstance(node, yaml.ScalarNode):
            yield MirrorSetting(node.start_mark.line + 1, name, text_of(node), Place.FIELD, name)
        for entry in flat(node, f"{name}."):
            yield MirrorSetting(entry.line, entry.name, entry.value, Place.FIELD, entry.name)
