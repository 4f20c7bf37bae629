"""Rules on how MirrorMaker is started: the command line, its program and file, and what its script does before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kafka_migration.core.text.regex import regex
from kafka_migration.core.text.shortened import some
from kafka_migration.kafka_tables.accepted import nearest_word
from kafka_migration.mirrormaker_files.ground.given_variables import names_used, not_listed, uses
from kafka_migration.mirrormaker_files.ground.ground import Ground
from kafka_migration.mirrormaker_files.model.command_options import (
    ENVIRONMENT,
    FLAGS,
    OPTIONS,
    PATTERNS,
    StartProgram,
    option_meant,
)
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, key_of, on_file, value_of
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.rules.client_rules import OF_STRIMZI, file_named

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
_NOT_STARTED = "MirrorMaker does not start"
_NUMBER = regex(r"[+-]?\d{1,19}", re.ASCII)
_MOST = 2**31 - 1


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


def command(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each option that is missing, unknown, twice there, of another version, or without effect."""
    if file.kind is not FileKind.COMMAND or is_of_mirrormaker2(file):
        return
    options = [each for each in file.at(Place.OPTION, "") if each.key]
    for setting in options:
        yield from _option(file, setting, ground)
    yield from _words(file)
    yield from _twice(file, options)
    yield from _missing(file, {each.key if each.key in OPTIONS else option_meant(each.key) for each in options})


def _words(file: MirrorFile) -> Iterator[LintFinding]:
    """Yield a finding for each word that is neither an option nor the value of one."""
    for setting in file.at(Place.OPTION, ""):
        if not setting.key and not setting.is_reference:
            found, effect = "the word belongs to no option", "MirrorMaker ignores it"
            fix = "Write `--` before an option, and quote a value that has blanks."
            yield at(file, setting, LintCode.OPTION_WITHOUT_EFFECT, found, effect, fix)


def _missing(file: MirrorFile, there: set[str]) -> Iterator[LintFinding]:
    """Yield what is missing; a word such as `$OPTIONS` may hold any option."""
    is_open = any(not each.key and each.is_reference for each in file.at(Place.OPTION, ""))
    if is_open or there & {"help", "version"}:
        return
    for option in ("consumer.config", "producer.config"):
        if option not in there and not file.lacks(option.partition(".")[0]):
            found = f"the command has no --{option}"
            yield on_file(file, LintCode.OPTION_MISSING, found, _NOT_STARTED, f"Add --{option} FILE.", file.line)
    if not there & PATTERNS and not file.lacks("whitelist"):
        found = "the command has no --whitelist and no --include"
        yield on_file(file, LintCode.OPTION_MISSING, found, _NOT_STARTED, "Add --whitelist PATTERN.", file.line)


def _twice(file: MirrorFile, options: Sequence[MirrorSetting]) -> Iterator[LintFinding]:
    """Yield a finding for an option that is there twice, which MirrorMaker's parser refuses, or under two names."""
    last = {each.key: each for each in options}
    for setting in options:
        final = last[setting.key]
        if final is not setting and setting.key not in FLAGS and setting.key in OPTIONS:
            found = f"the command has the option again in line {final.line}"
            yield at(file, setting, LintCode.OPTION_REPEATED, found, _NOT_STARTED, "Write the option once.")
        elif setting.key == "whitelist" and "include" in last:
            effect = "Kafka 3.0 and later ignore --whitelist; earlier versions have no --include"
            fix = "Write one of them."
            yield at(file, setting, LintCode.OPTION_WITHOUT_EFFECT, "it is beside --include", effect, fix)


def _option(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> Iterator[LintFinding]:
    version = LintCode.OPTION_OF_ANOTHER_VERSION
    if setting.key not in OPTIONS:
        found = f"MirrorMaker 1 has no option {key_of(setting, setting.name)}"
        meant = option_meant(setting.key)
        options = f"Correct or remove it. The options are {some(sorted(OPTIONS), 20)}."
        shortened = " MirrorMaker 1 takes no shortened options." if meant.startswith(setting.key) else ""
        fix = f"Write --{meant}.{shortened}" if meant else options
        yield at(file, setting, LintCode.OPTION_UNKNOWN, found, _NOT_STARTED, fix)
    elif setting.key == "blacklist":
        found, fix = (
            "only versions before Kafka 2.0 have the option",
            "Write a --whitelist that leaves these topics out.",
        )
        yield at(file, setting, version, found, f"{_NOT_STARTED} with a later version", fix)
    elif setting.key == "include" and ground.is_at_least("3.0") is False and not _is_of_operator(file):
        found = "only Kafka 3.0 and later have the option"
        yield at(file, setting, version, found, _NOT_STARTED, "Write --whitelist.")
    elif setting.key == "new.consumer":
        if ground.is_at_least("0.11") is not False:
            # Of Kafka 0.10 the first releases need the option, and a version here has two numbers.
            found = "from Kafka 0.10.1 on the new consumer is the default"
            effect = "the option has no effect"
            yield at(file, setting, LintCode.OPTION_WITHOUT_EFFECT, found, effect, "Remove it.")
    elif setting.key not in FLAGS and not setting.value:
        found = "the option has no value"
        yield at(file, setting, LintCode.VALUE_TYPE, found, _NOT_STARTED, "Write its value after it.")
    elif not setting.is_reference:
        yield from _value(file, setting)


def _is_of_operator(file: MirrorFile) -> bool:
    """Return whether Strimzi's operator makes the command, with the name that the option has in the version."""
    return any(each.value.startswith(OF_STRIMZI) for each in file.at(Place.OPTION, ""))


def _value(file: MirrorFile, setting: MirrorSetting) -> Iterator[LintFinding]:
    value, wrong = setting.value, LintCode.VALUE_TYPE
    if setting.value.startswith("--"):
        found = f"the option has no value and takes the next word, {value_of(setting)}, as its value"
        yield at(file, setting, wrong, found, "the option that was meant there is not set", "Write its value after it.")
    elif setting.key in {"num.streams", "offset.commit.interval.ms"}:
        least = 1 if setting.key == "num.streams" else 0
        is_number = _NUMBER.fullmatch(value) is not None
        if not is_number or not -_MOST - 1 <= int(value) <= _MOST:
            found = f"the value {value_of(setting)} is no whole number"
            yield at(file, setting, wrong, found, _NOT_STARTED, "Write a number.")
        elif int(value) < least:
            found = f"the value {value_of(setting)} is below {least}"
            effect = (
                "MirrorMaker ends at once and copies nothing" if least else "offsets are committed after each record"
            )
            yield at(file, setting, wrong, found, effect, "Write a higher number.")
    elif setting.key == "abort.on.send.failure":
        yield from _abort(file, setting)
    elif setting.key == "message.handler":
        found, effect = "a class of your own handles each record", "it may change, drop or rename what is copied"
        yield at(file, setting, LintCode.MESSAGE_HANDLER, found, effect, "Compare what it does with the new copy.")


def _abort(file: MirrorFile, setting: MirrorSetting) -> Iterator[LintFinding]:
    if setting.value.lower() == "false":
        found, effect = "MirrorMaker does not stop after a record that it could not write", "the record is lost"
        yield at(file, setting, LintCode.FAILURE_IGNORED, found, effect, "Remove the option.")
    elif setting.value.lower() != "true":
        found = f"the value {value_of(setting)} is neither true nor false"
        yield at(file, setting, LintCode.VALUE_TYPE, found, _NOT_STARTED, "Write true, or remove the option.")


def environment(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for a login that is in a file of its own, which this command does not copy to other places."""
    for setting in file.at(Place.OPTION, ENVIRONMENT):
        if setting.key == "java.security.auth.login.config":
            found, effect = "the login is in a file of its own", "it is not judged here"
            fix = "Write the login of MirrorMaker 2 into `sasl.jaas.config`."
            yield at(file, setting, LintCode.LOGIN_ELSEWHERE, found, effect, fix)


def removed(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding if the version has no MirrorMaker 1."""
    if file.kind.is_mirrormaker1 and ground.is_at_least("4.0"):
        found = f"Kafka {ground.version} has no MirrorMaker 1"
        yield on_file(file, LintCode.MIRRORMAKER1_REMOVED, found, _NOT_STARTED, "Use MirrorMaker 2.", file.line)


COMMAND_RULES = (command, environment, removed)
