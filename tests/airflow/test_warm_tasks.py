"""Rules of the sandbox's scheduler, which imports what tasks need before it forks its workers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from sandbox import airflow as sandbox_airflow

FACTORY = "kafka_migration.orchestration.dag.building"


@pytest.fixture
def module() -> Any:
    """The module that the sandbox writes for Airflow."""
    made = ModuleType("sandbox_hostname")
    exec(sandbox_airflow._HOSTNAME_MODULE, made.__dict__)
    return made


@pytest.fixture(autouse=True)
def factory_again() -> Iterator[None]:
    """Remove the imported DAG factory during the test."""
    before = sys.modules.pop(FACTORY, None)
    yield
    if before is not None:
        sys.modules[FACTORY] = before


@pytest.mark.parametrize(
    ("command", "environment", "expected"),
    [
        ("scheduler", {}, True),
        ("scheduler", sandbox_airflow.COLD_TASKS, False),
        ("triggerer", {}, False),
    ],
)
def test_only_the_scheduler_imports_it(
    module: Any, monkeypatch: pytest.MonkeyPatch, command: str, environment: dict[str, str], expected: bool
) -> None:
    """Only a scheduler imports the DAG factory, unless its setting says that tasks import it."""
    monkeypatch.setattr(sys, "argv", ["airflow", command])
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert "127.0.0.1" == module.loopback()

    assert expected == (FACTORY in sys.modules)
