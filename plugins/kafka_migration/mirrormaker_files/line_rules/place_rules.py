"""Rules on keys that stand at another place than that of their reader, twice, or almost as Kafka knows them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from kafka_migration.core.text.regex import regex
from kafka_migration.core.text.shortened import some
from kafka_migration.kafka_tables.accepted import nearest
from kafka_migration.kafka_tables.kafka_keys import KafkaKey
from kafka_migration.mirrormaker_files.ground.ground import CHECKPOINT, CONNECTORS, SOURCE, Ground
from kafka_migration.mirrormaker_files.ground.meant import renamed, right_place
from kafka_migration.mirrormaker_files.line_rules.key_rules import is_storage_of_connector
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, has_secret, key_of, minor, value_of
from kafka_migration.mirrormaker_files.model.mirror_settings import (
    PER_OWNER,
    FileKind,
    MirrorFile,
    MirrorSetting,
    Place,
)
from kafka_migration.mirrormaker_files.model.readers_of_keys import (
    CONNECTOR_ROLES,
    is_free,
    is_of_storage,
    role_of_class,
)

_SHARED_UNTIL = "3.3"
# The connectors that have these plug-ins.
_USERS = {
    "topic_filter": (SOURCE, CHECKPOINT),
    "group_filter": (CHECKPOINT,),
    "config_property_filter": (SOURCE,),
    "replication_policy": CONNECTORS,
}
# Two names of a family that are less alike than this may be two keys.
_ALMOST = 0.92
# More keys of families in one file are not compared.
_MOST_COMPARED = 100
_PROVIDER = regex(r"(config\.providers\.[\w-]{1,100})\.(?!param\.)[\w.-]{1,100}")


def keys_of_others(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each key of a connector that only another connector uses.

    Until Kafka 3.3 all connectors share one definition (`MirrorConnectorConfig`), so a connector takes the keys of the
    others and does not use them. From Kafka 3.4 on each class has its own keys.
    """
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
    defaults = {ground.default_in(key) for key in _definitions(setting, ground) if key.role in users}
    is_lacking = any(setting.key not in each.values for each in ground.readers.at(*users))
    return is_lacking and defaults != {setting.value.strip()}


def families(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each key of a family that is almost a key of Kafka.

    No table can know all keys of these families, because plug-ins and topics extend them. Such a key is judged only if
    it is almost one of Kafka's, and Kafka has no key of its name.
    """
    own = [each for each in file.settings if each.place not in {Place.OPTION, Place.FIELD} and is_free(each)]
    for setting in own[:_MOST_COMPARED]:
        near = _near(setting, ground)
        if near:
            yield _misspelled(file, setting, near, ground)


def _near(setting: MirrorSetting, ground: Ground) -> str:
    """Return the key of Kafka that is meant; empty if the key is one of Kafka, or like none."""
    key = setting.key
    if ground.keys.roles_of(key):
        return ""
    names = [each for each in ground.keys.names if _family(each) == _family(key)]
    if provider := _PROVIDER.fullmatch(key):
        names = [f"{provider[1]}.class"]
    found = nearest(key, names, _ALMOST)
    return found if found != key else ""


def _family(key: str) -> str:
    """Return the beginning of a key's first word, which `metrics.` and `metric.` have in common."""
    return key.partition(".")[0][:5]


def _misspelled(file: MirrorFile, setting: MirrorSetting, near: str, ground: Ground) -> LintFinding:
    found, fix = "no version of Kafka has this key", f"Write {key_of(setting, renamed(setting, near))}."
    effect = "it is ignored, unless a plug-in reads it"
    if is_storage_of_connector(setting):
        effect, fix = "no connector reads it", right_place(file, setting._replace(key=near), ground)
    elif is_of_storage(setting.key):
        effect = "the worker hands it to its topic as a setting, and brokers refuse to create the topic"
    return at(file, setting, LintCode.KEY_MISSPELLED, found, effect, fix)


def repeated_keys(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each line that a later line of the same key replaces with another value."""
    lines = defaultdict[tuple[str, str], list[MirrorSetting]](list)
    for setting in file.settings:
        if setting.place is not Place.OPTION:
            lines[setting.owner if file.kind in PER_OWNER else "", setting.name].append(setting)
    for same in lines.values():
        last = same[-1]
        for setting in same[:-1]:
            # A resource may say the same for several connectors of a flow.
            if setting.value != last.value and setting.place is not Place.FIELD and setting.line != last.line:
                found = "a secret" if has_secret(setting) else value_of(setting)
                found = f"the key stands twice, here with {found}"
                effect = f"the value of line {last.line} is used, and this one is ignored"
                fix = "Remove the wrong line."
                yield at(file, setting, LintCode.KEY_REPEATED, found, effect, fix, (last.line,))


def overlapping_keys(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each old name that stands beside its new name."""
    there = {(each.place, each.owner, each.key): each for each in file.settings}
    for setting in file.settings:
        new = there.get((setting.place, setting.owner, re.sub(r"\.blacklist$", ".exclude", setting.key)))
        if new is not None and new.key != setting.key:
            found = f"{key_of(new)}, the new name of this key, is in the file too"
            effect = f"Kafka 2.7 to 3.9 use {key_of(new)} only, earlier versions {key_of(setting)} only"
            fix = "Remove the line that your version ignores."
            yield at(file, setting, LintCode.KEYS_OVERLAP, found, effect, fix, (new.line,))


def wrong_sides(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each line of a client that neither reads nor writes the records that are copied."""
    running = ground.running_flows(file)
    for setting in file.settings:
        client = setting.client
        readers = [each.reader for each, _ in ground.readers.uses_of(setting)]
        if client not in {"producer", "consumer"} or not running or _is_login(setting, ground):
            continue
        if not readers and not _is_of_no_client(file, setting, ground):
            continue
        if file.kind in PER_OWNER and not _is_of_source(file, setting):
            continue
        if not any(each.role == client and each.duty == "records" and each.flow in running for each in readers):
            duties = some(sorted({each.duty for each in readers if each.role == client and each.duty}))
            verb = "reads" if client == "consumer" else "writes"
            found = f"the {client} that {verb} the records does not get this line"
            effect = f"it reaches only the {client} of the {duties}" if duties else "it has no effect on the copy"
            fix = right_place(file, setting, ground)
            yield at(file, setting, LintCode.CLIENT_LIMITED, found, effect, fix)


def _is_of_no_client(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> bool:
    """Return whether a line that reaches no client is meant for one of a flow that runs."""
    owners = {str(flow) for flow in file.flows} | {end for flow in file.flows for end in flow.ends}
    is_known = ground.keys.get(setting.client, setting.key) is not None
    is_last = file.last(setting.place, setting.key, setting.owner, setting.client) is setting
    return file.is_dedicated and is_known and is_last and setting.owner in owners


def _is_of_source(file: MirrorFile, setting: MirrorSetting) -> bool:
    """Return whether a line belongs to a source connector, which has the clients of the records."""
    kind = file.last(Place.CONNECTOR, "connector.class", setting.owner)
    return setting.name.startswith("sourceConnector.") or (kind is not None and role_of_class(kind.value) == SOURCE)


def _is_login(setting: MirrorSetting, ground: Ground) -> bool:
    """Return whether all clients of a cluster need the key, such as a login."""
    return ground.keys.get("mirror_client", setting.key) is not None or setting.key.startswith(("ssl.", "sasl."))


PLACE_RULES = (families, keys_of_others, repeated_keys, overlapping_keys, wrong_sides)
