"""The course of a migration in the evidence store: what each news adds, and what happens if it cannot be kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.adapters.store.run_status_store import SERIES_FILE, NewsStore
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import EvidenceUnreadable
from kafka_migration.core.report.progress_series import ProgressSeries
from kafka_migration.steps.answers.kept_migration import MigrationStore
from tests.golden import assert_golden
from tests.unit.cli.test_cli import RUN
from tests.unit.cli.test_cli_present import POLLED

GOLDEN = Path(__file__).with_name("progress_series.golden")


def at(second: int) -> str:
    """Return a moment of the run."""
    return f"2030-01-01T12:{second // 60:02}:{second % 60:02}+00:00"


def polled(second: int, **changes: Any) -> dict[str, Any]:
    """Return the progress of a poll."""
    return {**POLLED, "at": at(second), **changes}


def run_through(news: NewsStore) -> None:
    """Tell what a run tells from its first step to its end."""
    news.tell_step(RUN.holder, "watch_lag", at(0))
    news.tell_progress(polled(30))
    news.tell_progress(polled(60, lag=None, rate=None))
    news.tell_progress(polled(90, lag=0, copied=200_000, outcome="drained"))
    news.tell_stopped(RUN.holder, 2, at(100))
    news.tell_step(RUN.holder, "validate_topics", at(110))
    news.tell_reading(RUN.holder, {"began_at": at(110), "at": at(130), "read": 50, "at_most": 400_000})
    news.tell_ended(RUN.holder, at(200))


def told(root: Path) -> list[str]:
    """Return the events, and `.` for each ordinary point."""
    return [each.event or "." for each in MigrationStore(root, "shop").series().points]


def test_document_of_a_run_is_golden(tmp_path: Path) -> None:
    """Steps, polls, readings of Spark, a stop and the end are points; what a step does not measure is left out."""
    run_through(NewsStore(tmp_path, "shop"))
    stored = json.loads((tmp_path / "shop" / SERIES_FILE).read_text())
    points = "\n".join(json.dumps(each) for each in stored["runs"][0].pop("points"))

    assert_golden(GOLDEN, {"document": json.dumps(stored), "points": points})


def test_series_is_empty_before_the_first_run(tmp_path: Path) -> None:
    """A migration that has told nothing has no document and an empty series."""
    assert NewsStore(tmp_path, "shop").series() is None
    assert ProgressSeries() == MigrationStore(tmp_path, "shop").series()


def test_news_of_a_run_that_is_not_the_last_one_add_nothing(tmp_path: Path) -> None:
    """A late reading or end of another run than the one in the progress is no point."""
    news = NewsStore(tmp_path, "shop")
    news.tell_step(RUN.holder, "plan", at(0))
    news.tell_reading("dag/other#1", {"began_at": at(0), "at": at(30), "read": 1, "at_most": 2})
    news.tell_ended("dag/other#1", at(60))

    assert ["plan"] == told(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 2}', '{"schema": 1, "runs": [{"run": 1}]}', "x" * 200_000])
def test_series_of_another_form_begins_anew(tmp_path: Path, text: str) -> None:
    """The reader names a document that is no series; the next news replaces it."""
    news = NewsStore(tmp_path, "shop")
    news.tell_step(RUN.holder, "plan", at(0))
    (tmp_path / "shop" / SERIES_FILE).write_text(text)
    with pytest.raises(EvidenceUnreadable) as error:
        MigrationStore(tmp_path, "shop").series()
    news.tell_step(RUN.holder, "watch_lag", at(30))

    assert Code.EVIDENCE_UNREADABLE is error.value.findings[0].code
    assert SERIES_FILE in str(error.value)
    assert ["watch_lag"] == told(tmp_path)


def test_series_that_cannot_be_written_is_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The progress is written on; the log has one line until the series could be written again."""
    news, place = NewsStore(tmp_path, "shop"), tmp_path / "shop" / SERIES_FILE
    place.mkdir(parents=True)
    for second in (0, 30, 60):
        news.tell_progress(polled(second))
    assert at(60) == (news.progress() or {})["at"]
    assert 1 == len(caplog.records)

    place.rmdir()
    news.tell_progress(polled(90))
    assert ["."] == told(tmp_path)
