"""Templates and assets of the pages. Every text is escaped, and shown on one line without control characters."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from kafka_migration.core.report.sections import Break, Name, RunName, ShellCommand, Strong
from kafka_migration.core.text.terminal_text import duration, moment, shown

_FOLDER = Path(__file__).parent
ASSETS = {
    "page.css": "text/css",
    "page.js": "text/javascript",
    "uPlot.min.css": "text/css",
    "uPlot.iife.min.js": "text/javascript",
    "uPlot.LICENSE": "text/plain",
}
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache, private",
}


def rendered(template: str, **values: Any) -> str:
    """Return a page."""
    return str(_environment().get_template(template).render(**values))


def asset(name: str) -> bytes | None:
    """Return a file of the pages; `None` if there is none of this name."""
    return (_FOLDER / "assets" / name).read_bytes() if name in ASSETS else None


@cache
def _environment() -> Any:
    # Only the API server needs it, and every component of Airflow loads the plugin.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_on_one_line,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"pieces": _pieces, "plain": _plain, "duration": duration, "moment": moment}
    return environment


def _on_one_line(value: Any) -> Any:
    # A template's own markup is a text too, of a class of its own.
    return shown(value) if type(value) is str else "" if value is None else value


def _pieces(line: Any) -> list[tuple[str, str, str]]:
    """Return the pieces of a line of a section, each with the element that it becomes, and the element's title."""
    return [found for piece in ((line,) if isinstance(line, str) else line) for found in _pieces_of(piece)]


def _pieces_of(piece: str) -> list[tuple[str, str, str]]:
    # Texts set names apart with backticks, as Markdown does.
    element, parts = _element(piece), piece.split("`")
    if element or len(parts) % 2 == 0:
        return [(element, str(piece), piece.whole if isinstance(piece, RunName) else "")]
    return [("code" if number % 2 else "", part, "") for number, part in enumerate(parts)]


def _plain(line: Any) -> str:
    """Return a line of a section as text alone."""
    return "".join((line,) if isinstance(line, str) else line)


def _element(piece: str) -> str:
    if isinstance(piece, Break):
        return "br"
    if isinstance(piece, Name | ShellCommand):
        return "code"
    return "strong" if isinstance(piece, Strong) else ""
