"""Rules of the tasks that work by an operator of a provider: Spark jobs, and hooks that trigger a DAG."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunLink, TriggerDagRunOperator
from airflow.sdk import DAG
from airflow.sdk.bases.operator import ExecutorSafeguard
from airflow.sdk.exceptions import DagRunTriggerException

from kafka_migration.operators import HookOperator, TranslateOffsetsOperator, ValidateTopicsOperator
from kafka_migration.orchestration.cutover.hook import TriggeredDagLink
from kafka_migration.orchestration.operators.provider_operator import executed, provided
from kafka_migration.orchestration.operators.spark_submission import SparkSubmission


def _after_cutover(**arguments: Any) -> HookOperator:
    return HookOperator(task_id="after_cutover", migration="shop", hook="after_cutover", **arguments)


@pytest.mark.parametrize("kind", [ValidateTopicsOperator, TranslateOffsetsOperator])
def test_unknown_argument_is_an_error_of_the_dag_file(kind: type[ValidateTopicsOperator]) -> None:
    """An argument that neither Airflow nor Spark's operator has is refused where the DAG is written."""
    kind(task_id="t", migration="shop", executor_memory="4g", pool="spark")

    with pytest.raises(TypeError, match=f"{kind.__name__}: excutor_memory"):
        kind(task_id="t", migration="shop", excutor_memory="4g")


def test_unknown_argument_of_a_hook_is_an_error_of_the_dag_file() -> None:
    """An argument that neither Airflow nor the operator that triggers DAGs has is refused where the DAG is written."""
    _after_cutover(allowed_states=["success"], queue="q")

    with pytest.raises(TypeError, match="HookOperator: alowed_states"):
        _after_cutover(alowed_states=["success"])


def test_arguments_and_defaults_of_the_dag_reach_the_provider() -> None:
    """The arguments of a task and the `default_args` of its DAG reach Spark's operator, which is in no DAG."""
    defaults = {"executor_cores": 3, "executor_memory": "1g", "retries": 7}
    with DAG("d", schedule=None, default_args=defaults) as dag:
        task = ValidateTopicsOperator(task_id="v", migration="shop", executor_memory="4g", conf={"spark.x": "1"})
    made = SparkSubmission.of(task, task.submit_arguments)

    assert (3, "4g", "v", False) == (made._executor_cores, made._executor_memory, made.task_id, made.has_dag())
    assert {"spark.x": "1"} == made.spark_settings
    assert (7, ["v"]) == (task.retries, dag.task_ids)


def test_work_of_a_provider_is_no_warning(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Airflow warns if a task executes another operator; the log of a task that works by one has no such line."""
    monkeypatch.setattr(ExecutorSafeguard, "test_mode", False)
    made = provided(_after_cutover(), TriggerDagRunOperator, {"trigger_dag_id": "d", "trigger_run_id": "r"})
    logs = []
    for execute in (made.execute, partial(executed, made)):
        with pytest.raises(DagRunTriggerException):
            execute({})
        logs.append(capsys.readouterr().out + caplog.text)
        caplog.clear()

    assert [True, False] == ["cannot be called outside" in log for log in logs]


def test_link_to_the_triggered_run_is_the_providers() -> None:
    """The link has the name and the key of the provider's link, under which Airflow stores it."""
    theirs, ours = TriggerDagRunLink(), TriggeredDagLink()

    assert (theirs.name, theirs.xcom_key) == (ours.name, ours.xcom_key)
    assert [ours.xcom_key] == [link.xcom_key for link in _after_cutover().operator_extra_links]
