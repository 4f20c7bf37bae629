"""Words of commands that people copy from findings and reports into a shell."""

from __future__ import annotations

import shlex


def shell_word(text: str) -> str:
    """Return a text as one word of a command, whatever is in it; bash, zsh and ksh read it back as it was.

    What is invisible, or could end the line, is written out in ASCII.
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
