"""Cutovers and rollbacks in the small world: what tests of the tasks that move groups share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from airflow.sdk.exceptions import TaskDeferred

from kafka_migration.airflow_adapters.deployed_airflow import RESUMES_TASKS_WITH_ANSWERS
from kafka_migration.core.kafka.offsets import TopicPartition
from tests.airflow.world import P0, P1, World

# How a task waits for an answer: before Airflow 3.3 it is deferred.
Waits: type[BaseException] = TaskDeferred
if RESUMES_TASKS_WITH_ANSWERS:
    from airflow.sdk.exceptions import TaskAwaitingInput

    Waits = TaskAwaitingInput
ROLLBACK_DAG_ID = "kafka_rollback__shop"
BILLING, REPORTING = {P0: 3, P1: 1}, {P0: 1}


def judge_cutover(world: World) -> None:
    """Copy and judge in a cutover, with two groups that have stopped on the source."""
    world.params = {"mode": "cutover"}
    for number in range(4):
        world.source.produce("orders", 0, (b"k%d" % number, b"v"))
    world.source.produce("orders", 1, (b"k", b"v"))
    world.source.commit("billing", BILLING, metadata="note")
    world.source.commit("reporting", REPORTING)
    world.copy_and_judge({P0: 4, P1: 1})


def ask(world: World) -> Any:
    """Run approve until it waits for an answer, and return how it waits."""
    with pytest.raises(Waits) as waiting:
        world.do("approve")
    return waiting.value


def time_limit_s(waiting: Any) -> float:
    """Return how long a task waits for an answer; before Airflow 3.3 its trigger knows only until when."""
    if RESUMES_TASKS_WITH_ANSWERS:
        return float(waiting.timeout.total_seconds())
    return float(round((waiting.trigger.timeout_datetime - datetime.now(UTC)).total_seconds(), -2))


def plan_and_ask(world: World) -> Any:
    """Plan the offsets, run approve until it waits for an answer, and return how it waits."""
    world.do("plan_offsets")
    return ask(world)


def answer_event(option: str | None = "Approve", user: str = "grace") -> dict[str, Any]:
    """Return the event with which Airflow resumes approve; no option is a time-out."""
    if not option:
        return {"error": "too late", "error_type": "timeout"}
    return {
        "chosen_options": [option],
        "params_input": {},
        "responded_at": datetime(2030, 1, 1, tzinfo=UTC),
        "responded_by_user": {"id": user, "name": user},
        "timedout": False,
    }


def answer(world: World, option: str | None = "Approve", user: str = "grace") -> dict[str, Any]:
    """Resume approve with an answer, as Airflow does; no option is a time-out."""
    event = answer_event(option, user)
    summary: dict[str, Any] = world.task("approve").execute_complete(world.context(), event)
    return summary


def approved(world: World) -> None:
    """Plan, ask, and approve."""
    plan_and_ask(world)
    answer(world)


def target_offsets(world: World) -> dict[str, dict[TopicPartition, int]]:
    """Return every group's committed offsets on the target."""
    return {
        name: {p: commit.offset for p, commit in group.commits.items()} for name, group in world.target.groups.items()
    }


def configure(world: World, text: str) -> None:
    """Add a section `cutover` to the file, and let the run have it as if it had always been there."""
    world.extend_file(f"cutover:\n{text}")
    world.freeze()


def cut_over(world: World) -> dict[str, Any]:
    """Translate, plan, approve, write and confirm; return the summary of the last."""
    world.do("translate_offsets")
    approved(world)
    return world.do("sync_offsets", "confirm_cutover")


def begin_rollback(world: World, number: int = 2, **params: Any) -> None:
    """End the run, and begin a run of the rollback DAG."""
    world.next_run(number)
    world.dag_run.other_dag_id = ROLLBACK_DAG_ID
    world.params = {"mode": "fail_back", **params}
