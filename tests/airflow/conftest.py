"""A whole small world for operators: fake clusters and host, a real evidence store, an Airflow-like context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.standard.operators import hitl
from airflow.sdk.api.datamodels._generated import DagRunState, DagRunType
from airflow.sdk.execution_time.context import OutletEventAccessors

from kafka_migration.core.cluster import NewTopic
from kafka_migration.core.migration import RunIdentity
from kafka_migration.orchestration import lineage as lineage_module
from kafka_migration.orchestration import producers as producers_module
from kafka_migration.orchestration import run as run_module
from kafka_migration.orchestration import starting as start_module
from kafka_migration.orchestration.operators import preflight as preflight_module
from kafka_migration.orchestration.operators import spark_job as spark_job_module
from kafka_migration.orchestration.run import MigrationRun, nightly_mode_of
from tests.contract.fake_cluster import FakeCluster
from tests.contract.fake_mirror_host import FakeMirrorHost

DAG_ID = "kafka_migration__shop"
NIGHTLY_DAG_ID = "kafka_nightly_sync__shop"
CONNECTIONS = {"old_kafka": "kafka", "new_kafka": "kafka", "mirror_host": "ssh", "spark": "spark"}


@dataclass
class FakeDagRun:
    """What operators read of a DAG run."""

    run_id: str = "manual__1"
    clear_number: int = 0
    triggering_user_name: str | None = "ada"
    run_type: str = "manual"
    data_interval_start: datetime | None = None
    data_interval_end: datetime | None = None
    other_dag_id: str = ""

    @property
    def dag_id(self) -> str:
        """The manual DAG's id, for a run that nobody triggered the nightly DAG's, or that of another DAG."""
        return self.other_dag_id or (DAG_ID if self.run_type == "manual" else NIGHTLY_DAG_ID)

    def as_airflow_gives_it(self) -> SimpleNamespace:
        """Return it with the type as Airflow's enum, whose members are no plain texts."""
        return SimpleNamespace(**vars(self) | {"dag_id": self.dag_id, "run_type": DagRunType(self.run_type)})


@dataclass
class FakeTaskInstance:
    """What operators ask of the task instance: the states of runs and tasks."""

    run_states: dict[str, str] = field(default_factory=dict)
    task_states: dict[str, str | None] = field(default_factory=dict)
    paused_dags: set[str] = field(default_factory=set)
    id: str = "0190c6f5-0000-7000-8000-000000000000"

    def get_dagrun_state(self, dag_id: str, run_id: str) -> DagRunState:
        """Return the state of a run as Airflow's enum; an unknown one is an error, as Airflow answers it."""
        if run_id not in self.run_states:
            raise RuntimeError(f"Dag run {run_id} not found")
        return DagRunState(self.run_states[run_id])

    def get_dag(self, dag_id: str) -> SimpleNamespace:
        """Return what is asked of a DAG: whether it is paused."""
        return SimpleNamespace(is_paused=dag_id in self.paused_dags)

    def get_task_states(self, dag_id: str, run_ids: list[str]) -> dict[str, dict[str, str | None]]:
        """Return the states of the run's tasks."""
        return {run_ids[0]: self.task_states}


@dataclass
class World:
    """Everything that a run touches."""

    root: Path
    migrations: Path
    source: FakeCluster
    target: FakeCluster
    host: FakeMirrorHost
    connections: dict[str, str]
    deploy_mode: str | None = None
    task_instance: FakeTaskInstance = field(default_factory=FakeTaskInstance)
    dag_run: FakeDagRun = field(default_factory=FakeDagRun)
    params: dict[str, Any] = field(default_factory=lambda: {"mode": "sync", "topics": [], "note": ""})
    outlet_events: OutletEventAccessors = field(default_factory=OutletEventAccessors)

    def context(self) -> Mapping[str, Any]:
        """Return the context of a task of the run."""
        return {
            "dag_run": self.dag_run.as_airflow_gives_it(),
            "ti": self.task_instance,
            "task_instance": self.task_instance,
            "params": self.params,
            "dag": None,
            "outlet_events": self.outlet_events,
        }

    @property
    def run(self) -> MigrationRun:
        """The run as a task sees it."""
        identity = RunIdentity(self.dag_run.dag_id, self.dag_run.run_id, self.dag_run.clear_number + 1)
        return MigrationRun("shop", identity, self.params, nightly_mode_of(self.context()))  # type: ignore[arg-type]


@pytest.fixture
def world(tmp_path: Path, migration_text: str, monkeypatch: pytest.MonkeyPatch) -> World:
    """Two clusters with the source's topics, a host, connections, and the migration file `shop`."""
    migrations = tmp_path / "migrations"
    migrations.mkdir()
    (migrations / "shop.yaml").write_text(migration_text)
    made = World(
        root=tmp_path / "evidence",
        migrations=migrations,
        source=FakeCluster("old"),
        target=FakeCluster("new"),
        host=FakeMirrorHost("shop"),
        connections=dict(CONNECTIONS),
    )
    made.source.create_topics([NewTopic("orders", 2, 1, {"retention.ms": "1000"}), NewTopic("audit", 1, 1, {})])
    _connect(made, monkeypatch)
    return made


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What was put to people so far, as Airflow was told."""
    asks: list[dict[str, Any]] = []
    monkeypatch.setattr(hitl, "upsert_hitl_detail", lambda **detail: asks.append(detail))
    return asks


@pytest.fixture
def scene(world: World, asked: list[dict[str, Any]]) -> World:
    """A cutover that stands before its plan of the groups' offsets."""
    # These helpers are made for this world and import it.
    from tests.airflow.cutover import judge_cutover

    judge_cutover(world)
    return world


def _connect(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module.settings, "evidence_root", lambda: world.root)
    monkeypatch.setattr(run_module.settings, "migrations_folder", lambda: world.migrations)
    clusters = {"source": world.source, "target": world.target}
    monkeypatch.setattr(run_module, "cluster", lambda side, connection_id: clusters[side])
    monkeypatch.setattr(run_module, "SshMirrorHost", lambda migration, connection_id: world.host)
    # A look at the target's ends after a pause, which no other process uses here.
    monkeypatch.setattr(start_module.time, "sleep", lambda seconds: None)
    for module in (start_module, spark_job_module, lineage_module, producers_module):
        monkeypatch.setattr(module, "connection_config", lambda connection_id: {"bootstrap.servers": "a:1"})
    monkeypatch.setattr(
        preflight_module.AirflowConnections, "connection_type", lambda self, name: world.connections.get(name)
    )
    monkeypatch.setattr(preflight_module.AirflowConnections, "deploy_mode", lambda self, name: world.deploy_mode)
