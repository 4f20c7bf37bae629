"""Rules of the health of a migration, for monitors."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kafka_migration.cli.main import main
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.chain import Confirmation
from kafka_migration.core.report.run_status import Silent
from kafka_migration.core.watching.retention_forecast import ForecastDocument
from kafka_migration.steps.answers.health import Health, health_of
from kafka_migration.steps.answers.status_answer import StatusAnswer, status_answer
from tests.present import present
from tests.steps.test_answers import AT, FOREIGN, NOW, RUN, copied, told

REFUSED = Finding(Code.CONNECTION_MISSING, "x", "x", "x", "x")


def answer(root: Path, step: str = "") -> StatusAnswer:
    """Return the status of a migration that is well; with a step, a run is active."""
    store = copied(root)
    if step:
        at = (NOW - timedelta(seconds=10)).isoformat()
        store.news.tell_progress({"run": RUN.holder, "at": at, "step": step, "step_at": AT, "mode": "cutover"})
    return status_answer(store, NOW)


def late(status: StatusAnswer) -> StatusAnswer:
    """The next run had to start a second ago."""
    forecast = ForecastDocument((NOW - timedelta(seconds=1)).isoformat(), "orders[0]", "retention.ms 1")
    return replace(status, last_run=replace(present(status.last_run), outcome="success", next_start=forecast))


@pytest.mark.parametrize("step", ["", "watch_lag", "validate_topics"])
def test_migration_that_is_well_has_no_problems(tmp_path: Path, step: str) -> None:
    """A run that is at work, and a migration that waits for its next run, are good."""
    checked = health_of(answer(tmp_path, step), NOW)

    assert (Health.GOOD, ()) == (checked.health, checked.problems)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda s: replace(s, topics={"orders": Verdict.FAIL}), "the copy differs: orders"),
        (lambda s: replace(s, ledger=Confirmation(5, 2)), "Airflow does not confirm 2 entries of the ledger"),
    ],
)
def test_wrong_copy_is_wrong(tmp_path: Path, change: Callable[[StatusAnswer], StatusAnswer], problem: str) -> None:
    """Records that differ, and a ledger that Airflow does not confirm, are wrong."""
    checked = health_of(change(answer(tmp_path)), NOW)

    assert (Health.WRONG, (problem,)) == (checked.health, checked.problems)


@pytest.mark.parametrize(
    ("finding", "problems"), [(REFUSED, ["the last run failed"]), (FOREIGN, ["a later run", "the last run failed"])]
)
def test_last_run_that_failed_is_wrong(tmp_path: Path, finding: Finding, problems: list[str]) -> None:
    """A failed or refused last run is wrong, and so is a finding that contradicts the copy."""
    checked = health_of(status_answer(told(copied(tmp_path), finding), NOW), NOW)

    assert Health.WRONG is checked.health
    assert all(line.startswith(each) for line, each in zip(checked.problems, problems, strict=True))


@pytest.mark.parametrize(
    ("step", "change", "problem"),
    [
        ("approve", lambda s: s, "waits for an approval"),
        ("watch_lag", lambda s: replace(s, now=replace(present(s.now), stage="near")), "until the producers"),
        ("watch_lag", lambda s: replace(s, now=replace(present(s.now), is_fresh=False)), "last told its progress at"),
        (
            "watch_lag",
            lambda s: replace(s, now=replace(present(s.now), silent=(Silent("source cluster", AT, "gone"),))),
            "source cluster has not answered since",
        ),
        ("", lambda s: replace(s, last_generation=replace(present(s.last_generation), open=True)), "no stop certif"),
        ("", lambda s: replace(s, topics={"orders": Verdict.NOT_VERIFIABLE}), "cannot be verified: orders"),
    ],
)
def test_what_waits_for_a_person_is_named(
    tmp_path: Path, step: str, change: Callable[[StatusAnswer], StatusAnswer], problem: str
) -> None:
    """Questions, silence, an open generation without a run, and a copy without a verdict need a person."""
    checked = health_of(change(answer(tmp_path, step)), NOW)

    assert Health.NEEDS_A_PERSON is checked.health
    assert problem in checked.problems[0]


def test_run_that_is_overdue_needs_a_person(tmp_path: Path) -> None:
    """After the moment at which the source may delete uncopied records, a missing run is named with the reason."""
    checked = health_of(late(status_answer(told(copied(tmp_path)), NOW)), NOW)

    assert Health.NEEDS_A_PERSON is checked.health
    assert ("a run had to start before 2030-01-01T23:59:59+00:00: orders[0], retention.ms 1",) == checked.problems


def test_monitor_gets_a_line_per_problem_and_the_worst_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One wrong migration decides over those that are good, and one that cannot be read over all."""
    copied(tmp_path, "good")
    command = ["status", "--check", "--evidence-root", str(tmp_path)]
    assert (0, "good: good\n") == (main(command), capsys.readouterr().out)

    told(copied(tmp_path), REFUSED)
    assert 1 == main(command)
    good, failed = capsys.readouterr().out.splitlines()
    assert ("good: good", True) == (good, failed.startswith("shop: the last run failed"))
    assert 1 == main([*command, "-o", "json"])
    assert ["good", "wrong"] == [each["health"] for each in json.loads(capsys.readouterr().out)["migrations"]]

    (tmp_path / "shop" / "ledger" / "000001.json").write_text("{")
    assert 3 == main(command)
    assert "LEDGER_BROKEN" in capsys.readouterr().err


def test_moment_is_that_of_the_check() -> None:
    """A deadline that lies ahead is no problem."""
    soon = ForecastDocument("2030-01-02T00:00:01+00:00", "orders[0]", "retention.ms 1")

    assert not soon.is_over(datetime(2030, 1, 2, tzinfo=UTC))
