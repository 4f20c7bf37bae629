"""Rules on how MirrorMaker is started: the program of a command, and what its script does before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kafka_migration.core.text.regex import regex
from kafka_migration.core.text.shortened import some
from kafka_migration.kafka_tables.accepted import nearest_word
from kafka_migration.mirrormaker_files.ground.given_variables import names_used, not_listed, uses
from kafka_migration.mirrormaker_files.model.command_options import OPTIONS, StartProgram
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, key_of, on_file
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.rules.client_file_rules import file_named

# What each program reads as its first file.
_READS = {
    StartProgram.MIRRORMAKER2: FileKind.MIRRORMAKER2,
    StartProgram.STANDALONE: FileKind.WORKER,
    StartProgram.DISTRIBUTED: FileKind.WORKER,
}
# What reads a kind of file.
_STARTS = {
    FileKind.MIRRORMAKER2: "Start `connect-mirror-maker.sh` with this file.",
    FileKind.CONNECTORS: "Give it to a Connect worker, or write a file with `clusters` for MirrorMaker 2.",
    FileKind.WORKER: "Start `connect-distributed.sh` or `connect-standalone.sh` with this file.",
}
_OF_MIRRORMAKER1 = "Start `kafka-mirror-maker.sh` with --consumer.config, --producer.config and --whitelist."
_NO_START = "it does not start"
_LACKS = {
    FileKind.MIRRORMAKER2: "it requires `clusters` and does not start",
    FileKind.WORKER: "the file lacks what a worker requires, so it does not start",
}
_OWN = frozenset({"clusters", "help", "h", "version"})
_OF_SCRIPTS = frozenset({"daemon", "name", "loggc"})
_PATH = regex(r"[\w./\\:~${}-]{1,300}\.(?:properties|config|conf|cfg)|[\w.~${}-]{0,100}/[\w./~${}-]{1,300}")
# So many variables are compared with those that are not used, and so many of these.
_MOST_COMPARED = 200


def is_of_mirrormaker2(file: MirrorFile) -> bool:
    """Return whether a command of MirrorMaker 1 has nothing but one path, as a command of MirrorMaker 2 has."""
    own = list(file.at(Place.OPTION, ""))
    return file.kind is FileKind.COMMAND and len(own) == 1 and not own[0].key and bool(_PATH.fullmatch(own[0].value))


def starts(files: Sequence[MirrorFile]) -> Iterator[LintFinding]:
    """Yield a finding for each command whose program does not take its options or its file."""
    given = [file for file in files if file.kind not in {FileKind.COMMAND, FileKind.START}]
    for command in files:
        if is_of_mirrormaker2(command):
            found = "MirrorMaker 1 is started with one file, as MirrorMaker 2 is"
            effect = "it requires --consumer.config, --producer.config and --whitelist, and does not start"
            yield _wrong(command, command.settings[0], found, effect, _STARTS[FileKind.MIRRORMAKER2])
        elif command.kind is FileKind.COMMAND:
            yield from _clients(command, given)
        elif command.kind is FileKind.START:
            yield from _program(command, given)


def _clients(command: MirrorFile, given: Sequence[MirrorFile]) -> Iterator[LintFinding]:
    """Yield a finding if a client of MirrorMaker 1 gets a file of MirrorMaker 2 or Connect."""
    options = [command.last(Place.OPTION, f"{client}.config") for client in ("consumer", "producer")]
    wrong = [(option, _kind(command, option, given)) for option in options if option]
    for option, kind in [(option, kind) for option, kind in wrong if kind in _STARTS][:1]:
        found = f"MirrorMaker 1 gets {kind.words if kind else ''}"
        yield _wrong(command, option, found, "it lacks its address and does not start", _STARTS[kind] if kind else "")


def _program(command: MirrorFile, given: Sequence[MirrorFile]) -> Iterator[LintFinding]:
    program = StartProgram(command.settings[0].key)
    own = list(command.at(Place.OPTION, ""))
    foreign = [each for each in own if each.key in OPTIONS - _OWN]
    paths = [each for each in _outside_of_clusters(own) if not each.value.startswith("-")]
    if foreign:
        options = some([key_of(each, each.name) for each in foreign])
        found = f"{program} has no option {options}, which MirrorMaker 1 has"
        yield _wrong(command, foreign[0], found, _NO_START, _OF_MIRRORMAKER1)
    elif not paths and not any(each.key in {"help", "h", "version"} for each in own):
        found = f"{program} has no file"
        yield on_file(command, LintCode.START_WRONG, found, _NO_START, "Name its file.", command.line)
    elif program is StartProgram.MIRRORMAKER2:
        yield from _unknown(command, own)
    if paths and not foreign:
        yield from _files(command, program, paths, given)


def _outside_of_clusters(own: Sequence[MirrorSetting]) -> Iterator[MirrorSetting]:
    """Yield the words but for those after `--clusters`, which takes all up to the next option."""
    is_cluster = False
    for each in own:
        is_cluster = each.key == "clusters" or (is_cluster and not each.value.startswith("-"))
        if not is_cluster:
            yield each


def _unknown(command: MirrorFile, own: Sequence[MirrorSetting]) -> Iterator[LintFinding]:
    for each in own:
        if each.key and each.key not in _OWN | _OF_SCRIPTS:
            found, fix = "MirrorMaker 2 has no such option", "Remove it. The only option is --clusters."
            yield at(command, each, LintCode.START_WRONG, found, "MirrorMaker does not start", fix)


def _files(
    command: MirrorFile, program: StartProgram, paths: Sequence[MirrorSetting], given: Sequence[MirrorFile]
) -> Iterator[LintFinding]:
    kind, wanted = _kind(command, paths[0], given), _READS[program]
    if kind and kind is not wanted:
        found = f"{program} gets {kind.words}"
        yield _wrong(command, paths[0], found, _LACKS[wanted], _STARTS.get(kind, _OF_MIRRORMAKER1))
    elif program is StartProgram.DISTRIBUTED:
        for path in paths[1:]:
            if _kind(command, path, given) in {FileKind.CONNECTORS, FileKind.MIRRORMAKER2}:
                effect = "it ignores the file, so the connector does not run"
                fix = "Send the connector to the REST API of Connect."
                found = f"{program} takes one file, that of the worker"
                yield at(command, path, LintCode.START_FILE_IGNORED, found, effect, fix)
    elif program is StartProgram.STANDALONE:
        for path in paths[1:]:
            if _kind(command, path, given) is FileKind.MIRRORMAKER2:
                found = f"{program} gets {FileKind.MIRRORMAKER2.words} as a connector"
                yield _wrong(command, path, found, _NO_START, _STARTS[FileKind.MIRRORMAKER2])


def _kind(command: MirrorFile, path: MirrorSetting, given: Sequence[MirrorFile]) -> FileKind | None:
    file = file_named(command, path.value, given)
    return file.kind if file and file.kind is not FileKind.STRIMZI else None


def _wrong(command: MirrorFile, setting: MirrorSetting, found: str, effect: str, fix: str) -> LintFinding:
    if not setting.key:
        return on_file(command, LintCode.START_WRONG, found, effect, fix, setting.line)
    return at(command, setting, LintCode.START_WRONG, found, effect, fix)


def scripts(files: Sequence[MirrorFile]) -> Iterator[LintFinding]:
    """Yield the findings on scripts and on the variables of the files that are given together."""
    yield from _cut(files)
    yield from _not_listed(files)
    yield from _not_set(files)


def _cut(files: Sequence[MirrorFile]) -> Iterator[LintFinding]:
    """Yield a finding for each line that ends a command whose options follow."""
    for file in files:
        for line, following in file.script.cut:
            found = f"the command ends here, and line {following} has options of it"
            effect = f"line {following} is read as a command of its own, so the program lacks these options"
            fix = "End the line with a backslash. No blank, comment or empty line may follow it."
            yield on_file(file, LintCode.COMMAND_CUT, found, effect, fix, line)


def _not_listed(files: Sequence[MirrorFile]) -> Iterator[LintFinding]:
    """Yield a finding for each `envsubst` whose list lacks variables of its file."""
    for script, line, file, names in not_listed(files):
        words = some([f"${each}" for each in names])
        found = f"`envsubst` replaces only the variables of its list, and {file.part or file.name} has also {words}"
        effect = "the text of these variables stays, and MirrorMaker gets it as the value"
        yield on_file(script, LintCode.VARIABLE_NOT_LISTED, found, effect, "Add them, or remove the list.", line)


def _not_set(files: Sequence[MirrorFile]) -> Iterator[LintFinding]:
    """Yield a finding for each variable that no file sets, if a variable of a similar name has no use."""
    given = [file for file in files if file.kind is FileKind.VARIABLES]
    places = {each.key: (file.name, each.line) for file in given for each in file.settings}
    known = places.keys() | {name for file in files for name in file.script.assigned}
    unused = tuple(sorted(places.keys() - names_used(files)))[:_MOST_COMPARED]
    named = [use for use in uses(files) if _required(use[2]) not in known | {""}]
    for file, setting, match in named[:_MOST_COMPARED]:
        name = _required(match)
        if near := nearest_word(name, unused):
            yield _misspelt(file, setting, name, near, places[near])


def _required(match: re.Match[str]) -> str:
    """Return the name of a variable that has no default value; else an empty one."""
    name = match["plain"] or match["braced"]
    return name if match["plain"] or match[0] == f"${{{name}}}" else ""


def _misspelt(file: MirrorFile, setting: MirrorSetting, name: str, near: str, place: tuple[str, int]) -> LintFinding:
    found = f"no given file sets ${name}, and line {place[1]} of {place[0]} sets ${near}, which is not used"
    effect = "MirrorMaker gets an empty value, or the text of the variable"
    return at(file, setting, LintCode.VARIABLE_NOT_SET, found, effect, f"Write ${near}.")
