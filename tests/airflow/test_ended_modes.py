"""Rules of the last task of a mode, which skips all tasks that the mode does not need at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, BaseOperator, chain
from airflow.sdk.exceptions import DownstreamTasksSkipped

from kafka_migration.core.migration.settings import Mode
from kafka_migration.orchestration.factory import migration_dags
from kafka_migration.orchestration.operators.copying import PlanOperator, PreflightOperator, StartMirrorOperator
from tests.airflow.world import World
from tests.steps.cutover import judge_cutover
from tests.steps.tasks import BEFORE_START
from tests.steps.world import P0, RECORD

MOVING = ["after_cutover", "approve", "confirm_cutover", "restore_settings", "sync_offsets"]
PLANNING = ["drain_groups", "plan_offsets", "translate_offsets"]


def dag_task(world: World, task_id: str, kind: str = "kafka_migration") -> BaseOperator:
    """Return a task of the migration's DAG."""
    return migration_dags(world.migrations)[f"{kind}__shop"].get_task(task_id)


def skipped(world: World, task_id: str) -> list[str]:
    """Run a task of the DAG; return what it skips."""
    with pytest.raises(DownstreamTasksSkipped) as raised:
        dag_task(world, task_id).execute(world.context())
    return list(raised.value.tasks)


@pytest.mark.parametrize("mode", [Mode.SYNC, Mode.FOLLOW, Mode.VALIDATE, Mode.REHEARSE])
def test_start_skips_the_stop_of_producers(world: World, mode: Mode) -> None:
    """In a mode that moves no groups, `start_mirror` skips the task that asks for the stop of the producers."""
    world.params = {"mode": str(mode)}
    world.do(*BEFORE_START)

    assert ["stop_producers"] == skipped(world, "start_mirror")
    assert "generation" in world.task_instance.xcoms["return_value"]


COPYING = ["create_topics", "start_mirror", "watch_lag"]


@pytest.mark.parametrize("mode", [Mode.SYNC, Mode.VALIDATE, Mode.REHEARSE])
def test_plan_with_nothing_to_do_skips_the_copy(world: World, mode: Mode) -> None:
    """The tasks that create and copy are skipped at once; those of groups are left to `judge`."""
    world.source.produce("orders", 0, RECORD)
    world.copy_and_judge({P0: 1})
    world.next_run()
    world.params = {"mode": str(mode)}
    world.do("preflight", "reserve")
    world.begin("plan")

    assert sorted([*COPYING, "stop_producers"]) == skipped(world, "plan")
    assert world.task_instance.xcoms["return_value"]["is_done"]


def test_night_with_nothing_to_do_skips_the_copy(world: World) -> None:
    """In the nightly DAG `plan` skips the three tasks that it has."""
    world.extend_file('nightly:\n  cron: "0 1 * * *"\n')
    night = dag_task(world, "plan", "kafka_nightly_sync")
    assert isinstance(night, PlanOperator)

    assert COPYING == night.skips(Mode.SYNC, {"is_done": True})
    assert [] == night.skips(Mode.SYNC, {"is_done": False})


@pytest.mark.parametrize(
    ("rule", "is_teardown", "others", "skips"),
    [
        ("all_success", False, [], []),
        ("all_success", False, ["plan"], []),
        ("none_failed_min_one_success", False, [], []),
        ("none_failed_min_one_success", False, ["plan"], COPYING),
        ("none_failed", False, [], COPYING),
        ("all_done", False, [], COPYING),
        ("one_success", False, ["plan"], []),
        ("all_success", True, ["plan"], COPYING),
    ],
)
def test_own_dag_skips_only_if_its_other_tasks_still_run(
    rule: str, is_teardown: bool, others: list[str], skips: list[str]
) -> None:
    """Otherwise Airflow would skip the tasks after the copy, and `finish` would fail the run for that."""
    with DAG("own", schedule=None) as dag:
        plan = PlanOperator(task_id="plan", migration="shop")
        chain(plan, *(EmptyOperator(task_id=task_id) for task_id in COPYING))
        after = EmptyOperator(task_id="after", trigger_rule=rule)
        dag.get_task("watch_lag") >> after
        for task_id in others:
            dag.get_task(task_id) >> after
        if is_teardown:
            after.as_teardown()

    assert skips == plan.skips(Mode.SYNC, {"is_done": True})


def _other_id(dag: DAG) -> PlanOperator:
    return PlanOperator(task_id="plan_shop", migration="shop", dag=dag)


def _other_migration(dag: DAG) -> PlanOperator:
    dag.get_task("start_mirror").migration = "stock"
    return PlanOperator(task_id="plan", migration="shop", dag=dag)


def _setup(dag: DAG) -> PlanOperator:
    dag.get_task("start_mirror").as_setup()
    return PlanOperator(task_id="plan", migration="shop", dag=dag)


@pytest.mark.parametrize("of", [_other_id, _other_migration, _setup])
def test_unusual_dag_skips_nothing(of: Callable[[DAG], PlanOperator]) -> None:
    """With other ids, several migrations or other setups, the tasks after the copy might not run or not know."""
    with DAG("own", schedule=None) as dag:
        tasks = [PreflightOperator(task_id=task_id, migration="shop") for task_id in COPYING]
        chain(of(dag), *tasks)
    (plan,) = (task for task in dag.tasks if isinstance(task, PlanOperator))

    assert [] == plan.skips(Mode.SYNC, {"is_done": True})


def test_tasks_after_a_skipped_copy_still_run(world: World) -> None:
    """Teardowns always run, `validate_topics` runs if one task before it succeeded, and no other task follows."""
    skips = {*COPYING, "stop_producers"}
    for kind in ("kafka_migration", "kafka_nightly_sync"):
        dag = migration_dags(world.migrations)[f"{kind}__shop"]
        after = {task.task_id: task for task in dag.tasks if task.upstream_task_ids & skips}
        assert {"stop_mirror", "validate_topics", "finish"} == set(after) - skips
        assert after["stop_mirror"].is_teardown
        assert after["finish"].is_teardown
        assert after["validate_topics"].trigger_rule == "none_failed_min_one_success"
        assert "stop_mirror" in after["validate_topics"].upstream_task_ids


def test_cutover_asks_producers_to_stop(world: World) -> None:
    """In a cutover `start_mirror` skips nothing; in the nightly DAG there is no task to skip."""
    world.params = {"mode": "cutover"}
    world.do(*BEFORE_START)

    assert "generation" in dag_task(world, "start_mirror").execute(world.context())
    world.extend_file('nightly:\n  cron: "0 1 * * *"\n')
    night = dag_task(world, "start_mirror", "kafka_nightly_sync")
    assert isinstance(night, StartMirrorOperator)
    assert [] == night.skips(Mode.SYNC, {})


@pytest.mark.parametrize("mode", [Mode.SYNC, Mode.FOLLOW, Mode.VALIDATE])
def test_judge_ends_a_mode_that_plans_no_groups(world: World, mode: Mode) -> None:
    """`judge` skips all tasks of groups, and its summary is in XCom as if it had returned it."""
    judge_cutover(world)
    world.params = {"mode": str(mode)}

    assert sorted([*PLANNING, *MOVING]) == skipped(world, "judge")
    assert world.task_instance.xcoms["return_value"]["verdict"] == "PASS"


def test_plan_ends_a_rehearsal(world: World) -> None:
    """After the plan a rehearsal skips the tasks that would move groups."""
    judge_cutover(world)
    world.params = {"mode": "rehearse"}
    world.do("plan_offsets")

    assert MOVING == skipped(world, "plan_offsets")


def test_cutover_goes_on(world: World) -> None:
    """In a cutover neither task skips anything, and each returns its summary."""
    judge_cutover(world)

    assert dag_task(world, "judge").execute(world.context())["verdict"] == "PASS"
    assert dag_task(world, "plan_offsets").execute(world.context())["groups"] == 2


def test_night_has_nothing_to_skip(world: World) -> None:
    """In the nightly DAG `judge` has no tasks to skip."""
    judge_cutover(world)
    world.extend_file('nightly:\n  cron: "0 1 * * *"\n')

    assert [] == dag_task(world, "judge", "kafka_nightly_sync")._rest()
