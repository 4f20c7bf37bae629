"""Text for Markdown: tables, and names that are whatever somebody chose."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_PLAIN = re.compile(r"[A-Za-z0-9@:/.][A-Za-z0-9@:/._-]*")
# Whatever begins markup or a link inside a line; underscores within a word do not.
_MARKUP = re.compile(r"[\\`*\[\]<>|~&@$]|:(?=//)|(?<=www)\.|(?<![A-Za-z0-9_])_+|_+(?![A-Za-z0-9_])", re.IGNORECASE)
# A backtick, and the number of a partition, which is no link.
_KEPT = re.compile(r"(`|\[[0-9]+\](?![(\[:]))")
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table; `|` in cells is escaped."""
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def shown(name: str) -> str:
    """Return any name so that Markdown shows it as it is: a plain one as code, every other one escaped.

    Names of groups and clients are whatever somebody chose.
    """
    return f"`{name}`" if _PLAIN.fullmatch(name) else escaped(name) or "(empty)"


def escaped(text: str, *, is_file: bool = False) -> str:
    """Return any text on one line and without markup; invisible characters are written as `\\n` or `\\u202e`.

    :param is_file: whether people read it as it is, too: then partition numbers stay, and backticks, which only make
        code of what is between them
    """
    visible = "".join(c if unicodedata.category(c) not in _INVISIBLE else ascii(c)[1:-1] for c in text)
    if not is_file:
        return _MARKUP.sub(_reference, visible)
    pieces = _KEPT.split(visible)
    return "".join(piece if number % 2 else _MARKUP.sub(_reference, piece) for number, piece in enumerate(pieces))


def _reference(match: re.Match[str]) -> str:
    # Character references are never markup, also within a table.
    return "".join(f"&#{ord(character)};" for character in match[0])
