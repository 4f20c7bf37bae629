"""The files into which a script puts values before MirrorMaker reads them: with `envsubst` or `sed`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from kafka_migration.mirrormaker_files.reading.shell_words import Command

# The text that `sed` looks for: between two signs after `s`.
_SEARCHED = re.compile(r"s([/|#,@:!~])(.{1,300}?)(?<!\\)\1")
_ANY = re.compile(r"^\^|^\.\*|\.\*$|\$$")
_ESCAPE = re.compile(r"\\(.)")


def filled_by(commands: Sequence[Command]) -> Iterator[tuple[str, str]]:
    """Yield the name of each file with the text that is replaced in it; an empty text for all variables."""
    before: Command | None = None
    for command in commands:
        piped = before if before and before.ends_with == "|" else None
        names = [name for each in (piped, command) if each for name in _files(each)]
        words = [word.text for word in command.words]
        if "envsubst" in words[:2]:
            yield from ((name, "") for name in names)
        elif words[:1] == ["sed"] or words[:2] == ["sudo", "sed"]:
            texts = [_literal(match[2]) for word in words for match in _SEARCHED.finditer(word)]
            yield from ((name, text) for name in names for text in texts if text)
        before = command


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
