"""What a key that Kafka does not have was meant to be, and which parts of Kafka a line is meant for."""

from __future__ import annotations

import re
from typing import NamedTuple

from kafka_migration.core.text.regex import regex
from kafka_migration.mirrormaker_files.ground.ground import Ground
from kafka_migration.mirrormaker_files.model.lint_finding import key_of
from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.readers_of_keys import CONNECTOR_ROLES, roles_at


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
# Keys that guides print, although no released version has them.
_NEVER: tuple[tuple[re.Pattern[str], Meant], ...] = (
    (
        regex(r"offsets\.replication\.factor"),
        Meant("", "Remove it. Brokers have offsets.topic.replication.factor."),
    ),
    (regex(r"readahead\.queue\.capacity"), Meant("", "Remove it. MirrorMaker 2 has no such queue.")),
    (
        regex(r"[\w.-]{0,200}\.topic\.(?:retention\.(?:ms|bytes)|cleanup\.policy|segment\.(?:ms|bytes))"),
        Meant("", "Remove it. MirrorMaker 2 creates its topics with their own settings."),
    ),
    (
        regex(r"checkpoints?\.(?:topic\.)?replication\.factor"),
        Meant("checkpoints.topic.replication.factor"),
    ),
    (
        regex(r"heartbeats?\.(?:topic\.)?replication\.factor"),
        Meant("heartbeats.topic.replication.factor"),
    ),
    (
        regex(r"offset[-.]?syncs?\.(?:topic\.)?replication\.factor"),
        Meant("offset-syncs.topic.replication.factor"),
    ),
    (
        regex(r"Mirror(?:Checkpoint|Heartbeat|Source)Connector\.enabled"),
        Meant("", "Remove it; emit.checkpoints.enabled and emit.heartbeats.enabled switch these connectors."),
    ),
    (regex(r"enable"), Meant("enabled")),
    (regex(r"max\.tasks"), Meant("tasks.max")),
    (regex(r"topics?\.whitelist"), Meant("topics")),
    (regex(r"groups?\.whitelist"), Meant("groups")),
    (regex(r"topic\.(?:blacklist|exclude)"), Meant("topics.exclude")),
    (regex(r"group\.(?:blacklist|exclude)"), Meant("groups.exclude")),
    (
        regex(r"emit\.offset-syncs\.interval\.(?:seconds|ms)"),
        Meant("offset.lag.max", "MirrorMaker writes an offset sync after that many records."),
    ),
    (
        regex(r"(?:sync\.)?consumer\.group\.offsets\.enabled|sync\.consumer\.offsets\.enabled"),
        Meant("sync.group.offsets.enabled"),
    ),
    (
        regex(r"exactly\.once\.(?:support|source)(?:\.enabled)?"),
        Meant("exactly.once.source.support"),
    ),
)


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
    return next((found for pattern, found in _NEVER if pattern.fullmatch(setting.key)), None)


def roles_meant(file: MirrorFile, setting: MirrorSetting, ground: Ground, *, any_key: bool = False) -> tuple[str, ...]:
    """Return the roles that have this key among those that read lines at its place; `any_key`: all of these roles."""
    roles = roles_at(file.kind, setting)
    return roles if any_key else tuple(role for role in roles if ground.keys.get(role, setting.key))
