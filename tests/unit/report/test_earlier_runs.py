"""Rules of the `run.json` of earlier runs: it stays readable, and its report is a text that a person has reviewed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.report_formats.markdown_report import render_report
from tests.golden import assert_golden
from tests.stored_examples import read_run
from tests.unit.report.test_hostile_report import whole_run

HERE = Path(__file__).parent / "earlier_runs"
RUNS = sorted(HERE.glob("*.json"))
# A finding of that time has no sentences yet: it is written with empty ones. What was proved had no source records.
SENTENCES = {"happened": "", "matters": ""}
COUNTS = {"source_records": None}


def completed(value: Any) -> Any:
    """Return a document of that time with the fields that findings and topics have today."""
    if isinstance(value, list):
        return [completed(each) for each in value]
    if not isinstance(value, dict):
        return value
    whole = {"whole": {**value["whole"], **COUNTS}} if value.get("whole") else {}
    return {**value, **whole, **(SENTENCES if "remedy" in value else {})}


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_earlier_run_is_read(path: Path) -> None:
    """Every field of an earlier `run.json` is read and written again, and no document of its steps is unfit."""
    document = json.loads(path.read_text())
    run = read_run(document)
    written = json.loads(json.dumps(run.to_document()))

    assert () == run.steps.unfit
    assert {name: completed(value) for name, value in document.items()} == {name: written[name] for name in document}


def test_reports_of_earlier_runs_are_as_reviewed() -> None:
    """The whole reports are golden: a changed line is a decision."""
    runs = {path.stem: json.loads(path.read_text()) for path in RUNS}
    every = {**runs, "every section": whole_run()}
    reports = {name: render_report(read_run(document)) for name, document in every.items()}

    assert_golden(HERE / "reports.txt", reports)
