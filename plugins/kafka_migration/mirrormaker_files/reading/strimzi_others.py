"""Other resources of Strimzi: KafkaMirrorMaker, KafkaConnector and KafkaConnect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import yaml

from kafka_migration.mirrormaker_files.model.mirror_settings import CLIENTS, FileKind, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.reading.connectors import Connector, not_texts
from kafka_migration.mirrormaker_files.reading.documents import fields, flat, line_of, repeats, text_of
from kafka_migration.mirrormaker_files.reading.properties import Entry
from kafka_migration.mirrormaker_files.reading.strimzi import empty_fields

# Fields of clients, and the keys that Strimzi's operator writes from them.
_CLIENT_KEYS = {"bootstrapServers": "bootstrap.servers", "groupId": "group.id"}
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
    files = [
        MirrorFile(
            name,
            kind,
            tuple(_client(inner[part])),
            kafka_version=version,
            line=line_of(inner[part]),
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
    remarks = tuple(repeats(resource))
    return [*files, MirrorFile(name, FileKind.COMMAND, tuple(settings), (), (), version, line, remarks)]


def _is_of_client(entry: Entry) -> bool:
    part, _, rest = entry.name.partition(".")
    return part in {"consumer", "producer"} and entry.name not in _OPTIONS and bool(rest)


def _client(node: yaml.Node) -> Iterator[MirrorSetting]:
    for entry in flat(node):
        if entry.name in _CLIENT_KEYS:
            yield MirrorSetting(entry.line, entry.name, entry.value, Place.CLIENT, _CLIENT_KEYS[entry.name])
        elif entry.name.startswith("config."):
            key = entry.name.removeprefix("config.")
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
    return Connector([*entries, *flat(config)], [*repeats(resource), *not_texts(config)])


def worker_of(name: str, resource: yaml.Node) -> MirrorFile:
    """Return the worker that a KafkaConnect resource describes."""
    spec = fields(resource).get("spec")
    entries = [
        Entry(each.line, _CLIENT_KEYS.get(each.name, each.name.removeprefix("config.")), each.value)
        for each in flat(spec)
        if each.name in _CLIENT_KEYS or each.name.startswith("config.")
    ]
    version, line = text_of(fields(spec).get("version")), line_of(resource)
    return worker_file(name, entries, version, line)


def worker_file(name: str, entries: Sequence[Entry], version: str = "", line: int = 0) -> MirrorFile:
    """Return the settings of a Connect worker; `producer.`, `consumer.` and `admin.` are those of its clients."""
    settings = []
    for each in entries:
        client, _, rest = each.name.partition(".")
        is_client = client in CLIENTS and bool(rest)
        key, client = (rest, client) if is_client else (each.name, "")
        settings.append(
            MirrorSetting(each.line, each.name, each.value, Place.WORKER, key, client=client, dropped=each.dropped)
        )
    return MirrorFile(name, FileKind.WORKER, tuple(settings), kafka_version=version, line=line)
