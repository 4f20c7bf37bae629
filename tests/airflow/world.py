"""The small world with Airflow: its tasks run as operators and sensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar
from uuid import uuid4

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, chain
from airflow.sdk.exceptions import AirflowSkipException
from airflow.sdk.execution_time.context import OutletEventAccessors

from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.airflow_adapters.airflow_metrics import emit
from kafka_migration.core.spark.spark_target import SparkTarget
from kafka_migration.core.spark.spark_versions import PythonVersions, SparkVersions
from kafka_migration.orchestration.task.context import link_to, run_of
from kafka_migration.orchestration.task.failures import FailedForGood
from kafka_migration.steps.run.deployment import Deployment
from kafka_migration.steps.run.migration_run import MigrationRun
from tests.airflow.conftest import FakeDagRun, FakeStateStore, FakeTaskInstance
from tests.airflow.cutover import Waits, answer_event
from tests.airflow.tasks import TASKS
from tests.steps import world as without_airflow


@dataclass
class World(without_airflow.World):
    """A migration, its clusters, its host and its Airflow, and one run at a time."""

    has_login: bool = False
    spark: SparkTarget = field(default_factory=lambda: SparkTarget("spark", "local[2]"))
    spark_versions: SparkVersions = field(default_factory=lambda: SparkVersions("spark-submit", "4.0.0", "2.13"))
    python_versions: PythonVersions | None = None
    task_instance: FakeTaskInstance = field(default_factory=FakeTaskInstance)
    dag_run: FakeDagRun = field(default_factory=FakeDagRun)
    outlet_events: OutletEventAccessors = field(default_factory=OutletEventAccessors)
    refusal: ClassVar[tuple[type[BaseException], ...]] = (FailedForGood,)
    skip: ClassVar[type[BaseException]] = AirflowSkipException
    waits: ClassVar[type[BaseException]] = Waits

    @property
    def deployment(self) -> Deployment:
        """Where the world's runs happen."""
        places = {"run_link": link_to, "spark_path": lambda path: settings.evidence_place().for_spark(path)}
        self.deployed = {"send_metrics": emit, **places, **self.deployed}
        return super().deployment

    def context(self) -> Mapping[str, Any]:
        """Return the context of a task of the run."""
        self.task_instance.run = f"{self.dag_run.dag_id} {self.dag_run.run_id}"
        self.task_instance.id = self.try_id or str(uuid4())
        return {
            "task_state_store": FakeStateStore(self.task_instance),
            "dag_run": self.dag_run.as_airflow_gives_it(),
            "ti": self.task_instance,
            "task_instance": self.task_instance,
            "params": self.params,
            "dag": self.dag,
            "outlet_events": self.outlet_events,
        }

    @property
    def dag(self) -> SimpleNamespace:
        """The DAG, as far as its tasks have begun."""
        begun = self.task_instance.begun()
        return SimpleNamespace(tasks=[SimpleNamespace(task_id=each, template_fields=("migration",)) for each in begun])

    @property
    def run(self) -> MigrationRun:
        """The run as a task sees it."""
        return run_of(self.context(), self.name)

    def task(self, task_id: str) -> Any:
        """Return the operator or sensor of a task of the migration."""
        return TASKS[task_id](task_id=task_id, migration=self.name)

    def perform(self, task_id: str) -> dict[str, Any]:
        """Execute a task that has begun, and return its summary."""
        summary: dict[str, Any] = self.task(task_id).execute(self.context())
        return summary

    @staticmethod
    def said_by(error: BaseException) -> str:
        """Return what a refusal says."""
        return str(error)

    def answer(self, option: str | None = "Approve", user: str = "grace") -> dict[str, Any]:
        """Resume approve with an answer, as Airflow does; no option is a time-out."""
        event = answer_event(option, user)
        summary: dict[str, Any] = self.task("approve").execute_complete(self.context(), event)
        return summary

    def end_watch(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """Resume `watch_lag` with the event of its trigger, and return its summary."""
        summary: dict[str, Any] = self.task("watch_lag").execute_complete(self.context(), event)
        return summary

    def finish(self, **states: str | None) -> dict[str, Any]:
        """Run finish after tasks that ended in these states."""
        self.task_instance.task_states = states
        self.begin("finish")
        with DAG("any", schedule=None) as dag:
            chain(*(EmptyOperator(task_id=task_id) for task_id in (*states, "finish")))
        seen = SimpleNamespace(topological_sort=dag.topological_sort, tasks=self.dag.tasks)
        summary: dict[str, Any] = self.task("finish").execute({**self.context(), "dag": seen})
        return summary


def result_in(submitted: Sequence[str]) -> str:
    """Return the path of the result in the arguments of a job."""
    return submitted[list(submitted).index("--result") + 1]
