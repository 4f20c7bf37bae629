"""Rules of lineage: OpenLineage gets the topics that were copied, with source and target."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from airflow.providers.openlineage.extractors.manager import ExtractorManager
from airflow.sdk import BaseOperator, TaskInstanceState

from tests.airflow.world import World


def extracted(operator: BaseOperator) -> Any:
    """Return what OpenLineage's listener extracts from an operator whose task has succeeded."""
    dag_run, task_instance = SimpleNamespace(run_id="r"), SimpleNamespace(state=TaskInstanceState.SUCCESS)
    state = TaskInstanceState.SUCCESS
    return ExtractorManager().extract_metadata(dag_run, operator, state, task_instance)


def test_judged_topics_are_lineage(world: World) -> None:
    """After a good verdict each topic of the source is an input, and its copy an output."""
    world.edit_file("  tasks: 2\n", "  tasks: 2\n  topic_names: {naming: prefixed}\n")
    world.source.produce("orders", 0, (b"k", b"v"))
    world.copy({})
    world.validated()
    judge = world.task("judge")
    judge.execute(world.context())

    found = extracted(judge)

    assert {("kafka://a:1", "orders"), ("kafka://a:1", "audit")} >= {(d.namespace, d.name) for d in found.inputs}
    assert [f"shop-source.{d.name}" for d in found.inputs] == [d.name for d in found.outputs]
    assert found.outputs


def test_operator_without_a_verdict_has_no_lineage(world: World) -> None:
    """Without a verdict there is no lineage."""
    assert [] == extracted(world.task("judge")).inputs
