"""The formats of a run's report, one row each: the run writes them, the page serves them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NamedTuple

from kafka_migration.core.report.run_document import RunDocument
from kafka_migration.core.text.row_enum import RowEnum
from kafka_migration.report_formats.csv_report import render_csv
from kafka_migration.report_formats.html_report import render_html
from kafka_migration.report_formats.junit_report import render_junit
from kafka_migration.report_formats.markdown_report import render_report

log = logging.getLogger(__name__)


class _FormatRow(NamedTuple):
    """What `ReportFormat` says of a format, for its table."""

    file: str
    media_type: str
    render: Callable[[RunDocument], str]


class ReportFormat(RowEnum):
    """A format of a report: the file next to `run.json`, its media type, and the function that writes its text."""

    file: str
    media_type: str
    render: Callable[[RunDocument], str]

    @classmethod
    def text_of(cls, name: str) -> str:
        """Return the format as people name it."""
        return name.lower()

    HTML = _FormatRow("report.html", "text/html", render_html)
    MARKDOWN = _FormatRow("report.md", "text/markdown", render_report)
    JUNIT = _FormatRow("report.xml", "application/xml", render_junit)
    CSV = _FormatRow("report.csv", "text/csv", render_csv)


def rendered_reports(run: RunDocument) -> dict[str, str]:
    """Return the text of the report in each format, by file; one that cannot be rendered is logged and left out."""
    return {each.file: text for each in ReportFormat if (text := _rendered(each, run)) is not None}


def _rendered(each: ReportFormat, run: RunDocument) -> str | None:
    try:
        return each.render(run)
    except Exception:
        # A report must not end the run, whose result is also in `run.json`.
        log.exception("The report %s is not written: it cannot be rendered. The other formats are.", each.file)
        return None
