"""A migration whose tasks run as plain objects, over real brokers, a real sshd and a real MirrorMaker.

What is left out is Airflow's scheduling, so that a test can stand between two tasks and change the world.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from airflow.sdk import BaseOperator
from confluent_kafka import Producer
from confluent_kafka import TopicPartition as ClientPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic, ResourceType

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.airflow_adapters.ssh import SshMirrorHost
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.orchestration.operators.copying import (
    CreateTopicsOperator,
    PlanOperator,
    PreflightOperator,
    ReserveOperator,
    StartMirrorOperator,
    StopMirrorOperator,
)
from kafka_migration.orchestration.sensors.watch_lag import MirrorLagSensor
from kafka_migration.orchestration.task import context as context_module
from kafka_migration.orchestration.task import digest_store as keeping_module
from kafka_migration.orchestration.task.context import run_of
from kafka_migration.steps.run.migration_run import MigrationRun
from sandbox.data.clients import client_config
from sandbox.data.reading import read_records
from sandbox.data.topics import wait_until_led
from sandbox.sandbox import Sandbox
from sandbox.security.listeners import Way, token_endpoints
from tests.airflow.conftest import FakeDagRun, FakeStateStore, FakeTaskInstance, FakeXCom
from tests.airflow.driving import deferred_by, revived
from tests.steps.kept import FakeAnchor, KeptValues
from tests.waiting import wait_until

CALL_TIMEOUT_S = 60
START_TIMEOUT_S = 1_800
WATCH_TIMEOUT_S = 3_600
BEFORE_START = (PreflightOperator, ReserveOperator, PlanOperator, CreateTopicsOperator)
FILE = """\
version: 1
name: {name}
source:
  connection: demo_source
target:
  connection: demo_target
  replication_factor: 1
topics: [{topics}]
mirror:
  connection: demo_mirror_host
  engine: {engine}
  tasks: 1
  heap_mb: 256
  lease: 3m
  stop_grace: 60s
{mirror}
watch:
  poll_interval: 1s
  stall_after: 2m
  time_limit: 4m
validation:
  spark_connection: demo_spark
"""


@dataclass
class Stage:
    """One migration on the sandbox's clusters; `mirror` are further lines of the file's section of that name."""

    sandbox: Sandbox
    name: str
    folder: Path
    topics: Sequence[str]
    engine: str = "mirrormaker2"
    mirror: str = ""
    runs: int = 1
    params: dict[str, Any] = field(default_factory=lambda: {"mode": "sync"})
    task_instance: FakeTaskInstance = field(default_factory=FakeTaskInstance)
    # What Airflow calls this try of a task; empty: a new one.
    try_id: str = ""

    def __post_init__(self) -> None:
        self.source = {"bootstrap.servers": self.sandbox.state.source_bootstrap}
        self.target = {"bootstrap.servers": self.sandbox.state.target_bootstrap}
        # An admin client that nobody holds on to takes its open calls with it.
        self._admins = {
            id(side): AdminClient(client_config(side["bootstrap.servers"])) for side in (self.source, self.target)
        }
        vars(keeping_module)["XCom"] = FakeXCom(self.task_instance.kept)
        self.write_file()

    def write_file(self, topics: Sequence[str] | None = None) -> None:
        """Write the migration file, with other topics if they are given."""
        self.topics = topics or self.topics
        lines = "".join(f"  {line}\n" for line in self.mirror.splitlines())
        text = FILE.format(name=self.name, topics=", ".join(self.topics), engine=self.engine, mirror=lines)
        (self.folder / "migrations").mkdir(exist_ok=True)
        (self.folder / "migrations" / f"{self.name}.yaml").write_text(text)

    @property
    def run(self) -> MigrationRun:
        """The run as a task sees it."""
        return run_of(self._context(), self.name)

    def next_run(self) -> None:
        """End the present run, whatever became of it, and begin another."""
        self.run.process.release(self.run.identity.holder)
        self.runs += 1

    def end(self) -> None:
        """Leave nothing running, and nothing reserved."""
        host = SshMirrorHost(self.name, "demo_mirror_host")
        holder = host.status().holder or self.run.identity.holder
        host.stop(holder, None, 0)
        host.release(holder)
        host.close()

    def do(self, *operators: type[BaseOperator]) -> dict[str, Any]:
        """Run operators in order and return the last one's summary."""
        summary: dict[str, Any] = {}
        for operator in operators:
            task = operator(task_id=operator.__name__, migration=self.name)
            summary = task.execute(self._context())
        return summary

    def start(self) -> None:
        """Do everything up to and with the start of MirrorMaker, which is tried again as Airflow does."""
        self.do(*BEFORE_START)
        wait_until(self._has_started, START_TIMEOUT_S, "a start of MirrorMaker")

    def _has_started(self) -> bool:
        try:
            self.do(StartMirrorOperator)
        except TransientError:
            return False
        return True

    def watch(self) -> dict[str, Any]:
        """Watch to the end; return the trigger's event."""
        sensor = MirrorLagSensor(task_id="watch_lag", migration=self.name)
        trigger = revived(deferred_by(sensor, self._context()).trigger)

        async def first() -> dict[str, Any]:
            return dict((await anext(aiter(trigger.run()))).payload)

        event: dict[str, Any] = json.loads(json.dumps(asyncio.run(asyncio.wait_for(first(), WATCH_TIMEOUT_S))))
        return event

    def complete(self, event: Mapping[str, Any]) -> None:
        """Do what the sensor does with the event."""
        MirrorLagSensor(task_id="watch_lag", migration=self.name).execute_complete(self._context(), event)

    def stop(self) -> dict[str, Any]:
        """Do what the teardown does."""
        return self.do(StopMirrorOperator)

    def sync(self) -> dict[str, Any]:
        """Do a whole run up to the stop certificate; return the trigger's event."""
        self.start()
        event = self.watch()
        self.complete(event)
        self.stop()
        self.next_run()
        return event

    def copied(self, topic: str, count: int = 50) -> tuple[str, list[bytes], list[bytes | None]]:
        """Fill a topic and copy it in a run; return the outcome, the values sent, and those on the target."""
        self.create(topic)
        values = [b"%d" % number for number in range(count)]
        self.produce(topic, *values)
        try:
            outcome = self.sync()["outcome"]
        finally:
            self.end()
        return outcome, values, self.copied_values(topic)

    def _context(self) -> Any:
        dag_run = FakeDagRun(run_id=f"manual__{self.runs}", other_dag_id=f"kafka_migration__{self.name}")
        self.task_instance.run = f"{dag_run.dag_id} {dag_run.run_id}"
        self.task_instance.id = self.try_id or str(uuid4())
        return {
            "dag_run": dag_run.as_airflow_gives_it(),
            "ti": self.task_instance,
            "task_state_store": FakeStateStore(self.task_instance),
            "params": self.params,
            "dag": SimpleNamespace(tasks=[]),
        }

    def create(self, topic: str, partitions: int = 1, **configs: str) -> None:
        """Create a topic on the source; `_` in the name of a setting stands for a dot."""
        config = {name.replace("_", "."): value for name, value in configs.items()}
        futures = self._admins[id(self.source)].create_topics([NewTopic(topic, partitions, 1, config=config)])
        futures[topic].result(CALL_TIMEOUT_S)
        wait_until_led(self.source["bootstrap.servers"], {topic: partitions})

    def produce(self, topic: str, *values: bytes, partition: int = 0, key: bytes | None = None) -> None:
        """Append records to the source, in one batch as far as they fit."""
        producer = Producer({**self.source, "linger.ms": 100})
        for value in values:
            producer.produce(topic, value=value, key=key, partition=partition)
        assert producer.flush(CALL_TIMEOUT_S) == 0

    def configure(self, side: dict[str, str], topic: str, **configs: str) -> None:
        """Set settings of a topic on `self.source` or `self.target`."""
        entries = [
            ConfigEntry(name.replace("_", "."), value, incremental_operation=AlterConfigOpType.SET)
            for name, value in configs.items()
        ]
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
        for future in self._admins[id(side)].incremental_alter_configs([resource]).values():
            future.result(CALL_TIMEOUT_S)

    def purge(self, topic: str, partition: int, log_start: int) -> None:
        """Delete everything on the source before an offset."""
        wanted = [ClientPartition(topic, partition, log_start)]
        for future in self._admins[id(self.source)].delete_records(wanted).values():
            future.result(CALL_TIMEOUT_S)

    def delete(self, topic: str) -> None:
        """Delete a topic on the source."""
        self._admins[id(self.source)].delete_topics([topic])[topic].result(CALL_TIMEOUT_S)

    @property
    def host_folder(self) -> Path:
        """The migration's folder on the MirrorMaker host."""
        return Path(self.sandbox.state.mirror_home) / self.name

    @property
    def source_cluster(self) -> ConfluentCluster:
        """The source, as the package sees it."""
        return ConfluentCluster("source", self.source)

    def source_offsets(self, topic: str, partition: int = 0) -> tuple[int, int]:
        """Return the log start and the end of a source partition."""
        partitions = [TopicPartition(topic, partition)]
        starts: Offsets = self.source_cluster.log_start_offsets(partitions)
        ends: Offsets = self.source_cluster.log_end_offsets(partitions, "read_committed")
        return starts[partitions[0]], ends[partitions[0]]

    def copied_values(self, topic: str) -> list[bytes | None]:
        """Return the values that the target holds, partition by partition, in order."""
        placed = read_records(self.target["bootstrap.servers"], topic)
        return [record.record.value for partition in sorted(placed) for record in placed[partition]]

    def refusal_codes(self) -> list[str]:
        """Return the codes of everything that the present run refused."""
        from kafka_migration.core.evidence.evidence_documents import Kind

        return [f["code"] for r in self.run.evidence.of_attempt(Kind.REFUSAL) for f in r["findings"]]


def connect_by(way: Way, sandbox: Sandbox, patch: pytest.MonkeyPatch) -> None:
    """Let both connections log in this way; call it after `set_the_stage`."""
    patch.setenv("AIRFLOW__KAFKA_MIGRATION__TOKEN_ENDPOINTS", token_endpoints(sandbox.security.values()))
    for side, security in sandbox.security.items():
        connection = {"conn_type": "kafka", "extra": security.connection(way)}
        patch.setenv(f"AIRFLOW_CONN_DEMO_{side.upper()}", json.dumps(connection))


def set_the_stage(sandbox: Sandbox, root: Path, patch: pytest.MonkeyPatch) -> None:
    """Let runs of this process find the sandbox's connections, and files and evidence below a folder."""
    for name, value in sandbox.state.environment.items():
        if name.startswith("AIRFLOW_CONN_"):
            patch.setenv(name, value)
    patch.setenv("AIRFLOW__KAFKA_MIGRATION__HOST_TOOLS", "False")
    # Each stage puts its own in its place.
    patch.setattr(keeping_module, "XCom", FakeXCom(KeptValues()))
    made, anchor = context_module.deployment(), FakeAnchor().of
    evidence, migrations = root / "evidence", root / "migrations"
    deployed = replace(made, anchor=anchor, evidence_root=evidence, migrations_folder=migrations)
    patch.setattr(context_module, "deployment", lambda: deployed)
    patch.setattr(settings, "evidence_root", lambda: evidence)
    patch.setattr(settings, "migrations_folder", lambda: migrations)
