"""The report of a run as one HTML file, which needs no other file, no script and no network."""

from __future__ import annotations

import base64
import hashlib

from kafka_migration.core.report.report_sections import report_of
from kafka_migration.core.report.run_document import RunDocument
from kafka_migration.report_formats.html_pieces import html_environment


def render_html(run: RunDocument) -> str:
    """Return the whole report."""
    environment = html_environment()
    style = environment.get_template("report.css").render()
    page = environment.get_template("report.html")
    return str(page.render(report=report_of(run), level=_level(run), policy=policy(style)))


def _level(run: RunDocument) -> str:
    """Return the class of the page: whether the run found its copy good, found something wrong, or neither."""
    if run.has_failed or run.findings:
        return "wrong"
    return "proved" if run.verdict and run.verdict.is_good and run.outcome == "success" else "open"


def policy(style: str) -> str:
    """Return the content security policy of a page that has only this style, and loads nothing."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def policy_of(page: str) -> str:
    """Return the policy of a report, which another version may have written with another style."""
    return policy(page.partition("<style>")[2].partition("</style>")[0])
