"""The fixtures of a small world for tasks: fake clusters and host, a real evidence store, a fake of Airflow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from airflow.providers.standard.operators import hitl
from airflow.sdk._shared.secrets_masker import _secrets_masker
from airflow.sdk.api.datamodels._generated import DagRunState, DagRunType
from airflow.sdk.execution_time import hitl as sdk_hitl

from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.airflow_adapters import checked_airflow
from kafka_migration.airflow_adapters.checked_airflow import AirflowConnections
from kafka_migration.orchestration.operators import spark_submission
from kafka_migration.orchestration.task import context as context_module
from kafka_migration.orchestration.task import digest_store as keeping_module
from kafka_migration.orchestration.triggers import patient as patient_module
from tests.steps.fixtures import clock, copied, made_in, quicken
from tests.steps.kept import DagRun, KeptValues, Tasks

if TYPE_CHECKING:
    from tests.airflow.world import World

__all__ = ["clock", "copied"]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark every test of this folder."""
    item.add_marker(pytest.mark.airflow)


@pytest.fixture(autouse=True)
def masker() -> Iterator[Any]:
    """Airflow's masking without secrets, because each new secret compiles the pattern of all secrets again."""
    masker = _secrets_masker()
    before = masker.patterns, masker.replacer
    masker.reset_masker()
    yield masker
    masker.patterns, masker.replacer = before


class FakeDagRun(DagRun):
    """What operators read of a DAG run."""

    def as_airflow_gives_it(self) -> SimpleNamespace:
        """Return it with the type as Airflow's enum."""
        return SimpleNamespace(**vars(self) | {"dag_id": self.dag_id, "run_type": DagRunType(self.run_type)})


class FakeStateStore:
    """A task's state store, which outlives its tries."""

    def __init__(self, task_instance: FakeTaskInstance) -> None:
        self._states = task_instance.kept.states
        self._task = (task_instance.run, task_instance.task_id)

    def get(self, key: str) -> Any:
        """Return a value, or `None`."""
        return self._states.get((*self._task, key))

    def set(self, key: str, value: Any) -> None:
        """Store a value."""
        self._states[(*self._task, key)] = json.loads(json.dumps(value))


@dataclass
class FakeTaskInstance(Tasks):
    """What operators use of the task instance."""

    paused_dags: set[str] = field(default_factory=set)
    try_number: int = 1
    max_tries: int = 0
    id: str = "0190c6f5-0000-7000-8000-000000000000"
    # The tasks whose values were asked for.
    pulled: list[str] = field(default_factory=list)

    @property
    def dag_id(self) -> str:
        """The DAG of the run."""
        return self.run.partition(" ")[0]

    @property
    def run_id(self) -> str:
        """The id of the run."""
        return self.run.partition(" ")[2]

    def xcom_push(self, key: str, value: Any) -> None:
        """Store a value of the task."""
        self.kept.xcoms[self.run, self.task_id, key] = json.loads(json.dumps(value))

    def xcom_pull(self, task_ids: list[str], key: str) -> list[Any]:
        """Return the values of tasks, `None` for a task without one."""
        self.pulled += task_ids
        return [self.kept.xcoms.get((self.run, task_id, key)) for task_id in task_ids]

    @property
    def xcoms(self) -> dict[str, Any]:
        """The values of the task, by key."""
        return {at[2]: value for at, value in self.kept.xcoms.items() if at[:2] == (self.run, self.task_id)}

    def get_dagrun_state(self, dag_id: str, run_id: str) -> DagRunState:
        """Return the state of a run as Airflow's enum; an unknown run is an error, as in Airflow."""
        if run_id not in self.run_states:
            raise RuntimeError(f"Dag run {run_id} not found")
        return DagRunState(self.run_states[run_id])

    def get_dag(self, dag_id: str) -> SimpleNamespace:
        """Return whether a DAG is paused."""
        return SimpleNamespace(is_paused=dag_id in self.paused_dags)

    def get_task_states(self, dag_id: str, run_ids: list[str]) -> dict[str, dict[str, str | None]]:
        """Return the states of the run's tasks."""
        return {run_ids[0]: self.task_states}


@pytest.fixture(autouse=True)
def _settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let triggers give their events at once."""
    monkeypatch.setattr(patient_module, "SETTLED_AFTER_S", 0.0)


@pytest.fixture
def world(tmp_path: Path, migration_text: str, monkeypatch: pytest.MonkeyPatch) -> World:
    """Two clusters with the source's topics, a host, connections, and the migration file `shop`."""
    # The world is made of the fakes above and imports them.
    from tests.airflow.world import World

    made = made_in(World, tmp_path, migration_text)
    quicken(made, monkeypatch)
    _connect(made, monkeypatch)
    return made


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The questions that Airflow has been given so far."""
    asks: list[dict[str, Any]] = []
    for module in (hitl, sdk_hitl):
        monkeypatch.setattr(module, "upsert_hitl_detail", lambda **detail: asks.append(detail))
    return asks


@pytest.fixture
def scene(world: World, asked: list[dict[str, Any]]) -> World:
    """A cutover before its offsets plan."""
    from tests.steps.cutover import judge_cutover

    judge_cutover(world)
    return world


class FakeXCom:
    """Airflow's XCom as a trigger uses it, with the values of the world's task instance."""

    def __init__(self, kept: KeptValues) -> None:
        self._kept = kept

    def set(self, *, key: str, value: Any, dag_id: str, run_id: str, task_id: str) -> None:
        """Store a value of a task."""
        self._kept.xcoms[f"{dag_id} {run_id}", task_id, key] = json.loads(json.dumps(value))

    def get_one(self, *, key: str, dag_id: str, run_id: str, task_id: str, map_index: int) -> Any:
        """Return the value of a task, or `None`."""
        return self._kept.xcoms.get((f"{dag_id} {run_id}", task_id, key))


def _connect(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping_module, "XCom", FakeXCom(world.task_instance.kept))
    monkeypatch.setattr(context_module, "deployment", lambda: world.deployment)
    # Airflow's configuration, for code outside of runs.
    monkeypatch.setattr(settings, "evidence_root", lambda: world.root)
    monkeypatch.setattr(settings, "migrations_folder", lambda: world.migrations)
    monkeypatch.setattr(AirflowConnections, "connection_type", lambda self, name: world.connections.get(name))
    monkeypatch.setattr(AirflowConnections, "kafka_findings", lambda self, side: ((), ()))
    monkeypatch.setattr(AirflowConnections, "principal", lambda self, side: "User:migration")
    monkeypatch.setattr(AirflowConnections, "certificates", lambda self, side: ())
    monkeypatch.setattr(AirflowConnections, "has_login", lambda self, name: world.has_login)
    for module in (checked_airflow, spark_submission):
        monkeypatch.setattr(module, "spark_target", lambda name: world.spark)
        monkeypatch.setattr(module, "spark_versions", lambda binary: world.spark_versions)
    monkeypatch.setattr(checked_airflow, "python_versions", lambda target: world.python_versions)
