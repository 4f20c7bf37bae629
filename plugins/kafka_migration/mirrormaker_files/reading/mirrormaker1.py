"""Files of MirrorMaker 1: client properties, and the command line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from kafka_migration.mirrormaker_files.model.limits import LONGEST_COMMAND, require_few
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.reading.properties import Entry

COMMAND = re.compile(r"kafka-mirror-maker(?:\.sh|\.bat)?\b|kafka\.tools\.MirrorMaker\b")
# Words of a shell that end a command.
_END = re.compile(r"[;&|]+|\d?>.*|<.*")


def client_file(name: str, kind: FileKind, entries: Sequence[Entry]) -> MirrorFile:
    """Return a consumer or producer file."""
    settings = (
        MirrorSetting(each.line, each.name, each.value, Place.CLIENT, each.name, dropped=each.dropped)
        for each in entries
    )
    return MirrorFile(name, kind, tuple(settings))


def command_file(name: str, text: str) -> MirrorFile:
    """Return the options of each MirrorMaker command in a script; other commands are left out.

    Raises `ValueError` if a quote of the command is not closed.
    """
    settings = [each for line, command in _commands(text) for each in _options(line, command)]
    return MirrorFile(name, FileKind.COMMAND, tuple(settings))


def _commands(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the words after the program's name of each command that starts MirrorMaker."""
    for line, content in _joined(text):
        if COMMAND.search(content.partition(" #")[0]) and not content.lstrip().startswith("#"):
            require_few(content, LONGEST_COMMAND, f"characters in one command, line {line}")
            words = shlex.split(content, comments=True)
            start = next((i for i, word in enumerate(words) if COMMAND.search(word)), None)
            if start is not None:
                yield line, words[start + 1 :]


def _joined(text: str) -> Iterator[tuple[int, str]]:
    start, parts = 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        start = start if parts else number
        parts.append(line.removesuffix("\\"))
        if not line.endswith("\\"):
            yield start, " ".join(parts)
            parts = []
    if parts:
        yield start, " ".join(parts)


def _options(line: int, words: Sequence[str]) -> Iterator[MirrorSetting]:
    """Yield the options; a word without dashes is the value of the option before it."""
    option, value = "", ""
    for word in [*words, ";"]:
        is_end = _END.fullmatch(word) is not None
        if option and (is_end or word.startswith("--")):
            yield MirrorSetting(line, f"--{option}", value, Place.OPTION, option)
            option, value = "", ""
        if is_end:
            return
        if word.startswith("--"):
            option, _, value = word.removeprefix("--").partition("=")
        else:
            value = f"{value} {word}".strip()
