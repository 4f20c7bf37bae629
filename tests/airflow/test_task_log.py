"""Rules of what the log of a task shows."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk.definitions.retry_policy import ExceptionRetryPolicy, RetryAction, RetryRule
from airflow.sdk.execution_time import task_runner

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, TransientError
from kafka_migration.core.validation.difference_words import finding_lines
from kafka_migration.orchestration.failing import FailedForGood, NeverAgain
from kafka_migration.orchestration.operators.finish import FinishOperator
from kafka_migration.orchestration.operators.hook import HookOperator
from kafka_migration.orchestration.operators.preflight import PreflightOperator
from kafka_migration.orchestration.operators.validate_topics import ValidateTopicsOperator
from kafka_migration.orchestration.sensors.drain_groups import DrainGroupsSensor
from kafka_migration.orchestration.sensors.group_lag import ConsumerGroupLagSensor
from tests.airflow.tasks import BEFORE_START
from tests.airflow.world import RECORD, World


def test_lines_of_finding() -> None:
    """A finding has one line for code and subject, and lines of at most 120 characters for the rest."""
    remedy = "Pin the new key only if its fingerprint was seen on the host itself. " * 3
    lines = finding_lines(Finding(Code.SSH_HOST_KEY_CHANGED, "connection host", "key A", "key B", remedy))

    assert lines[:3] == ["SSH_HOST_KEY_CHANGED · connection host", "  Found: key A", "  Expected: key B"]
    assert lines[3].startswith("  What to do: Pin the new key")
    assert all(line.startswith("    ") for line in lines[4:])
    assert max(map(len, lines)) <= 120
    assert " ".join(" ".join(lines[3:]).split()) == f"What to do: {remedy.strip()}"


def test_finding_has_lines_of_its_own(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """Every part of a finding is an ERROR line, and the task ends with a `SystemExit`, which Airflow does not trace."""
    del world.connections["old_kafka"], world.connections["spark"]

    with pytest.raises(SystemExit) as failed:
        world.do("preflight")

    errors = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    subjects = [line for line in errors if "CONNECTION_MISSING · " in line]
    assert len(subjects) == 2
    assert len([line for line in errors if line.startswith("  What to do: ")]) == 2
    assert str(failed.value).count("CONNECTION_MISSING") == 2


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


def test_failed_checks_come_first(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """Preflight logs the failed checks first, as errors."""
    world.connections["spark"] = "ssh"

    world.refuses("preflight")

    checks = [line for line in capsys.readouterr().out.splitlines() if "loc=preflight.py" in line]
    assert "[error" in checks[0]
    assert "connections  failed" in checks[0]
    assert all("[error" not in line for line in checks[1:])


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
    policy = NeverAgain(theirs)

    assert policy.evaluate(TransientError("later"), 1, 5).action is RetryAction.FAIL
    assert policy.evaluate(FailedForGood("no"), 1, 5).action is RetryAction.FAIL
    assert policy.evaluate(ValueError("odd"), 1, 5).action is RetryAction.DEFAULT


def test_plan_and_topics_are_logged_in_words(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """The log says per topic how many offsets will be copied, and which topics were created with which settings."""
    world.source.produce("orders", 0, *[RECORD] * 1500)
    world.do(*BEFORE_START)

    out = capsys.readouterr().out
    assert "orders                                   1,500 offsets to copy" in out
    assert "Total: 1,500 offsets to copy." in out
    assert "Created orders: 2 partitions, replication factor 1, settings: " in out
    assert "{" not in "".join(line for line in out.splitlines() if "loc=plan.py" in line or "loc=topics.py" in line)
    world.do("create_topics")


def test_judge_logs_the_verdict_on_the_whole_topic(scene: World, capsys: pytest.CaptureFixture[str]) -> None:
    """The log has the verdict of all runs together in addition to that of this run."""
    scene.validated()
    capsys.readouterr()
    scene.do("judge")

    out = capsys.readouterr().out
    assert "records compared by this run; as a whole PASS, " in out
