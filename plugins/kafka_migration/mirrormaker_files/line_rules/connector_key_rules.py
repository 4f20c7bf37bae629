"""Rules on keys that stand in a connector on Kafka Connect, and that only another one of MirrorMaker's uses.

Until Kafka 3.3 all connectors share one definition (`MirrorConnectorConfig`), so a connector takes the keys of the
others and does not use them. From Kafka 3.4 on each class has its own keys.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_migration.kafka_tables.kafka_keys import KafkaKey
from kafka_migration.mirrormaker_files.ground.ground import Ground
from kafka_migration.mirrormaker_files.ground.views import CHECKPOINT, CONNECTORS, SOURCE, default_in
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, minor
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.readers_of_keys import CONNECTOR_ROLES

_SHARED_UNTIL = "3.3"
# The connectors that have these plug-ins.
_USERS = {
    "topic_filter": (SOURCE, CHECKPOINT),
    "group_filter": (CHECKPOINT,),
    "config_property_filter": (SOURCE,),
    "replication_policy": CONNECTORS,
}


def keys_of_others(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each key of a connector that only another connector uses."""
    for setting in file.at(Place.CONNECTOR) if file.kind is FileKind.CONNECTORS else ():
        if users := users_elsewhere(setting, ground):
            names = " and ".join(role.removeprefix("mirror_") for role in users)
            found = f"only {names} connectors use this key"
            fix = "Remove it, or write it into the connector that uses it."
            code = LintCode.KEY_WITHOUT_EFFECT
            if _is_missed(setting, users, ground):
                code = LintCode.KEY_OF_OTHER_CONNECTOR
            yield at(file, setting, code, found, "it is ignored in this connector", fix)


def users_elsewhere(setting: MirrorSetting, ground: Ground) -> tuple[str, ...]:
    """Return the roles of the connectors that use a key; empty if the one that has it does, or none does."""
    if setting.place is not Place.CONNECTOR or setting.client:
        return ()
    using = {key.role for key in _definitions(setting, ground) if _is_own(key, ground)}
    own = {each.reader.role for each, _ in ground.readers.of(setting)} & set(CONNECTOR_ROLES)
    users = {each for role in using for each in _USERS.get(role, (role,))}
    return tuple(role for role in CONNECTORS if role in users) if own and not own & (using | users) else ()


def _definitions(setting: MirrorSetting, ground: Ground) -> list[KafkaKey]:
    named = ground.keys.named(setting.key)
    return [key for key in named if key.role in CONNECTOR_ROLES and ground.has(key)]


def _is_own(key: KafkaKey, ground: Ground) -> bool:
    """Return whether a role uses a key itself: it still has it after all connectors share one definition."""
    last = minor(key.versions[-1])
    is_gone = all(minor(each.versions[-1]) == last for each in ground.keys.named(key.name))
    return last != _SHARED_UNTIL or is_gone


def _is_missed(setting: MirrorSetting, users: tuple[str, ...], ground: Ground) -> bool:
    """Return whether a connector of these files that uses the key lacks it, and its default is another value."""
    defaults = {default_in(key, ground) for key in _definitions(setting, ground) if key.role in users}
    is_lacking = any(setting.key not in each.values for each in ground.readers.at(*users))
    return is_lacking and defaults != {setting.value.strip()}


CONNECTOR_KEY_RULES = (keys_of_others,)
