"""The migration file and the connections for what MirrorMaker files do, and the use of each of their settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_migration.core.discovery.connections_to_create import (
    ConnectionToCreate,
    connection_base,
    mirror_host_connection,
)
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.text.secret_forms import has_secret_form
from kafka_migration.core.text.shortened import some
from kafka_migration.mirrormaker_files.model.mirror_settings import COMMENT, FileKind, Flow, MirrorFile
from kafka_migration.mirrormaker_import import imported_groups, imported_topics
from kafka_migration.mirrormaker_import.chosen_command import (
    chosen_command,
    require_one_list,
    require_own_files,
)
from kafka_migration.mirrormaker_import.chosen_flow import ChosenFlow, chosen_flow, not_imported
from kafka_migration.mirrormaker_import.flow_readers import (
    CHECKPOINTS,
    CONNECTOR,
    CONSUMER,
    TARGET,
    FlowReaders,
    readers_of_flow,
)
from kafka_migration.mirrormaker_import.import_checks import ImportCheck, ImportFacts, checks_of
from kafka_migration.mirrormaker_import.imported_connections import (
    insecurities_of,
    is_resource,
    kafka_connection,
    require_target,
    strimzi_values,
    values_of_side,
)
from kafka_migration.mirrormaker_import.imported_file import FileParts, file_text
from kafka_migration.mirrormaker_import.imported_topics import TopicChoice, topic_choice
from kafka_migration.mirrormaker_import.key_uses import KeyUse, KeyUses
from kafka_migration.mirrormaker_import.line_values import LineValues
from kafka_migration.mirrormaker_import.names_on_target import Naming, TargetNames, names_on_target
from kafka_migration.mirrormaker_import.plain_values import plain

# MirrorMaker 2 creates topics with this many replicas if it is not told otherwise.
_DEFAULT_REPLICAS = 2
_MIRROR = "org.apache.kafka.connect.mirror."
# The classes that read the lists of topics and groups, by the option that replaces such a list.
_FILTERS = {
    "topics": (CONNECTOR, "topic.filter.class", f"{_MIRROR}DefaultTopicFilter"),
    "groups": (CHECKPOINTS, "group.filter.class", f"{_MIRROR}DefaultGroupFilter"),
}


@dataclass(frozen=True, slots=True)
class ImportChoices:
    """What a person decided. `naming`, `topics` and `groups` win over the files; the last two are lists with commas.

    `command` is the line of a MirrorMaker 1 command. `to_mirrormaker2`: MirrorMaker 2 copies what MirrorMaker 1 did.
    `kafka_version` is the version that reads the files; empty means the latest.
    """

    naming: Naming | None = None
    topics: str | None = None
    groups: str | None = None
    command: int | None = None
    to_mirrormaker2: bool = False
    kafka_version: str = ""

    @property
    def lists(self) -> dict[str, str]:
        """The lists that are given."""
        both = {"topics": self.topics, "groups": self.groups}
        return {key: value for key, value in both.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Imported:
    """The text of a migration file, the connections to create, the use of every setting, and what to check."""

    text: str
    connections: tuple[ConnectionToCreate, ...]
    uses: tuple[KeyUse, ...]
    checks: tuple[ImportCheck, ...]


_WITHOUT_SETTINGS = frozenset({FileKind.START, FileKind.VARIABLES, FileKind.LOGINS})
_NO_CHOICES = ImportChoices()
_KEPT = TargetNames("identity", reason="MirrorMaker 1 keeps names")


def import_files(
    files: Sequence[MirrorFile], name: str, flow: str | None = None, choices: ImportChoices = _NO_CHOICES
) -> Imported:
    """Return the migration of one flow.

    Raises `Refused` with `MIRROR_FILE_NOT_IMPORTED` if the flow is not clear, or what it copies cannot be expressed.
    """
    files = _with_settings(files)
    chosen = chosen_flow(files, flow)
    _require_no_secret(files[0].name, chosen.flow.ends)
    command = chosen_command(files, choices.command)
    require_own_files(files, command)
    if choices.topics is None:
        require_one_list(files, command)
    readers = readers_of_flow(files, chosen, command, choices.kafka_version)
    _require_lists(readers, choices, str(chosen.flow))
    uses = KeyUses(files, chosen.flow, readers, frozenset(choices.lists), command)
    return _imported(files, name, chosen, readers, uses, choices)


def _with_settings(files: Sequence[MirrorFile]) -> list[MirrorFile]:
    """Return the files without commands of MirrorMaker 2 and Connect, which have no settings."""
    found = [file for file in files if file.kind not in _WITHOUT_SETTINGS]
    if files and not found:
        remedy = "Name the file of settings that the command starts."
        is_command = files[0].kind is FileKind.START
        text = "a command without settings" if is_command else f"only {files[0].kind.words}"
        raise Refused([not_imported(files[0].name, text, "settings of MirrorMaker", remedy)])
    return found


def _imported(
    files: Sequence[MirrorFile],
    name: str,
    chosen: ChosenFlow,
    readers: FlowReaders,
    uses: KeyUses,
    choices: ImportChoices,
) -> Imported:
    is_mirrormaker1 = files[0].kind.is_mirrormaker1
    values = _with_defaults(readers, uses.values(), is_mirrormaker1)
    _require_committed(files[0].name, values)
    names = _KEPT if is_mirrormaker1 else names_on_target(readers, chosen.flow, name, choices.naming)
    target = _target_alias(readers, chosen.flow)
    _require_no_secret(files[0].name, [target])
    topics = _topics(files, values, choices, _cycle(names, target))
    groups = _groups(readers, values, choices, is_mirrormaker1)
    connections = _connections(files, readers, chosen.flow)
    require_target(readers, connections, str(chosen.flow))
    parts = FileParts(
        name=name,
        origin=some(list(dict.fromkeys(file.name for file in files))),
        flow=chosen.flow,
        source=connections[0].name,
        target=connections[1].name,
        mirror_host=connections[2].name,
        insecure=tuple(insecurities_of(each) for each in connections[:2]),
        topics=topics,
        groups=groups,
        names=names,
        values=values,
        is_mirrormaker1=is_mirrormaker1,
        to_mirrormaker2=choices.to_mirrormaker2,
    )
    decisions = tuple((setting, decision) for _, setting, decision in uses.decisions)
    kinds = frozenset(file.kind for file in files)
    facts = ImportFacts(chosen, readers, names, topics, groups, values, decisions, connections[:2], kinds)
    return Imported(file_text(parts), connections, tuple(uses.uses()), checks_of(facts))


def _require_no_secret(file: str, aliases: Sequence[str]) -> None:
    """Aliases become names of connections and a part of the migration file."""
    if any(has_secret_form(alias) or COMMENT.search(alias) for alias in aliases):
        remedy = "Correct the names of clusters in a copy of the file, and import the copy."
        raise Refused([not_imported(file, "an alias with a comment or a secret", "names of clusters", remedy)])


def _require_lists(readers: FlowReaders, choices: ImportChoices, flow: str) -> None:
    """Refuse a class of others that decides about topics or groups, unless their list is given."""
    for key, (role, filter_key, usual) in _FILTERS.items():
        found = readers.line(role, filter_key)
        if found and plain(found) != usual and key not in choices.lists:
            text = f"{filter_key} on line {found.line}, a class whose {key} are not known"
            raise Refused([not_imported(flow, text, f"the {key}", f"Give the names and patterns with --{key}.")])


def _with_defaults(readers: FlowReaders, values: LineValues, is_mirrormaker1: bool) -> LineValues:
    """Return the values with what MirrorMaker does where the files say nothing, and a migration file would not do."""
    level = None if values.exactly_once else "read_uncommitted"
    has_factor = is_mirrormaker1 or readers.line(CONNECTOR, "replication.factor") is not None
    replicas = None if has_factor else _DEFAULT_REPLICAS
    return LineValues.of((LineValues(isolation_level=level, replication_factor=replicas), values))


def _require_committed(file: str, values: LineValues) -> None:
    if values.exactly_once and values.isolation_level == "read_uncommitted":
        remedy = "MirrorMaker 2 refuses this too. Correct one of them in a copy of the file, and import the copy."
        found = "exactly-once with isolation.level=read_uncommitted"
        raise Refused([not_imported(file, found, "read_committed with exactly-once", remedy)])


def _target_alias(readers: FlowReaders, flow: Flow) -> str:
    found = readers.line(CONNECTOR, "target.cluster.alias")
    return plain(found) if found else flow.target


def _cycle(names: TargetNames, target: str) -> tuple[str, ...]:
    """Return a pattern of the topics that came from the target, which MirrorMaker 2 does not copy back."""
    is_kept = names.naming != "prefixed" or not target or "." in target
    return () if is_kept else (rf"(.*\.)?{_escaped(target)}\..*",)


def _escaped(alias: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "_-" else f"\\{letter}" for letter in alias)


def _topics(
    files: Sequence[MirrorFile], values: LineValues, choices: ImportChoices, more: tuple[str, ...]
) -> TopicChoice:
    is_mirrormaker1 = files[0].kind.is_mirrormaker1
    # A MirrorMaker 1 with only a list of exclusions copies all other topics.
    usual = "" if is_mirrormaker1 and values.topics_excluded is None else ".*"
    excluded = _first(values.topics_excluded, "" if is_mirrormaker1 else imported_topics.DEFAULT_EXCLUSIONS)
    value = _first(choices.topics, values.topics, usual)
    found = topic_choice(value, excluded, more, is_mirrormaker1=is_mirrormaker1 and choices.topics is None)
    if not found.items:
        raise Refused([not_imported(files[0].name, *_without_topics(files, found))])
    return found


def _without_topics(files: Sequence[MirrorFile], found: TopicChoice) -> tuple[str, str, str]:
    """Return what is found, what is expected, and the remedy."""
    expected = "the topics to copy"
    if found.left_out:
        return f"only topics that MirrorMaker does not copy: {some(found.left_out)}", expected, "Add `topics`."
    if files[0].kind.is_mirrormaker1:
        remedy = "Add the script with the command line, or give the topics with --topics."
        return "no value of --whitelist or --include", expected, remedy
    return "a blank list of topics, with which MirrorMaker copies nothing", expected, "Add `topics`."


def _groups(readers: FlowReaders, values: LineValues, choices: ImportChoices, is_mirrormaker1: bool) -> tuple[str, ...]:
    """Return the patterns of the groups to move; none for the default of a migration file."""
    if choices.groups is not None:
        return imported_groups.group_patterns(choices.groups, "")
    if values.mirror_group is not None:
        return imported_groups.groups_without(values.mirror_group)
    if is_mirrormaker1 or not readers.has(CHECKPOINTS):
        return ()
    excluded = _first(values.groups_excluded, imported_groups.DEFAULT_EXCLUSIONS)
    return imported_groups.group_patterns(_first(values.groups, ".*"), excluded)


def _first(*texts: str | None) -> str:
    """Return the first text that is given; an empty one is given too."""
    return next((each for each in texts if each is not None), "")


def _connections(files: Sequence[MirrorFile], readers: FlowReaders, flow: Flow) -> tuple[ConnectionToCreate, ...]:
    names = [f"{connection_base(alias)}_kafka" for alias in flow.ends]
    if names[0] == names[1]:
        names = [f"source_{names[0]}", f"target_{names[1]}"]
    sides = zip(flow.ends, (CONSUMER, TARGET), (FileKind.CONSUMER, FileKind.PRODUCER), strict=True)
    values = (values_of_side(readers, role, _of_fields(files, alias, kind)) for alias, role, kind in sides)
    clusters = [kafka_connection(name, each) for name, each in zip(names, values, strict=True)]
    return (*clusters, mirror_host_connection("mirror_host"))


def _of_fields(files: Sequence[MirrorFile], alias: str, kind: FileKind) -> dict[str, str]:
    """Return what fields of a resource say about a cluster, or about a client of MirrorMaker 1."""
    owners = {FileKind.STRIMZI: alias, kind: ""}
    found = (strimzi_values(file, owners[file.kind]) for file in files if file.kind in owners and is_resource(file))
    return next(found, {})
