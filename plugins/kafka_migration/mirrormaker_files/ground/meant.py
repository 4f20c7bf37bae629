"""What a key that Kafka does not have was meant to be, and where a key must stand for the part that is meant."""

from __future__ import annotations

from typing import NamedTuple

from kafka_migration.core.text.regex import regex
from kafka_migration.mirrormaker_files.ground.ground import Ground
from kafka_migration.mirrormaker_files.model.lint_finding import key_of
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, Flow, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.readers_of_keys import CONNECTOR_ROLES, roles_at

# What a connector needs with `cluster.` in the middle.
_OF_A_SIDE = regex(r"(source|target)\.((?:bootstrap\.servers|security\.|sasl\.|ssl\.)[\w.]{0,100})")
# Keys of brokers and topics, which guides and copied files have among those of MirrorMaker.
OF_BROKERS = regex(
    r"message\.max\.bytes|replica\.fetch\.max\.bytes|num\.partitions|default\.replication\.factor|min\.insync\.replicas|"
    r"offset\.metadata\.max\.bytes|offsets\.topic\.replication\.factor|offsets\.topic\.num\.partitions|transaction\.state\.log\.[\w.]{1,100}|"
    r"auto\.create\.topics\.enable|delete\.topic\.enable|unclean\.leader\.election\.enable|log\.[\w.]{1,100}|"
    r"retention\.(?:ms|bytes)|cleanup\.policy|segment\.(?:ms|bytes)|max\.message\.bytes|zookeeper\.[\w.]{1,100}|"
    r"num\.(?:network|io|replica\.fetcher)[\w.]{0,100}|advertised\.listeners|inter\.broker\.[\w.]{1,100}|broker\.id|socket\.[\w.]{1,100}"
)
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

# What a connector may ask for, and the key of its worker that decides about it.
_SWITCHES = {"exactly.once.support": "exactly.once.source.support"}


class Meant(NamedTuple):
    """The key that was meant, empty if there is none, and what else to do or to know."""

    key: str
    note: str = ""

    def fix(self, setting: MirrorSetting) -> str:
        """Return what to do with the line of a setting."""
        return (
            f"Write {key_of(setting, renamed(setting, self.key))}.{self.note and ' '}{self.note}"
            if self.key
            else self.note
        )


def renamed(setting: MirrorSetting, key: str) -> str:
    """Return the whole name of a setting with another key."""
    return f"{setting.name.removesuffix(setting.key)}{key}" if setting.name.endswith(setting.key) else key


# Keys that guides print, although no released version has them.
_NEVER = {
    regex(r"offsets\.replication\.factor"): Meant("", "Remove it. Brokers have offsets.topic.replication.factor."),
    regex(r"readahead\.queue\.capacity"): Meant("", "Remove it. MirrorMaker 2 has no such queue."),
    regex(r"[\w.-]{0,200}\.topic\.(?:retention\.(?:ms|bytes)|cleanup\.policy|segment\.(?:ms|bytes))"): Meant(
        "", "Remove it. MirrorMaker 2 creates its topics with their own settings."
    ),
    regex(r"checkpoints?\.(?:topic\.)?replication\.factor"): Meant("checkpoints.topic.replication.factor"),
    regex(r"heartbeats?\.(?:topic\.)?replication\.factor"): Meant("heartbeats.topic.replication.factor"),
    regex(r"offset[-.]?syncs?\.(?:topic\.)?replication\.factor"): Meant("offset-syncs.topic.replication.factor"),
    regex(r"Mirror(?:Checkpoint|Heartbeat|Source)Connector\.enabled"): Meant(
        "", "Remove it; emit.checkpoints.enabled and emit.heartbeats.enabled switch these connectors."
    ),
    regex(r"enable"): Meant("enabled"),
    regex(r"max\.tasks"): Meant("tasks.max"),
    regex(r"topics?\.whitelist"): Meant("topics"),
    regex(r"groups?\.whitelist"): Meant("groups"),
    regex(r"topic\.(?:blacklist|exclude)"): Meant("topics.exclude"),
    regex(r"group\.(?:blacklist|exclude)"): Meant("groups.exclude"),
    regex(r"emit\.offset-syncs\.interval\.(?:seconds|ms)"): Meant(
        "offset.lag.max", "MirrorMaker writes an offset sync after that many records."
    ),
    regex(r"(?:sync\.)?consumer\.group\.offsets\.enabled|sync\.consumer\.offsets\.enabled"): Meant(
        "sync.group.offsets.enabled"
    ),
    regex(r"exactly\.once\.(?:support\.enabled|source(?:\.enabled)?)"): Meant("exactly.once.source.support"),
}


def meant(setting: MirrorSetting, ground: Ground) -> Meant | None:
    """Return what a key that guides print was meant to be; `None` for any other key."""
    if any(ground.keys.get(role, setting.key) for role in CONNECTOR_ROLES):
        return None
    for suffix, better in ((".ms", ".seconds"), ("", ".enabled")):
        name = f"{setting.key.removesuffix(suffix)}{better}"
        if setting.key.endswith(suffix) and any(ground.keys.get(role, name) for role in CONNECTOR_ROLES):
            return Meant(name, "The unit is seconds." if suffix else "")
    if setting.place is not Place.CLUSTER and (match := _OF_A_SIDE.fullmatch(setting.name)):
        return Meant(f"{match[1]}.cluster.{match[2]}")
    return next((found for pattern, found in _NEVER.items() if pattern.fullmatch(setting.key)), None)


def roles_meant(file: MirrorFile, setting: MirrorSetting, ground: Ground, *, any_key: bool = False) -> tuple[str, ...]:
    """Return the roles that have this key among those that read lines at its place; `any_key`: all of these roles."""
    roles = roles_at(file.kind, setting)
    return roles if any_key else tuple(role for role in roles if ground.keys.get(role, setting.key))


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
    key = _SWITCHES.get(setting.key, setting.key)
    roles = ground.keys.roles_of(key)
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
