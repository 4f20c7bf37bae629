"""Rules of lineage: OpenLineage is told which topics were copied from where to where."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from airflow.providers.openlineage.extractors.manager import ExtractorManager
from airflow.sdk import BaseOperator, TaskInstanceState

from kafka_migration.orchestration.operators.judge import JudgeOperator
from tests.airflow.world import World


def extracted(operator: BaseOperator) -> Any:
    """Return what OpenLineage's own listener gets out of an operator whose task has succeeded."""
    dag_run, task_instance = SimpleNamespace(run_id="r"), SimpleNamespace(state=TaskInstanceState.SUCCESS)
    state = TaskInstanceState.SUCCESS
    return ExtractorManager().extract_metadata(dag_run, operator, state, task_instance)


def test_judged_topics_are_told_to_openlineage(world: World) -> None:
    """After a good verdict each topic of the source is an input, and its copy an output."""
    world.edit_file("  tasks: 2\n", "  tasks: 2\n  topic_names: {naming: prefixed}\n")
    world.source.produce("orders", 0, (b"k", b"v"))
    world.copy({})
    world.validated()
    judge = JudgeOperator(task_id="judge", migration="shop")
    judge.execute(world.context())

    told = extracted(judge)

    assert {("kafka://a:1", "orders"), ("kafka://a:1", "audit")} >= {(d.namespace, d.name) for d in told.inputs}
    assert [f"shop-source.{d.name}" for d in told.inputs] == [d.name for d in told.outputs]
    assert told.outputs


def test_operator_that_has_judged_nothing_tells_nothing(world: World) -> None:
    """Without a verdict there is no lineage."""
    assert [] == extracted(JudgeOperator(task_id="judge", migration="shop")).inputs
