"""Processes of Airflow are killed in the middle of a run."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from tests.live.faults import kill
from tests.live.scenarios import Scenario

pytestmark = [pytest.mark.live, pytest.mark.campaign]


def starting(scenario: Scenario) -> None:
    """Send records and start a run that will have them to copy."""
    scenario.migration.produce(500)
    scenario.run_id = scenario.migration.trigger()


def wait_tightly(condition: Callable[[], object]) -> None:
    """Return in the very moment in which the condition is true."""
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "the moment did not come"


def test_start_task_killed_before_it_asks_for_mirrormaker(scenario: Scenario) -> None:
    """The generation is in the ledger and never started: the next try closes it and starts the one after."""
    starting(scenario)
    pid = scenario.migration.task_pid(scenario.run_id, "start_mirror")
    wait_tightly(lambda: scenario.migration.ledger.open_generation)
    kill(pid)

    scenario.conclude(scenario.ended())
    assert 500 == scenario.migration.target_records()


def test_start_task_killed_while_mirrormaker_starts(scenario: Scenario) -> None:
    """The task dies while it waits for MirrorMaker: the next try finds what it started and adopts it."""
    starting(scenario)
    pid = scenario.migration.task_pid(scenario.run_id, "start_mirror")
    wait_tightly(scenario.is_starting)
    kill(pid)

    assert 1 == scenario.conclude(scenario.ended()).generations


def test_start_task_killed_after_its_last_deed(scenario: Scenario) -> None:
    """The task dies before Airflow knows of its success: the next try finds what it started and adopts it."""
    starting(scenario)
    pid = scenario.migration.task_pid(scenario.run_id, "start_mirror")
    evidence = scenario.migration.evidence(scenario.run_id)
    wait_tightly(lambda: evidence.of_attempt(Kind.START))
    kill(pid)

    assert 1 == scenario.conclude(scenario.ended()).generations


def test_worker_of_the_start_killed(scenario: Scenario) -> None:
    """The task's own process outlives its worker and ends its work; Airflow's next try adopts what it left."""
    starting(scenario)
    scenario.faults.kill_worker(scenario.run_id, "start_mirror")

    assert 1 == scenario.conclude(scenario.ended()).generations


def test_triggerer_killed_and_back(scenario: Scenario) -> None:
    """MirrorMaker continues without the triggerer; the next one takes the watch over."""
    scenario.follow()
    scenario.faults.kill_part("triggerer")
    scenario.wait_for_more_copied()
    scenario.faults.restart("triggerer")

    assert 1 == scenario.conclude(scenario.end_following()).generations


def test_scheduler_killed_and_back(scenario: Scenario) -> None:
    """MirrorMaker and the watch continue without the scheduler; the next scheduler ends the run."""
    scenario.follow()
    scenario.faults.kill_part("scheduler")
    scenario.wait_for_more_copied()
    scenario.faults.restart("scheduler")

    assert 1 == scenario.conclude(scenario.end_following()).generations


def test_scheduler_killed_while_starting(scenario: Scenario) -> None:
    """Scheduler, executor and task die while MirrorMaker starts: the next scheduler's try adopts it."""
    starting(scenario)
    scenario.migration.task_pid(scenario.run_id, "start_mirror")
    wait_tightly(scenario.is_starting)
    scenario.faults.kill_part("scheduler")
    scenario.faults.restart("scheduler")

    assert 1 == scenario.conclude(scenario.ended()).generations
