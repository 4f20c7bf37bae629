"""The report of a run in one of its formats, and the run's `run.json`, as they are in the evidence."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_migration.adapters.store.document_files import parse_json, read_whole
from kafka_migration.adapters.store.evidence_store import RUN_FILE
from kafka_migration.core.findings.errors import Refused
from kafka_migration.report_formats.report_format import ReportFormat
from kafka_migration.steps.answers.run_folders import RunFolder, no_report


@dataclass(frozen=True, slots=True)
class FormattedReport:
    """The text of a report; `remark` says that it is not a file of the run, empty if it is."""

    text: str
    remark: str = ""


def formatted_report(run: RunFolder, form: ReportFormat) -> FormattedReport:
    """Return the report that the run wrote, or else one that is made of its `run.json` now.

    Raises `Refused` (`REPORT_MISSING`) for a run without a report, `EvidenceUnreadable` for a file that is none of a
    run, `StoreFailed` if the evidence root does not answer.
    """
    attempt = _attempt(run)
    if run.has(form.file, attempt):
        return FormattedReport(read_whole(run.attempt_folder(attempt) / form.file).decode(errors="replace"))
    result = run.result(attempt)
    if result.document is None:
        raise result.problem or Refused([no_report(run)])
    return FormattedReport(
        form.render(result.document), f"The run wrote no {form.file}; this one is made of its {RUN_FILE}."
    )


def result_text(run: RunFolder) -> str:
    """Return the text of `run.json`, which is a JSON object; raises like `formatted_report`."""
    content = read_whole(path := run.attempt_folder(_attempt(run)) / RUN_FILE)
    parse_json(content, path)
    return content.decode()


def _attempt(run: RunFolder) -> int:
    attempt = run.reported()
    if attempt is None:
        raise Refused([no_report(run)])
    return attempt
