"""Quoting of foreign texts: for a shell, for a migration file, and in a line of text."""

from __future__ import annotations

import json
import shlex

from kafka_migration.core.text.terminal_text import shown


def shell_word(text: str) -> str:
    """Return any text quoted as one word of a command for bash, zsh and ksh.

    Invisible characters and line ends are written as ASCII escapes.
    """
    if text.isprintable():
        return shlex.quote(text)
    return "$'" + escaped(text, "'") + "'"


def escaped(text: str, quote: str) -> str:
    """Return the text with a backslash before the quote and each backslash; invisible characters are escaped."""
    return "".join(_letter(letter, quote) for letter in text)


def _letter(letter: str, quote: str) -> str:
    if letter in {quote, "\\"}:
        return f"\\{letter}"
    if letter.isprintable():
        return letter
    return f"\\u{ord(letter):04x}" if ord(letter) <= 0xFFFF else f"\\U{ord(letter):08x}"


def yaml_string(text: str) -> str:
    """Return a quoted YAML string: unquoted, it might be a number or a YAML keyword.

    A JSON string is no substitute: it has a character beyond U+FFFF as a surrogate pair, which YAML does not combine.
    """
    return '"' + escaped(text, '"') + '"'


# The most letters of a foreign name that a message repeats.
LONGEST_QUOTE = 200


def quoted(name: str) -> str:
    """Return the beginning of any name in double quotes, on one line and without control characters."""
    more = f" and {len(name) - LONGEST_QUOTE:,} more letters" if len(name) > LONGEST_QUOTE else ""
    return shown(json.dumps(name[:LONGEST_QUOTE], ensure_ascii=False)) + more


def plain_name(group: str) -> str:
    """Return a group's name for a line of text; one with invisible characters is shown escaped."""
    return group if group.isprintable() and group else repr(group)


def group_subject(group: str) -> str:
    """Return the subject of a finding about a group."""
    return f"group {plain_name(group)}"
