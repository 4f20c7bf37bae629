"""Java properties with line numbers, read as `java.util.Properties` reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BLANK = " \t\f"
_SEPARATOR = re.compile(rf"[{_BLANK}]*[=:]?[{_BLANK}]*")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.|$)", re.DOTALL)
# A backslash that Java removes although the writer meant it: of a regular expression, or of a path. Within brackets
# most signs mean themselves without it.
_DROPPED = re.compile(r"\\[^\\tnrfu\W_]|\\[.*+?()\[\]{}|^$]")
_DROPPED_IN_BRACKETS = re.compile(r"\\[^\\tnrfu\W_]|\\[\[\]^&]")
_ESCAPE_OR_BRACKET = re.compile(r"\\.|[\[\]]", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_BREAK = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Entry:
    """A key and its value, with the number of the line on which the key starts.

    `dropped` is the first backslash of the value, with the letter after it, that Java removes; empty if there is none.
    """

    line: int
    name: str
    value: str
    dropped: str = ""


def entries(text: str) -> list[Entry]:
    """Return the entries in the order of the file, repeated keys included.

    A value keeps its trailing blanks, and `#` starts a comment only at the beginning of a line.
    """
    return [_entry(line, content) for line, content in _logical_lines(text)]


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each entry's first line number and its text, with continued lines joined."""
    start, parts = 0, list[str]()
    for number, line in enumerate(_BREAK.split(text.removeprefix("\ufeff")), 1):
        stripped = line.lstrip(_BLANK)
        if not parts and (not stripped or stripped[0] in "#!"):
            continue
        start = start if parts else number
        is_continued = (len(stripped) - len(stripped.rstrip("\\"))) % 2 == 1
        parts.append(stripped[:-1] if is_continued else stripped)
        if not is_continued:
            yield start, "".join(parts)
            parts = []
    if parts:
        yield start, "".join(parts)


def _entry(line: int, content: str) -> Entry:
    end = _end_of_key(content)
    separator = _SEPARATOR.match(content, end)
    value = content[separator.end() if separator else end :]
    return Entry(line, _unescaped(content[:end]), _unescaped(value), _dropped(value))


def _dropped(value: str) -> str:
    is_in_brackets = False
    for match in _ESCAPE_OR_BRACKET.finditer(value):
        if match[0] in {"[", "]"}:
            is_in_brackets = match[0] == "["
        elif (_DROPPED_IN_BRACKETS if is_in_brackets else _DROPPED).fullmatch(match[0]):
            return match[0]
    return ""


def _end_of_key(content: str) -> int:
    position = 0
    while position < len(content) and content[position] not in f"=:{_BLANK}":
        position += 2 if content[position] == "\\" else 1
    return min(position, len(content))


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: _letter(match[1]), text)


def _letter(escape: str) -> str:
    if len(escape) == 5:
        return chr(int(escape[1:], 16))
    return _LETTERS.get(escape, escape)
