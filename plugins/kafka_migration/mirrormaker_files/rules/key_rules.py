"""Rules on the keys: which of Kafka's parts reads a key at its place, and in which versions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from kafka_migration.core.text.brief import given, some
from kafka_migration.mirrormaker_files.model.judging import (
    Ground,
    LintFinding,
    at,
    has_secret,
    key_of,
    minor,
    place_of,
    span,
    value_of,
)
from kafka_migration.mirrormaker_files.model.kafka_keys import KafkaKey
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, Flow, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.roles import CONNECTOR_ROLES, OLD_KEYS, is_free, roles_at

# Keys that guides print, although no released version has them; the text says what to do.
_NEVER = (
    (re.compile(r"readahead\.queue\.capacity"), "Remove it. MirrorMaker 2 has no such queue."),
    (re.compile(r".*\.topic\.retention\.ms"), "Remove it. MirrorMaker 2 creates its topics with their own retention."),
    (re.compile(r"enable"), "Write `enabled`."),
)
# So many unknown keys of a file are compared with all known keys.
MOST_COMPARED = 100
_NOT_COMPARED = f" Only the first {MOST_COMPARED} unknown keys of a file are compared with the known ones."


def known_keys(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each key that is not read at its place, or not by the version."""
    left = MOST_COMPARED
    for setting in file.settings:
        if not _is_judged(setting):
            continue
        known = keys_of(file, setting, ground)
        if known:
            yield from _versions(file, setting, known, ground)
        elif explained := _explained(file, setting, ground):
            yield explained
        else:
            left -= 1
            near = _misspelled(file, setting, ground) if left >= 0 else None
            yield near or _unknown(file, setting, ground, is_compared=left >= 0)


def keys_of(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> list[KafkaKey]:
    """Return the keys of this name that the readers of the setting's place have."""
    found = (ground.keys.get(role, setting.key) for role in roles_at(file.kind, setting))
    return [key for key in found if key]


def _is_judged(setting: MirrorSetting) -> bool:
    return setting.place not in {Place.OPTION, Place.FIELD} and not is_free(setting)


def _versions(file: MirrorFile, setting: MirrorSetting, known: list[KafkaKey], ground: Ground) -> Iterator[LintFinding]:
    versions = sorted({each for key in known for each in key.versions}, key=ground.keys.versions.index)
    if not any(ground.has(key) for key in known):
        yield at(
            file,
            setting,
            LintCode.KEY_OF_ANOTHER_VERSION,
            f"a key of {span(versions)}",
            f"a key of Kafka {ground.version}",
            _newer_name(setting) or "Remove it, or run a version that has it.",
        )
    elif not ground.version and minor(versions[-1]) != minor(ground.keys.versions[-1]):
        fix = _newer_name(setting) or "Remove it before you run a later version."
        yield at(file, setting, LintCode.KEY_REMOVED, f"a key of {span(versions)}", "a key of all later versions", fix)


def _newer_name(setting: MirrorSetting) -> str:
    if setting.key.endswith(".blacklist"):
        return f"From Kafka 2.7 on write {key_of(setting, setting.key.removesuffix('blacklist') + 'exclude')}."
    return ""


def _explained(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> LintFinding | None:
    """Return the finding for a key that its place does not have; the most exact explanation comes first."""
    found = (explain(file, setting, ground) for explain in (_never, _foreign_alias, _old_key, _misplaced))
    return next(filter(None, found), None)


def _unknown(file: MirrorFile, setting: MirrorSetting, ground: Ground, *, is_compared: bool) -> LintFinding:
    return at(
        file,
        setting,
        LintCode.KEY_UNKNOWN,
        f"the key {key_of(setting)}",
        f"a key of {span(ground.keys.versions)}",
        "Remove it, unless a plug-in of yours reads it." + ("" if is_compared else _NOT_COMPARED),
    )


def _never(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> LintFinding | None:
    fix = next((text for pattern, text in _NEVER if pattern.fullmatch(setting.key)), "")
    roles = roles_at(file.kind, setting) or CONNECTOR_ROLES
    for suffix, better in ((".ms", ".seconds"), ("", ".enabled")):
        name = f"{setting.key.removesuffix(suffix)}{better}"
        if setting.key.endswith(suffix) and any(ground.keys.get(role, name) for role in roles):
            unit = " The unit is seconds." if suffix else ""
            fix = f"Write {key_of(setting, name)}.{unit}"
            break
    if not fix:
        return None
    return at(
        file,
        setting,
        LintCode.KEY_NEVER_EXISTED,
        f"the key {key_of(setting)}",
        f"a key of {span(ground.keys.versions)}",
        fix,
    )


def _foreign_alias(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> LintFinding | None:
    if setting.place is not Place.TOP or file.kind is not FileKind.MIRRORMAKER2 or not file.clusters:
        return None
    alias, _, rest = setting.name.partition(".")
    inner = re.sub(r"^(producer|consumer|admin)\.", "", rest)
    is_cluster_key = any(ground.keys.get(role, inner) for role in ("connect_worker", "producer", "consumer", "admin"))
    is_known_word = any(name.startswith(f"{alias}.") for name in ("producer", "consumer", "admin"))
    if not is_cluster_key or is_known_word or ground.keys.roles_of(setting.name) or setting.client:
        return None
    return at(
        file,
        setting,
        LintCode.ALIAS_UNKNOWN,
        f"the alias {key_of(setting, alias)}",
        f"an alias of `clusters`: {some(file.clusters)}",
        "Correct the alias, or add it to `clusters`.",
    )


def _old_key(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> LintFinding | None:
    if setting.key not in OLD_KEYS or not file.kind.is_mirrormaker1:
        return None
    return at(
        file,
        setting,
        LintCode.KEY_OF_ANOTHER_VERSION,
        "a key of the clients before Kafka 2.0",
        f"a key of {span(ground.keys.versions)}",
        OLD_KEYS[setting.key],
    )


def _misplaced(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> LintFinding | None:
    if not ground.keys.roles_of(setting.key) and not (setting.client and ground.keys.roles_of(setting.name)):
        return None
    return at(
        file,
        setting,
        LintCode.KEY_MISPLACED,
        f"the key at this place ({place_of(setting)})",
        "a key that Kafka reads here",
        _right_place(file, setting, ground),
    )


def _right_place(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> str:
    """Return where Kafka reads the key."""
    if file.kind.is_mirrormaker1:
        return "Remove it, or write it into the file of the client that reads it."
    pair = [*file.clusters[:2], "SOURCE", "TARGET"] if len(file.clusters) > 1 else ["SOURCE", "TARGET"]
    flow = file.flows[0] if file.flows else Flow(pair[0], pair[1])
    if setting.client:
        owner = flow.source if setting.client == "consumer" else flow.target
        return f"Write `{owner}.{setting.client}.{setting.key}`."
    roles = ground.keys.roles_of(setting.key)
    if any(role in CONNECTOR_ROLES for role in roles):
        return f"Write `{setting.key}` or `{flow}.{setting.key}`."
    if "connect_worker" in roles:
        return f"Write `{flow.target}.{setting.key}`."
    client = next((role for role in ("consumer", "producer", "admin") if role in roles), "admin")
    return f"Write `{flow.source if client == 'consumer' else flow.target}.{client}.{setting.key}`."


def _misspelled(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> LintFinding | None:
    near = ground.keys.nearest(setting.key, roles_at(file.kind, setting))
    if near is None:
        return None
    is_case = near.lower() == setting.key.lower()
    return at(
        file,
        setting,
        LintCode.KEY_MISSPELLED,
        f"the key {key_of(setting)}",
        given(near),
        f"Write {given(near)}.{' Keys are case-sensitive.' if is_case else ''}",
    )


def repeated_keys(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each line that a later line of the same key replaces with another value."""
    lines = defaultdict[tuple[str, str], list[MirrorSetting]](list)
    for setting in file.settings:
        lines[setting.owner if file.kind in _PER_OWNER else "", setting.name].append(setting)
    for same in lines.values():
        last = same[-1]
        for setting in same[:-1]:
            # A resource may say the same for several connectors of a flow.
            if setting.value != last.value and setting.place is not Place.FIELD and setting.line != last.line:
                found = "another value" if has_secret(setting) else value_of(setting)
                expected = f"one value; line {last.line} has another"
                yield at(file, setting, LintCode.KEY_REPEATED, found, expected, "Remove the wrong line.")


_PER_OWNER = {FileKind.CONNECTORS, FileKind.STRIMZI}


def overlapping_keys(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each old name that stands beside its new name."""
    there = {(each.place, each.owner, each.key) for each in file.settings}
    for setting in file.settings:
        new = re.sub(r"\.blacklist$", ".exclude", setting.key)
        if new != setting.key and (setting.place, setting.owner, new) in there:
            shown = key_of(setting, new)
            expected = f"only {shown}, or {key_of(setting)} before Kafka 2.7"
            fix = "Remove one. Kafka 2.7 to 3.9 use the new name, earlier versions the old one."
            yield at(file, setting, LintCode.KEYS_OVERLAP, f"it beside {shown}", expected, fix)


def limited_producers(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each producer setting of a flow of the dedicated MirrorMaker 2."""
    if file.kind is not FileKind.MIRRORMAKER2:
        return
    for setting in file.at(Place.FLOW):
        if setting.client == "producer" and not setting.side:
            target = setting.owner.partition("->")[2]
            yield at(
                file,
                setting,
                LintCode.FLOW_LIMITED,
                "a producer setting of the flow",
                "a setting of the producer that writes the records",
                f"Write `{target}.producer.{setting.key}`.",
            )


KEY_RULES = (known_keys, repeated_keys, overlapping_keys, limited_producers)
