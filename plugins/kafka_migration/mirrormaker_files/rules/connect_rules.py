"""Rules on the connectors of MirrorMaker 2: those that belong together, what each does without a line, and aliases.

`DefaultReplicationPolicy.topicSource` splits a name at the separator, and `MirrorSourceConnector.isCycle` compares the
first part with the alias of the target. `IdentityReplicationPolicy.topicSource` is always the alias of the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kafka_migration.core.text.shortened import some
from kafka_migration.mirrormaker_files.effective.readers import Effective, Given
from kafka_migration.mirrormaker_files.ground.ground import (
    CHECKPOINT,
    CONNECTORS,
    SOURCE,
    Ground,
    at_given,
    is_given,
    is_of,
    line_of,
    lines_in,
)
from kafka_migration.mirrormaker_files.line_rules.class_rules import is_unknown_converter
from kafka_migration.mirrormaker_files.line_rules.name_rules import (
    ALIAS,
    DEFAULT,
    IDENTITY,
    SEPARATOR,
    blank_separator,
    kept_by_blanks,
    naming,
)
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, listed, on_file, value_of
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, Flow, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.readers_of_keys import BYTES_CONVERTER, CONVERTERS

_LOCATION = "offset-syncs.topic.location"
TARGET_ALIAS = "target.cluster.alias"
_BLANK_FIX = "Give both clusters aliases; from Kafka 3.0 on IdentityReplicationPolicy keeps the names."


def idle_hints(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a hint for each flow that copies with one task, or does not move its groups."""
    for flow in () if file.is_idle else file.flows:
        for each in ground.connectors(flow, SOURCE):
            if is_of(file, each) and "tasks.max" not in each.values and not _has_other_tasks(file):
                name = "tasksMax" if file.kind is FileKind.STRIMZI else "tasks.max"
                found = f"the flow {flow} has no `{name}`"
                effect = "one task copies all partitions, which limits the speed"
                fix = f"Add `{name}`, if the copy is too slow."
                yield on_file(file, LintCode.ONE_TASK, found, effect, fix, line_of(file, each, flow))
        yield from _groups(file, ground, flow)


def _has_other_tasks(file: MirrorFile) -> bool:
    """Return whether a resource gives the number in a wrong way, which has a finding of its own."""
    return any("`tasksMax`" in each.fix + each.found for each in file.faults)


def _groups(file: MirrorFile, ground: Ground, flow: Flow) -> Iterator[LintFinding]:
    found = [each for each in ground.connectors(flow, CHECKPOINT) if is_of(file, each)]
    is_off = all(each.value("sync.group.offsets.enabled").lower() != "true" for each in found)
    if found and is_off and ground.is_at_least("2.7") is not False:
        words = f"the flow {flow} has no `sync.group.offsets.enabled=true`"
        effect = "MirrorMaker writes checkpoints, and no offsets of groups on the target"
        fix = "Add it, if consumers are to continue on the target where they were."
        yield on_file(file, LintCode.GROUPS_NOT_SYNCED, words, effect, fix, line_of(file, found[0], flow))


def partners(files: Sequence[MirrorFile], ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each checkpoint connector that does not fit the source connector beside it."""
    of_connect = [file for file in files if file.kind is FileKind.CONNECTORS]
    sources = {each.reader.flow: each for each in ground.readers.at(SOURCE)}
    for file in of_connect:
        for flow, each in ground.of_flows(file, CHECKPOINT):
            yield from _partner(file, flow, each, sources)


def _partner(file: MirrorFile, flow: Flow, each: Effective, sources: dict[str, Effective]) -> Iterator[LintFinding]:
    own = sources.get(str(flow))
    if not is_of(file, each):
        return
    if own is None and sources:
        found = f"the checkpoint connector has the flow {flow}, the source connector {some(sorted(sources))}"
        effect = "it finds no offset syncs of its flow, so groups are not moved"
        fix = "Give both connectors the same aliases."
        finding = on_file(file, LintCode.CONNECTORS_DIFFER, found, effect, fix, line_of(file, each, flow))
        yield at_aliases(finding, file, each, list(sources.values()))
    elif own is not None:
        yield from _location(file, flow, each, own)
        for side in ("source", "target"):
            key = f"{side}.cluster.bootstrap.servers"
            lists = [set(listed(one.value(key))) for one in (own, each)]
            if all(lists) and not lists[0] & lists[1]:
                found = f"source and checkpoint connector of {flow} have different addresses in `{key}`"
                effect = "if these are two clusters, groups are not moved"
                fix = "Give both connectors the same addresses."
                yield on_file(file, LintCode.CONNECTORS_DIFFER, found, effect, fix, line_of(file, each, flow))


def _location(file: MirrorFile, flow: Flow, each: Effective, own: Effective) -> Iterator[LintFinding]:
    """Yield a finding if the source connector writes offset syncs into the cluster that is not read."""
    values = [(one.values.get(_LOCATION), one.value(_LOCATION, "source").lower()) for one in (each, own)]
    words = {word for _, word in values}
    if len(words) < 2 or words - {"source", "target"}:
        return
    found = f"the source connector of {flow} has `{_LOCATION}` {values[1][1]}, the checkpoint connector {values[0][1]}"
    effect = "the checkpoint connector finds no offset syncs, so groups are not moved"
    fix = f"Give both connectors the same `{_LOCATION}`."
    given = next((given for given, _ in values if given and given.setting), None)
    line = given.setting.line if given and given.setting else 0
    texts = (LintCode.LOCATIONS_DIFFER, found, effect, fix)
    yield replace(on_file(file, *texts, line), file=given.file) if given else on_file(file, *texts)


def converters(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each source connector whose records a converter changes, or may change."""
    for each in ground.readers.at(SOURCE):
        workers = list(ground.readers.at("connect_worker", flow=each.reader.flow if _is_dedicated(each) else ""))
        given = [_converter(key, each, workers) for key in CONVERTERS]
        for key, found in zip(CONVERTERS, given, strict=True):
            is_other = found is not None and not _keeps_bytes(found) and not is_unknown_converter(found.value.strip())
            if found and is_given(found, file) and is_other:
                text = f"{value_of(found.setting) if found.setting else ''} is not ByteArrayConverter"
                effect = "the bytes of the records change, so consumers may not be able to read them"
                yield at_given(
                    file, found, LintCode.CONVERTER_CHANGES_BYTES, text, effect, f"Write `{key}={BYTES_CONVERTER}`."
                )
        missing = [key for key, found in zip(CONVERTERS, given, strict=True) if found is None]
        if missing and is_of(file, each) and file.kind is FileKind.CONNECTORS:
            words = f"the connector has no {' and no '.join(missing)}"
            effect = "the converter of the workers is used, which may change the bytes of the records"
            fix = f"Add {' and '.join(f'`{key}={BYTES_CONVERTER}`' for key in missing)}."
            line = each.values["connector.class"].setting
            yield on_file(file, LintCode.CONVERTER_NOT_NAMED, words, effect, fix, line.line if line else 0)


def _converter(key: str, connector: Effective, workers: Sequence[Effective]) -> Given | None:
    return connector.values.get(key) or next((each.values[key] for each in workers if key in each.values), None)


def _is_dedicated(connector: Effective) -> bool:
    """Return whether the class of the connector is not given, because MirrorMaker sets it."""
    given = connector.values.get("connector.class")
    return given is None or given.setting is None


def _keeps_bytes(given: Given) -> bool:
    is_unknown = given.setting is not None and given.setting.is_reference
    return is_unknown or given.value.strip() in {BYTES_CONVERTER, "ByteArrayConverter", "ByteArray"}


def connector_aliases(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each connector without an alias."""
    for setting in file.at(Place.CONNECTOR):
        if setting.key != "connector.class" or "Mirror" not in setting.value:
            continue
        if not _has(file, setting, "source.cluster.alias"):
            found, effect = "the connector has no `source.cluster.alias`", "Connect refuses the connector"
            fix = "Add `source.cluster.alias`."
            yield on_file(file, LintCode.SOURCE_ALIAS_MISSING, found, effect, fix, setting.line)
        if not _has(file, setting, "target.cluster.alias"):
            found, effect = "the connector has no `target.cluster.alias`", "Kafka takes `target` as the alias"
            fix = "Add it, if other connectors or offset syncs use another alias."
            yield on_file(file, LintCode.TARGET_ALIAS_MISSING, found, effect, fix, setting.line)


def _has(file: MirrorFile, setting: MirrorSetting, name: str) -> bool:
    return any(each.name == name for each in file.at(Place.CONNECTOR, setting.owner))


CONNECT_RULES = (idle_hints, converters, connector_aliases)


def connector_names(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each connector with a blank alias or separator, or with one alias for both clusters."""
    for each in ground.readers.at(*CONNECTORS) if file.kind is FileKind.CONNECTORS else ():
        if is_of(file, each):
            source, target = (each.given_in(file, key) for key in (ALIAS, TARGET_ALIAS))
            if source and target and source.value.strip() == target.value.strip():
                yield from _equal(file, each, source, target)
            yield from _blank(file, each, source, target)


def _equal(file: MirrorFile, each: Effective, source: Given, target: Given) -> Iterator[LintFinding]:
    found = "source and target have one and the same alias"
    fix = "Give each cluster an alias of its own, the same in all connectors."
    if naming(each).policy == IDENTITY and each.reader.role == SOURCE:
        effect = "IdentityReplicationPolicy takes every topic for a copy from the target, so none is copied"
        yield at_given(file, target, LintCode.NO_TOPIC_COPIED, found, effect, fix, lines_in(file, source))
    elif each.value(ALIAS):
        effect = "connectors with the real aliases do not find its offset syncs"
        if naming(each).policy == DEFAULT:
            effect = f"topics that begin with this alias are not copied, and {effect}"
        yield at_given(file, target, LintCode.ALIASES_EQUAL, found, effect, fix, lines_in(file, source))


def _blank(file: MirrorFile, each: Effective, source: Given | None, target: Given | None) -> Iterator[LintFinding]:
    own = naming(each)
    separator = each.given_in(file, SEPARATOR) if own.policy == DEFAULT else None
    blank = [given for given in (source, target, separator) if given and not given.value.strip()]
    if not blank or own.policy not in {DEFAULT, IDENTITY}:
        return
    others = lines_in(file, *blank[1:])
    if blank == [separator]:
        yield blank_separator(file, blank[0], own.alias)
    elif blank == [source, separator]:
        yield kept_by_blanks(file, blank[0], others)
    else:
        found, effect = _of_alias(own.policy, source in blank, separator in blank)
        yield at_given(file, blank[0], LintCode.ALIAS_BLANK, found, effect, _BLANK_FIX, others)


def _of_alias(policy: str, is_source: bool, is_separator: bool) -> tuple[str, str]:
    """Return what is found, and its effect, if an alias is blank."""
    if not is_source:
        return "the alias of the target is blank", "MirrorMaker copies topics again that the way back has copied"
    if is_separator:
        effect = "topics keep their names, copies are not recognised, and all such flows share their internal topics"
        return "the aliases and the separator are blank", effect
    if policy == IDENTITY:
        return "the alias is blank", "all flows with a blank alias share their internal topics"
    return "the alias is blank, and the separator is not", "a topic gets only the separator in front of its name"


def at_aliases(finding: LintFinding, file: MirrorFile, each: Effective, sources: Sequence[Effective]) -> LintFinding:
    """Return a finding about connectors whose flows differ with the lines of their aliases that differ."""
    keys = [key for key in (ALIAS, TARGET_ALIAS) if all(one.value(key) != each.value(key) for one in sources)]
    own = [given for key in keys if (given := each.given_in(file, key))]
    others = [given for one in sources for key in keys if (given := one.given_in(file, key))]
    lines = lines_in(file, *own, *others)
    return replace(finding, line=lines[0], others=lines[1:]) if lines else finding


ALIAS_RULES = (connector_names,)
