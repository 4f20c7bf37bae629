"""The page of the *Report* link, and the report of a run in each other format.

Others may write to the evidence root, so only a report with the digest that `finish` kept in Airflow is served. HTML
has a policy that allows its own style and nothing else; everything else is plain text or is downloaded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kafka_migration.core.findings.errors import EvidenceUnreadable, StoreFailed
from kafka_migration.page.kept_files import KeptFiles, NotAsWritten
from kafka_migration.report_formats.html_report import policy_of
from kafka_migration.report_formats.report_format import ReportFormat

# A longer report is not shown. One of 10,000 topics has about 2 MiB.
MAX_BYTES = 8 * 1024 * 1024
_NOTHING = "default-src 'none'"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]", re.ASCII)


@dataclass(frozen=True, slots=True)
class Page:
    """An answer: the report with status 200, or a text that says why there is none.

    `policy` is what a browser may load for it. A page with a `download` is saved under this name.
    """

    status: int
    text: str
    media: str = "text/plain"
    policy: str = _NOTHING
    download: str = ""


NOT_KEPT = Page(
    404,
    "There is no report of this run that can be checked. `finish` writes it when the run ends, and keeps its digest in "
    "Airflow; version 0.1.0 kept none. Until then see the log of `finish`, which names the evidence.\n",
)
NO_FORMAT = Page(404, f"There is no report in this format. The formats are {', '.join(ReportFormat)}.\n")


def page_of(dag_id: str, run_id: str, wanted: str = "") -> Page:
    """Return the report of the newest attempt with a digest in Airflow, if the file is still what `finish` wrote.

    :param wanted: the format; without one HTML, or the Markdown of a run that wrote no HTML
    """
    if wanted and wanted not in set(ReportFormat):
        return NO_FORMAT
    kept = KeptFiles.of(dag_id, run_id)
    found = _newest(kept, [ReportFormat(wanted)] if wanted else [ReportFormat.HTML, ReportFormat.MARKDOWN])
    if kept is None or found is None:
        return NOT_KEPT
    try:
        text = kept.content(found[0].file, found[1], MAX_BYTES).decode(errors="replace")
    except NotAsWritten as error:
        return _not_shown(409, f"It was {error}.")
    except EvidenceUnreadable as error:
        return _not_shown(409, f"Found: {error.findings[0].found}.")
    except StoreFailed as error:
        return _not_shown(503, f"The evidence root does not answer: {error.findings[0].found}.")
    name = f"{kept.migration}-{_UNSAFE.sub('_', run_id)[:100]}-{found[0].file}" if wanted else ""
    return _served(found[0], text, name)


def _newest(kept: KeptFiles | None, formats: list[ReportFormat]) -> tuple[ReportFormat, int] | None:
    """Return the first of the formats in which the newest attempt with a report wrote it, and this attempt."""
    attempts = {each: kept.newest_attempt(each.file) or 0 for each in ReportFormat} if kept else {}
    newest = max(attempts.values(), default=0)
    return next(((each, newest) for each in formats if newest and attempts[each] == newest), None)


def _served(found: ReportFormat, text: str, download: str) -> Page:
    if download:
        return Page(200, text, found.media_type, download=download)
    return Page(200, text, found.media_type, policy_of(text)) if found is ReportFormat.HTML else Page(200, text)


def _not_shown(status: int, why: str) -> Page:
    return Page(
        status,
        f"The report of this run is not shown. {why} Only the report that `finish` wrote is shown, because others may "
        "write to the evidence root. Find out who changed it; Airflow's log of `finish` has the result of the run.\n",
    )
