"""Quoting for commands in findings and reports that people copy into a shell."""

from __future__ import annotations

import shlex


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
