"""Where a key must stand so that the part of Kafka that is meant reads it."""

from __future__ import annotations

from kafka_migration.mirrormaker_files.ground.ground import Ground
from kafka_migration.mirrormaker_files.model.lint_finding import key_of
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, Flow, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.readers_of_keys import CONNECTOR_ROLES

_OF_THE_PACKAGE = {
    "group.id": "Remove it: the worker of each flow has a group of its own.",
    "clusters": "Remove it: a connector has `source.cluster.alias` and `target.cluster.alias`.",
    "client.id": "Remove it: MirrorMaker names its clients.",
}
# Keys that have no effect on MirrorMaker 2 wherever they stand.
_NOWHERE = {
    "admin.listeners": "Remove it: MirrorMaker answers no requests there.",
    "exclude.internal.topics": "Remove it: MirrorMaker's consumer gets its partitions from MirrorMaker.",
}
_ADDRESSES = "bootstrap.servers"
# Keys of connectors that Strimzi's operator sets itself.
_OF_OPERATOR = frozenset({"name", "connector.class", "tasks.max"})


def right_place(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> str:
    """Return what to do with a line that is not read where it stands."""
    if file.kind.is_mirrormaker1:
        return "Remove it, or write it into the file of the client that reads it."
    if not setting.client and setting.key == "group.id" and file.kind is FileKind.CONNECTORS:
        return "Write `group.id` into the properties of the Connect workers."
    if setting.name in _NOWHERE or (setting.client in {"", "consumer"} and setting.key in _NOWHERE):
        return _NOWHERE.get(setting.name) or _NOWHERE[setting.key]
    if not setting.client and setting.key in _OF_THE_PACKAGE:
        return _OF_THE_PACKAGE[setting.key]
    if file.kind is FileKind.CONNECTORS:
        return _on_connect(setting, ground)
    if file.kind is FileKind.WORKER and any(role in CONNECTOR_ROLES for role in ground.keys.roles_of(setting.key)):
        return f"Write {key_of(setting, setting.key)} into the connector that reads it."
    if file.kind is FileKind.STRIMZI:
        return _in_resource(setting, ground)
    return _in_properties(file, setting, ground)


def _client(setting: MirrorSetting, ground: Ground) -> str:
    """Return the client that is meant; empty if the key belongs to no client."""
    if setting.client in {"producer", "consumer", "admin"}:
        return setting.client
    roles = ground.keys.roles_of(setting.key)
    return next((role for role in ("consumer", "producer", "admin") if role in roles), "")


def _in_properties(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> str:
    flow = file.flows[0] if file.flows else Flow("SOURCE", "TARGET")
    key, roles = setting.key, ground.keys.roles_of(setting.key)
    if not setting.client and any(role in CONNECTOR_ROLES for role in roles):
        own = key_of(setting, f"{flow}.{key}")
        return f"Remove it, or write {own}." if file.last(Place.TOP, key) else f"Write {key_of(setting, key)} or {own}."
    if not setting.client and "connect_worker" in roles and "consumer" not in roles:
        return f"Write {key_of(setting, f'{flow.target}.{key}')}."
    client = _client(setting, ground) or "admin"
    if setting.place is Place.CLUSTER:
        flow = next((each for each in file.flows if setting.owner == _end(each, client)), flow)
    owner = _end(flow, client)
    if client == "consumer" and ground.is_at_least("2.8") is False:
        owner = str(flow)
    name = f"{owner}.{client}.{key}"
    there = next((each for each in file.settings if each.name == name), None)
    return f"Remove it: line {there.line} has this key." if there else f"Write {key_of(setting, name)}."


def _end(flow: Flow, client: str) -> str:
    """Return the cluster to which a client of a flow connects."""
    return flow.source if client == "consumer" else flow.target


def _on_connect(setting: MirrorSetting, ground: Ground) -> str:
    key, roles = setting.key, ground.keys.roles_of(setting.key)
    if key == _ADDRESSES:
        return "Write `source.cluster.bootstrap.servers` and `target.cluster.bootstrap.servers`."
    is_of_client = setting.client in {"producer", "consumer", "admin"} or _client(setting, ground)
    if not is_of_client and not any(role in CONNECTOR_ROLES for role in roles) and "connect_worker" in roles:
        return f"Write {key_of(setting, key)} into the properties of the Connect workers."
    client = _client(setting, ground)
    if client == "consumer":
        return f"Write {key_of(setting, f'source.consumer.{key}')}."
    if client in {"producer", "admin"}:
        override = f"{client}.override.{key}"
        return (
            f"Write {key_of(setting, override)}; the workers must allow it (connector.client.config.override.policy)."
        )
    return f"Write {key_of(setting, key)} into the connector that reads it."


def _in_resource(setting: MirrorSetting, ground: Ground) -> str:
    key, client = setting.key, _client(setting, ground)
    if key in _OF_OPERATOR:
        return "Write `tasksMax` into `sourceConnector`." if key == "tasks.max" else "Remove it."
    if client == "producer":
        return f"Write {key_of(setting, f'producer.{key}')} into `config` of the target cluster."
    if client in {"consumer", "admin"}:
        return f"Write {key_of(setting, f'{client}.{key}')} into `config` of `sourceConnector`."
    if "connect_worker" in ground.keys.roles_of(key):
        return f"Write {key_of(setting, key)} into `config` of the target cluster."
    return f"Write {key_of(setting, key)} into `config` of the connector that reads it."
