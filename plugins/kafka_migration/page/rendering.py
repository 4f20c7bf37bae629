"""Templates and assets of the pages. Every text is escaped, and shown on one line without control characters."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from kafka_migration.report_formats.html_pieces import html_environment

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
    return html_environment(_FOLDER / "templates")
