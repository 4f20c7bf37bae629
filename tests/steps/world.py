"""A migration in the small world: what its runs touch, and what its use cases, MirrorMaker and Spark do there."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

from kafka_migration.adapters.store.digest_keeper import TaskKeeper
from kafka_migration.core.cutover.approval import Ask, Responder
from kafka_migration.core.evidence.digests import digest_of
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.evidence.root import EvidencePlace
from kafka_migration.core.findings.by_cause import by_cause
from kafka_migration.core.findings.errors import FindingsError, OutcomeUnknown, StoreFailed
from kafka_migration.core.kafka.cluster import NewTopic, Side
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.kafka.schema_registry import SchemaRegistry
from kafka_migration.core.ledger.generations import StopCertificate
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.mirror.host import OpenedMirror
from kafka_migration.core.report.alerts import run_link
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.run.run_window import Interval, RunType
from kafka_migration.core.watching.watch import WatchEnded
from kafka_migration.engines.mirrormaker2_topics import InternalTopics
from kafka_migration.steps.finish.finish_run import finish_run, look_at_evidence
from kafka_migration.steps.finish.outcome import EndedTasks
from kafka_migration.steps.groups.write_groups import accept_answer, record_answer
from kafka_migration.steps.mirror.watching import end_watch
from kafka_migration.steps.reading.spark_documents import SparkJob
from kafka_migration.steps.run.deployment import Deployment
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.one_process import claim_try
from kafka_migration.steps.run.run_request import Occasion
from kafka_migration.steps.run.task_frame import NothingToDo, performing
from kafka_migration.steps.validation.spark_request import request_of
from tests.checked_scene import Airflow
from tests.contract.fake_cluster import FakeCluster
from tests.contract.fake_mirror_host import FakeMirrorHost
from tests.contract.fake_mirrormaker import FakeMirrorMaker, fake_mirror
from tests.markdown_text import read
from tests.steps.kept import DagRun, FakeAnchor, Tasks, TaskShelf
from tests.steps.spark import validation_result
from tests.steps.tasks import BEFORE_START, HOW, USE_CASES, WaitingForAnswer

P0, P1, AUDIT = TopicPartition("orders", 0), TopicPartition("orders", 1), TopicPartition("audit", 0)
RECORD = (b"k", b"v")
CONNECTIONS = {"old_kafka": "kafka", "new_kafka": "kafka", "mirror_host": "ssh", "spark": "spark"}
FOUR_RECORDS = [(b"k", b"%d" % number) for number in range(4)]


class RunFailed(Exception):
    """`finish` has failed the run, for the reasons that are its text."""


@dataclass
class World:
    """A migration, its clusters and its host, and one run at a time."""

    root: Path
    migrations: Path
    source: FakeCluster
    target: FakeCluster
    host: FakeMirrorHost
    task_instance: Tasks = field(default_factory=Tasks)
    dag_run: DagRun = field(default_factory=DagRun)
    connections: dict[str, str] = field(default_factory=lambda: dict(CONNECTIONS))
    asked: list[Ask] = field(default_factory=list)
    params: dict[str, Any] = field(default_factory=lambda: {"mode": "sync", "topics": [], "note": ""})
    anchor: FakeAnchor = field(default_factory=FakeAnchor)
    # What a test puts in place of a part of the deployment.
    deployed: dict[str, Any] = field(default_factory=dict)
    # What Spark does with a job that `validate_topics` or a translation submits.
    spark_work: Callable[[SparkJob], object] | None = None
    name: str = "shop"
    # What Airflow calls this try of the task; empty: as a process that no other one has a copy of.
    try_id: str = ""
    # What a refusal is, and a task that has nothing to do.
    refusal: ClassVar[tuple[type[BaseException], ...]] = (FindingsError, OutcomeUnknown)
    skip: ClassVar[type[BaseException]] = NothingToDo
    waits: ClassVar[type[BaseException]] = WaitingForAnswer

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
            run_link=self.link_to,
        )
        deployed = replace(made, **self.deployed)
        # The host's clock is right, also where a test sets the time.
        self.host.now = deployed.clock.now
        return deployed

    @staticmethod
    def link_to(identity: RunIdentity, task_id: str = "") -> str:
        """Return the address of a run, or of a task's question."""
        return run_link("http://localhost:8080", identity.dag_id, identity.run_id, task_id)

    @staticmethod
    def _no_registry(side: Side, connection: str) -> SchemaRegistry:
        raise AssertionError(f"a schema registry was asked: {connection}")

    def begin(self, task_id: str) -> None:
        """Begin a task of the run, for the first time or again."""
        self.task_instance.run = f"{self.dag_run.dag_id} {self.dag_run.run_id}"
        self.task_instance.begin(task_id)

    @property
    def identity(self) -> RunIdentity:
        """The present attempt of the run."""
        return RunIdentity(self.dag_run.dag_id, self.dag_run.run_id, self.dag_run.clear_number + 1)

    @property
    def occasion(self) -> Occasion:
        """What started the run."""
        bounds: Any = (self.dag_run.data_interval_start, self.dag_run.data_interval_end)
        return Occasion(RunType(self.dag_run.run_type), Interval(*bounds))

    @property
    def airflow(self) -> Airflow:
        """What the checks ask of Airflow: connections without a login."""
        made = Airflow(evidence_place=EvidencePlace(str(self.root), str(self.root)))
        made.connections.has_login = lambda name: False
        made.connections.connection_type = self.connections.get
        return made

    def is_over(self, other: RunIdentity) -> bool:
        """Return whether a run has ended or was deleted."""
        return self.task_instance.run_states.get(other.run_id, "deleted") in {"success", "failed", "deleted"}

    def freeze(self, text: str = "") -> None:
        """Give the run another frozen file, by default that of the folder, as if its preflight had found it."""
        text = text or self.file.read_text()
        self.task_instance.run = f"{self.dag_run.dag_id} {self.dag_run.run_id}"
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
    def run(self) -> MigrationRun:
        """The run as a task sees it."""
        self.task_instance.run = f"{self.dag_run.dag_id} {self.dag_run.run_id}"
        keeper = TaskKeeper(TaskShelf(self.task_instance), self.name)
        mode = Mode.INTERVAL if self.dag_run.run_type == "backfill" else Mode.SYNC
        nightly_mode, tasks = mode if self.identity.is_nightly else None, self.task_instance.begun()
        return MigrationRun(
            self.name, self.identity, self.params, self.deployment, nightly_mode, keeper, tasks, self.try_id
        )

    @property
    def ledger(self) -> Ledger:
        """The migration's ledger as it is now."""
        return self.run.ledger.read()

    def do(self, *task_ids: str) -> dict[str, Any]:
        """Run tasks in order and return the last one's summary."""
        summary: dict[str, Any] = {}
        for task_id in task_ids:
            self.begin(task_id)
            summary = self.perform(task_id)
        return summary

    def perform(self, task_id: str) -> dict[str, Any]:
        """Do the work of a task that has begun, and return its summary."""
        with self.performing(task_id) as run:
            return dict(USE_CASES[task_id](self, run))

    @contextmanager
    def performing(self, task_id: str) -> Iterator[MigrationRun]:
        """Yield the run as a task sees it, with what surrounds the task's work."""
        run = self.run
        with performing(run, task_id, **HOW.get(task_id, {})):
            yield run

    def refuses(self, *task_ids: str, match: str | None = None) -> str:
        """Run tasks in order until one refuses, as one must; return what it says."""
        return self.refused(partial(self.do, *task_ids), match)

    def refused(self, act: Callable[[], object], match: str | None = None) -> str:
        """Do something that must be refused; return what the refusal says."""
        with pytest.raises(self.refusal) as raised:
            act()
        said = self.said_by(raised.value)
        assert match is None or re.search(match, said), said
        return said

    @staticmethod
    def said_by(error: BaseException) -> str:
        """Return what a refusal says. A store that does not take a document is not for good."""
        assert not isinstance(error, StoreFailed), error
        return (
            "\n".join(map(str, by_cause(error.findings)))
            if isinstance(error, FindingsError)
            else f"{type(error).__name__}: {error}"
        )

    def skips(self, task_id: str, match: str | None = None) -> None:
        """Run a task, which must skip itself with this reason."""
        with pytest.raises(self.skip, match=match):
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

    def answer(self, option: str | None = "Approve", user: str = "grace") -> dict[str, Any]:
        """Answer the question of approve; no option is a time-out."""
        at, by = (datetime(2030, 1, 1, tzinfo=UTC), Responder(user, user)) if option else (None, Responder())
        with self.performing("approve") as run:
            return dict(accept_answer(run, record_answer(run, option, by, at), self.dag_run.triggering_user_name))

    def submit(self, run: MigrationRun, job: SparkJob) -> bool:
        """Let Spark do a job in time (`SparkJobs`)."""
        assert self.spark_work is not None, "Spark was started"
        self.spark_work(job)
        return True

    def end_watch(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """Resume `watch_lag` with the event of its trigger, and return its summary."""
        with self.performing("watch_lag") as run:
            return dict(end_watch(run, WatchEnded.from_document({"at": run.now(), **event})))

    def validated(self, equal: bool = True, result: str = "") -> None:
        """Write request and result as `validate_topics` and Spark do, with all windows equal or none.

        `result` is the path of the result of a job that `validate_topics` has submitted: then only that is written.
        """
        request = request_of(self.run)
        found = validation_result(request, equal)
        if result:
            self.spark_writes(result, found)
            return
        self.run.evidence.write(Kind.VALIDATION_REQUEST, request.to_document())
        self.run.evidence.write(Kind.VALIDATION_RESULT, found)

    def spark_writes(self, path: str, result: Mapping[str, Any]) -> None:
        """Write the result of a job where its request says, however Spark spells the evidence root."""
        (self.run.evidence.folder / path.rpartition("/")[2]).write_text(json.dumps(result))

    def finish(self, **states: str | None) -> dict[str, Any]:
        """Run finish after tasks that ended in these states."""
        self.begin("finish")
        return self.finish_begun(**states)

    def finish_begun(self, **states: str | None) -> dict[str, Any]:
        """Do the work of finish, which has begun."""
        run = self.run
        claim_try(run, "finish", needs_store=False)
        look_at_evidence(run)
        finished = finish_run(run, EndedTasks(states, self.dag_run.triggering_user_name))
        run.close()
        if finished.document.has_failed:
            raise RunFailed(finished.why)
        return {"outcome": finished.document.outcome, "evidence": finished.ended.evidence}

    def finish_fails(self, match: str | None = None, **states: str | None) -> str:
        """Run finish, which must fail the run, after tasks that ended in these states; return what it says."""
        with pytest.raises((RunFailed, *self.refusal), match=match) as raised:
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
        """The report that finish has written, with a line per paragraph."""
        return read((self.run.evidence.folder / "report.md").read_text())
