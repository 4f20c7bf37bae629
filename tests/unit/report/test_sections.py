"""Rules of a report's sections: a format needs to know only their classes, so that a further format is one renderer."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

import pytest

from kafka_migration.core.report.report_sections import report_of
from kafka_migration.core.report.sections import BREAK, Break, Line, Name, Section, ShellCommand, Strong, Table
from kafka_migration.report_formats.markdown_report import markdown_of
from tests.stored_examples import read_run
from tests.unit.report.test_hostile_report import whole_run

PIECES = {str, Name, Strong, ShellCommand, Break}


def sections_of(section: Section) -> Iterator[Section]:
    yield section
    for part in section.parts:
        yield from sections_of(part)


EVERY = list(sections_of(report_of(read_run(whole_run()))))


def lines_of(section: Section) -> Iterator[Line]:
    yield from (section.title, *section.lead, *section.facts, *section.notes)
    if section.table:
        yield from section.table.header
        yield from (cell for row in section.table.rows for cell in row)


def pieces(line: Line) -> tuple[str, ...]:
    return (line,) if isinstance(line, str) else line


@pytest.mark.parametrize("section", EVERY, ids=lambda section: "".join(pieces(section.title))[:30])
def test_section_is_rendered_by_its_classes(section: Section) -> None:
    """Each piece has a class of `sections` or is a text; each row has a cell per column; no section is empty."""
    found = {type(piece) for line in lines_of(section) for piece in pieces(line)}

    # A member of an enumeration is a text too.
    assert all(kind in PIECES or issubclass(kind, StrEnum) for kind in found)
    assert section.lead or section.table or section.facts or section.parts
    if section.table:
        assert {len(section.table.header)} == {len(row) for row in section.table.rows}


def test_markdown_of_each_piece() -> None:
    """A name is code unless it has a backtick, a command too; everything else is text without markup."""
    line = (
        Name("orders"),
        ": ",
        Name("a `b`"),
        " ",
        Strong("*No*"),
        BREAK,
        "1. x",
        BREAK,
        " y",
        " ",
        ShellCommand("a -b"),
    )
    table = Table(("A",), (("|",),))
    section = Section("T", ("- lead",), table, (line,), ("n",), (Section(Name("p"), ("q",)),))

    assert (
        "# T\n\n\\- lead\n\n| A   |\n| --- |\n| \\|  |\n\n"
        "- `orders`: a \\`b\\` **`*No*`**\n  1\\. x\n  y `a -b`\n\nn\n\n## `p`\n\nq\n"
    ) == markdown_of(section)
