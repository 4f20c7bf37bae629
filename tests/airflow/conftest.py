"""A whole small world for operators: fake clusters and host, a real evidence store, an Airflow-like context."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.standard.operators import hitl
from airflow.sdk._shared.secrets_masker import _secrets_masker
from airflow.sdk.api.datamodels._generated import DagRunState, DagRunType
from airflow.sdk.execution_time.context import OutletEventAccessors

from kafka_migration.adapters import evidence as evidence_module
from kafka_migration.airflow_adapters import settings
from kafka_migration.core.evidence.kept import digest_of
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.ledger.chain import Head
from kafka_migration.core.validation.spark_target import SparkTarget
from kafka_migration.orchestration import context as context_module
from kafka_migration.orchestration import keeping as keeping_module
from kafka_migration.orchestration.context import link_to, run_of
from kafka_migration.orchestration.operators import preflight as preflight_module
from kafka_migration.orchestration.operators import spark_job as spark_job_module
from kafka_migration.orchestration.triggers import patient as patient_module
from kafka_migration.steps.deployment import Deployment
from kafka_migration.steps.run import MigrationRun
from tests.contract.fake_cluster import FakeCluster
from tests.contract.fake_mirror_host import FakeMirrorHost

DAG_ID = "kafka_migration__shop"
NIGHTLY_DAG_ID = "kafka_nightly_sync__shop"
CONNECTIONS = {"old_kafka": "kafka", "new_kafka": "kafka", "mirror_host": "ssh", "spark": "spark"}


@pytest.fixture(autouse=True)
def masker() -> Iterator[Any]:
    """Airflow's masking, without secrets at the beginning: each new secret compiles the pattern of all again."""
    masker = _secrets_masker()
    before = masker.patterns, masker.replacer
    masker.reset_masker()
    yield masker
    masker.patterns, masker.replacer = before


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
class AirflowKeeps:
    """What Airflow keeps of all runs: XCom by run, task and key, and the tasks' state stores by run, task and key."""

    xcoms: dict[tuple[str, str, str], Any] = field(default_factory=dict)
    states: dict[tuple[str, str, str], Any] = field(default_factory=dict)


class FakeStateStore:
    """A task's state store, which outlives its tries."""

    def __init__(self, task_instance: FakeTaskInstance) -> None:
        self._states = task_instance.kept.states
        self._task = (task_instance.run, task_instance.task_id)

    def get(self, key: str) -> Any:
        """Return a value; `None` where there is none."""
        return self._states.get((*self._task, key))

    def set(self, key: str, value: Any) -> None:
        """Put a value down."""
        self._states[(*self._task, key)] = json.loads(json.dumps(value))


@dataclass
class FakeTaskInstance:
    """What operators ask of the task instance: the states of runs and tasks."""

    run_states: dict[str, str] = field(default_factory=dict)
    task_states: dict[str, str | None] = field(default_factory=dict)
    paused_dags: set[str] = field(default_factory=set)
    try_number: int = 1
    max_tries: int = 0
    id: str = "0190c6f5-0000-7000-8000-000000000000"
    kept: AirflowKeeps = field(default_factory=lambda: AirflowKeeps())
    task_id: str = "task"
    run: str = ""

    def begin(self, task_id: str) -> None:
        """Let a task of the run begin, for the first time or again: Airflow then empties its XCom."""
        self.task_id = task_id
        self.kept.xcoms = {at: value for at, value in self.kept.xcoms.items() if at[:2] != (self.run, task_id)}

    def xcom_push(self, key: str, value: Any) -> None:
        """Put a value down under the task."""
        self.kept.xcoms[self.run, self.task_id, key] = json.loads(json.dumps(value))

    def xcom_pull(self, task_ids: list[str], key: str) -> list[Any]:
        """Return what tasks put down; `None` for one that put nothing."""
        return [self.kept.xcoms.get((self.run, task_id, key)) for task_id in task_ids]

    @property
    def xcoms(self) -> dict[str, Any]:
        """What the task has put down, by key."""
        return {at[2]: value for at, value in self.kept.xcoms.items() if at[:2] == (self.run, self.task_id)}

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
class FakeAnchor:
    """Keeps the heads of ledgers as Airflow's variables do, for the life of a test."""

    kept: dict[str, Head] = field(default_factory=dict)
    migration: str = ""

    def of(self, migration: str) -> FakeAnchor:
        """Return the anchor of one migration."""
        return replace(self, migration=migration)

    def head(self) -> Head:
        """Return the head that was kept last."""
        return self.kept.get(self.migration, Head())

    def keep(self, head: Head) -> None:
        """Keep a head in place of the one before it."""
        self.kept[self.migration] = head


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
    has_login: bool = False
    spark: SparkTarget = field(default_factory=lambda: SparkTarget("spark", "local[2]"))
    task_instance: FakeTaskInstance = field(default_factory=FakeTaskInstance)
    dag_run: FakeDagRun = field(default_factory=FakeDagRun)
    params: dict[str, Any] = field(default_factory=lambda: {"mode": "sync", "topics": [], "note": ""})
    outlet_events: OutletEventAccessors = field(default_factory=OutletEventAccessors)
    anchor: FakeAnchor = field(default_factory=FakeAnchor)
    # What a test puts in place of a part of the deployment.
    deployed: dict[str, Any] = field(default_factory=dict)

    @property
    def deployment(self) -> Deployment:
        """Where the world's runs happen."""
        made = Deployment(
            evidence_root=self.root,
            migrations_folder=self.migrations,
            anchor=self.anchor.of,
            open_cluster=lambda side, cluster: self.source if side == "source" else self.target,
            open_host=lambda migration, connection: self.host,
            client_settings=lambda cluster: {"bootstrap.servers": "a:1"},
            run_link=link_to,
        )
        return replace(made, **self.deployed)

    def context(self) -> Mapping[str, Any]:
        """Return the context of a task of the run."""
        self.task_instance.run = f"{self.dag_run.dag_id} {self.dag_run.run_id}"
        return {
            "task_state_store": FakeStateStore(self.task_instance),
            "dag_run": self.dag_run.as_airflow_gives_it(),
            "ti": self.task_instance,
            "task_instance": self.task_instance,
            "params": self.params,
            "dag": self.dag,
            "outlet_events": self.outlet_events,
        }

    def freeze(self, text: str) -> None:
        """Let the run's file be another one, as if its preflight had found that."""
        self.context()
        task_id, self.task_instance.task_id = self.task_instance.task_id, "PreflightOperator"
        path = self.run.evidence.folder / "migration.yaml"
        before = digest_of(path.read_bytes()) if path.exists() else ""
        self.run.evidence.freeze_migration(text)
        # As if it had always been this file: no task knows of another.
        kept, digest = self.task_instance.kept, digest_of(text.encode())
        for values in (kept.xcoms, kept.states) if before and before != digest else ():
            for at, value in values.items():
                values[at] = json.loads(json.dumps(value).replace(before, digest))
        self.task_instance.task_id = task_id

    @property
    def dag(self) -> SimpleNamespace:
        """The DAG, as far as its tasks have begun."""
        begun = {at[1]: None for at in self.task_instance.kept.xcoms if at[0] == self.task_instance.run}
        tasks = [SimpleNamespace(task_id=task_id, template_fields=("migration",)) for task_id in sorted(begun)]
        return SimpleNamespace(tasks=tasks)

    @property
    def run(self) -> MigrationRun:
        """The run as a task sees it."""
        return run_of(self.context(), "shop")


@pytest.fixture(autouse=True)
def _settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let triggers give their events at once: no scheduler has to learn anything before a task runs again."""
    monkeypatch.setattr(patient_module, "SETTLED_AFTER_S", 0.0)


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


class FakeXCom:
    """Airflow's XCom as a trigger reaches it, over what the world's task instance put down."""

    def __init__(self, kept: AirflowKeeps) -> None:
        self._kept = kept

    def set(self, *, key: str, value: Any, dag_id: str, run_id: str, task_id: str) -> None:
        """Put a value down under a task."""
        self._kept.xcoms[f"{dag_id} {run_id}", task_id, key] = json.loads(json.dumps(value))

    def get_one(self, *, key: str, dag_id: str, run_id: str, task_id: str, map_index: int) -> Any:
        """Return what a task put down; `None` where it put nothing."""
        return self._kept.xcoms.get((f"{dag_id} {run_id}", task_id, key))


def _connect(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping_module, "XCom", FakeXCom(world.task_instance.kept))
    # Nothing else writes here while a task looks again.
    monkeypatch.setattr(evidence_module, "_LOOK_AGAIN_AFTER_S", (0, 0))
    monkeypatch.setattr(context_module, "deployment", lambda: world.deployment)
    # The configuration, for what does not belong to a run.
    monkeypatch.setattr(settings, "evidence_root", lambda: world.root)
    monkeypatch.setattr(settings, "migrations_folder", lambda: world.migrations)
    # A look at the target's ends after a pause, which no other process uses here.
    monkeypatch.setattr("kafka_migration.steps.mirror.start_stop.time.sleep", lambda seconds: None)
    monkeypatch.setattr(
        preflight_module.AirflowConnections, "connection_type", lambda self, name: world.connections.get(name)
    )
    monkeypatch.setattr(preflight_module.AirflowConnections, "kafka_findings", lambda self, side: ((), ()))
    monkeypatch.setattr(preflight_module.AirflowConnections, "deploy_mode", lambda self, name: world.deploy_mode)
    monkeypatch.setattr(preflight_module.AirflowConnections, "has_login", lambda self, name: world.has_login)
    for module in (preflight_module, spark_job_module):
        monkeypatch.setattr(module, "spark_target", lambda name: world.spark)
