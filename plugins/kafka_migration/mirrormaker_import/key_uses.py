"""The use of every line of the files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kafka_migration.core.documents.codec import Document
from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.effective.readers import kafka_version
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import name_of, quoted
from kafka_migration.mirrormaker_files.model.mirror_settings import (
    CLIENTS,
    FileKind,
    Flow,
    MirrorFile,
    MirrorSetting,
    Place,
)
from kafka_migration.mirrormaker_files.model.readers_of_keys import OLD_KEYS, is_free, roles_at
from kafka_migration.mirrormaker_import.chosen_flow import (
    HEARTBEAT_CONNECTOR,
    SOURCE_CONNECTOR,
    command_of,
    connectors_of,
    is_known_flow,
)
from kafka_migration.mirrormaker_import.flow_readers import (
    CONSUMER,
    PRODUCER,
    TARGET,
    WORKER,
    FlowReaders,
)
from kafka_migration.mirrormaker_import.import_rules import (
    ELSEWHERE,
    NO_FIELD,
    NOBODY,
    OF_HEARTBEATS,
    OF_PACKAGE,
    OLD_NAMES,
    UNKNOWN,
    UNKNOWN_CLUSTERS,
    Decision,
    Use,
    decide_read,
    mirror_group,
    of_field,
    of_option,
    replaced,
)
from kafka_migration.mirrormaker_import.line_values import LineValues
from kafka_migration.mirrormaker_import.on_connect import of_source_connector, of_worker


@dataclass(frozen=True, slots=True)
class KeyUse(Document):
    """What became of one setting: used, replaced by what the package does, ignored by MirrorMaker, or reported."""

    file: str
    line: int
    key: str
    use: Use
    where: str


# Without slots, because the indexes are built when they are needed first.
@dataclass(frozen=True)
class KeyUses:
    """What becomes of each line. `given` are the lists that options of the command line give, by their keys.

    `is_on_connect`: the migration runs on the Connect cluster of the files.
    """

    files: Sequence[MirrorFile]
    flow: Flow
    readers: FlowReaders
    given: frozenset[str] = frozenset()
    command: int = 0
    is_on_connect: bool = False

    @cached_property
    def decisions(self) -> tuple[tuple[MirrorFile, MirrorSetting, Decision], ...]:
        """The decision about each line, in the order of the files."""
        return tuple((file, each, self._decide(file, each)) for file in self.files for each in file.settings)

    def values(self) -> LineValues:
        """Return the values that go into the migration file."""
        return LineValues.of(each.gives for _, _, each in self.decisions)

    def uses(self) -> Iterator[KeyUse]:
        """Yield the use of each line."""
        for file, setting, decision in self.decisions:
            yield KeyUse(file.name, setting.line, name_of(setting), decision.use, quoted(decision.where))

    def _decide(self, file: MirrorFile, setting: MirrorSetting) -> Decision:
        last = self._last[_identity(file, setting)]
        if last is not setting:
            return Decision(Use.REPLACED, f"line {last.line} gives it again, and that value counts")
        if not self._is_of_flow(file, setting):
            return ELSEWHERE if is_known_flow(file, setting) else UNKNOWN_CLUSTERS
        if setting.place is Place.FIELD:
            return NO_FIELD if _is_unknown_field(file, setting) else of_field(setting)
        if setting.place is Place.OPTION:
            return self._of_option(file, setting)
        if (setting.place, setting.key) in {(Place.TOP, "clusters"), (Place.FLOW, "enabled")}:
            return Decision(Use.USED, "the flow")
        if file.kind is FileKind.CONSUMER and setting.key == "group.id":
            return mirror_group(setting)
        return self._on_connect(file, setting) or self._of_key(file, setting)

    def _on_connect(self, file: MirrorFile, setting: MirrorSetting) -> Decision | None:
        if self.is_on_connect and setting.place is Place.WORKER:
            return _without_effect(file, setting) or of_worker(setting)
        is_of_source = self.is_on_connect and (id(file), setting.owner) in self._sources
        return of_source_connector(setting) if is_of_source else None

    def _of_option(self, file: MirrorFile, setting: MirrorSetting) -> Decision:
        if command_of(file, setting) != self.command:
            return Decision(Use.REPORTED, "it belongs to another command; import that one with --command")
        return self._unless_given(of_option(setting))

    def _of_key(self, file: MirrorFile, setting: MirrorSetting) -> Decision:
        if problem := _without_effect(file, setting):
            return problem
        readers = {each.reader.role: key for each, key in self.readers.own.of(setting)}
        if not readers and not self._is_heartbeats(file, setting) and (overridden := self._overridden(file, setting)):
            return overridden
        if not self._is_read(setting):
            return NOBODY
        if self._is_heartbeats(file, setting):
            return OF_HEARTBEATS
        if not readers:
            return replaced(setting, setting.key) or OF_PACKAGE
        # Strimzi's operator writes the newer name for its fields, which have no dots.
        is_old = "." in setting.name and not set(OLD_NAMES.values()).isdisjoint(readers.values())
        if is_old and kafka_version(self.readers.version).is_at_least("4.0"):
            return NOBODY
        newer = next((new for new, old in OLD_NAMES.items() if old in readers.values()), "")
        if wins := newer and self._winner(newer, tuple(readers)):
            return Decision(Use.REPLACED, f"line {wins.line} has the newer name of the key, and that value counts")
        return self._unless_given(decide_read(setting, readers))

    def _unless_given(self, decision: Decision) -> Decision:
        gives = decision.gives
        # The groups of the command line come without the exclusions of the files.
        lists = {"topics": (gives.topics,), "groups": (gives.groups, gives.groups_excluded)}
        options = (option for option in self.given if any(each is not None for each in lists[option]))
        option = next(options, None)
        return Decision(Use.REPLACED, f"--{option} of the command line") if option else decision

    def _is_of_flow(self, file: MirrorFile, setting: MirrorSetting) -> bool:
        """Return whether a line is about the flow that is imported, or about all flows."""
        if setting.place is Place.CLUSTER:
            return setting.owner in self.flow.ends
        if setting.place is Place.FLOW:
            return setting.owner == str(self.flow)
        if setting.place is Place.CONNECTOR:
            return self._flows.get((id(file), setting.owner), self.flow) == self.flow
        return not (setting.place is Place.FIELD and "->" in setting.owner and setting.owner != str(self.flow))

    def _is_read(self, setting: MirrorSetting) -> bool:
        """Return whether a part of MirrorMaker, or a plug-in, reads a line."""
        is_old = is_free(setting) or setting.key in OLD_KEYS
        return is_old or next(self.readers.all.uses_of(setting), None) is not None

    def _is_heartbeats(self, file: MirrorFile, setting: MirrorSetting) -> bool:
        return setting.place is Place.CONNECTOR and (id(file), setting.owner) in self._heartbeats

    def _overridden(self, file: MirrorFile, setting: MirrorSetting) -> Decision | None:
        """Return that another line wins, if it does. Lines of different connectors do not compete."""
        roles: tuple[str, ...] = tuple(each.reader.role for each in self.readers.own.all)
        if setting.place is Place.CLIENT:
            roles = (CONSUMER,) if file.kind is FileKind.CONSUMER else (PRODUCER, TARGET)
        elif setting.place is Place.CLUSTER:
            roles = (CONSUMER,) if setting.owner == self.flow.source else (PRODUCER, TARGET, WORKER)
        found = (self._winner(key, roles) for key in (_full_key(setting), setting.key))
        wins = next((each for each in found if each and each.client in {setting.client, ""}), None)
        if wins and setting.place is wins.place is Place.CONNECTOR:
            wins = wins if wins.owner == setting.owner and any(each is wins for each in file.settings) else None
        return Decision(Use.REPLACED, f"line {wins.line} wins over it") if wins else None

    def _winner(self, key: str, roles: Sequence[str]) -> MirrorSetting | None:
        found = (each.values[key] for each in self.readers.own.at(*roles) if key in each.values)
        return next((each.setting for each in found if each.setting), None)

    @cached_property
    def _flows(self) -> Mapping[tuple[int, str], Flow]:
        return {(id(each.file), each.name): each.flow for each in connectors_of(self.files)}

    @cached_property
    def _heartbeats(self) -> frozenset[tuple[int, str]]:
        return self._connectors(HEARTBEAT_CONNECTOR)

    @cached_property
    def _sources(self) -> frozenset[tuple[int, str]]:
        return self._connectors(SOURCE_CONNECTOR)

    def _connectors(self, kind: str) -> frozenset[tuple[int, str]]:
        found = connectors_of(self.files)
        return frozenset((id(each.file), each.name) for each in found if each.kind == kind)

    @cached_property
    def _last(self) -> Mapping[tuple[object, ...], MirrorSetting]:
        return {_identity(file, each): each for file in self.files for each in file.settings}


def _identity(file: MirrorFile, setting: MirrorSetting) -> tuple[object, ...]:
    """Two lines with the same identity give one key twice."""
    command = command_of(file, setting) if setting.place is Place.OPTION else 0
    return id(file), setting.place, setting.owner, setting.name, command


def _is_unknown_field(file: MirrorFile, setting: MirrorSetting) -> bool:
    """Return whether a resource does not have the field, or one that it is in."""
    name = re.sub(r"\[\d{1,9}\]", "", setting.name)
    part = "mirror" if "->" in setting.owner else "cluster" if setting.owner else ""
    unknown = (_within(each.path) for each in file.faults if each.code is LintCode.FIELD_UNKNOWN)
    return any(part == of and f"{name}.".startswith(f"{path}.") for of, path in unknown)


def _within(path: str) -> tuple[str, str]:
    """Return the part of the resource that a path leads into, and its rest, as the names of settings begin."""
    match = _PARTS.match(path)
    part = "" if match is None else "mirror" if match[0] == "mirrors." else "cluster"
    return part, path[match.end() :] if match else path


# A cluster or mirror of a resource.
_PARTS = re.compile(r"mirrors\.source\.|mirrors\.|clusters\.|target\.")


def _full_key(setting: MirrorSetting) -> str:
    """Return the key of a flow or connector with the prefixes of its clients."""
    is_override = setting.client in CLIENTS and ".override." in setting.name
    return ".".join(filter(None, (setting.side, setting.client, "override" if is_override else "", setting.key)))


def _without_effect(file: MirrorFile, setting: MirrorSetting) -> Decision | None:
    """Return that no part of MirrorMaker reads a line, if so."""
    keys = kafka_keys()
    if is_free(setting) or any(keys.get(role, setting.key) for role in roles_at(file.kind, setting)):
        return None
    if setting.key in OLD_KEYS:
        return None
    return NOBODY if keys.roles_of(setting.key) else UNKNOWN
