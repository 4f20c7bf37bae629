"""The flow that is imported: an enabled one, or one that `--flow` names; a direction is never guessed.

Of a script with several commands of MirrorMaker 1, one command is imported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, permutations

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.text.shortened import some
from kafka_migration.mirrormaker_files.model.lint_finding import is_false, refusal
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, Flow, MirrorFile, MirrorSetting, Place

MIRRORMAKER1_FLOW = Flow("source", "target")
SOURCE_CONNECTOR, CHECKPOINT_CONNECTOR = "MirrorSourceConnector", "MirrorCheckpointConnector"
HEARTBEAT_CONNECTOR = "MirrorHeartbeatConnector"


@dataclass(frozen=True, slots=True)
class MirrorConnector:
    """A connector of MirrorMaker 2 on Kafka Connect. `kind` is the name of its class without the package."""

    file: MirrorFile
    name: str
    kind: str
    flow: Flow
    is_enabled: bool


@dataclass(frozen=True, slots=True)
class ChosenFlow:
    """The flow to import. `doubt` is a sentence that says why MirrorMaker does not copy it; empty for an enabled flow.

    `others` are the other enabled flows.
    """

    flow: Flow
    doubt: str = ""
    others: tuple[Flow, ...] = ()


def not_imported(subject: str, found: str, expected: str, remedy: str) -> Finding:
    """Return the finding that refuses an import."""
    return refusal(Code.MIRROR_FILE_NOT_IMPORTED, subject, found, expected, remedy)


def connectors_of(files: Sequence[MirrorFile]) -> tuple[MirrorConnector, ...]:
    """Return the connectors of MirrorMaker 2 in files for Kafka Connect."""
    owners = ((file, owner) for file in files for owner in dict.fromkeys(e.owner for e in file.at(Place.CONNECTOR)))
    found = (_connector(file, owner) for file, owner in owners)
    return tuple(each for each in found if each.kind.startswith("Mirror"))


def _connector(file: MirrorFile, owner: str) -> MirrorConnector:
    values = {each.key: each.value.strip() for each in file.at(Place.CONNECTOR, owner) if not each.client}
    flow = Flow(*(values.get(f"{side}.cluster.alias", side) for side in ("source", "target")))
    is_enabled = not is_false(file.last(Place.CONNECTOR, "enabled", owner))
    return MirrorConnector(file, owner, values.get("connector.class", "").rpartition(".")[2], flow, is_enabled)


def chosen_flow(files: Sequence[MirrorFile], named: str | None) -> ChosenFlow:
    """Return the flow to import.

    Raises `Refused` if several flows are enabled or none is, and none is named, or if the files do not belong together.
    """
    _require_one_set(files)
    if files[0].kind.is_mirrormaker1:
        return ChosenFlow(MIRRORMAKER1_FLOW)
    enabled = tuple(dict.fromkeys(_enabled(files)))
    candidates = tuple(dict.fromkeys((*enabled, *_named_in(files))))
    if named is None and len(enabled) == 1:
        return ChosenFlow(enabled[0])
    if named is None:
        raise Refused([_unclear(files, enabled, candidates)])
    return _by_name(files, named, enabled, candidates)


def _require_one_set(files: Sequence[MirrorFile]) -> None:
    """Refuse files of several MirrorMakers, whose settings do not act together."""
    kinds = Counter(file.kind for file in files)
    several = [kind for kind, number in kinds.items() if number > 1 and kind not in _MANY]
    is_mixed = len({_SETS.get(kind, kind) for kind in kinds}) > 1
    if several or is_mixed:
        names = [f"{file.name} ({file.kind.words})" for file in files]
        expected = "the files of one MirrorMaker"
        remedy = "Import the files of one MirrorMaker at a time."
        raise Refused([not_imported(some([file.name for file in files]), some(names), expected, remedy)])


def _enabled(files: Sequence[MirrorFile]) -> Iterator[Flow]:
    """Yield the flows that copy, as MirrorMaker or Kafka Connect reads them."""
    for each in connectors_of(files):
        if each.kind == SOURCE_CONNECTOR and each.is_enabled:
            yield each.flow
    for file in files:
        if file.kind is not FileKind.CONNECTORS:
            yield from (flow for flow in file.flows if not _is_off(file, flow))


def _is_off(file: MirrorFile, flow: Flow) -> bool:
    """Return whether a resource of Strimzi disables or stops its source connector."""
    if file.kind is not FileKind.STRIMZI:
        return False
    lines = [each for each in file.at(Place.FLOW, str(flow)) if each.name.startswith("sourceConnector.")]
    fields = {each.name: each.value.strip().lower() for each in (*lines, *file.at(Place.FIELD, str(flow)))}
    off = ("sourceConnector.config.enabled", "false"), ("sourceConnector.pause", "true")
    stopped = fields.get("sourceConnector.state") in {"stopped", "paused"}
    return stopped or any(fields.get(name) == value for name, value in off)


def _named_in(files: Sequence[MirrorFile]) -> Iterator[Flow]:
    """Yield the flows that the files have lines of; without such lines, some pairs of clusters."""
    connectors = [each.flow for each in connectors_of(files) if each.kind == SOURCE_CONNECTOR]
    of_aliases = [file for file in files if file.kind in _WITH_ALIASES]
    owners = [(file, owner) for file in of_aliases for owner in dict.fromkeys(e.owner for e in file.at(Place.FLOW))]
    named = [*connectors, *(flow for file in of_aliases for flow in file.flows)]
    named += [flow for file, owner in owners if (flow := _pair(file, owner))]
    yield from named or (Flow(*ends) for file in of_aliases for ends in islice(permutations(file.clusters, 2), 20))


def is_known_flow(file: MirrorFile, setting: MirrorSetting) -> bool:
    """Return whether a line is about clusters that the file has; a line of a connector always is."""
    is_of_aliases = setting.place is Place.FLOW and file.kind in _WITH_ALIASES
    return not is_of_aliases or _pair(file, setting.owner) is not None


def _pair(file: MirrorFile, text: str) -> Flow | None:
    """Return two different clusters of a file that a text names as a flow."""
    source = next((alias for alias in file.clusters if text.startswith(f"{alias}->")), None)
    target = text.removeprefix(f"{source}->")
    return Flow(source, target) if source and target in file.clusters and target != source else None


# Kinds of files that one MirrorMaker has together.
_SETS = {
    FileKind.CONSUMER: FileKind.COMMAND,
    FileKind.PRODUCER: FileKind.COMMAND,
    FileKind.WORKER: FileKind.CONNECTORS,
}
# A team may have a file for each connector, and several commands.
_MANY = {FileKind.CONNECTORS, FileKind.COMMAND}
_WITH_ALIASES = {FileKind.MIRRORMAKER2, FileKind.STRIMZI}


def _unclear(files: Sequence[MirrorFile], enabled: Sequence[Flow], candidates: Sequence[Flow]) -> Finding:
    found = f"{len(enabled)} enabled flows" if enabled else "no flow that MirrorMaker reads as enabled"
    flows = some([str(flow) for flow in enabled or candidates])
    return _no_flow(files, found, f"one flow of {flows}" if flows else "a flow between two clusters", bool(flows))


def _no_flow(files: Sequence[MirrorFile], found: str, expected: str, has_flows: bool) -> Finding:
    remedy = "Name the flow with --flow." if has_flows else "Add the file that has the clusters and the flow."
    return not_imported(some([file.name for file in files]), found, expected, remedy)


def _by_name(files: Sequence[MirrorFile], named: str, enabled: Collection[Flow], known: Sequence[Flow]) -> ChosenFlow:
    """Return a flow that a person named; it needs not be enabled."""
    name = named.strip()
    pairs = filter(None, (_pair(file, name) for file in files if file.kind in _WITH_ALIASES))
    flow = next((each for each in (*known, *pairs) if str(each) == name), None)
    if flow is None:
        flows = some([str(each) for each in known])
        raise Refused([_no_flow(files, "no flow of the name that --flow gives", f"one flow of {flows}", bool(flows))])
    others = tuple(each for each in enabled if each != flow)
    return ChosenFlow(flow, "" if flow in enabled else _doubt(files, flow), others)


def _doubt(files: Sequence[MirrorFile], flow: Flow) -> str:
    """Return the sentence that says why the flow is not enabled, with the line."""
    found = [each for file in files for each in file.at(Place.FLOW, str(flow)) if each.key == "enabled"]
    if found and found[-1].is_reference:
        return f"Line {found[-1].line} enables {flow} only if its variable has the value `true`."
    if all(file.kind is not FileKind.MIRRORMAKER2 for file in files):
        reason = "its source connector is disabled or stopped"
    else:
        reason = f"line {found[-1].line} does not say exactly `true`" if found else "no line enables it"
    return f"MirrorMaker does not copy {flow}, because {reason}."


TOPIC_OPTIONS = frozenset({"whitelist", "include"})


def command_of(file: MirrorFile, setting: MirrorSetting) -> int:
    """Return the line on which the command of an option starts."""
    return file.line or setting.line


def chosen_command(files: Sequence[MirrorFile], named: int | None, *, has_topics: bool) -> int:
    """Return the line of the command to import; 0 if there is no command. `has_topics`: `--topics` gives them.

    Raises `Refused` if there are several commands and none is named, or none of that line, or if the command is wrong.
    """
    found = [(file.name, command_of(file, each)) for file in files for each in file.at(Place.OPTION)]
    commands = list(dict.fromkeys(found))
    fitting = [line for _, line in commands if named in {None, line}]
    if commands and len(fitting) != 1:
        lines = some([f"line {line} of {name}" for name, line in commands])
        remedy = "Name the line of one with --command, or give each command a script of its own."
        names = some([file.name for file in files if file.kind is FileKind.COMMAND])
        raise Refused([not_imported(names, f"{len(commands)} commands: {lines}", "one command", remedy)])
    command = fitting[0] if fitting else 0
    _require_own_files(files, command)
    if not has_topics:
        _require_one_list(files, command)
    return command


def _require_own_files(files: Sequence[MirrorFile], command: int) -> None:
    """Refuse a command that gives the consumer's file to the producer, or the other way round.

    MirrorMaker follows the command, and the content of the files says the other direction.
    """
    given = {_base(file.part or file.name): file.kind for file in files if file.kind in _CLIENTS.values()}
    options = [each for file in files for each in file.at(Place.OPTION) if command_of(file, each) == command]
    for option, kind in _CLIENTS.items():
        named = next((_base(each.value) for each in options if each.key == option), "")
        if given.get(named, kind) is not kind:
            remedy = (
                "Correct the command or the file in a copy, and import the copy. The command decides the direction."
            )
            found = f"--{option} with {given[named].words}"
            raise Refused([not_imported(some([file.name for file in files]), found, kind.words, remedy)])


def _base(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


_CLIENTS = {"consumer.config": FileKind.CONSUMER, "producer.config": FileKind.PRODUCER}


def _require_one_list(files: Sequence[MirrorFile], command: int) -> None:
    """Refuse a command that names its topics twice, with which MirrorMaker does not start."""
    for file in files:
        found = [each for each in file.at(Place.OPTION) if each.key in TOPIC_OPTIONS]
        lines = [str(each.line) for each in found if command_of(file, each) == command]
        if len(lines) > 1:
            remedy = "Give the topics with --topics."
            text = f"the topics twice, on lines {', '.join(lines)}"
            raise Refused([not_imported(file.name, text, "one --whitelist or --include", remedy)])
