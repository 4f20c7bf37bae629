"""What a key that Kafka does not have was meant to be, and which parts of Kafka a line is meant for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kafka_migration.mirrormaker_files.model.judging import key_of
from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorFile, MirrorSetting
from kafka_migration.mirrormaker_files.model.roles import CONNECTOR_ROLES, roles_at
from kafka_migration.mirrormaker_files.rules.ground import Ground


@dataclass(frozen=True, slots=True)
class Meant:
    """The key that was meant, empty if there is none, and what to do."""

    key: str
    fix: str


# Keys of brokers and topics, which guides and copied files have among those of MirrorMaker.
OF_BROKERS = re.compile(
    r"message\.max\.bytes|replica\.fetch\.max\.bytes|num\.partitions|default\.replication\.factor|min\.insync\.replicas|"
    r"offsets(?:\.topic)?\.replication\.factor|offsets\.topic\.num\.partitions|transaction\.state\.log\.[\w.]{1,100}|"
    r"auto\.create\.topics\.enable|delete\.topic\.enable|unclean\.leader\.election\.enable|log\.[\w.]{1,100}|"
    r"retention\.(?:ms|bytes)|cleanup\.policy|segment\.(?:ms|bytes)|max\.message\.bytes|zookeeper\.[\w.]{1,100}|"
    r"num\.(?:network|io|replica\.fetcher)[\w.]{0,100}|advertised\.listeners|inter\.broker\.[\w.]{1,100}|broker\.id|socket\.[\w.]{1,100}"
)
# Keys that guides print, although no released version has them.
_NEVER: tuple[tuple[re.Pattern[str], Meant], ...] = (
    (re.compile(r"readahead\.queue\.capacity"), Meant("", "Remove it. MirrorMaker 2 has no such queue.")),
    (
        re.compile(r"[\w.-]{0,200}\.topic\.retention\.ms"),
        Meant("", "Remove it. MirrorMaker 2 creates its topics with their own retention."),
    ),
    (
        re.compile(r"checkpoints?\.(?:topic\.)?replication\.factor"),
        Meant("checkpoints.topic.replication.factor", "Write `checkpoints.topic.replication.factor`."),
    ),
    (
        re.compile(r"heartbeats?\.(?:topic\.)?replication\.factor"),
        Meant("heartbeats.topic.replication.factor", "Write `heartbeats.topic.replication.factor`."),
    ),
    (
        re.compile(r"offset[-.]?syncs?\.(?:topic\.)?replication\.factor"),
        Meant("offset-syncs.topic.replication.factor", "Write `offset-syncs.topic.replication.factor`."),
    ),
    (
        re.compile(r"Mirror(?:Checkpoint|Heartbeat|Source)Connector\.enabled"),
        Meant("", "Remove it; emit.checkpoints.enabled and emit.heartbeats.enabled switch these connectors."),
    ),
    (re.compile(r"enable"), Meant("enabled", "Write `enabled`.")),
    (re.compile(r"max\.tasks"), Meant("tasks.max", "Write `tasks.max`.")),
    (re.compile(r"topics?\.whitelist"), Meant("topics", "Write `topics`.")),
    (re.compile(r"groups?\.whitelist"), Meant("groups", "Write `groups`.")),
    (re.compile(r"topic\.(?:blacklist|exclude)"), Meant("topics.exclude", "Write `topics.exclude`.")),
    (re.compile(r"group\.(?:blacklist|exclude)"), Meant("groups.exclude", "Write `groups.exclude`.")),
    (
        re.compile(r"emit\.offset-syncs\.interval\.(?:seconds|ms)"),
        Meant("offset.lag.max", "Write `offset.lag.max`: MirrorMaker writes an offset sync after that many records."),
    ),
    (
        re.compile(r"(?:sync\.)?consumer\.group\.offsets\.enabled|sync\.consumer\.offsets\.enabled"),
        Meant("sync.group.offsets.enabled", "Write `sync.group.offsets.enabled`."),
    ),
    (
        re.compile(r"exactly\.once\.(?:support|source)(?:\.enabled)?"),
        Meant("exactly.once.source.support", "Write `TARGET.exactly.once.source.support=enabled`."),
    ),
)


def meant(setting: MirrorSetting, ground: Ground) -> Meant | None:
    """Return what a key that guides print was meant to be; `None` for any other key."""
    if any(ground.keys.get(role, setting.key) for role in CONNECTOR_ROLES):
        return None
    for suffix, better in ((".ms", ".seconds"), ("", ".enabled")):
        name = f"{setting.key.removesuffix(suffix)}{better}"
        if setting.key.endswith(suffix) and any(ground.keys.get(role, name) for role in CONNECTOR_ROLES):
            unit = " The unit is seconds." if suffix else ""
            return Meant(name, f"Write {key_of(setting, name)}.{unit}")
    return next((found for pattern, found in _NEVER if pattern.fullmatch(setting.key)), None)


def roles_meant(file: MirrorFile, setting: MirrorSetting, ground: Ground, *, any_key: bool = False) -> tuple[str, ...]:
    """Return the roles that have this key among those that read lines at its place; `any_key`: all of these roles."""
    roles = roles_at(file.kind, setting)
    return roles if any_key else tuple(role for role in roles if ground.keys.get(role, setting.key))
