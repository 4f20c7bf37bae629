"""The settings of a MirrorMaker file, each with its line and the place that decides which of Kafka's parts reads it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple, Self

from kafka_migration.core.text.regex import regex
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.remarks import Remark


class FileKind(StrEnum):
    """What a file is; the values are those of `--kind`, each with the kind in words."""

    words: str

    MIRRORMAKER2 = "mirrormaker2", "properties of MirrorMaker 2"
    CONSUMER = "mirrormaker1-consumer", "consumer properties of MirrorMaker 1"
    PRODUCER = "mirrormaker1-producer", "producer properties of MirrorMaker 1"
    COMMAND = "mirrormaker1-command", "command line of MirrorMaker 1"
    CONNECTORS = "connectors", "connectors of MirrorMaker 2 for Kafka Connect"
    STRIMZI = "strimzi", "KafkaMirrorMaker2 resource of Strimzi"
    WORKER = "connect-worker", "properties of a Connect worker"
    START = "start-command", "command that starts MirrorMaker 2 or Connect"
    VARIABLES = "variables", "variables of a container"
    LOGINS = "jaas", "login file of Java (JAAS)"

    def __new__(cls, value: str, words: str = "") -> Self:
        """Make a member from its row."""
        member = str.__new__(cls, value)
        member._value_, member.words = value, words
        return member

    @property
    def is_mirrormaker1(self) -> bool:
        """Whether MirrorMaker 1 reads such files."""
        return self in {FileKind.CONSUMER, FileKind.PRODUCER, FileKind.COMMAND}


# Files in which each owner, such as a connector, has keys of its own.
PER_OWNER = frozenset({FileKind.CONNECTORS, FileKind.STRIMZI})


class Place(StrEnum):
    """Where in a file a setting is; each place has its own readers."""

    TOP = "top level"
    CLUSTER = "cluster"
    FLOW = "flow"
    CONNECTOR = "connector"
    CLIENT = "client file"
    OPTION = "command line"
    FIELD = "field of the resource"
    WORKER = "worker file"
    VARIABLE = "variable"


# What a shell or `cmd.exe` replaces.
_VARIABLE = regex(r"\$[A-Za-z_0-9@*(]|`|%[A-Za-z_0-9]{1,100}%")
# A comment after a value, which is a part of the value.
COMMENT = regex(r"\s#")
# The value of a field that has no content, such as `tls: {}`; a field without a value is as if it were not there.
EMPTY = "{}"
CLIENTS = ("producer", "consumer", "admin")


class FieldFault(NamedTuple):
    """A fault of a field, on its line, with the texts of its finding.

    `path` is that of the field in the resource without the items of lists.
    """

    code: LintCode
    line: int
    path: str
    found: str
    effect: str
    fix: str


class MirrorSetting(NamedTuple):
    """One setting.

    `name` is its whole name as written, `key` is Kafka's key without alias, flow and client prefix. `owner` is the
    alias of the cluster, the flow (`a->b`) or the name of the connector. `client` is the prefix in front of the key:
    `producer`, `consumer`, `admin`, `cluster` (the cluster of a connector), or empty. `side` is `source` or `target`
    if the prefix names it. `dropped` and `last` are those of its `Entry`. `origin` is the file and
    the line of a variable that has the value, if that stands elsewhere.
    """

    line: int
    name: str
    value: str
    place: Place
    key: str
    owner: str = ""
    client: str = ""
    side: str = ""
    dropped: str = ""
    origin: tuple[str, int] | None = None
    last: int = 0

    @property
    def is_reference(self) -> bool:
        """Whether the value, or a part of it, is replaced at run time: `${provider:path:key}`, or a shell's `$NAME`."""
        if self.place is Place.OPTION and _VARIABLE.search(self.value):
            return True
        return "${" in self.value or "{{" in self.value


class Flow(NamedTuple):
    """A direction of the copy, `source->target` with the aliases of two clusters."""

    source: str
    target: str

    @property
    def ends(self) -> tuple[str, str]:
        """Both aliases."""
        return self.source, self.target

    def __str__(self) -> str:
        return f"{self.source}->{self.target}"


class VariableList(NamedTuple):
    """The variables that an `envsubst` with a list replaces in some files, with the line of the command."""

    line: int
    names: frozenset[str]
    files: tuple[str, ...]


class ScriptFacts(NamedTuple):
    """What a script does besides its commands.

    `assigned` are the variables that it sets. `filled` are the names of files into which it puts values before their
    readers get them, each with the text that is replaced; an empty text stands for all variables (`envsubst`), and
    `lists` are those of some variables. `appended` are the paths of files to which it adds lines. `cut` are the lines
    on which a command ends before its options, each with the line of the next word.
    """

    assigned: frozenset[str] = frozenset()
    filled: tuple[tuple[str, str], ...] = ()
    lists: tuple[VariableList, ...] = ()
    cut: tuple[tuple[int, int], ...] = ()
    appended: frozenset[str] = frozenset()


NO_SCRIPT = ScriptFacts()


# Without slots, because the indexes are built when they are needed first.
@dataclass(frozen=True)
class MirrorFile:
    """A configuration that was read: a file, or a part of one that stands on its own, such as one command of a script.

    `kafka_version` is the version that the file itself names, else empty. `line` is the line on which a part starts,
    and 0 for a whole file. `remarks` are places where Kafka reads something other than what is meant.
    `faults` are those of the fields of a resource, and `marks` the lines of the connectors in it, each with its owner
    and its field. `is_idle` says that no flow of a dedicated MirrorMaker runs; `flows` are then those that are meant.
    `part` is the name that a part has of its own, such as that of a ConfigMap's entry. `is_filled` if a script puts its
    variables in, `is_partial` if the file may have more lines than were read. `script` is about the script that has a
    command.
    """

    name: str
    kind: FileKind
    settings: tuple[MirrorSetting, ...]
    clusters: tuple[str, ...] = ()
    flows: tuple[Flow, ...] = ()
    kafka_version: str = ""
    line: int = 0
    remarks: tuple[Remark, ...] = ()
    faults: tuple[FieldFault, ...] = ()
    marks: tuple[tuple[str, str, int], ...] = ()
    is_idle: bool = False
    part: str = ""
    is_filled: bool = False
    is_partial: bool = False
    script: ScriptFacts = NO_SCRIPT

    def at(self, place: Place, owner: str | None = None) -> Iterator[MirrorSetting]:
        """Yield the settings of a place, in the order of the file."""
        return iter(self._by_place.get((place, owner), ()))

    def last(self, place: Place, key: str, owner: str = "", client: str = "") -> MirrorSetting | None:
        """Return the setting that Kafka uses if a key is given several times: the last one."""
        return self._last.get((place, owner, key, client))

    @cached_property
    def _by_place(self) -> dict[tuple[Place, str | None], list[MirrorSetting]]:
        found = defaultdict[tuple[Place, str | None], list[MirrorSetting]](list)
        for each in self.settings:
            found[each.place, each.owner].append(each)
            found[each.place, None].append(each)
        return found

    @cached_property
    def _last(self) -> dict[tuple[Place, str, str, str], MirrorSetting]:
        return {(each.place, each.owner, each.key, each.client): each for each in self.settings}

    @property
    def is_dedicated(self) -> bool:
        """Whether the dedicated MirrorMaker 2 reads the file."""
        return self.kind is FileKind.MIRRORMAKER2

    def line_of_flow(self, flow: Flow) -> int:
        """Return the line that a flow is about: its `enabled`, else its first line; 0 if it has none."""
        own = [each for each in self.at(Place.FLOW, str(flow)) if not each.side]
        first = next((each for each in own if each.key == "enabled"), own[0] if own else None)
        return first.line if first else self.line_of_clusters()

    def line_of_clusters(self) -> int:
        """Return the line of `clusters`; 0 if there is none."""
        setting = self.last(Place.TOP, "clusters")
        return setting.line if setting else 0

    def line_of_connector(self, owner: str) -> int:
        """Return the line of a connector's class; 0 if there is none."""
        setting = self.last(Place.CONNECTOR, "connector.class", owner)
        return setting.line if setting else 0

    def lacks(self, field: str) -> bool:
        """Return whether a resource lacks a required field, which has a finding of its own."""
        return any(f"`{field}`" in each.found for each in self.faults)
