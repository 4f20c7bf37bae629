"""The files into which a script puts values before MirrorMaker reads them: with `envsubst` or `sed`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from kafka_migration.core.text.regex import regex
from kafka_migration.mirrormaker_files.model.mirror_settings import VariableList
from kafka_migration.mirrormaker_files.scripts.shell_words import Command

# The text that `sed` looks for: between two signs after `s`.
_SEARCHED = regex(r"s([/|#,@:!~])(.{1,300}?)(?<!\\)\1")
_ANY = regex(r"^\^|^\.\*|\.\*$|\$$")
_ESCAPE = regex(r"\\(.)")
_LISTED = regex(r"\$(?:([A-Za-z_]\w{0,200})|\{([A-Za-z_]\w{0,200})\})")
_COMMAND_IN = regex(r"\$\(|`")


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
        name = PurePosixPath(text).name if len(text) < 1_000 else ""
        if name and not text.startswith("-") and not _SEARCHED.search(text):
            yield name


def _literal(pattern: str) -> str:
    """Return the text that a pattern of `sed` means, without what stands for any text at its ends."""
    before = ""
    while before != pattern:
        before, pattern = pattern, _ANY.sub("", pattern)
    return _ESCAPE.sub(lambda match: match[1], pattern)
