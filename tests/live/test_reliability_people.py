"""A person marks, clears, deletes, pauses, or changes the migration file in the middle of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from sandbox.airflow_api import DagRun
from tests.live.scenarios import Scenario, moment
from tests.live.test_reliability_host import LEASE_END_S, SHORT_LEASE
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]

COPYING = ("preflight", "reserve", "plan", "create_topics", "start_mirror", "watch_lag")


def test_run_marked_failed_while_starting(scenario: Scenario) -> None:
    """Whatever the start came to, the teardown stops it, and the run stays red."""
    scenario.migration.produce(500)
    scenario.run_id = scenario.migration.trigger()
    wait_until(lambda: scenario.migration.ledger.open_generation, 200, "the start to be in the ledger")
    since = moment()
    scenario.api.set_run_state(scenario.migration.dag_id, scenario.run_id, "failed")
    run = scenario.ended()
    scenario.require_gone(since)

    scenario.conclude(run)
    scenario.require_goes_on()


def test_watch_marked_failed(scenario: Scenario) -> None:
    """Marking the deferred watch failed stops MirrorMaker, and the run ends red."""
    scenario.follow()
    mark_watch(scenario, "failed")

    scenario.conclude(scenario.ended())
    scenario.require_goes_on()


def test_watch_marked_success(scenario: Scenario) -> None:
    """Marking the deferred watch a success stops MirrorMaker, and what was copied so far is validated."""
    scenario.follow()
    mark_watch(scenario, "success")

    scenario.conclude(scenario.ended())


def mark_watch(scenario: Scenario, state: str) -> None:
    """Mark the deferred watch; MirrorMaker must be gone a minute later."""
    since = moment()
    scenario.api.set_task_state(scenario.migration.dag_id, scenario.run_id, "watch_lag", state)
    scenario.require_gone(since)


def test_each_task_cleared_while_mirroring(scenario: Scenario) -> None:
    """Clearing any task of a run that mirrors takes up the work again with one MirrorMaker at most at any time."""
    scenario.follow()
    for task_id in COPYING:
        before = scenario.migration.ledger.generations
        scenario.api.clear(scenario.migration.dag_id, scenario.run_id, [task_id])
        wait_until(lambda: watches_again(scenario), 240, f"the watch after {task_id} was cleared")
        scenario.wait_for_more_copied()
        scenario.require_never_two()
        assert len(before) <= len(scenario.migration.ledger.generations)

    scenario.conclude(scenario.end_following())


def watches_again(scenario: Scenario) -> bool:
    """Tell whether the cleared run is deferred in its watch, and MirrorMaker is alive."""
    is_deferred = "deferred" == scenario.migration.task_state(scenario.run_id, "watch_lag")
    return is_deferred and scenario.is_alive()


def test_each_task_cleared_after_the_run(scenario: Scenario) -> None:
    """Clearing any task of a run that has ended brings it to the same end, with nothing copied twice."""
    scenario.migration.produce(300)
    scenario.run_id = scenario.migration.trigger()
    tasks = [task.task_id for task in scenario.ended().tasks if task.state == "success"]
    for attempt, task_id in enumerate(tasks, start=2):
        run = cleared_and_ended(scenario, task_id, attempt)
        assert "success" == run.state, task_id

    measured = scenario.conclude(scenario.ended())
    assert (1, 0) == (measured.generations, measured.duplicates)


def cleared_and_ended(scenario: Scenario, task_id: str, attempt: int) -> DagRun:
    """Clear a task with all that follows it; return the run once this attempt has ended."""
    scenario.api.clear(scenario.migration.dag_id, scenario.run_id, [task_id])
    wait_until(lambda: scenario.migration.has_document(scenario.run_id, attempt), 300, f"the end after {task_id}")
    return scenario.ended()


@pytest.mark.settings(**SHORT_LEASE)
def test_dag_deleted_while_mirroring(scenario: Scenario) -> None:
    """Airflow forgets the run with its teardown: a lease stops MirrorMaker, else the next run, which takes over."""
    scenario.follow()
    scenario.api.delete_dag(scenario.migration.dag_id)
    scenario.require_end_without_airflow(LEASE_END_S)
    scenario.api.wait_for_dag(scenario.migration.dag_id)
    scenario.require_goes_on()

    scenario.conclude(None)


@contextmanager
def without_file(scenario: Scenario, *, renamed: bool) -> Iterator[None]:
    """Take the migration file away, or give it another name; afterwards it is back."""
    path = scenario.migration.path
    text, other = path.read_text(), path.with_name(f"{path.stem}-new.yaml")
    path.unlink()
    if renamed:
        other.write_text(text)
    try:
        yield
    finally:
        other.unlink(missing_ok=True)
        path.write_text(text)


@pytest.mark.settings(**SHORT_LEASE)
def test_file_removed_while_mirroring(scenario: Scenario) -> None:
    """The tasks of a run read its frozen copy: it ends as if the file were there."""
    file_taken_away(scenario, renamed=False)


@pytest.mark.settings(**SHORT_LEASE)
def test_file_renamed_while_mirroring(scenario: Scenario) -> None:
    """A file under another name is another DAG; the run of the old one ends as if nothing had happened."""
    file_taken_away(scenario, renamed=True)


def file_taken_away(scenario: Scenario, *, renamed: bool) -> None:
    """Take the file away while the run goes on, and end the run without it."""
    scenario.follow()
    with without_file(scenario, renamed=renamed):
        scenario.wait_for_more_copied()
        run = scenario.end_following()

    assert 1 == scenario.conclude(run).generations


def test_dag_paused_and_resumed(scenario: Scenario) -> None:
    """A short pause changes nothing: the watch continues, and the run ends once it may."""
    scenario.follow()
    scenario.api.pause(scenario.migration.dag_id)
    scenario.wait_for_more_copied()
    scenario.ask_to_stop()
    wait_until(lambda: not is_deferred(scenario), 60, "the watch to be over")
    scenario.api.unpause(scenario.migration.dag_id)

    scenario.conclude(scenario.ended())


def is_deferred(scenario: Scenario) -> bool:
    return "deferred" == scenario.migration.task_state(scenario.run_id, "watch_lag")


@pytest.mark.settings(**SHORT_LEASE)
def test_dag_paused_for_good(scenario: Scenario) -> None:
    """In a paused DAG no task begins, the teardown neither: a lease stops MirrorMaker, else the unpaused run does."""
    scenario.follow()
    scenario.api.pause(scenario.migration.dag_id)
    scenario.ask_to_stop()
    scenario.require_end_without_airflow(LEASE_END_S)
    assert [] == scenario.migration.evidence(scenario.run_id).of_attempt(Kind.STOP)
    scenario.api.unpause(scenario.migration.dag_id)

    scenario.conclude(scenario.ended())
