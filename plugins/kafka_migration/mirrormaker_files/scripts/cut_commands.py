"""Commands that end before their options, because a line before them is not continued."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from kafka_migration.core.text.regex import regex
from kafka_migration.mirrormaker_files.scripts.shell_words import Command

_OPTION = regex(r"--?[A-Za-z]")
_IMAGE = regex(r"^FROM[ \t]{1,20}\S", re.MULTILINE)
_CONTINUED = regex(r"\\[ \t]{0,100}$")


def whole_commands(commands: Iterable[Command]) -> list[Command]:
    """Return the commands as they are meant: with the lines after each that are only its options.

    The lines on which such a command ends too early are in its `cut`, each with that of its next word.
    """
    found = list[Command]()
    for command in commands:
        if found and _is_cut(found[-1], command):
            found[-1] = _joined(found[-1], command)
        else:
            found.append(command)
    return found


def _is_cut(before: Command, after: Command) -> bool:
    if before.ends_with != "\n" or not before.words or not after.words:
        return False
    first = after.words[0]
    return _ends_with_blank(before) or (not first.is_quoted and _OPTION.match(first.text) is not None)


def _ends_with_blank(command: Command) -> bool:
    """Return whether the last word is a blank with a backslash before it."""
    return len(command.words) > 1 and command.words[-1].text.isspace()


def _joined(before: Command, after: Command) -> Command:
    words = before.words[:-1] if _ends_with_blank(before) else before.words
    cut = (*before.cut, (before.end, after.words[0].line), *after.cut)
    return replace(after, words=[*words, *after.words], cut=cut, here=before.here or after.here)


def as_docker_reads(text: str) -> str:
    """Return the file of an image as its builder reads it: comments and empty lines do not end a continued line."""
    if not _IMAGE.search(text):
        return text
    lines, is_continued = list[str](), False
    for line in text.split("\n"):
        is_passed_over = is_continued and (not line.strip() or line.lstrip().startswith("#"))
        lines.append("\\" if is_passed_over else _CONTINUED.sub(r"\\", line))
        is_continued = lines[-1].endswith("\\")
    return "\n".join(lines)
