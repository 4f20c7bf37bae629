"""Rules of the ledger's head, which is kept in a variable of Airflow."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowRuntimeError, ErrorType
from airflow.sdk.execution_time import task_runner
from airflow.sdk.execution_time.comms import ErrorResponse

import kafka_migration
from kafka_migration.adapters.store.ledger_store import Anchor
from kafka_migration.airflow_adapters import ledger_anchor
from kafka_migration.airflow_adapters.ledger_anchor import VariableAnchor
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.ledger.chain import Head
from tests.contract.memory_anchor import MemoryAnchor


class FakeVariables:
    """A double of Airflow's variables."""

    def __init__(self, *, raises: bool) -> None:
        self.raises = raises
        self.values: dict[str, str] = {}
        self.get_fails = self.keys_fail = self.writes_fail = False

    def get(self, key: str, default: Any) -> Any:
        # As Airflow does if its API does not answer.
        return default if self.get_fails else self.values.get(key, default)

    def keys(self, prefix: str) -> list[str]:
        if self.keys_fail:
            raise AirflowRuntimeError(ErrorResponse(detail={"message": "503 Service Unavailable"}))
        return [key for key in self.values if key.startswith(prefix)]

    def set(self, key: str, value: str, description: str) -> None:
        if self.writes_fail and not self.raises:
            # As Airflow 3.2 does, which logs the error.
            return
        if self.writes_fail:
            raise AirflowRuntimeError(ErrorResponse(detail={"message": "503 Service Unavailable"}))
        self.values[key] = value

    def delete(self, key: str) -> None:
        if self.writes_fail:
            raise AirflowRuntimeError(ErrorResponse(detail={"message": "503 Service Unavailable"}))
        self.values.pop(key, None)

    def send(self, message: Any) -> Any:
        """Answer as the supervisor of a task."""
        return self.keys(message.key) or ErrorResponse(error=ErrorType.VARIABLE_NOT_FOUND)


@pytest.fixture(params=[True, False], ids=["Airflow 3.3", "Airflow 3.2"])
def variables(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> FakeVariables:
    made = FakeVariables(raises=request.param)
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


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "[]",
        "5",
        '{"number": 1}',
        '{"number": 1e999, "digest": ""}',
        '{"number": [], "digest": ""}',
        "[" * 100_000,
    ],
)
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


@pytest.mark.parametrize("kind", [VariableAnchor, lambda _: MemoryAnchor()], ids=["Airflow", "its double"])
def test_what_keeps_a_head_keeps_announcements_apart(variables: FakeVariables, kind: Callable[[str], Anchor]) -> None:
    """The double in the ledger's tests does the same as Airflow's variables: an announcement replaces no other one."""
    anchor = kind("shop")
    one, other, later = Head(3, "a"), Head(3, "b"), Head(4, "a")
    assert Head() == anchor.head()

    anchor.keep(one)
    anchor.announce(one)
    anchor.announce(other)
    assert [True, True, False] == [anchor.is_announced(each) for each in (one, other, later)]

    anchor.withdraw(one)
    anchor.withdraw(one)
    assert [False, True] == [anchor.is_announced(each) for each in (one, other)]
    anchor.keep(later)
    assert (later, True) == (anchor.head(), anchor.is_announced(other))


def test_announcement_that_airflow_does_not_take_stops_the_writer(variables: FakeVariables) -> None:
    """Without the announcement no entry is written; an announcement that cannot be withdrawn has no effect."""
    anchor = VariableAnchor("shop")
    anchor.announce(Head(3, "a"))
    variables.writes_fail = True

    with pytest.raises(
        TransientError, match="Airflow did not keep the variable kafka_migration__shop__ledger__000004_a"
    ):
        anchor.announce(Head(4, "a"))
    anchor.withdraw(Head(3, "a"))
    assert anchor.is_announced(Head(3, "a"))


def test_head_that_airflow_does_not_keep_leaves_the_earlier_one(variables: FakeVariables) -> None:
    """Airflow 3.3 says so; under Airflow 3.2 the announcement, which was checked, holds until the next entry."""
    anchor = VariableAnchor("shop")
    anchor.keep(Head(3, "a"))
    variables.writes_fail = True

    with pytest.raises(TransientError, match="503") if variables.raises else nullcontext():
        anchor.keep(Head(4, "b"))
    assert Head(3, "a") == anchor.head()


def test_unknown_announcement_is_not_a_missing_one(variables: FakeVariables) -> None:
    """An Airflow that does not answer makes no entry a forged one."""
    VariableAnchor("shop").announce(Head(3, "a"))
    variables.get_fails = True

    with pytest.raises(TransientError, match="did not return the variable"):
        VariableAnchor("shop").is_announced(Head(3, "a"))


PLUGINS = str(Path(kafka_migration.__file__).parents[1])
STORED = """
from airflow.models.team import Team
from airflow.models.variable import Variable
from airflow.settings import engine
from kafka_migration.airflow_adapters.ledger_anchor import _has_database, stored_anchor
from kafka_migration.core.ledger.chain import Head, announcement_key, head_key

assert stored_anchor("shop") is None
Variable.metadata.create_all(engine, tables=[Team.__table__, Variable.__table__])
_has_database.cache_clear()
anchor = stored_anchor("shop")
assert Head() == anchor.head()
Variable.set(head_key("shop"), Head(3, "a").to_text())
Variable.set(announcement_key("shop", Head(4, "b")), "{}")
assert Head(3, "a") == anchor.head()
assert [True, False] == [anchor.is_announced(head) for head in (Head(4, "b"), Head(4, "c"))]
"""


def test_command_line_reads_what_the_database_keeps(tmp_path: Path) -> None:
    """Outside of a task, head and announcements come from the database; without a database they are unknown."""
    settings = {"AIRFLOW_HOME": str(tmp_path), "_AIRFLOW_PROCESS_CONTEXT": "server", "PYTHONPATH": PLUGINS}
    command = [sys.executable, "-c", STORED]

    ended = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, check=False)
    assert (0, "") == (ended.returncode, ended.stderr[-2000:] if ended.returncode else "")
