"""The report of a run as Markdown. People also read the file as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafka_migration.core.report.report_sections import report_of
from kafka_migration.core.report.run_document import RunDocument
from kafka_migration.core.report.sections import Break, Line, Name, Section, ShellCommand, Strong
from kafka_migration.core.text.markdown import escaped, shown, table

# A command of these characters is the same in a cell of a table; any other is escaped.
_PLAIN_COMMAND = re.compile(r"[A-Za-z0-9@:/.$_ -]+")


def render_report(run: RunDocument) -> str:
    """Return the whole report."""
    return markdown_of(report_of(run))


def markdown_of(section: Section) -> str:
    """Return a section with its parts, under a heading of the first level."""
    return "\n\n".join(_blocks(section, 1)) + "\n"


def _blocks(section: Section, level: int) -> Iterator[str]:
    yield f"{'#' * level} {_text(section.title)}"
    yield from map(_text, section.lead)
    if section.table:
        yield table(section.table.header, [tuple(map(_text, row)) for row in section.table.rows])
    if section.facts:
        yield "\n".join(
            f"{f'{number}.' if section.is_numbered else '-'} {_text(fact)}"
            for number, fact in enumerate(section.facts, start=1)
        )
    yield from map(_text, section.notes)
    for part in section.parts:
        yield from _blocks(part, level + 1)


def _text(line: Line) -> str:
    text = ""
    for piece in (line,) if isinstance(line, str) else line:
        text += _piece(piece, is_first=not text or text.endswith(_NEXT_LINE))
    return text


_NEXT_LINE = "\n  "


def _piece(piece: str, *, is_first: bool) -> str:
    """Return a piece of a line. Only its first piece could begin a heading, a list or a block of code."""
    if isinstance(piece, Break):
        return _NEXT_LINE
    if isinstance(piece, Name):
        return shown(piece)
    if isinstance(piece, ShellCommand) and _PLAIN_COMMAND.fullmatch(piece):
        return f"`{piece}`"
    rest = piece if is_first else piece.lstrip(" ")
    text = " " * (len(piece) - len(rest)) + escaped(rest, is_file=True)
    return f"**{text}**" if isinstance(piece, Strong) else text
