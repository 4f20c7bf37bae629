"""A migration in the small world: what its runs touch, and what its tasks, MirrorMaker and Spark do there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, chain
from airflow.sdk.exceptions import AirflowSkipException
from airflow.sdk.execution_time.context import OutletEventAccessors

from kafka_migration.core.evidence.digests import digest_of
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.kafka.cluster import NewTopic, Side
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.kafka.schema_registry import SchemaRegistry
from kafka_migration.core.ledger.generations import StopCertificate
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.mirror.host import OpenedMirror
from kafka_migration.core.spark.spark_target import SparkTarget
from kafka_migration.core.spark.spark_versions import PythonVersions, SparkVersions
from kafka_migration.engines.mirrormaker2_topics import InternalTopics
from kafka_migration.orchestration.task.context import link_to, run_of
from kafka_migration.orchestration.task.failures import FailedForGood
from kafka_migration.steps.run.deployment import Deployment
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.validation.spark_request import request_of
from tests.airflow.conftest import FakeAnchor, FakeDagRun, FakeStateStore, FakeTaskInstance
from tests.airflow.spark import validation_result
from tests.airflow.tasks import BEFORE_START, TASKS
from tests.contract.fake_cluster import FakeCluster
from tests.contract.fake_mirror_host import FakeMirrorHost
from tests.contract.fake_mirrormaker import FakeMirrorMaker, fake_mirror

P0, P1, AUDIT = TopicPartition("orders", 0), TopicPartition("orders", 1), TopicPartition("audit", 0)
RECORD = (b"k", b"v")
FOUR_RECORDS = [(b"k", b"%d" % number) for number in range(4)]


@dataclass
class World:
    """A migration, its clusters and its host, and one run at a time."""

    root: Path
    migrations: Path
    source: FakeCluster
    target: FakeCluster
    host: FakeMirrorHost
    connections: dict[str, str]
    has_login: bool = False
    spark: SparkTarget = field(default_factory=lambda: SparkTarget("spark", "local[2]"))
    spark_versions: SparkVersions = field(default_factory=lambda: SparkVersions("spark-submit", "4.0.0", "2.13"))
    python_versions: PythonVersions | None = None
    task_instance: FakeTaskInstance = field(default_factory=FakeTaskInstance)
    dag_run: FakeDagRun = field(default_factory=FakeDagRun)
    params: dict[str, Any] = field(default_factory=lambda: {"mode": "sync", "topics": [], "note": ""})
    outlet_events: OutletEventAccessors = field(default_factory=OutletEventAccessors)
    anchor: FakeAnchor = field(default_factory=FakeAnchor)
    # What a test puts in place of a part of the deployment.
    deployed: dict[str, Any] = field(default_factory=dict)
    name: str = "shop"

    @property
    def file(self) -> Path:
        """The migration file."""
        return self.migrations / f"{self.name}.yaml"

    def extend_file(self, text: str) -> None:
        """Append to the migration file."""
        self.file.write_text(self.file.read_text() + text)

    def edit_file(self, old: str, new: str) -> None:
        """Replace a text that the migration file has."""
        text = self.file.read_text()
        assert old in text
        self.file.write_text(text.replace(old, new))

    @property
    def deployment(self) -> Deployment:
        """Where the world's runs happen."""
        made = Deployment(
            evidence_root=self.root,
            migrations_folder=self.migrations,
            anchor=self.anchor.of,
            open_cluster=lambda side, cluster: self.source if side == "source" else self.target,
            open_mirror=lambda migration: OpenedMirror(self.host, self.host),
            open_registry=self._no_registry,
            client_settings=lambda cluster: {"bootstrap.servers": "a:1"},
            run_link=link_to,
        )
        deployed = replace(made, **self.deployed)
        # The host's clock is right, also where a test sets the time.
        self.host.now = deployed.clock.now
        return deployed

    @staticmethod
    def _no_registry(side: Side, connection: str) -> SchemaRegistry:
        raise AssertionError(f"a schema registry was asked: {connection}")

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

    def freeze(self, text: str = "") -> None:
        """Give the run another frozen file, by default that of the folder, as if its preflight had found it."""
        text = text or self.file.read_text()
        self.context()
        task_id, self.task_instance.task_id = self.task_instance.task_id, "preflight"
        path = self.run.evidence.folder / "migration.yaml"
        before = digest_of(path.read_bytes()) if path.exists() else ""
        self.run.evidence.freeze_migration(text)
        # As if it had always been this file, in what every task knows.
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
        return run_of(self.context(), self.name)

    @property
    def ledger(self) -> Ledger:
        """The migration's ledger as it is now."""
        return self.run.ledger.read()

    def task(self, task_id: str) -> Any:
        """Return the operator or sensor of a task of the migration."""
        return TASKS[task_id](task_id=task_id, migration=self.name)

    def do(self, *task_ids: str) -> dict[str, Any]:
        """Run tasks in order and return the last one's summary."""
        summary: dict[str, Any] = {}
        for task_id in task_ids:
            self.context()
            self.task_instance.begin(task_id)
            summary = self.task(task_id).execute(self.context())
        return summary

    def refuses(self, *task_ids: str, match: str | None = None) -> str:
        """Run tasks in order until one refuses, as one must; return what it says."""
        with pytest.raises(FailedForGood, match=match) as raised:
            self.do(*task_ids)
        return str(raised.value)

    def skips(self, task_id: str, match: str | None = None) -> None:
        """Run a task, which must skip itself with this reason."""
        with pytest.raises(AirflowSkipException, match=match):
            self.do(task_id)

    def start(self) -> dict[str, Any]:
        """Run the tasks until MirrorMaker runs, and return the summary of its start."""
        return self.do(*BEFORE_START, "start_mirror")

    def copy(self, copied: Mapping[TopicPartition, int]) -> dict[str, Any]:
        """Start MirrorMaker, let it copy so many records per partition, and stop it."""
        self.start()
        self.mirror(copied)
        return self.do("stop_mirror")

    def judge(self, equal: bool = True) -> dict[str, Any]:
        """Let Spark find all windows equal or none, and judge that."""
        self.validated(equal)
        return self.do("judge")

    def copy_and_judge(self, copied: Mapping[TopicPartition, int], equal: bool = True) -> dict[str, Any]:
        """Copy so many records per partition in a generation of their own, and judge them."""
        self.copy(copied)
        return self.judge(equal)

    def assign(self) -> FakeMirrorMaker:
        """Return the MirrorMaker that the host has started last, after it has come up."""
        return fake_mirror(self.host.processes[self.host.last].launch, self.source, self.target)

    def mirror(self, copied: Mapping[TopicPartition, int]) -> None:
        """Let the MirrorMaker that was started last copy so many records per partition, and store its positions."""
        running = self.assign()
        for partition, count in copied.items():
            running.copy(partition, count)
        running.flush()

    def store_position(self, last_copied: int, partition: TopicPartition = P0) -> None:
        """Store the offset of the last record copied, as MirrorMaker 2 does, or another client in its name."""
        offsets = InternalTopics.of(self.name, 1).offsets
        self.target.create_topics([NewTopic(offsets, 1, 1, {})])
        key = json.dumps(["MirrorSourceConnector", {"cluster": f"{self.name}-source", **partition._asdict()}])
        self.target.produce(offsets, 0, (key.encode(), json.dumps({"offset": last_copied}).encode()))

    def watch_event(self, outcome: str, **more: Any) -> dict[str, Any]:
        """Return the event with which this attempt's watch ends."""
        event = {"outcome": outcome, "progress": "Copy: 1/2", "findings": [], "generation": 1}
        return {**event, "holder": self.run.identity.holder, **more}

    def end_watch(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """Resume `watch_lag` with the event of its trigger, and return its summary."""
        summary: dict[str, Any] = self.task("watch_lag").execute_complete(self.context(), event)
        return summary

    def validated(self, equal: bool = True, submitted: Sequence[str] = ()) -> None:
        """Write request and result as `validate_topics` and Spark do, with all windows equal or none.

        `submitted` are the arguments of a job that `validate_topics` has submitted: then only its result is written.
        """
        request = request_of(self.run)
        result = validation_result(request, equal)
        if submitted:
            self.spark_writes(submitted, result)
            return
        self.run.evidence.write(Kind.VALIDATION_REQUEST, request.to_document())
        self.run.evidence.write(Kind.VALIDATION_RESULT, result)

    def spark_writes(self, submitted: Sequence[str], result: Mapping[str, Any]) -> None:
        """Write the result of a job where its arguments say, however Spark spells the evidence root."""
        name = submitted[list(submitted).index("--result") + 1].rpartition("/")[2]
        (self.run.evidence.folder / name).write_text(json.dumps(result))

    def finish(self, **states: str | None) -> dict[str, Any]:
        """Run finish after tasks that ended in these states."""
        self.task_instance.task_states = states
        self.context()
        self.task_instance.begin("finish")
        with DAG("any", schedule=None) as dag:
            chain(*(EmptyOperator(task_id=task_id) for task_id in (*states, "finish")))
        seen = SimpleNamespace(topological_sort=dag.topological_sort, tasks=self.dag.tasks)
        summary: dict[str, Any] = self.task("finish").execute({**self.context(), "dag": seen})
        return summary

    def finish_fails(self, match: str | None = None, **states: str | None) -> str:
        """Run finish, which must fail the run, after tasks that ended in these states; return what it says."""
        with pytest.raises(FailedForGood, match=match) as raised:
            self.finish(**states)
        return str(raised.value)

    def next_run(self, number: int = 2) -> None:
        """End the run, and begin the next one."""
        self.task_instance.run_states[self.dag_run.run_id] = "success"
        self.dag_run.run_id, self.dag_run.clear_number = f"manual__{number}", 0

    @property
    def certified(self) -> StopCertificate:
        """The certificate of the generation that was stopped last."""
        stop = self.ledger.last_stop
        assert stop is not None
        return stop

    @property
    def refusal_codes(self) -> list[str]:
        """The codes of all that this attempt refused."""
        return [f["code"] for r in self.run.evidence.of_attempt(Kind.REFUSAL) for f in r["findings"]]

    @property
    def run_document(self) -> dict[str, Any]:
        """The `run.json` that finish has written."""
        document: dict[str, Any] = json.loads((self.run.evidence.folder / "run.json").read_text())
        return document

    @property
    def report(self) -> str:
        """The report that finish has written."""
        text: str = (self.run.evidence.folder / "report.md").read_text()
        return text
