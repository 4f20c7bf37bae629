"""Rules of the sandbox's scheduler, which imports what tasks need before it forks its workers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from sandbox import airflow as sandbox_airflow

# What builds the DAGs, and what a task does.
IMPORTED = ("kafka_migration.orchestration.dag.building", "kafka_migration.steps.finish.finish_run")


@pytest.fixture
def module() -> Any:
    """The module that the sandbox writes for Airflow."""
    made = ModuleType("sandbox_hostname")
    exec(sandbox_airflow.HOSTNAME_MODULE, made.__dict__)
    return made


@pytest.fixture(autouse=True)
def factory_again() -> Iterator[None]:
    """Remove the imported modules during the test."""
    before = {name: module for name in IMPORTED if (module := sys.modules.pop(name, None))}
    yield
    sys.modules.update(before)


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
    """Only a scheduler imports what tasks need, unless its setting says that tasks import it."""
    monkeypatch.setattr(sys, "argv", ["airflow", command])
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert "127.0.0.1" == module.loopback()

    assert [expected] * len(IMPORTED) == [name in sys.modules for name in IMPORTED]
