"""Rules of the report as CSV: a spreadsheet calculates nothing of it, and a program reads it back."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from kafka_migration.report_formats.csv_report import COLUMNS, render_csv
from tests.unit.report.test_hostile_report import HOSTILE
from tests.unit.report.test_report_of_a_run import READY, TOPIC, run_of


def rows_of(**changes: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render_csv(run_of("cutover", **changes)), newline="")))


def test_each_topic_and_group_is_a_row() -> None:
    """Each row has all columns, the run in them; the columns of the other kind are empty."""
    topic, group = rows_of()

    assert [*topic] == [*COLUMNS] == [*group]
    assert ("topic", "orders", "PASS", "60", "200", "") == tuple(
        topic[name] for name in ("kind", "name", "result", "source_records", "proved_records", "partitions")
    )
    assert ("group", "billing", "not written", "1", "") == tuple(
        group[name] for name in ("kind", "name", "result", "partitions", "source_records")
    )
    assert {"manual__1"} == {each["run_id"] for each in (topic, group)}


def test_unknown_is_no_number() -> None:
    """An unknown number is `not known`, neither zero nor an empty cell."""
    topic, group = rows_of(
        topics=[{**TOPIC, "source_records": None}], groups=[{**READY, "delivered_again": None, "outcome": "moved"}]
    )

    assert ("not known", "not known") == (topic["source_records"], group["delivered_again"])


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
@pytest.mark.parametrize("field", ["name", "reasons", "run_id"])
def test_no_cell_is_a_formula(begin: str, field: str) -> None:
    """A cell that begins like a formula begins with an apostrophe."""
    text = f'{begin}cmd|" /C calc"!A1'
    group = {**READY, "group": text, "reasons": [text]}
    row = rows_of(groups=[group], run_id=text)[1]

    assert row[field].startswith("'")
    assert row[field].endswith('cmd|" /C calc"!A1')


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_stay_in_their_cell(text: str) -> None:
    """Quotes, commas and line ends of a name make no cell and no row."""
    topic, group = rows_of(groups=[{**READY, "group": f'{text}",\r\n"', "reasons": [text]}])

    assert ("topic", "group") == (topic["kind"], group["kind"])
    assert all(each.isprintable() for each in group["name"] + group["reasons"])
