"""Rules on the keys: which of Kafka's parts reads a key where it stands, and in which versions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kafka_migration.core.text.regex import regex
from kafka_migration.core.text.shortened import given, some
from kafka_migration.kafka_tables.kafka_keys import KafkaKey
from kafka_migration.mirrormaker_files.effective.readers import Effective, Given
from kafka_migration.mirrormaker_files.ground.ground import CONNECTORS, Ground, is_given
from kafka_migration.mirrormaker_files.ground.meant import OF_BROKERS, Meant, meant, renamed, right_place, roles_meant
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, key_of, minor, span
from kafka_migration.mirrormaker_files.model.mirror_settings import (
    PER_OWNER,
    FileKind,
    MirrorFile,
    MirrorSetting,
    Place,
)
from kafka_migration.mirrormaker_files.model.readers_of_keys import OLD_KEYS, is_free, is_of_storage, role_of_class

# So many unknown keys of a file are compared with all known keys.
MOST_COMPARED = 100
_NOT_COMPARED = f" Only the first {MOST_COMPARED} unknown keys of a file are compared with the known ones."


def known_keys(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each key that no part of Kafka reads where it stands, or not in the version."""
    left = MOST_COMPARED
    replaced = _replaced(file)
    for setting in [each for each in file.settings if not _is_of_old_client(file, each, ground)]:
        if not _is_judged(setting) or id(setting) in replaced:
            if setting.place is Place.CLUSTER and is_free(setting) and not ground.readers.of(setting):
                yield _of_source_only(file, setting)
            if is_storage_of_connector(setting) and ground.keys.roles_of(setting.key) and id(setting) not in replaced:
                yield _storage(file, setting, ground)
            continue
        known = definitions_of(setting, ground)
        # Lines of these roles may be replaced by others, or belong to a flow that does not run.
        at_place = definitions_at(file, setting, ground)
        if explained := None if known else _explained(file, setting, ground):
            yield explained
        elif known or at_place:
            yield from _versions(file, setting, [*known, *at_place], ground)
        else:
            left -= 1
            near = _misspelled(file, setting, ground) if left >= 0 else None
            # All lines of a flow with an unknown alias have a finding of their own.
            if near or not _is_of_strange_flow(file, setting):
                yield near or _unknown(file, setting, is_compared=left >= 0)


def _is_of_strange_flow(file: MirrorFile, setting: MirrorSetting) -> bool:
    is_flow = file.is_dedicated and setting.place is Place.FLOW
    return is_flow and not set(setting.owner.partition("->")[::2]) <= set(file.clusters)


def _of_source_only(file: MirrorFile, setting: MirrorSetting) -> LintFinding:
    """Return that a setting of workers stands at a cluster on which no worker keeps its topics."""
    found, effect = "no worker reads the lines of this cluster", "it is ignored"
    fix = "Write it for the target, or remove it."
    return at(file, setting, LintCode.KEY_WITHOUT_EFFECT, found, effect, fix)


def is_storage_of_connector(setting: MirrorSetting) -> bool:
    """Return whether a connector has a setting of the topics in which workers keep their state."""
    return setting.place is Place.CONNECTOR and not setting.client and is_of_storage(setting.key)


def _storage(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> LintFinding:
    found = "only workers read this key, and no connector does"
    fix = right_place(file, setting, ground)
    return at(file, setting, LintCode.KEY_MISPLACED, found, _ignored(file, setting, setting.key, ground), fix)


def definitions_of(setting: MirrorSetting, ground: Ground) -> list[KafkaKey]:
    """Return Kafka's definitions of the key in the roles that get this line."""
    found = (ground.keys.get(each.reader.role, key) for each, key in ground.readers.of(setting))
    return list({id(key): key for key in found if key}.values())


def _is_judged(setting: MirrorSetting) -> bool:
    """Return whether a table can know the key."""
    return setting.place not in {Place.OPTION, Place.FIELD} and not is_free(setting)


def _replaced(file: MirrorFile) -> set[int]:
    """Return the settings that a later line of the same name replaces."""
    last = {(each.owner if file.kind in PER_OWNER else "", each.name): id(each) for each in file.settings}
    return {id(each) for each in file.settings} - set(last.values())


def definitions_at(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> list[KafkaKey]:
    """Return Kafka's definitions of the key in the roles that may read lines at its place."""
    roles = roles_meant(file, setting, ground)
    return [key for role in roles if (key := ground.keys.get(role, setting.key))]


def _versions(file: MirrorFile, setting: MirrorSetting, known: list[KafkaKey], ground: Ground) -> Iterator[LintFinding]:
    versions = _versions_of(known, ground)
    if not any(ground.has(key) for key in known):
        found = f"only {span(versions)} has this key"
        effect = f"Kafka {ground.version} ignores it"
        fix = _newer_name(file, setting) or "Remove it, or run a version that has it."
        yield at(file, setting, LintCode.KEY_OF_ANOTHER_VERSION, found, effect, fix)
    elif not ground.version and minor(versions[-1]) != minor(ground.keys.versions[-1]):
        fix = _newer_name(file, setting) or "Remove it before you run a later version."
        found, effect = f"only {span(versions)} has this key", "later versions ignore it"
        yield at(file, setting, LintCode.KEY_REMOVED, found, effect, fix)


def _newer_name(file: MirrorFile, setting: MirrorSetting) -> str:
    if setting.key.endswith(".blacklist"):
        new = f"{setting.key.removesuffix('blacklist')}exclude"
        if there := file.last(setting.place, new, setting.owner, setting.client):
            return f"Remove it; line {there.line} has the new name of the key."
        return f"Write {key_of(setting, setting.name.removesuffix('blacklist') + 'exclude')} from Kafka 2.7 on."
    return ""


def _explained(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> LintFinding | None:
    """Return the finding for a key that no reader has; the most exact explanation comes first."""
    found = (
        explain(file, setting, ground)
        for explain in (
            _of_dedicated,
            _overriding,
            _meant,
            _prefixed_alias,
            _foreign_alias,
            _old_key,
            _of_brokers,
            _misplaced,
        )
    )
    return next(filter(None, found), None)


def _meant(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> LintFinding | None:
    """Return the finding for a key that guides print, although no released version has it."""
    found = meant(setting, ground)
    if found is None:
        return None
    words = "no version of Kafka has this key"
    fix = _possible(_fix_of(found, file, setting, ground), found.key, ground)
    effect = _ignored(file, setting, found.key, ground)
    return at(file, setting, LintCode.KEY_NEVER_EXISTED, words, effect, fix)


def _fix_of(found: Meant, file: MirrorFile, setting: MirrorSetting, ground: Ground) -> str:
    """Return where to write the key that was meant: another place if nothing reads it at that of the line."""
    as_meant = setting._replace(name=renamed(setting, found.key), key=found.key)
    is_moved = bool(ground.keys.roles_of(found.key)) and not roles_meant(file, as_meant, ground)
    return right_place(file, as_meant, ground) if is_moved else found.fix(setting)


def _of_dedicated(file: MirrorFile, setting: MirrorSetting, _: Ground) -> LintFinding | None:
    """Return the finding for a key of a flow, `a->b.enabled`, in a connector, which has one flow itself."""
    flow = _OF_FLOW.fullmatch(setting.name)
    if setting.place is not Place.CONNECTOR or not flow:
        return None
    key = setting.name[flow.end("flow") + 1 :]
    fix = f"Write {key_of(setting, key)}." if key != "enabled" else "Remove it: a connector copies while it runs."
    found, effect = "only the dedicated MirrorMaker 2 reads keys with the name of a flow", "it is ignored"
    return at(file, setting, LintCode.KEY_MISPLACED, found, effect, fix)


_OF_FLOW = regex(r"(?P<flow>[\w.-]{1,200}->[\w-]{1,200})\.[\w.-]{1,200}")


def _overriding(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> LintFinding | None:
    """Return the finding for `producer.override.` and its like outside of a connector of Kafka Connect."""
    client, key = setting.client, setting.key.removeprefix("override.")
    if not setting.name.removesuffix(key).endswith("override.") or not ground.keys.get(client, key):
        return None
    found = "only connectors of Kafka Connect know `override`"
    if file.kind is FileKind.CONNECTORS:
        if not _is_mirror(file, setting):
            return None
        found = f"Connect makes no {client} for this connector"
        if client == "consumer":
            found = "`consumer.override` reaches sink connectors only"
    fix = _possible(right_place(file, setting._replace(key=key), ground), key, ground)
    return at(file, setting, LintCode.KEY_MISPLACED, found, _ignored(file, setting, key, ground), fix)


def _is_mirror(file: MirrorFile, setting: MirrorSetting) -> bool:
    """Return whether a line belongs to a connector of which it is known what it reads."""
    kind = file.last(Place.CONNECTOR, "connector.class", setting.owner)
    return kind is not None and role_of_class(kind.value) is not None


def _of_brokers(file: MirrorFile, setting: MirrorSetting, _: Ground) -> LintFinding | None:
    if file.kind.is_mirrormaker1 or not OF_BROKERS.fullmatch(setting.key):
        return None
    found, effect = "this is a key of brokers or topics", "MirrorMaker ignores it"
    fix = "Remove it; set it on the brokers or topics, if they need it."
    return at(file, setting, LintCode.KEY_OF_BROKERS, found, effect, fix)


def _possible(fix: str, name: str, ground: Ground) -> str:
    """Return a fix that writes a key of Kafka, or to remove the line if the file's version does not have that key."""
    keys = ground.keys.named(name)
    if not keys or any(map(ground.has, keys)):
        return fix
    return f"Remove it: only {span(_versions_of(keys, ground))} has {name}."


def _versions_of(keys: Iterable[KafkaKey], ground: Ground) -> list[str]:
    """Return the versions that have at least one of the keys, in their order."""
    return sorted({each for key in keys for each in key.versions}, key=ground.keys.versions.index)


def _ignored(file: MirrorFile, setting: MirrorSetting, name: str, ground: Ground) -> str:
    """Return what counts instead of an ignored line: another line, or the default of the key that was meant."""
    if name == "enabled" and file.kind is FileKind.MIRRORMAKER2:
        return "it is ignored, so MirrorMaker does not copy this flow"
    if instead := _what_counts(file, setting, name, ground):
        return f"it is ignored: {instead}"
    if file.kind is FileKind.CONNECTORS and ground.keys.roles_of(name) == ("connect_worker",):
        return "it is ignored: what the workers have counts"
    known = (key for key in ground.keys.named(name) if ground.has(key))
    defaults = {default for key in known for default in ground.defaults_in(key)}
    default = defaults.pop() if len(defaults) == 1 else None
    return f"it is ignored: the default {given(default)} stays" if default else "it is ignored"


def _what_counts(file: MirrorFile, setting: MirrorSetting, name: str, ground: Ground) -> str:
    """Return what the running connectors and their clients have for a key; empty if they have nothing.

    For a key of a cluster only its own lines are named: its clients are many, and may have other lines.
    """
    running = ground.running_flows(file)
    whole = f"{setting.side}.cluster.{name}" if setting.side and setting.client == "cluster" else name
    for each in ground.readers.all:
        value = each.values.get(whole)
        if (
            value is None
            or value.setting is setting
            or each.reader.flow not in running
            or not _is_meant(file, setting, each, value, whole, ground)
        ):
            continue
        if value.setting is None and value.value:
            return f"MirrorMaker sets {given(value.value)}"
        if value.setting is not None and is_given(value, file):
            return f"line {value.setting.line} counts"
    return ""


def _is_meant(
    file: MirrorFile, setting: MirrorSetting, each: Effective, value: Given, name: str, ground: Ground
) -> bool:
    """Return whether a reader may be the one for which an ignored line is meant."""
    if setting.client in {"producer", "consumer", "admin"} and each.reader.role != setting.client:
        return False
    if each.reader.role in {"producer", "consumer"} and each.reader.duty != "records":
        return False
    owner = value.setting.owner if value.setting else ""
    is_of_connector = each.reader.role in CONNECTORS
    if setting.place is Place.CLUSTER and not is_of_connector and {each.reader.cluster, owner} != {setting.owner}:
        return False
    if file.kind is FileKind.CONNECTORS and value.setting is not None and owner != setting.owner:
        return False
    if file.kind is FileKind.STRIMZI and value.setting and not _is_of_same_field(setting, value.setting):
        return False
    is_side = name.startswith(("source.cluster.", "target.cluster."))
    return is_side or ground.keys.get(each.reader.role, name) is not None


def _is_of_same_field(setting: MirrorSetting, other: MirrorSetting) -> bool:
    """Return whether two lines of a resource belong to one connector, or one of them to none."""
    fields = {each.name.partition(".")[0] for each in (setting, other)}
    return len([each for each in fields if each.endswith("Connector")]) < 2


def _unknown(file: MirrorFile, setting: MirrorSetting, *, is_compared: bool) -> LintFinding:
    found = "no version of Kafka has this key"
    effect = "Kafka ignores it, unless a plug-in reads it"
    fix = "Correct or remove it, unless it belongs to a plug-in." + ("" if is_compared else _NOT_COMPARED)
    return at(file, setting, LintCode.KEY_UNKNOWN, found, effect, fix)


def _foreign_alias(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> LintFinding | None:
    if setting.place is not Place.TOP or file.kind is not FileKind.MIRRORMAKER2 or not file.clusters:
        return None
    alias, _, rest = setting.name.partition(".")
    inner = re.sub(r"^(producer|consumer|admin)\.", "", rest)
    is_cluster_key = any(ground.keys.get(role, inner) for role in ("connect_worker", "producer", "consumer", "admin"))
    is_known_word = any(name.startswith(f"{alias}.") for name in ("producer", "consumer", "admin"))
    if not is_cluster_key or is_known_word or ground.keys.roles_of(setting.name) or setting.client:
        return None
    found = f"{key_of(setting, alias)} is not in `clusters`"
    fix = f"Write an alias of `clusters` ({some(file.clusters)}), or add it there."
    return at(file, setting, LintCode.ALIAS_UNKNOWN, found, "no part of MirrorMaker reads this line", fix)


def _prefixed_alias(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> LintFinding | None:
    """Return the finding for a key of a cluster with another word before its alias, such as `cluster.A.`."""
    if setting.place is not Place.TOP or file.kind is not FileKind.MIRRORMAKER2:
        return None
    places = [place + 1 for place, letter in enumerate(setting.name[:200]) if letter == "."]
    for rest in (setting.name[place:] for place in places):
        alias, _, key = rest.partition(".")
        inner = re.sub(r"^(producer|consumer|admin)\.", "", key)
        if alias in file.clusters and ground.keys.roles_of(inner):
            found = f"a word stands before the alias {alias}"
            effect = "no part of MirrorMaker reads this line"
            return at(file, setting, LintCode.KEY_MISPLACED, found, effect, f"Write {key_of(setting, rest)}.")
    return None


def _is_of_old_client(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> bool:
    """Return whether the judged version still has the old clients that read the key."""
    return file.kind.is_mirrormaker1 and setting.key in OLD_KEYS and ground.is_at_least("2.0") is False


def _old_key(file: MirrorFile, setting: MirrorSetting, _: Ground) -> LintFinding | None:
    if setting.key not in OLD_KEYS or not file.kind.is_mirrormaker1:
        return None
    found = "only the clients before Kafka 2.0 have this key"
    return at(
        file, setting, LintCode.KEY_OF_ANOTHER_VERSION, found, "later clients ignore it", _newer_key(file, setting)
    )


def _newer_key(file: MirrorFile, setting: MirrorSetting) -> str:
    """Return what to write instead of an old key; nothing if the file has the new one."""
    fix = OLD_KEYS[setting.key]
    new = re.match(r"Write `([\w.]+)`", fix)
    there = file.last(Place.CLIENT, new[1]) if new else None
    return f"Remove it; line {there.line} has the new key." if there else fix


def _misplaced(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> LintFinding | None:
    if not ground.keys.roles_of(setting.key) and not (setting.client and ground.keys.roles_of(setting.name)):
        return None
    if roles_meant(file, setting, ground):
        return None
    found = "no part of MirrorMaker reads this key here"
    fix = _possible(right_place(file, setting, ground), setting.key, ground)
    effect = _ignored(file, setting, setting.key, ground)
    is_default = {ground.default_in(key) for key in ground.keys.named(setting.key)} == {setting.value.strip()}
    is_kept = is_default and not _what_counts(file, setting, setting.key, ground)
    code = LintCode.KEY_WITHOUT_EFFECT if is_kept else LintCode.KEY_MISPLACED
    return at(file, setting, code, found, effect, fix)


def _misspelled(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> LintFinding | None:
    near = ground.keys.nearest(setting.key, roles_meant(file, setting, ground, any_key=True))
    if near is None:
        return None
    is_case = near.lower() == setting.key.lower()
    found = "no version of Kafka has this key" + (", because keys are case-sensitive" if is_case else "")
    fix = _possible(f"Write {key_of(setting, renamed(setting, near))}.", near, ground)
    return at(file, setting, LintCode.KEY_MISSPELLED, found, _ignored(file, setting, near, ground), fix)


KEY_RULES = (known_keys,)
