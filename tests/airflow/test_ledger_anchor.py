"""Rules of the ledger's head, which Airflow keeps in a variable."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_migration.adapters import ledger_anchor
from kafka_migration.adapters.ledger_anchor import VariableAnchor
from kafka_migration.core.errors import Refused
from kafka_migration.core.ledger_chain import Head

pytestmark = pytest.mark.airflow


class FakeVariables:
    """A double of Airflow's variables."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    def get(self, key: str, default: Any) -> Any:
        return self.values.get(key, default)

    def set(self, key: str, value: str, description: str) -> None:
        self.values[key] = value


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch) -> FakeVariables:
    made = FakeVariables()
    monkeypatch.setattr(ledger_anchor, "Variable", made)
    return made


def test_head_is_kept_in_a_variable_of_the_migration(variables: FakeVariables):
    """Each migration has a variable of its own, and the head comes back from it."""
    VariableAnchor("shop").keep(Head(3, "ab"))

    assert Head(3, "ab") == VariableAnchor("shop").head()
    assert Head() == VariableAnchor("audit").head()
    assert ["kafka_migration__shop__ledger"] == list(variables.values)


@pytest.mark.parametrize("text", ["", "x", "[]", "5", '{"number": 1}', '{"number": [], "digest": ""}', "[" * 100_000])
def test_variable_that_holds_no_head_is_refused(variables: FakeVariables, text: str):
    """A value that was edited is one finding with the variable's name, and no guess."""
    variables.values["kafka_migration__shop__ledger"] = text

    with pytest.raises(Refused, match="LEDGER_BROKEN · Airflow variable kafka_migration__shop__ledger"):
        VariableAnchor("shop").head()
