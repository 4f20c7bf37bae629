"""Rules of what Airflow tries again, and what it logs of a refusal. Airflow before 3.3 has no retry policies."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

pytest.importorskip("airflow.sdk.definitions.retry_policy", reason="Airflow 3.3")

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk.definitions.retry_policy import ExceptionRetryPolicy, RetryAction, RetryRule
from airflow.sdk.execution_time import task_runner

from kafka_migration.core.findings.errors import TransientError
from kafka_migration.orchestration.cutover.hook import HookOperator
from kafka_migration.orchestration.operators.copying import PreflightOperator, ValidateTopicsOperator
from kafka_migration.orchestration.operators.finish import FinishOperator
from kafka_migration.orchestration.sensors.drain_groups import DrainGroupsSensor
from kafka_migration.orchestration.sensors.group_lag import ConsumerGroupLagSensor
from kafka_migration.orchestration.task.failures import FailedForGood
from kafka_migration.orchestration.task.retry_policy import NeverAgain
from tests.airflow.world import World

pytestmark = pytest.mark.airflow


@pytest.mark.skipif(not hasattr(task_runner, "_run_task_and_map_outcome"), reason="the task runner of Airflow 3.3.2")
def test_airflow_logs_no_stack_frames_and_does_not_try_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Airflow's task runner logs no stack frames of a refusal, and fails the task also if it has retries."""
    operator = PreflightOperator(task_id="preflight", migration="shop", retries=5)
    world.connections.clear()
    monkeypatch.setattr(task_runner, "_prepare", lambda *_: None)
    monkeypatch.setattr(task_runner, "_execute_task", lambda context, ti, log: operator.execute(context))
    server = SimpleNamespace(should_retry=True, max_tries=5, xcom_keys_to_clear=())
    ti = SimpleNamespace(task=operator, try_number=1, rendered_map_index=None, _ti_context_from_server=server)
    log = MagicMock()

    state, _, error = task_runner._run_task_and_map_outcome(ti, world.context(), log)

    assert state == "failed"
    assert "CONNECTION_MISSING" in str(error)
    log.exception.assert_not_called()
    assert all("exc_info" not in call.kwargs for call in log.method_calls)


@pytest.mark.parametrize(
    "operator",
    [
        FinishOperator(task_id="a", migration="shop", retries=5),
        HookOperator(task_id="b", migration="shop", hook="stop_producers"),
        ValidateTopicsOperator(task_id="c", migration="shop"),
        DrainGroupsSensor(task_id="d", migration="shop"),
        ConsumerGroupLagSensor(task_id="e", kafka_conn_id="old", group_ids=["g"]),
    ],
)
def test_refusals_are_never_tried_again(operator: EmptyOperator) -> None:
    """A refusal fails a task whatever its retries are; a transport error is retried."""
    policy = operator.retry_policy

    assert policy is not None
    assert policy.evaluate(FailedForGood("no"), 1, 5).action is RetryAction.FAIL
    assert policy.evaluate(TransientError("later"), 1, 5).action is RetryAction.DEFAULT


def test_policy_of_a_users_own_is_kept() -> None:
    """A user's own retry policy decides about everything except refusals."""
    theirs = ExceptionRetryPolicy([RetryRule(TransientError, RetryAction.FAIL)])
    policy = NeverAgain(theirs, FailedForGood)

    assert policy.evaluate(TransientError("later"), 1, 5).action is RetryAction.FAIL
    assert policy.evaluate(FailedForGood("no"), 1, 5).action is RetryAction.FAIL
    assert policy.evaluate(ValueError("odd"), 1, 5).action is RetryAction.DEFAULT
