"""What a flow of MirrorMaker becomes in a migration: its topics, groups, names, connections and other values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from kafka_migration.core.discovery.connections_to_create import ConnectionToCreate, connection_base
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.migration.engine_table import EngineName
from kafka_migration.core.text.secret_forms import has_secret_form
from kafka_migration.core.text.shortened import some
from kafka_migration.mirrormaker_files.model.mirror_settings import COMMENT, FileKind, MirrorFile
from kafka_migration.mirrormaker_import import imported_names
from kafka_migration.mirrormaker_import.chosen_flow import ChosenFlow, not_imported
from kafka_migration.mirrormaker_import.flow_readers import CHECKPOINTS, CONNECTOR, CONSUMER, TARGET, FlowReaders
from kafka_migration.mirrormaker_import.imported_connections import (
    is_resource,
    kafka_connection,
    require_target,
    strimzi_values,
    values_of_side,
)
from kafka_migration.mirrormaker_import.imported_names import TopicChoice, topic_choice
from kafka_migration.mirrormaker_import.key_uses import KeyUses
from kafka_migration.mirrormaker_import.line_values import LineValues, plain
from kafka_migration.mirrormaker_import.names_on_target import Naming, TargetNames, names_on_target

# MirrorMaker 2 creates topics with this many replicas if it is not told otherwise.
_DEFAULT_REPLICAS = 2
_KEPT = TargetNames("identity", reason="MirrorMaker 1 keeps names")


@dataclass(frozen=True, slots=True)
class ImportChoices:
    """What a person decided. `naming`, `topics` and `groups` win over the files; the last two are lists with commas.

    `command` is the line of a MirrorMaker 1 command. `to_mirrormaker2`: a MirrorMaker 2 on a host copies what a
    MirrorMaker 1, or connectors of Kafka Connect, did.
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


# Without slots, because each part is made when it is needed first.
@dataclass(frozen=True)
class ImportedFlow:
    """The parts of the migration `name`. Each raises `Refused` if a migration file cannot express it."""

    name: str
    files: Sequence[MirrorFile]
    chosen: ChosenFlow
    readers: FlowReaders
    uses: KeyUses
    choices: ImportChoices

    @property
    def is_mirrormaker1(self) -> bool:
        """Whether MirrorMaker 1 reads the files."""
        return self.files[0].kind.is_mirrormaker1

    @property
    def engine(self) -> EngineName:
        """The engine of the migration."""
        if self.is_mirrormaker1 and not self.choices.to_mirrormaker2:
            return "mirrormaker1"
        return "connect" if self.uses.is_on_connect else "mirrormaker2"

    @property
    def kinds(self) -> frozenset[FileKind]:
        """The kinds of the files."""
        return frozenset(file.kind for file in self.files)

    @cached_property
    def values(self) -> LineValues:
        """The values of the lines, and what MirrorMaker does where they say nothing and a migration file would not."""
        given = self.uses.values()
        level = None if given.exactly_once else "read_uncommitted"
        has_factor = self.is_mirrormaker1 or self.readers.line(CONNECTOR, "replication.factor") is not None
        replicas = None if has_factor else _DEFAULT_REPLICAS
        values = LineValues.of((LineValues(isolation_level=level, replication_factor=replicas), given))
        if values.exactly_once and values.isolation_level == "read_uncommitted":
            remedy = "MirrorMaker 2 refuses this too. Correct one of them in a copy of the file, and import the copy."
            found = "exactly-once with isolation.level=read_uncommitted"
            raise Refused([not_imported(self.files[0].name, found, "read_committed with exactly-once", remedy)])
        return values

    @cached_property
    def names(self) -> TargetNames:
        """The names of topics on the target."""
        if self.is_mirrormaker1:
            return _KEPT
        return names_on_target(self.readers, self.chosen.flow, self.name, self.choices.naming)

    @cached_property
    def topics(self) -> TopicChoice:
        """The topics to copy, at least one."""
        values, is_mirrormaker1 = self.values, self.is_mirrormaker1
        # A MirrorMaker 1 with only a list of exclusions copies all other topics.
        usual = "" if is_mirrormaker1 and values.topics_excluded is None else ".*"
        excluded = _first(values.topics_excluded, "" if is_mirrormaker1 else imported_names.EXCLUDED_TOPICS)
        value = _first(self.choices.topics, values.topics, usual)
        is_old_list = is_mirrormaker1 and self.choices.topics is None
        found = topic_choice(value, excluded, self._cycle(), is_mirrormaker1=is_old_list)
        if not found.items:
            raise Refused([not_imported(self.files[0].name, *self._without_topics(found))])
        return found

    def _cycle(self) -> tuple[str, ...]:
        """Return a pattern of the topics that came from the target, which MirrorMaker 2 does not copy back."""
        alias = self.readers.line(CONNECTOR, "target.cluster.alias")
        target = plain(alias) if alias else self.chosen.flow.target
        require_no_secret(self.files[0].name, [target])
        is_kept = self.names.naming != "prefixed" or not target or "." in target
        return () if is_kept else (rf"(.*\.)?{_escaped(target)}\..*",)

    def _without_topics(self, found: TopicChoice) -> tuple[str, str, str]:
        """Return what is found, what is expected, and the remedy."""
        expected = "the topics to copy"
        if found.left_out:
            found_topics = f"only topics that MirrorMaker does not copy: {some(found.left_out)}"
            return found_topics, expected, "Give the topics with --topics."
        if self.is_mirrormaker1:
            remedy = "Add the script with the command line, or give the topics with --topics."
            return "no value of --whitelist or --include", expected, remedy
        blank = "a blank list of topics, with which MirrorMaker copies nothing"
        return blank, expected, "Give the topics with --topics."

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The patterns of the groups to move; none for the default of a migration file."""
        values = self.values
        if self.choices.groups is not None:
            return imported_names.group_patterns(self.choices.groups, "")
        if values.mirror_group is not None:
            return imported_names.groups_without(values.mirror_group)
        if self.is_mirrormaker1 or not self.readers.has(CHECKPOINTS):
            return ()
        excluded = _first(values.groups_excluded, imported_names.EXCLUDED_GROUPS)
        return imported_names.group_patterns(_first(values.groups, ".*"), excluded)

    @cached_property
    def clusters(self) -> tuple[ConnectionToCreate, ConnectionToCreate]:
        """The connections of the source and of the target."""
        source, target = self.chosen.flow.ends
        names = [f"{connection_base(alias)}_kafka" for alias in (source, target)]
        if names[0] == names[1]:
            names = [f"source_{names[0]}", f"target_{names[1]}"]
        found = (
            self._cluster(names[0], source, CONSUMER, FileKind.CONSUMER),
            self._cluster(names[1], target, TARGET, FileKind.PRODUCER),
        )
        require_target(self.readers, found, str(self.chosen.flow))
        return found

    def _cluster(self, name: str, alias: str, role: str, kind: FileKind) -> ConnectionToCreate:
        """Return a connection; fields of a resource are about a cluster, or about a client of MirrorMaker 1."""
        owners = {FileKind.STRIMZI: alias, kind: ""}
        resources = (file for file in self.files if file.kind in owners and is_resource(file))
        fields = next((strimzi_values(file, owners[file.kind]) for file in resources), {})
        return kafka_connection(name, values_of_side(self.readers, role, fields))


def require_no_secret(file: str, aliases: Sequence[str]) -> None:
    """Refuse a secret in aliases, which become names of connections and a part of the migration file."""
    if any(has_secret_form(alias) or COMMENT.search(alias) for alias in aliases):
        remedy = "Correct the names of clusters in a copy of the file, and import the copy."
        raise Refused([not_imported(file, "an alias with a comment or a secret", "names of clusters", remedy)])


def _escaped(alias: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "_-" else f"\\{letter}" for letter in alias)


def _first(*texts: str | None) -> str:
    """Return the first text that is given; an empty one is given too."""
    return next((each for each in texts if each is not None), "")
