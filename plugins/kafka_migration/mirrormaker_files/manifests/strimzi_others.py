"""Other resources of Strimzi: KafkaMirrorMaker, KafkaConnector and KafkaConnect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import yaml

from kafka_migration.mirrormaker_files.formats.connectors import Connector, not_texts
from kafka_migration.mirrormaker_files.formats.properties_files import worker_file
from kafka_migration.mirrormaker_files.formats.properties_reader import Entry
from kafka_migration.mirrormaker_files.formats.yaml_documents import fields, flat, line_of, repeats, text_of
from kafka_migration.mirrormaker_files.manifests.operator_keys import is_dropped
from kafka_migration.mirrormaker_files.manifests.resource_fields import resource_faults
from kafka_migration.mirrormaker_files.manifests.strimzi import empty_fields
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.strimzi_keys import WORKER_FIELDS

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
