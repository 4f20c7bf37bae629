"""Rules of the ledger's head, which is kept in a variable of Airflow."""

from __future__ import annotations

from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowRuntimeError, ErrorType
from airflow.sdk.execution_time import task_runner
from airflow.sdk.execution_time.comms import ErrorResponse

from kafka_migration.airflow_adapters import ledger_anchor
from kafka_migration.airflow_adapters.ledger_anchor import VariableAnchor
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.ledger.chain import Head


class FakeVariables:
    """A double of Airflow's variables."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.get_fails = self.keys_fail = False

    def get(self, key: str, default: Any) -> Any:
        # As Airflow does if its API does not answer.
        return default if self.get_fails else self.values.get(key, default)

    def keys(self, prefix: str) -> list[str]:
        if self.keys_fail:
            raise AirflowRuntimeError(ErrorResponse(detail={"message": "503 Service Unavailable"}))
        return [key for key in self.values if key.startswith(prefix)]

    def set(self, key: str, value: str, description: str) -> None:
        self.values[key] = value

    def send(self, message: Any) -> Any:
        """Answer as the supervisor of a task."""
        return self.keys(message.key) or ErrorResponse(error=ErrorType.VARIABLE_NOT_FOUND)


@pytest.fixture(params=[True, False], ids=["lists variables", "asks the supervisor"])
def variables(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> FakeVariables:
    made = FakeVariables()
    monkeypatch.setattr(ledger_anchor, "Variable", made)
    monkeypatch.setattr(ledger_anchor, "LISTS_VARIABLES", request.param)
    monkeypatch.setattr(task_runner, "SUPERVISOR_COMMS", made, raising=False)
    return made


def test_head_is_kept_in_a_variable_of_the_migration(variables: FakeVariables) -> None:
    """Each migration has a variable of its own, and the head comes back from it."""
    VariableAnchor("shop").keep(Head(3, "ab"))

    assert Head(3, "ab") == VariableAnchor("shop").head()
    assert Head() == VariableAnchor("audit").head()
    assert ["kafka_migration__shop__ledger"] == list(variables.values)


@pytest.mark.parametrize("text", ["", "x", "[]", "5", '{"number": 1}', '{"number": [], "digest": ""}', "[" * 100_000])
def test_variable_that_holds_no_head_is_refused(variables: FakeVariables, text: str) -> None:
    """A variable that was edited is a finding with its name."""
    variables.values["kafka_migration__shop__ledger"] = text

    with pytest.raises(Refused, match="LEDGER_BROKEN · Airflow variable kafka_migration__shop__ledger"):
        VariableAnchor("shop").head()


def test_airflow_that_does_not_answer_is_not_a_missing_variable(variables: FakeVariables) -> None:
    """A head that cannot be read is unknown, and not that of a new ledger."""
    VariableAnchor("shop").keep(Head(3, "ab"))
    variables.get_fails = True
    with pytest.raises(TransientError, match="the variable kafka_migration__shop__ledger"):
        VariableAnchor("shop").head()

    variables.keys_fail = True
    with pytest.raises(TransientError, match="503"):
        VariableAnchor("shop").head()
    with pytest.raises(TransientError, match="503"):
        VariableAnchor("new").head()
