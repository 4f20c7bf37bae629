"""The report of a run as Markdown. People also read the file as it is, in a window of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_migration.core.report.report_sections import report_of
from kafka_migration.core.report.run_document import RunDocument
from kafka_migration.core.report.sections import Break, Line, Name, Section, ShellCommand, Strong, Table
from kafka_migration.core.text.markdown import aligned_table, escaped, is_wide, shown, wrapped


def render_report(run: RunDocument) -> str:
    """Return the whole report."""
    return markdown_of(report_of(run))


def markdown_of(section: Section) -> str:
    """Return a section with its parts, under a heading of the first level."""
    return "\n\n".join(_blocks(section, 1)) + "\n"


def _blocks(section: Section, level: int) -> Iterator[str]:
    yield f"{'#' * level} {_text(section.title)}"
    yield from map(_lines, section.lead)
    if section.table:
        yield _table(section.table)
    if section.facts:
        marks = (f"{number}. " if section.is_numbered else "- " for number in range(1, len(section.facts) + 1))
        yield "\n".join(map(_lines, section.facts, marks))
    yield from map(_lines, section.notes)
    for part in section.parts:
        yield from _blocks(part, level + 1)


def _table(table: Table) -> str:
    """Return a table, or a list with an item per row if the table would be wider than the window."""
    rows = [tuple(map(_text, row)) for row in table.rows]
    drawn = aligned_table(table.header, rows)
    return "\n".join(_row(table.header, row) for row in rows) if is_wide(drawn) else drawn


def _row(header: tuple[str, ...], row: tuple[str, ...]) -> str:
    cells = (f"{head}: {cell}" for head, cell in zip(header[1:], row[1:], strict=True) if cell != "–")
    return f"{wrapped(row[0], '- ', '  ')}\n{wrapped(' · '.join(cells), '  ', '  ')}".rstrip()


def _lines(line: Line, mark: str = "") -> str:
    """Return a line in the width of the window, below each other as the breaks in it say."""
    rest = " " * len(mark)
    first, *others = _text(line).split("\n")
    return "\n".join((wrapped(first, mark, rest), *(wrapped(other, rest, rest) for other in others)))


def _text(line: Line) -> str:
    text = ""
    for piece in (line,) if isinstance(line, str) else line:
        text += _piece(piece, text.rpartition("\n")[2])
    return text


def _piece(piece: str, before: str) -> str:
    """Return a piece of a line after what stands before it."""
    if isinstance(piece, Break):
        return "\n"
    if isinstance(piece, Name | ShellCommand):
        return shown(piece, before)
    return f"**{escaped(piece, f'{before}**')}**" if isinstance(piece, Strong) else escaped(piece, before)
