"""The resources of Strimzi: KafkaMirrorMaker2 (v1beta2 and v1), KafkaMirrorMaker, KafkaConnector and KafkaConnect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import yaml

from kafka_migration.mirrormaker_files.formats.connectors import Connector, not_texts
from kafka_migration.mirrormaker_files.formats.properties_reader import Entry, prefixed, worker_file
from kafka_migration.mirrormaker_files.formats.yaml_documents import (
    fields,
    flat,
    is_null,
    items,
    line_of,
    repeats,
    text_of,
)
from kafka_migration.mirrormaker_files.manifests.operator_keys import is_dropped
from kafka_migration.mirrormaker_files.manifests.resource_fields import resource_faults
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.mirror_settings import (
    CLIENTS,
    EMPTY,
    FileKind,
    Flow,
    MirrorFile,
    MirrorSetting,
    Place,
)
from kafka_migration.mirrormaker_files.model.strimzi_keys import CONNECTOR_FIELDS, PATTERN_FIELDS, WORKER_FIELDS

KIND = "KafkaMirrorMaker2"
# Fields of clients, and the keys that Strimzi's operator writes from them.
_CLIENT_KEYS = {"bootstrapServers": "bootstrap.servers", "groupId": "group.id"}
_WORKER_KEYS = _CLIENT_KEYS | WORKER_FIELDS
# Fields of the resource and of its clients, and the options of the command that Strimzi's image starts.
_OPTIONS = {
    "whitelist": "whitelist",
    "include": "include",
    "consumer.numStreams": "num.streams",
    "consumer.offsetCommitInterval": "offset.commit.interval.ms",
    "producer.abortOnSendFailure": "abort.on.send.failure",
}


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
    unknown = {each.path.rpartition(".")[2] for each in faults if each.code is LintCode.FIELD_UNKNOWN}
    settings = [_as_field(each) if each.name.partition(".")[0] in unknown else each for each in settings]
    remarks = tuple(repeats(resource))
    marks = tuple(each for each in _marks(mirrors, _alias(target)) if each[1] not in unknown)
    return MirrorFile(name, FileKind.STRIMZI, tuple(settings), aliases, flows, version, line, remarks, faults, marks)


def _as_field(setting: MirrorSetting) -> MirrorSetting:
    """Return a setting within a field that the resource does not have, so that no part of Kafka gets it."""
    return setting._replace(place=Place.FIELD, key=setting.name, client="") if setting.place is Place.FLOW else setting


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


def mirrormaker1_files(name: str, resource: yaml.Node) -> list[MirrorFile]:
    """Return what a KafkaMirrorMaker resource is: a consumer, a producer, and a command with the remaining fields."""
    spec = fields(resource).get("spec")
    inner, line = fields(spec), line_of(resource)
    version = text_of(inner.get("version"))
    clients = {FileKind.CONSUMER: "consumer", FileKind.PRODUCER: "producer"}
    faults = resource_faults(resource)
    files = [
        MirrorFile(
            name,
            kind,
            tuple(_client(inner[part], part)),
            kafka_version=version,
            line=line_of(inner[part]),
            faults=tuple(each for each in faults if each.path.partition(".")[0] == part),
            part=f"strimzi-{part}.properties",
        )
        for kind, part in clients.items()
        if part in inner
    ]
    settings = [_option(entry) for entry in flat(spec) if not _is_of_client(entry)]
    settings += [
        MirrorSetting(each.line, part, f"/tmp/strimzi-{part}.properties", Place.OPTION, f"{part}.config")  # noqa: S108
        for each, part in zip(files, clients.values(), strict=False)
    ]
    remarks, of_files = tuple(repeats(resource)), {each for file in files for each in file.faults}
    own = tuple(each for each in faults if each not in of_files)
    return [*files, MirrorFile(name, FileKind.COMMAND, tuple(settings), (), (), version, line, remarks, own)]


def _is_of_client(entry: Entry) -> bool:
    part, _, rest = entry.name.partition(".")
    return part in {"consumer", "producer"} and entry.name not in _OPTIONS and bool(rest)


def _client(node: yaml.Node, kind: str) -> Iterator[MirrorSetting]:
    for entry in flat(node):
        key = entry.name.removeprefix("config.")
        if entry.name in _CLIENT_KEYS:
            yield MirrorSetting(entry.line, entry.name, entry.value, Place.CLIENT, _CLIENT_KEYS[entry.name])
        elif entry.name.startswith("config.") and not is_dropped(key, kind, ""):
            yield MirrorSetting(entry.line, key, entry.value, Place.CLIENT, key)
        else:
            yield MirrorSetting(entry.line, entry.name, entry.value, Place.FIELD, entry.name)
    yield from empty_fields(node, "")


def _option(entry: Entry) -> MirrorSetting:
    if entry.name in _OPTIONS:
        return MirrorSetting(entry.line, entry.name, entry.value, Place.OPTION, _OPTIONS[entry.name])
    return MirrorSetting(entry.line, entry.name, entry.value, Place.FIELD, entry.name)


def connector_of(resource: yaml.Node) -> Connector:
    """Return the connector that a KafkaConnector resource describes."""
    spec = fields(fields(resource).get("spec"))
    metadata = fields(fields(resource).get("metadata"))
    named = {"name": metadata.get("name"), "connector.class": spec.get("class"), "tasks.max": spec.get("tasksMax")}
    entries = [Entry(line_of(node), key, text_of(node)) for key, node in named.items() if node]
    config = spec.get("config")
    own = [each for each in flat(config) if not is_dropped(each.name, "KafkaConnector", "")]
    return Connector([*entries, *own], [*repeats(resource), *not_texts(config)])


def worker_of(name: str, resource: yaml.Node) -> MirrorFile:
    """Return the worker that a KafkaConnect resource describes."""
    spec = fields(resource).get("spec")
    entries = [
        Entry(each.line, _WORKER_KEYS.get(each.name, each.name.removeprefix("config.")), each.value)
        for each in flat(spec)
        if each.name in _WORKER_KEYS or _is_taken(each.name, fields(resource))
    ]
    version, line = text_of(fields(spec).get("version")), line_of(resource)
    return replace(worker_file(name, entries, version, line), faults=resource_faults(resource))


def _is_taken(name: str, resource: dict[str, yaml.Node]) -> bool:
    """Return whether the operator takes a key of `config` of a KafkaConnect resource."""
    version = text_of(resource.get("apiVersion")).rpartition("/")[2]
    return name.startswith("config.") and not is_dropped(name.removeprefix("config."), "KafkaConnect", version)
