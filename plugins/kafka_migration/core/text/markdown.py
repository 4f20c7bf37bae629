"""Text for Markdown: tables, and escaping of arbitrary names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_PLAIN = re.compile(r"[A-Za-z0-9@:/.][A-Za-z0-9@:/._-]*")
# Characters that start markup or a link inside a line; underscores within a word do not.
_MARKUP = re.compile(
    r"[\\`*\[\]<>|~&@$]|:(?=//)|(?<=www)\.|_{3,}|(?<![A-Za-z0-9_])__?|__?(?![A-Za-z0-9_])", re.IGNORECASE
)
# Characters that start a heading, a list, a line or code at the beginning of a line.
_BLOCK = re.compile(r"#{1,6}(?:\s|$)|[-+](?:\s|$)|[0-9]{1,9}[.)](?:\s|$)|---|=|\s|```")
# A backtick, and a partition number, which is not a link.
_KEPT = re.compile(r"(`|\[[0-9]{1,10}\](?![(\[:]))")
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table; `|` in cells is escaped."""
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def shown(name: str) -> str:
    """Return any name so that Markdown shows it unchanged: a plain name as code, any other name escaped.

    Users may choose any name for groups and clients.
    """
    return f"`{name}`" if _PLAIN.fullmatch(name) else escaped(name) or "(empty)"


def escaped(text: str, *, is_file: bool = False) -> str:
    """Return any text on one line without markup; invisible characters are written as `\\n` or `\\u202e`.

    :param is_file: whether people also read the unrendered file; then partition numbers and backticks are kept
    """
    visible = "".join(c if unicodedata.category(c) not in _INVISIBLE else ascii(c)[1:-1] for c in text)
    pieces = _KEPT.split(visible) if is_file else [visible]
    inline = "".join(piece if number % 2 else _MARKUP.sub(_reference, piece) for number, piece in enumerate(pieces))
    return f"&#{ord(inline[0])};{inline[1:]}" if _BLOCK.match(visible) else inline


def _reference(match: re.Match[str]) -> str:
    # Character references are never markup, even inside a table.
    return "".join(f"&#{ord(character)};" for character in match[0])
