"""A small real migration for live tests: one topic, its file, its runs."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from kafka_migration.adapters.store.evidence_store import RunEvidence
from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.run.run_identity import RunIdentity
from sandbox.airflow_api import FINISHED, AirflowApi, DagRun
from sandbox.data.reading import read_records
from sandbox.data.topics import wait_until_led
from sandbox.sandbox import Sandbox
from tests.waiting import ASKING_AIRFLOW_S, wait_until

ROOT = Path(__file__).parents[2]
PARTITIONS = 2
RUN_TIMEOUT_S = 3_600.0
# A DAG of the file that makes all of them: it is there from the start.
DEMO = "kafka_migration__demo"

FILE = """\
version: 1
name: {name}
source:
  connection: {source}
target:
  connection: {target}
  replication_factor: 1
topics: [{name}{more_topics}]
mirror:
  {place}
{mirror}
watch:
  poll_interval: {poll_interval}
  stall_after: {stall_after}
  time_limit: 10m
validation:
  spark_connection: {spark}
accept: [SPARK_CIPHER_WEAK]
cutover:
  groups: ["{groups}"]
  fence_quiet: {fence_quiet}
  fence_wait: {fence_wait}
  approval_time_limit: {approval_time_limit}
{nightly}
"""
HOST = """\
connection: demo_mirror_host
  tasks: 1
  heap_mb: 256
  lease: {lease}
  stop_grace: 60s"""
DEFAULTS = {
    "source": "demo_source",
    "target": "demo_target",
    "place": "",
    "mirror": "",
    "spark": "demo_spark",
    "lease": "3m",
    "more_topics": "",
    "poll_interval": "1s",
    "stall_after": "3m",
    "fence_quiet": "3s",
    "fence_wait": "10m",
    "approval_time_limit": "1h",
    "nightly": "",
}


def file_text(name: str, settings: Mapping[str, str]) -> str:
    """Return the migration file of a live test; settings that are not given have their defaults."""
    given = {**DEFAULTS, "groups": f"{name}-.*", **settings}
    return FILE.format(name=name, **{**given, "place": given["place"] or HOST.format(lease=given["lease"])})


class LiveMigration:
    """One migration of one topic with two partitions that bears its name."""

    def __init__(self, sandbox: Sandbox, api: AirflowApi, path: Path, settings: Mapping[str, str]) -> None:
        self.name = path.stem
        self.dag_id = f"kafka_migration__{self.name}"
        self.nightly_dag_id = f"kafka_nightly_sync__{self.name}"
        self.path = path
        self._sandbox = sandbox
        self._api = api
        self._settings = {**DEFAULTS, "groups": f"{self.name}-.*", **settings}
        here, there = sandbox.state.source_bootstrap, sandbox.state.target_bootstrap
        # Whatever else a connection is called or refused for, it leads to the cluster of its side.
        if self._settings["target"] == "demo_source":
            here, there = there, here
        self.source, self.target = {"bootstrap.servers": here}, {"bootstrap.servers": there}

    def prepare(self) -> None:
        """Create the topic on the source, write the file, wait for the DAG."""
        self.create_topic(self.name)
        self._api.wait_for_dag(DEMO)
        self.path.write_text(file_text(self.name, self._settings))
        self._api.parse_again(DEMO)
        self._api.wait_for_dag(self.dag_id)

    def way_back(self) -> LiveMigration:
        """Return the migration whose runs are those of its rollback DAG, once Airflow knows that."""
        other = copy.copy(self)
        other.dag_id = f"kafka_rollback__{self.name}"
        self._api.wait_for_dag(other.dag_id)
        return other

    def create_topic(self, topic: str, partitions: int = PARTITIONS) -> None:
        """Create a topic on the source."""
        admin = AdminClient(self.source)
        for future in admin.create_topics([NewTopic(topic, partitions, 1)]).values():
            future.result(60)
        wait_until_led(self.source["bootstrap.servers"], {topic: partitions})

    def grow(self, partitions: int) -> None:
        """Give the topic on the source so many partitions."""
        admin = AdminClient(self.source)
        admin.create_partitions([NewPartitions(self.name, partitions)])[self.name].result(60)
        wait_until_led(self.source["bootstrap.servers"], {self.name: partitions})

    def produce(self, count: int, first: int = 0, size: int = 0, topic: str | None = None) -> None:
        """Send records to the source, two in a row of each key, of at least so many bytes."""
        producer = Producer({**self.source, "partitioner": "murmur2_random"})
        for number in range(first, first + count):
            key, headers = f"k{number // 2 % 20}", [("n", b"%d" % number)]
            producer.produce(topic or self.name, key=key, value=f"value {number}".ljust(size, "."), headers=headers)
            producer.poll(0)
        assert producer.flush(60) == 0

    def produce_at(self, moments: Iterable[datetime]) -> None:
        """Send one record of each moment to the first partition, in the order given."""
        producer = Producer(self.source)
        for number, moment in enumerate(moments):
            stamp = int(moment.timestamp() * 1000)
            producer.produce(self.name, key=f"k{number % 7}", value=f"at {moment}", partition=0, timestamp=stamp)
        assert producer.flush(60) == 0

    def trigger(self, mode: str = "sync", **conf: object) -> str:
        """Start a run, with further fields of the form where given, and return its id."""
        return self._api.trigger(self.dag_id, {"mode": mode, **conf})

    def state(self, run_id: str) -> str:
        """Return the run's state."""
        return self._api.run_state(self.dag_id, run_id)

    def task_state(self, run_id: str, task_id: str) -> str | None:
        """Return the state of a task of the run; `None` before it is scheduled."""
        task = self._api.run(self.dag_id, run_id).task(task_id)
        return task.state if task else None

    def run_airflow(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run an `airflow` command, however it ends."""
        return self._sandbox.run_airflow(*arguments)

    def airflow(self, *arguments: str) -> str:
        """Run an `airflow` command; return what it printed."""
        done = self.run_airflow(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def cli(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a `kafka-migration` command on the sandbox's evidence."""
        command = [sys.executable, "-m", "kafka_migration", *arguments, self.name]
        environment = {**self._sandbox.airflow_env(), "PYTHONPATH": str(ROOT / "plugins")}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def nightly_run(self, nth: int = 0, kind: str = "scheduled") -> str:
        """Return the id of the nth run of a kind of the nightly DAG, once it has ended."""

        def ended() -> list[str]:
            states = self._api.run_states(self.nightly_dag_id)
            return [run for run, state in states.items() if run.startswith(kind) and state in FINISHED]

        wait_until(lambda: len(ended()) > nth, RUN_TIMEOUT_S, f"{kind} run {nth} to end", ASKING_AIRFLOW_S)
        return ended()[nth]

    def finished(self, run_id: str) -> DagRun:
        """Return a run once it has ended."""
        return self._api.wait(self.dag_id, run_id, RUN_TIMEOUT_S)

    def run(self, mode: str = "sync") -> dict[str, Any]:
        """Do a whole run and return its `run.json`, with the DAG run's state as `state`."""
        run = self.finished(self.trigger(mode))
        return {**self.document(run.run_id), "state": run.state}

    def wait_for_task(self, run_id: str, task_id: str, states: Iterable[str]) -> None:
        """Return once a task of the run is in one of the states."""
        wanted = set(states)

        def is_there() -> bool:
            task = self._api.run(self.dag_id, run_id).task(task_id)
            return task is not None and task.state in wanted

        wait_until(is_there, 240, f"{task_id} in {sorted(wanted)}", ASKING_AIRFLOW_S)

    @property
    def evidence_root(self) -> Path:
        """Where evidence and ledger are."""
        return Path(self._sandbox.state.evidence_root)

    def evidence(self, run_id: str, attempt: int = 1) -> RunEvidence:
        """Return the evidence of a run's attempt; the schedule's and a backfill's runs are of the nightly DAG."""
        dag_id = self.nightly_dag_id if run_id.startswith(("scheduled__", "backfill__")) else self.dag_id
        identity = RunIdentity(dag_id, run_id, attempt)
        return RunEvidence(self.evidence_root, self.name, identity)

    def document(self, run_id: str, attempt: int = 1) -> dict[str, Any]:
        """Return the `run.json` of a run's attempt."""
        document: dict[str, Any] = json.loads((self.evidence(run_id, attempt).folder / "run.json").read_text())
        return document

    def has_document(self, run_id: str, attempt: int) -> bool:
        """Tell whether a run's attempt has ended with evidence."""
        return bool((self.evidence(run_id, attempt).folder / "run.json").exists())

    def codes(self, run_id: str, attempt: int = 1) -> list[str]:
        """Return the codes of the findings that a run's attempt ended with."""
        return [finding["code"] for finding in self.document(run_id, attempt)["findings"]]

    def task_pid(self, run_id: str, task_id: str) -> int:
        """Return the pid of a task of the run once it runs."""
        pids: list[int] = []

        def runs() -> bool:
            pid = self._api.task_pid(self.dag_id, run_id, task_id)
            pids.extend([] if pid is None else [pid])
            return bool(pids)

        wait_until(runs, RUN_TIMEOUT_S, f"{task_id} to run")
        return pids[0]

    @property
    def ledger(self) -> Ledger:
        """The migration's ledger."""
        return LedgerStore(self.evidence_root, self.name).read()

    def ledger_entries(self, kind: str = "") -> list[dict[str, Any]]:
        """Return the ledger's entries of one kind, or all but those with which each run begins and ends."""
        folder = LedgerStore(self.evidence_root, self.name).folder
        entries = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
        of_each_run = {"reserved", "reported"}
        return [entry for entry in entries if entry["kind"] == kind or (not kind and entry["kind"] not in of_each_run)]

    def source_state(self) -> tuple[set[str], set[str]]:
        """Return the source's topics and groups; Kafka's own topics come and go with any reader."""
        admin = AdminClient(self.source)
        topics = {name for name in admin.list_topics(timeout=30).topics if not name.startswith("__")}
        return topics, {group.group_id for group in admin.list_consumer_groups().result(60).valid}

    def target_records(self) -> int:
        """Return how many records the target topic holds; 0 before there is one."""
        return sum(len(placed) for placed in read_records(self.target["bootstrap.servers"], self.name).values())

    @property
    def host_folder(self) -> Path:
        """The migration's folder on the MirrorMaker host."""
        return Path(self._sandbox.state.mirror_home) / self.name

    @property
    def reservation(self) -> str | None:
        """Who holds the reservation on the host; `None` when it is free."""
        path = self.host_folder / "reservation"
        return path.read_text().strip() if path.exists() else None

    def mirror_pids(self) -> list[int]:
        """Return the pids of all living processes that bear this migration's mark."""
        mark = f"KAFKA_MIGRATION_ID={self.name}/".encode()
        return [pid for pid in self._sandbox.pids_alive() if mark in _environment(pid)]


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""
