"""Rules of the table of report formats."""

from __future__ import annotations

import pytest

from kafka_migration.core.report.run_document import RunDocument
from kafka_migration.report_formats.report_format import ReportFormat, rendered_reports
from tests.unit.report.test_report_of_a_run import run_of


def test_formats_have_files_of_their_own() -> None:
    """Each format has a file `report.*` of its own, and a name of the command line."""
    assert len(ReportFormat) == len({each.file for each in ReportFormat})
    assert all(each.file.startswith("report.") and str(each).islower() for each in ReportFormat)


@pytest.mark.parametrize("broken", ReportFormat)
def test_format_that_cannot_be_rendered_stops_no_other(
    broken: ReportFormat, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A format whose renderer raises is named in the log; the files of all others are written."""

    def fail(_: RunDocument) -> str:
        raise ArithmeticError("no")

    monkeypatch.setattr(broken, "render", fail)

    assert {each.file for each in ReportFormat if each is not broken} == rendered_reports(run_of()).keys()
    assert f"{broken.file} is not written" in caplog.text
