"""Sections of a report as HTML: the environment of their templates, in which every text is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_migration.core.report.sections import Break, Chart, ChartBar, Line, Name, RunName, ShellCommand, Strong
from kafka_migration.core.text.terminal_text import duration, moment, shown

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"


def html_environment(*folders: Path) -> Environment:
    """Return Jinja2's environment with the templates of these folders and of this package's sections.

    Every text is escaped, and shown on one line without control characters.
    """
    # Every component of Airflow loads the plugin, but few make HTML.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_on_one_line,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"pieces": _pieces, "plain": _plain, "duration": duration, "moment": moment}
    environment.filters |= {"drawn": drawn, "spoken": _spoken}
    return environment


def _on_one_line(value: object) -> object:
    # A template's own markup is a text too, of a class of its own.
    return shown(value) if type(value) is str else "" if value is None else value


def _pieces(line: Line) -> list[tuple[str, str, str]]:
    """Return the pieces of a line of a section, each with the element that it becomes, and the element's title."""
    return [found for piece in ((line,) if isinstance(line, str) else line) for found in _pieces_of(piece)]


def _pieces_of(piece: str) -> list[tuple[str, str, str]]:
    # Texts set names apart with backticks, as Markdown does.
    element, parts = _element(piece), piece.split("`")
    if element or len(parts) % 2 == 0:
        return [(element, str(piece), piece.whole if isinstance(piece, RunName) else "")]
    return [("code" if number % 2 else "", part, "") for number, part in enumerate(parts)]


def _plain(line: Line) -> str:
    """Return a line of a section as text alone."""
    return "".join((line,) if isinstance(line, str) else line)


def _element(piece: str) -> str:
    if isinstance(piece, Break):
        return "br"
    if isinstance(piece, Name | ShellCommand):
        return "code"
    return "strong" if isinstance(piece, Strong) else ""


# In the units of the drawing: the width of the longest row of bars, the height of a row, and the narrowest bar.
_WIDTH, _ROW, _NARROWEST = 300, 24, 1.5


@dataclass(frozen=True, slots=True)
class DrawnBar:
    """A bar in the units of the drawing; `y` is the top of its row."""

    bar: ChartBar
    x: float
    y: int
    width: float


def drawn(chart: Chart) -> list[DrawnBar]:
    """Return the bars of a chart; a bar of any amount can be seen."""
    return list(_drawn(chart))


def _drawn(chart: Chart) -> Iterator[DrawnBar]:
    scale = _WIDTH / (chart.end or 1)
    for row, bar in enumerate(chart.bars):
        width = max(_NARROWEST, bar.amount * scale) if bar.amount else 0
        yield DrawnBar(bar, round(min(bar.begin * scale, _WIDTH - width), 1), row * _ROW, round(width, 1))


def _spoken(chart: Chart) -> str:
    """Return a chart in words."""
    return f"{chart.title}: {', '.join(f'{bar.label} {bar.words}' for bar in chart.bars)}"
