"""Files of MirrorMaker 1: client properties, and the command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kafka_migration.core.text.regex import regex
from kafka_migration.mirrormaker_files.model.command_options import (
    ENVIRONMENT,
    FLAGS,
    OPTIONS,
    PATTERNS,
    PROGRAM_OWNER,
    WITH_VALUE,
    StartProgram,
)
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.remarks import Oddity, Remark
from kafka_migration.mirrormaker_files.scripts.scripts import Script, Started
from kafka_migration.mirrormaker_files.scripts.shell_words import Assigned, Syntax, Word

# What Kafka's scripts hand to Java.
_VARIABLES = regex(r"KAFKA_\w{0,40}_?OPTS|KAFKA_DEBUG|JMX_PORT|CLASSPATH|EXTRA_ARGS|LOG_DIR")
_REFERENCE = regex(r"\$\{?\w{1,100}\}?|\"?\$\{?\w{1,100}\[@\]\}?\"?")
_PROPERTY = regex(r"-D([^=\s]{1,200})=?(\S*)")


def command_files(name: str, script: Script) -> list[MirrorFile]:
    """Return one file for each command that starts MirrorMaker or Connect: each is a process of its own."""
    files = [
        _command(name, started, script.assigned)
        if started.program is StartProgram.MIRRORMAKER1
        else _start(name, started)
        for started in script.starts
    ]
    return [replace(file, script=script.facts) for file in files]


def _start(name: str, started: Started) -> MirrorFile:
    """Return a command of MirrorMaker 2 or Connect: its program, and its options and files."""
    program = MirrorSetting(started.line, started.program, "", Place.OPTION, started.program, PROGRAM_OWNER)
    words = [each for each in started.arguments if each.text]
    settings = [MirrorSetting(each.line, _name_of(each), each.text, Place.OPTION, _key_of(each)) for each in words]
    return MirrorFile(name, FileKind.START, (program, *settings), line=started.line)


def _key_of(word: Word) -> str:
    return word.text.partition("=")[0].lstrip("-") if word.text.startswith("-") else ""


def _name_of(word: Word) -> str:
    return word.text.partition("=")[0] if word.text.startswith("-") else _shown(word.text)


def _command(name: str, started: Started, assigned: Sequence[Assigned]) -> MirrorFile:
    settings, remarks = list[MirrorSetting](), list[Remark]()
    for setting, word in _options(started.arguments):
        settings.append(setting)
        if word and setting.key in PATTERNS and started.syntax is Syntax.SHELL and not word.is_quoted:
            oddity = Oddity.UNQUOTED if word.is_glob else Oddity.VARIABLE_UNQUOTED
            remarks.append(Remark(oddity, setting.line, setting.name))
    if started.has_pipe and settings:
        remarks.append(Remark(Oddity.PIPE, settings[-1].line, settings[-1].name))
    settings += _environment(started.before, assigned)
    return MirrorFile(name, FileKind.COMMAND, tuple(settings), line=started.line, remarks=tuple(remarks))


def _options(words: Sequence[Word]) -> Iterator[tuple[MirrorSetting, Word | None]]:
    """Yield the options with the word of the value. As Kafka's parser does, an option takes the next word, any word."""
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if len(word.text) < 2 or not word.text.startswith("-"):
            yield MirrorSetting(word.line, _shown(word.text), word.text, Place.OPTION, ""), None
            continue
        written, equals, value = word.text.partition("=")
        option = written.lstrip("-")
        source = word if value else None
        if not equals and rest and _takes(option, rest[-1]):
            source = rest.pop()
            value = source.text
        yield MirrorSetting(word.line, written, value, Place.OPTION, option), source


def _shown(word: str) -> str:
    """Return the name of a word that belongs to no option: itself only if it can be no secret."""
    return word if word in OPTIONS or _REFERENCE.fullmatch(word) else "a word"


def _takes(option: str, word: Word) -> bool:
    if option in OPTIONS:
        return option in WITH_VALUE
    return option not in FLAGS and not word.text.startswith("-")


def _environment(before: Iterable[Word], assigned: Iterable[Assigned]) -> Iterator[MirrorSetting]:
    """Yield the variables that Kafka's scripts hand to Java, and Java's properties in them and in the command."""
    for word in before:
        if match := _PROPERTY.fullmatch(word.text):
            yield _of_environment(word.line, f"-D{match[1]}", match[2], match[1])
    for each in assigned:
        if _VARIABLES.fullmatch(each.name):
            found = list(_PROPERTY.finditer(each.value))
            for match in found:
                yield _of_environment(each.line, f"-D{match[1]}", match[2], match[1])
            rest = _PROPERTY.sub("", each.value).strip()
            if rest or not found:
                yield _of_environment(each.line, each.name, rest, each.name)


def _of_environment(line: int, name: str, value: str, key: str) -> MirrorSetting:
    return MirrorSetting(line, name, value, Place.OPTION, key, ENVIRONMENT)
