"""The page of the *Report* link: the run's `report.md` as plain text.

It is plain text, so topic and group names are never interpreted as markup or script. Others may write to the evidence
root, so only a report with the digest that `finish` kept in Airflow is served.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_migration.core.findings.errors import EvidenceUnreadable, StoreFailed
from kafka_migration.page.kept_files import KeptFiles, NotAsWritten
from kafka_migration.report_formats.report_format import ReportFormat

# A longer report is not shown. One of 10,000 topics has less than 1 MiB.
MAX_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Page:
    """An answer: the report with status 200, or a text that says why there is none."""

    status: int
    text: str


NOT_KEPT = Page(
    404,
    "There is no report of this run that can be checked. `finish` writes it when the run ends, and keeps its digest in "
    "Airflow; version 0.1.0 kept none. Until then see the log of `finish`, which names the evidence.\n",
)


def page_of(dag_id: str, run_id: str) -> Page:
    """Return the report of the newest attempt with a digest in Airflow, if the file is still what `finish` wrote."""
    kept = KeptFiles.of(dag_id, run_id)
    attempt = kept.newest_attempt(ReportFormat.MARKDOWN.file) if kept else None
    if kept is None or attempt is None:
        return NOT_KEPT
    try:
        return Page(200, kept.content(ReportFormat.MARKDOWN.file, attempt, MAX_BYTES).decode(errors="replace"))
    except NotAsWritten as error:
        return _not_shown(409, f"It was {error}.")
    except EvidenceUnreadable as error:
        return _not_shown(409, f"Found: {error.findings[0].found}.")
    except StoreFailed as error:
        return _not_shown(503, f"The evidence root does not answer: {error.findings[0].found}.")


def _not_shown(status: int, why: str) -> Page:
    return Page(
        status,
        f"The report of this run is not shown. {why} Only the report that `finish` wrote is shown, because others may "
        "write to the evidence root. Find out who changed it; Airflow's log of `finish` has the result of the run.\n",
    )
