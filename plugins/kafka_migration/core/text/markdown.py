"""Text for Markdown that people also read as it is: names and texts without markup, tables, wrapped lines.

A word with markup is shown as code, which every viewer shows unchanged. Only a word that cannot be code gets
backslashes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

# The columns of a terminal, in which a file is readable as it is; and those to which a cell of a table is filled up.
WIDTH, _WIDEST = 80, 40
# Code between backticks, a word, the space between words, or a single backtick.
_TOKEN = re.compile(r"`(?! )[^`|]{1,500}(?<! )`|[^\s`]+|\s+|`")
# What may be markup or a link in a word; underscores within a word are not, nor is a partition number.
_MARKUP = re.compile(
    r"[`|*~$@]|\\(?![A-Za-z0-9])|&(?=#?\w{1,40};)|<(?=[A-Za-z/!?]|$)|\](?=[(\[:])|:(?=//)|(?<=www)\."
    r"|___|(?<![A-Za-z0-9_])__?|__?(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
# What begins a heading, a list, a line, a quotation or a table at the beginning of a line.
_BLOCK = re.compile(r"(?:[0-9]{1,9}(?=[.)](?: |$))|(?=#{1,6}(?: |$)|[-+](?: |$)|[-= ]+$|>|:-|\[[ xX]?\]))")
# What stands right before a text may make markup of its first letters, unless it is code or has a backslash.
_END = re.compile(r"(?<!\\)[^\s`|\\]{0,20}\Z")
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
# A word of a line of Markdown; the spaces of code belong to it.
_WORD = re.compile(r"(?:\\.|`[^`]{0,500}`|\S)+")
_NUMBER = re.compile(r"[0-9][0-9,.]*|–|none|not known")


def shown(name: str, before: str = "") -> str:
    """Return any name so that Markdown shows it unchanged: as code, or escaped if it has a backtick or a `|`.

    Users may choose any name for groups and clients. Invisible characters are written as `\\n` or `\\u202e`.

    :param before: what stands before it on its line
    """
    name = _with_edges(_visible(name))
    if not name:
        return escaped("(empty)", before) if before else "(empty)"
    # Two pieces of code without a space between them would be one.
    if "`" in name or "|" in name or before.endswith("`"):
        return _PUNCTUATION.sub(r"\\\g<0>", name)
    return f"`{name}`"


def escaped(text: str, before: str = "") -> str:
    """Return any text on one line without markup: its code, and words with markup, as `shown` writes a name.

    :param before: what stands before it on its line; only the first text of a line could begin a list or a heading
    """
    line = before
    for token in _TOKEN.findall(_visible(text) if before else _visible(text).lstrip(" ")):
        is_code = len(token) > 1 and token[0] == "`"
        is_markup = is_code or _makes_markup(token, line)
        line += shown(token[1:-1] if is_code else token, line) if is_markup else token
    return line[len(before) :] if before else _begun(line)


def wrapped(text: str, first: str = "", rest: str = "") -> str:
    """Return Markdown in lines of at most `WIDTH` columns; only a word may be longer.

    :param first: what the first line begins with, such as `- `
    :param rest: what each further line begins with, of the same width
    """
    lines, line = [], ""
    for word in _WORD.findall(text):
        if line and columns(rest) + columns(line) + 1 + columns(word) > WIDTH:
            lines.append(line)
            line = _begun(word)
        else:
            line = f"{line} {word}" if line else word
    return first + f"\n{rest}".join((*lines, line))


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table; `|` in cells is escaped."""
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def aligned_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose columns stand below each other, with numbers to the right; each `|` must be escaped."""
    widths = [min(_WIDEST, max(3, *map(columns, column))) for column in zip(header, *rows, strict=True)]
    is_number = [all(map(_NUMBER.fullmatch, column)) for column in zip(*rows, strict=True)] or [False] * len(header)
    rule = ["-" * (width - right) + ":" * right for width, right in zip(widths, is_number, strict=True)]
    return "\n".join(
        f"| {' | '.join(map(_padded, line, widths, is_number))} |" for line in (tuple(header), rule, *rows)
    )


def _padded(cell: str, width: int, is_number: bool) -> str:
    space = " " * (width - columns(cell))
    return space + cell if is_number else cell + space


def is_wide(text: str) -> bool:
    """Return whether a line is wider than the terminal."""
    return any(columns(line) > WIDTH for line in text.splitlines())


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return len(text) if text.isascii() else sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def _makes_markup(word: str, before: str) -> bool:
    """Whether a word is markup, or becomes it with what stands before it on its line."""
    found = _END.search(before[-20:])
    end = found[0] if found else ""
    known = {each.start() for each in _MARKUP.finditer(end)}
    return any(each.start() not in known for each in _MARKUP.finditer(end + word))


def _begun(line: str) -> str:
    """Return what begins a line, so that it begins nothing else."""
    found = _BLOCK.match(line)
    return f"{found[0]}\\{line[found.end() :]}" if found else line


def _with_edges(name: str) -> str:
    """Return a name with the spaces at its edges written out."""
    begin, inner = len(name) - len(name.lstrip(" ")), name.strip(" ")
    return r"\x20" * begin + inner + r"\x20" * (len(name) - begin - len(inner)) if inner else r"\x20" * len(name)


def _visible(text: str) -> str:
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
