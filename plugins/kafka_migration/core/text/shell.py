"""Quoting for commands in findings and reports that people copy into a shell."""

from __future__ import annotations

import shlex


def shell_word(text: str) -> str:
    """Return any text quoted as one word of a command for bash, zsh and ksh.

    Invisible characters and line ends are written as ASCII escapes.
    """
    if text.isprintable():
        return shlex.quote(text)
    return "$'" + "".join(map(_letter, text)) + "'"


def _letter(letter: str) -> str:
    if letter in {"'", "\\"}:
        return f"\\{letter}"
    if letter.isprintable():
        return letter
    return f"\\u{ord(letter):04x}" if ord(letter) <= 0xFFFF else f"\\U{ord(letter):08x}"
