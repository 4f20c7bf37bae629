"""The commands in a script that start MirrorMaker or Connect, with the variables and files that the script fills."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import PurePosixPath

from kafka_migration.core.text.regex import regex
from kafka_migration.mirrormaker_files.model.command_options import PROGRAM, StartProgram
from kafka_migration.mirrormaker_files.model.lint_limits import LONGEST_COMMAND, require_few
from kafka_migration.mirrormaker_files.model.mirror_settings import NO_SCRIPT, FileKind, ScriptFacts, VariableList
from kafka_migration.mirrormaker_files.model.remarks import Oddity, OpenQuote
from kafka_migration.mirrormaker_files.scripts.shell_words import (
    CLOSES,
    OPENS,
    Assigned,
    Command,
    HereDocument,
    Splitter,
    Syntax,
    Word,
    as_docker_reads,
    whole_commands,
)
from kafka_migration.mirrormaker_files.scripts.written_files import TextPart, Writer

COMMAND = regex(rf"(?:{PROGRAM})\b")
_PROGRAM = regex(rf"(?:.*[/\\=])?({PROGRAM})", re.DOTALL)
# Words of each program's name, but for MirrorMaker 1.
_NAMES = (
    (regex(r"connect[-.]mirror"), StartProgram.MIRRORMAKER2),
    (regex(r"standalone", re.IGNORECASE), StartProgram.STANDALONE),
    (regex(r"distributed", re.IGNORECASE), StartProgram.DISTRIBUTED),
)
# Programs that take the name of MirrorMaker's as an argument, but do not start it.
_OTHERS = frozenset(
    {
        *("echo", "printf", "grep", "egrep", "pgrep", "pkill", "killall", "ps", "which", "ls", "cat", "cp", "mv", "rm"),
        *("chmod", "chown", "cd", "systemctl", "service", "COPY", "ADD", "rem", "REM", "LABEL", "apt-get", "yum"),
    }
)
_INLINE = regex(r"-[a-z]{0,5}c|/c")
_REMOTE = frozenset({"eval", "ssh"})
_ASSIGNMENT = regex(r"(?:Environment=)?([A-Za-z_]\w{0,199})=(.*)", re.DOTALL)
_DECLARES = frozenset({"export", "readonly", "local", "declare", "typeset", "set", "ENV", "then", "else", "do", "env"})
_BATCH = regex(r"@echo off|kafka-mirror-maker\.bat", re.IGNORECASE)
_CLIENT_OPTIONS = {"consumer.config": FileKind.CONSUMER, "producer.config": FileKind.PRODUCER}
_UNIT = regex(r"^(?:ExecStart|command)[ \t]{0,20}=", re.MULTILINE)
_REPLACED = regex(r"\$[\w{(]|`|%\w{1,100}%")
_LIST = regex(r"^[ \t]{0,100}(?:CMD|ENTRYPOINT)[ \t]{0,20}(?=\[)", re.MULTILINE)
# The text that `sed` looks for: between two signs after `s`.
_SEARCHED = regex(r"s([/|#,@:!~])(.{1,300}?)(?<!\\)\1")
_ANY = regex(r"^\^|^\.\*|\.\*$|\$$")
_ESCAPE = regex(r"\\(.)")
_LISTED = regex(r"\$(?:([A-Za-z_]\w{0,200})|\{([A-Za-z_]\w{0,200})\})")
_COMMAND_IN = regex(r"\$\(|`")


@dataclass(frozen=True, slots=True)
class Started:
    """One command that starts MirrorMaker or Connect: the words before its program, and its arguments."""

    line: int
    before: tuple[Word, ...]
    arguments: tuple[Word, ...]
    syntax: Syntax
    program: StartProgram
    # The shell reads a `|` that touches the last argument as a pipe.
    has_pipe: bool = False
    cut: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    """What a script starts, sets and writes; `here_documents` are those that become no file."""

    starts: tuple[Started, ...]
    assigned: tuple[Assigned, ...]
    here_documents: tuple[HereDocument, ...]
    written: tuple[TextPart, ...] = ()
    facts: ScriptFacts = NO_SCRIPT


def script_of(text: str, name: str) -> Script:
    """Return the commands of a script. Raises `OpenQuote` if a quote of a command is not closed."""
    text = as_docker_reads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    syntax = _syntax(name, text)
    texts = list(_texts(text, syntax))
    plain = [each for line, part in texts for each in _commands(part, line, syntax, {})[0]]
    assigned = tuple(assigned_by(plain))
    variables = {each.name: each.value for each in assigned if each.is_known}
    starts, documents = list[Started](), list[HereDocument]()
    for line, part in texts:
        commands, here = _commands(part, line, syntax, variables)
        starts += [each for command in whole_commands(commands) for each in _started(command, syntax, variables)]
        documents += here
    starts += started_by([word for words in _lists(text) for word in words], variables)
    unnamed = tuple(each for each in documents if not each.file)
    flat = list(_flat(plain))
    facts = ScriptFacts(
        frozenset(each.name for each in assigned),
        tuple(filled_by(flat)),
        tuple(lists_of(flat)),
        tuple(cut for each in starts for cut in each.cut),
        frozenset(each.output for each in flat if each.appends and each.output),
    )
    written = written_by(plain, assigned, starts) if syntax.is_shell else ()
    return Script(tuple(starts), assigned, unnamed, tuple(_with_facts(each, facts) for each in written), facts)


def _with_facts(part: TextPart, facts: ScriptFacts) -> TextPart:
    """Return a written file without the remark that its variables stay if `envsubst` or `sed` has the file."""
    names = {name for name, _ in facts.filled}.union(*(each.files for each in facts.lists))
    is_kept = PurePosixPath(part.name).name not in names
    remarks = (each for each in part.remarks if is_kept or each.oddity is not Oddity.HERE_DOCUMENT_QUOTED)
    return replace(part, remarks=tuple(remarks))


def written_by(
    commands: Sequence[Command], assigned: Sequence[Assigned], starts: Sequence[Started]
) -> tuple[TextPart, ...]:
    """Return the files that commands of a shell write, with the kind for which a command of MirrorMaker uses them."""
    writer = Writer({each.name: each for each in assigned if each.is_single})
    writer.run(list(_flat(commands)))
    used = {path: kind for start in starts for path, kind in _used(start)}
    return tuple(replace(part, kind=used.get(PurePosixPath(part.name).name)) for part in writer.parts())


def _used(start: Started) -> Iterator[tuple[str, FileKind]]:
    """Yield the names of files that a command gives to the clients of MirrorMaker 1, or to MirrorMaker 2."""
    words = [word.text for word in start.arguments]
    pairs = [each.split("=", 1) for each in words if "=" in each] + [list(each) for each in pairwise(words)]
    for option, path in pairs:
        if kind := _CLIENT_OPTIONS.get(option.lstrip("-")):
            yield PurePosixPath(path).name, kind
    for word in words if start.program is StartProgram.MIRRORMAKER2 else ():
        yield PurePosixPath(word).name, FileKind.MIRRORMAKER2


def _flat(commands: Iterable[Command]) -> Iterator[Command]:
    """Yield the commands, with those of each text for `sh -c` in its place."""
    for command in commands:
        texts = [word for before, word in pairwise(command.words) if _INLINE.fullmatch(before.text)]
        if not texts or command.words[0].text in _OTHERS:
            yield command
        for word in texts:
            yield from _commands(word.text, word.line, Syntax.SHELL, {})[0]


def started_by(words: Sequence[Word], variables: dict[str, str]) -> Iterator[Started]:
    """Yield what a list of words starts, as a container's `ENTRYPOINT` followed by its `CMD`."""
    yield from _started(Command(list(words)), Syntax.WORDS, variables)


def _syntax(name: str, text: str) -> Syntax:
    if name.lower().endswith((".bat", ".cmd")) or _BATCH.search(text):
        return Syntax.BATCH
    return Syntax.WORDS if _UNIT.search(text) else Syntax.SHELL


def _texts(text: str, syntax: Syntax) -> Iterator[tuple[int, str]]:
    """Yield the texts that hold commands: the whole script, or the entries of a unit of systemd or supervisord."""
    if syntax is not Syntax.WORDS or not _UNIT.search(text):
        yield 1, text
        return
    for line, content in joined_lines(text):
        if _UNIT.match(content) or content.startswith("Environment="):
            yield line, content


def joined_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers, continued ones as one text of several lines."""
    start, parts = 0, list[str]()
    for number, line in enumerate(text.split("\n"), 1):
        start = start if parts else number
        parts.append(line)
        if not line.endswith("\\"):
            yield start, "\n".join(parts)
            parts = []
    if parts:
        yield start, "\n".join(parts)


def _commands(
    text: str, line: int, syntax: Syntax, variables: dict[str, str]
) -> tuple[list[Command], list[HereDocument]]:
    """Return the commands of a text; if a quote in it stays open, those of the lines that name MirrorMaker."""
    splitter = Splitter(text, line, syntax, variables)
    try:
        return splitter.commands(), splitter.here_documents
    except OpenQuote:
        found = list[Command]()
        for number, content in joined_lines(text):
            if COMMAND.search(content.partition(" #")[0]) and not content.lstrip().startswith("#"):
                found += Splitter(content, line + number - 1, syntax, variables).commands()
        return found, []


def _started(command: Command, syntax: Syntax, variables: dict[str, str]) -> Iterator[Started]:
    words = [word for word in command.words if word.text not in {"{", "(", "then", "do", "else", "!"}]
    if not words or words[0].text in _OTHERS:
        return
    for place, word in enumerate(words):
        if match := _PROGRAM.fullmatch(word.text):
            require_few(
                "".join(each.text for each in words), LONGEST_COMMAND, f"characters in one command, line {word.line}"
            )
            before, after = tuple(words[:place]), tuple(words[place + 1 :])
            has_pipe = command.ends_with == "|" and command.is_glued
            yield Started(word.line, before, after, syntax, _program(match[1]), has_pipe, command.cut)
            return
        is_text = place and (_INLINE.fullmatch(words[place - 1].text) or words[0].text in _REMOTE)
        if is_text and COMMAND.search(word.text):
            inner, _ = _commands(word.text, word.line, Syntax.SHELL, variables)
            for each in whole_commands(inner):
                yield from _started(each, Syntax.SHELL, variables)


def _program(name: str) -> StartProgram:
    return next((program for words, program in _NAMES if words.search(name)), StartProgram.MIRRORMAKER1)


def assigned_by(commands: Iterable[Command]) -> Iterator[Assigned]:
    """Yield each variable that commands set, with its first value."""
    found, depth, is_after = dict[str, Assigned](), 0, False
    for command in commands:
        depth += sum((word.text in OPENS) - (word.text in CLOSES) for word in command.words[:1])
        for line, name, value in _assignments(command):
            first = found.get(name)
            is_single = depth <= 0 and not is_after
            is_known = is_single and not _REPLACED.search(value)
            if first is None:
                found[name] = Assigned(line, name, value, is_known, is_single)
            elif first.value != value or not is_known:
                found[name] = Assigned(first.line, name, first.value, is_known=False)
        is_after = command.ends_with in {"&&", "||"}
    return iter(found.values())


def _assignments(command: Command) -> Iterator[tuple[int, str, str]]:
    """Yield what a command assigns, before the words of its program."""
    words = [word.text for word in command.words]
    if words[:1] == ["ENV"] and len(words) > 2 and "=" not in words[1]:
        yield command.words[1].line, words[1], " ".join(words[2:])
        return
    for word in command.words:
        if match := _ASSIGNMENT.fullmatch(word.text):
            yield word.line, match[1], match[2]
        elif word.text not in _DECLARES and not word.text.startswith("-"):
            return


def _lists(text: str) -> Iterator[list[Word]]:
    """Yield the words of each `CMD [...]` and `ENTRYPOINT [...]`."""
    flat, decoder = text.replace("\\\n", " \n"), json.JSONDecoder()
    for match in _LIST.finditer(flat):
        try:
            decoded, end = decoder.raw_decode(flat, match.end())
        except (ValueError, RecursionError):
            continue
        if all(isinstance(word, str) for word in decoded):
            yield list(_texts_of(flat, match.end(), end, decoder))


def _texts_of(text: str, start: int, end: int, decoder: json.JSONDecoder) -> Iterator[Word]:
    """Yield the texts of a list with their lines."""
    line, before = text.count("\n", 0, start) + 1, start
    while (place := text.find('"', start, end)) >= 0:
        word, start = decoder.raw_decode(text, place)
        line, before = line + text.count("\n", before, place), place
        yield Word(line, word, is_quoted=True)


def filled_by(commands: Sequence[Command]) -> Iterator[tuple[str, str]]:
    """Yield the name of each file with the text that is replaced in it; an empty text for all variables."""
    for command, names in _with_files(commands):
        words = [word.text for word in command.words]
        if "envsubst" in words[:2] and _list(command) is None:
            yield from ((name, "") for name in names)
        elif words[:1] == ["sed"] or words[:2] == ["sudo", "sed"]:
            texts = [_literal(match[2]) for word in words for match in _SEARCHED.finditer(word)]
            yield from ((name, text) for name in names for text in texts if text)


def lists_of(commands: Sequence[Command]) -> Iterator[VariableList]:
    """Yield the list of each `envsubst` that has one, with the files."""
    for command, names in _with_files(commands):
        if "envsubst" in [word.text for word in command.words[:2]] and (listed := _list(command)) is not None:
            found = _LISTED.findall(listed)
            yield VariableList(command.words[0].line, frozenset(one or other for one, other in found), tuple(names))


def _with_files(commands: Sequence[Command]) -> Iterator[tuple[Command, list[str]]]:
    """Yield each command with the names of its files, also those of a command that writes into it."""
    before: Command | None = None
    for command in commands:
        piped = before if before and before.ends_with == "|" else None
        yield command, [name for each in (piped, command) if each for name in _files(each)]
        before = command


def _list(command: Command) -> str | None:
    """Return the list of an `envsubst`; `None` without one, or if another command makes it."""
    words = [word.text for word in command.words]
    given = [each for each in words[words.index("envsubst") + 1 :] if each and not each.startswith("-")]
    return None if len(given) != 1 or _COMMAND_IN.search(given[0]) else given[0]


def _files(command: Command) -> Iterator[str]:
    """Yield the names of the files that a command may read or write."""
    for text in (command.input, command.output, *(word.text for word in command.words[1:])):
        # A script has many words, and few of them are paths.
        name = PurePosixPath(text).name if "/" in text or text == "." else text
        if name and len(text) < 1_000 and not text.startswith("-") and not _SEARCHED.search(text):
            yield name


def _literal(pattern: str) -> str:
    """Return the text that a pattern of `sed` means, without what stands for any text at its ends."""
    before = ""
    while before != pattern:
        before, pattern = pattern, _ANY.sub("", pattern)
    return _ESCAPE.sub(lambda match: match[1], pattern)
