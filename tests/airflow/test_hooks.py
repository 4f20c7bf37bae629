"""Rules of a user's own work in a cutover: when it is called, with what, and what becomes of it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from airflow.providers.standard.operators.trigger_dagrun import DagIsPaused
from airflow.sdk.exceptions import AirflowSkipException, DagRunTriggerException, TaskDeferred

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.orchestration.failing import FailedForGood
from kafka_migration.orchestration.operators.hook import HookOperator
from kafka_migration.orchestration.triggers.announcement import AnnouncementTrigger, was_announced
from kafka_migration.steps.mirror.cutover_guide import Stage
from tests.airflow.world import World

HOOKS = """\
cutover:
  hooks:
    stop_producers:
      callable: builtins.dict
    after_cutover:
      dag: flip_configuration
"""


@pytest.fixture
def hooked(world: World) -> World:
    """A cutover whose file names a hook of each kind."""
    world.extend_file(HOOKS)
    world.params = {"mode": "cutover"}
    world.do("preflight")
    return world


def hook(name: str) -> HookOperator:
    return HookOperator(task_id=name, migration="shop", hook=name)


def announce(world: World) -> None:
    """Leave what the watch leaves when it tells the producers to stop."""
    world.run.evidence.write(
        Kind.WATCH, {"stage": str(Stage.ANNOUNCED), "generation": 1, "announced_at": "", "lag": "0"}
    )


def test_stop_producers_waits_for_the_watch(hooked: World) -> None:
    """It is deferred until the watch announces it; then the callable gets what it must know, and its answer is kept."""
    operator = hook("stop_producers")
    with pytest.raises(TaskDeferred) as deferred:
        operator.execute(hooked.context())
    assert isinstance(deferred.value.trigger, AnnouncementTrigger)
    assert was_announced(hooked.run) is None
    announce(hooked)
    assert was_announced(hooked.run)

    operator.announced(hooked.context(), {"announced": True})

    (called,) = hooked.run.evidence.of_attempt(Kind.HOOK)
    assert ("stop_producers", "callable builtins.dict") == (called["hook"], called["called"])
    assert {"migration", "run", "topics", "source", "target"} == set(called["result"])
    assert ["orders", "audit"] == called["result"]["topics"]


def payloads(trigger: AnnouncementTrigger) -> list[Any]:
    """Return what a trigger tells, once it has ended."""

    async def told() -> list[Any]:
        return [event.payload async for event in trigger.run()]

    return asyncio.run(told())


def test_wait_ends_with_the_watch(hooked: World) -> None:
    """A watch that ended without announcing anything calls nobody; nor does one that outlives the deadline."""
    arguments = hooked.run.to_arguments()
    late = AnnouncementTrigger(run=arguments, deadline=datetime(2020, 1, 1, tzinfo=UTC).isoformat())
    assert [{"announced": False}] == payloads(late)
    hooked.run.evidence.write(Kind.STOP, {"certificate": None})
    assert was_announced(hooked.run) is False
    ended = AnnouncementTrigger(run=arguments, deadline=datetime(2100, 1, 1, tzinfo=UTC).isoformat())
    assert [{"announced": False}] == payloads(ended)

    with pytest.raises(AirflowSkipException):
        hook("stop_producers").announced(hooked.context(), {"announced": False})


def name_function(world: World) -> None:
    """Let the run's file name a function that is not there, in the place of the DAG."""
    text = world.file.read_text()
    world.freeze(text.replace("dag: flip_configuration", "callable: shop.no_such_module.start"))


def test_dag_is_run_and_waited_for(hooked: World) -> None:
    """The DAG's run has a name of its own per run, so that a retry clears it instead of making another."""
    operator = hook("after_cutover")
    with pytest.raises(DagRunTriggerException) as raised:
        operator.execute(hooked.context())

    asked = raised.value
    assert ("flip_configuration", "manual__1__shop__after_cutover") == (asked.trigger_dag_id, asked.dag_run_id)
    assert (True, True, True) == (asked.wait_for_completion, asked.deferrable, asked.reset_dag_run)
    assert "shop" == asked.conf["migration"]
    done = ("airflow", {"run_ids": [asked.dag_run_id], asked.dag_run_id: "success"})
    operator.execute_complete(hooked.context(), done)
    assert "DAG flip_configuration" == hooked.run.evidence.of_attempt(Kind.HOOK)[0]["called"]


def test_paused_dag_is_not_waited_for(hooked: World) -> None:
    """Its run would never begin: the task says so at once."""
    hooked.task_instance.paused_dags.add("flip_configuration")

    with pytest.raises(DagIsPaused, match="flip_configuration"):
        hook("after_cutover").execute(hooked.context())


def test_function_that_is_not_there_is_refused(hooked: World) -> None:
    """A path that cannot be imported is one clear error."""
    name_function(hooked)
    with pytest.raises(FailedForGood, match="HOOK_NOT_FOUND"):
        hook("after_cutover").execute(hooked.context())


def test_hook_that_is_not_named_is_skipped(world: World) -> None:
    """A green task means that something was called; without a hook in the file it is skipped."""
    world.params = {"mode": "cutover"}
    world.do("preflight")

    with pytest.raises(AirflowSkipException, match="has no after_cutover"):
        hook("after_cutover").execute(world.context())


@pytest.mark.parametrize("name", ["stop_producers", "after_cutover"])
@pytest.mark.parametrize("mode", ["rehearse", "sync", "follow", "validate"])
def test_nothing_is_called_outside_of_a_cutover(hooked: World, mode: str, name: str) -> None:
    """In every other mode both are skipped, whatever the file names."""
    hooked.params = {"mode": mode}

    with pytest.raises(AirflowSkipException, match="moves no consumer groups"):
        hook(name).execute(hooked.context())


def test_only_a_dag_that_runs_has_a_link(hooked: World) -> None:
    """Airflow keeps the links of a task for good; one to no run at all would lead nowhere."""
    with_dag = hook("after_cutover")
    with pytest.raises(DagRunTriggerException):
        with_dag.execute(hooked.context())
    assert ["Triggered DAG"] == [link.name for link in with_dag.operator_extra_links]

    name_function(hooked)
    without = hook("after_cutover")
    with pytest.raises(FailedForGood):
        without.execute(hooked.context())
    assert [] == list(without.operator_extra_links)


def test_calls_are_in_the_report(hooked: World) -> None:
    """Who reads the report sees what was called, and what came of it."""
    announce(hooked)
    hook("stop_producers").announced(hooked.context(), {"announced": True})
    states: dict[str, Any] = {"preflight": "success"}
    hooked.finish(**states)

    assert "callable builtins.dict" in hooked.report
