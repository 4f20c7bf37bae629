"""The parts that a report consists of, without a format: sections of lines, lists and tables.

A text is a `str`. A line of several pieces is a tuple of them. A piece of one of the classes below is set apart from
the text, in the way of the format that a renderer of `report_formats` writes, and every piece is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kafka_migration.core.findings.by_cause import by_cause
from kafka_migration.core.findings.errors import Finding


class Name(str):
    """The name of a thing, such as a topic, a group or a run."""

    __slots__ = ()


class RunName(Name):
    """The short name of a run (`core.run.run_names`); `whole` is its whole id."""

    __slots__ = ("whole",)
    whole: str

    @classmethod
    def of(cls, run: str, names: Mapping[str, str]) -> RunName:
        """Return the name of a run of a list."""
        piece = cls(names[run])
        piece.whole = run
        return piece


class Strong(str):
    """A word on which the reader's decision depends."""

    __slots__ = ()


class ShellCommand(str):
    """A command for a shell."""

    __slots__ = ()


class Break(str):
    """Continues the line of a list on the next line; its text is empty."""

    __slots__ = ()


BREAK = Break()
Line = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; each row has a cell per column."""

    header: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]


@dataclass(frozen=True, slots=True)
class ChartBar:
    """A bar of a chart: what it stands for, where it begins, how long it is, and its amount in words."""

    label: str
    begin: float
    amount: float
    words: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars on a scale from 0 to `end`. The text of its section has the same values, for formats without drawings."""

    title: str
    bars: tuple[ChartBar, ...]
    end: float


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report. Its content follows in the order of the fields; `is_numbered` is about the facts.

    `lead` and `notes` are paragraphs, `facts` the lines of a list, `parts` sections one level deeper. `charts` follow
    the list. A section that `begins_page` does so in print.
    """

    title: Line
    lead: tuple[Line, ...] = ()
    table: Table | None = None
    facts: tuple[Line, ...] = ()
    notes: tuple[Line, ...] = ()
    parts: tuple[Section, ...] = ()
    is_numbered: bool = False
    charts: tuple[Chart, ...] = ()
    begins_page: bool = False


def section_of(title: Line, facts: tuple[Line, ...], *, is_numbered: bool = False) -> tuple[Section, ...]:
    """Return a section with a list; none if the list is empty."""
    return (Section(title, facts=facts, is_numbered=is_numbered),) if facts else ()


def table_of(
    title: Line,
    header: tuple[str, ...],
    rows: tuple[tuple[Line, ...], ...],
    *,
    lead: tuple[Line, ...] = (),
    facts: tuple[Line, ...] = (),
    notes: tuple[Line, ...] = (),
    parts: tuple[Section, ...] = (),
    charts: tuple[Chart, ...] = (),
) -> tuple[Section, ...]:
    """Return a section with a table, and with the other content of a section; none if the table has no rows."""
    return (Section(title, lead, Table(header, rows), facts, notes, parts, charts=charts),) if rows else ()


def finding_lines(findings: Iterable[Finding]) -> tuple[Line, ...]:
    """Return a line per cause: code and subject, then its sentences, each on a line of its own."""
    return tuple(map(finding_line, by_cause(findings)))


def finding_line(finding: Finding) -> Line:
    """Return a finding as the line of a list: code and subject, then its sentences."""
    sentences = (piece for sentence in finding.sentences for piece in (BREAK, sentence))
    return (Strong(finding.code), f" · {finding.subject}", *sentences)
