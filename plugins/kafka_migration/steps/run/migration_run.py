"""The basis of every step of a run: its identity, frozen migration, evidence and clusters."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import Any

from kafka_migration.adapters.kafka.renamed_topics import renamed_topics
from kafka_migration.adapters.store.evidence_store import RunEvidence
from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.adapters.store.run_status_store import NewsStore, StopRequestStore
from kafka_migration.adapters.store.try_claims import TryClaims
from kafka_migration.core.connect.connect_tools import ConnectTools
from kafka_migration.core.evidence.digests import Keeper, Kept
from kafka_migration.core.findings.errors import FindingsError, StoreFailed
from kafka_migration.core.kafka.cluster import ClusterFacts, KafkaCluster, Side, TopicDescription
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.ledger.chain import writer_of
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Migration, Mode
from kafka_migration.core.migration.topic_rules import resolve
from kafka_migration.core.mirror.engine import AnyEngine
from kafka_migration.core.mirror.host import HostTools, OpenedMirror
from kafka_migration.core.mirror.mirror_process import AnyProcess
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.run.run_window import RunWindow
from kafka_migration.core.stored.stored_documents import RefusalDocument, Stored
from kafka_migration.core.text.local_time import LocalTime
from kafka_migration.migration_file.loading import load_migration, load_migration_file
from kafka_migration.steps.run.deployment import Deployment
from kafka_migration.steps.run.run_request import RunRequest


class MigrationRun:
    """One DAG run of one migration, as seen by one of its tasks or triggers.

    Files are read and connections are opened only when they are needed.
    """

    def __init__(
        self,
        migration_name: str,
        identity: RunIdentity,
        params: Mapping[str, Any],
        deployment: Deployment,
        nightly_mode: Mode | None = None,
        keeper: Keeper | None = None,
        tasks: Sequence[str] = (),
        try_id: str = "",
    ) -> None:
        self.name = migration_name
        self.identity = identity
        self.params = params
        self.nightly_mode = nightly_mode
        # The digests that Airflow keeps for the run; `None` for a read-only view.
        self.keeper = keeper
        self.tasks = tasks
        self.deployment = deployment
        self.clock = deployment.clock
        root = deployment.evidence_root
        self.evidence = RunEvidence(root, migration_name, identity, keeper)
        self.ledger = LedgerStore(root, migration_name, identity.holder, deployment.anchor(migration_name))
        self.stop_requests = StopRequestStore(root, migration_name)
        self.news = NewsStore(root, migration_name)
        # `None` for a trigger and a read-only view, which make no try.
        self.try_claims = TryClaims(root, migration_name, identity, try_id) if try_id else None
        # Set when the trigger has ended, so that its threads must not start anything.
        self.has_left = threading.Event()

    def to_arguments(self) -> dict[str, Any]:
        """Return what a trigger needs to rebuild this object: ids, params and digests, as plain JSON values."""
        return {
            "migration": self.name,
            "dag_id": self.identity.dag_id,
            "run_id": self.identity.run_id,
            "attempt": self.identity.attempt,
            "params": dict(self.params),
            "nightly_mode": None if self.nightly_mode is None else str(self.nightly_mode),
            "tasks": list(self.tasks),
            "digests": dict(self.kept.digests),
        }

    def evidence_of(self, holder: str) -> RunEvidence:
        """Return the evidence of another run, by its holder name; the ledger knows its digests."""
        identity = writer_of(holder, f"ledger of {self.name}")
        return RunEvidence(self.deployment.evidence_root, self.name, identity, self.ledger.known().keeper_of(identity))

    @property
    def kept(self) -> Kept:
        """What Airflow keeps about the run's evidence; empty for a read-only view."""
        return self.keeper.kept() if self.keeper is not None else Kept()

    @cached_property
    def request(self) -> RunRequest:
        """The parameters of the run; raises `Refused` if they are invalid."""
        return RunRequest.from_params(self.params, self.nightly_mode, is_rollback=self.identity.is_rollback)

    @cached_property
    def run_window(self) -> RunWindow:
        """The purpose and the time limits of the run, as decided by its preflight."""
        return self.evidence.require(Stored.PREFLIGHT).run_window

    @cached_property
    def migration(self) -> Migration:
        """The migration as frozen by the first task, limited to the requested topics.

        A run that mirrors leaves out topics that earlier runs cut over, because these have producers on the target.
        """
        migration = self.whole_migration.limited_to(self.request.topics)
        return migration.without(self.moved_topics) if self.request.mode.mirrors else migration

    @cached_property
    def moved_topics(self) -> frozenset[str]:
        """The topics that other runs cut over."""
        return self.ledger.known().moved_topics(but_by=self.identity)

    @cached_property
    def filed_migration(self) -> Migration:
        """The migration as frozen by the first task; its topics are only those that the file names exactly."""
        return load_migration(self.evidence.frozen_migration(), where=f"{self.name} (frozen)")

    @cached_property
    def whole_migration(self) -> Migration:
        """The migration as frozen by the first task, with all topics of the file.

        A file with patterns has the topics that preflight or plan recorded, else those that earlier runs copied.
        """
        return resolved(self.filed_migration, self.evidence, self.ledger.known)

    @property
    def local(self) -> LocalTime:
        """How people read the moments of the run; while its file cannot be read, in Airflow's time zone."""
        try:
            return self.filed_migration.local_time(self.deployment.timezone)
        except Exception:
            # The store may raise anything, and how a moment is written must not fail a task.
            return LocalTime(self.deployment.timezone)

    def look_at_topics_again(self) -> None:
        """Use the topic list that was recorded just now, also where this object has used an earlier one."""
        for name in ("whole_migration", "migration", "target_names", "target", "engine"):
            vars(self).pop(name, None)

    def live_migration(self) -> Migration:
        """Return the migration from the current file; only the approvers are taken from it."""
        return load_migration_file(self.deployment.migrations_folder / f"{self.name}.yaml")[1]

    @cached_property
    def target_names(self) -> Mapping[str, str]:
        """The names on the target of all topics in the file and all topics that were ever copied, by source name.

        Empty if topics keep their names.
        """
        whole = self.whole_migration
        if not whole.renames:
            return {}
        return {topic: whole.target_topic(topic) for topic in {*whole.topics, *self.ledger.known().copied_topics}}

    @cached_property
    def source(self) -> KafkaCluster:
        """The source cluster."""
        return self.deployment.open_cluster("source", self.filed_migration.source)

    @cached_property
    def target(self) -> KafkaCluster:
        """The target cluster; the migration's topics are addressed by their source names."""
        return renamed_topics(self.bare_target, self.target_names) if self.target_names else self.bare_target

    @cached_property
    def bare_target(self) -> KafkaCluster:
        """The target cluster, with its topics under their real names."""
        return self.deployment.open_cluster("target", self.filed_migration.target)

    @cached_property
    def engine(self) -> AnyEngine:
        """The MirrorMaker engine that the migration uses."""
        return self.deployment.engine_of(self.migration, self.source, self.target)

    @property
    def process(self) -> AnyProcess:
        """The process that copies; one connection for the whole task."""
        return self._opened.process

    @property
    def host_tools(self) -> HostTools | None:
        """The tools of the MirrorMaker host, over the same connection; `None` if the engine needs no host."""
        return self._opened.host_tools

    @property
    def connect_tools(self) -> ConnectTools | None:
        """The workers of the Kafka Connect cluster, as they show themselves; `None` if the engine needs none."""
        return self._opened.connect_tools

    @property
    def second_host_tools(self) -> HostTools | None:
        """The same tools over a second connection, for calls at the same time."""
        return self._opened_again.host_tools

    @cached_property
    def _opened(self) -> OpenedMirror:
        return self.deployment.open_mirror(self.filed_migration)

    @cached_property
    def _opened_again(self) -> OpenedMirror:
        return self.deployment.open_mirror(self.filed_migration)

    def close(self) -> None:
        """Close all open connections to the process and the clusters."""
        for made in vars(self).keys() & {"_opened", "_opened_again", "source", "bare_target"}:
            getattr(self, made).close()

    def describe(self, side: Side, topics: Collection[str] | None = None) -> Mapping[str, TopicDescription]:
        """Return topics of one side, by default those of the migration; topics that do not exist are left out."""
        reader = self.source if side == "source" else self.target
        return reader.describe_topics(self.migration.topics if topics is None else tuple(sorted(topics)))

    def facts_by_new_login(self, side: Side) -> ClusterFacts:
        """Log in to a cluster with its connection as Airflow has it now; return what the cluster says of itself."""
        named = self.filed_migration
        cluster = self.deployment.open_cluster(side, named.source if side == "source" else named.target)
        try:
            return cluster.facts()
        finally:
            cluster.close()

    def now(self) -> str:
        """Return the present time in UTC as ISO 8601 text with seconds."""
        return self.clock.now().isoformat(timespec="seconds")

    def now_words(self) -> str:
        """Return the present time as people read it."""
        return self.local.weekday(self.clock.now())

    def refused(self, task_id: str, error: FindingsError) -> None:
        """Record why a task refused or failed on purpose, so that `finish` can distinguish it from a crash.

        If the evidence store does not take it, Airflow keeps it.
        """
        refusal = RefusalDocument(task_id, self.now(), type(error).__name__, error.findings)
        try:
            self.evidence.write(Stored.REFUSAL, refusal)
        except StoreFailed:
            if self.keeper is not None:
                self.keeper.keep_refusal({**refusal.to_document(), "attempt": self.identity.attempt})


def resolved(migration: Migration, evidence: RunEvidence, ledger: Callable[[], Ledger]) -> Migration:
    """Return the migration with its exact topics: those that the run recorded, else those that earlier runs copied."""
    if not migration.rules.patterns:
        return migration
    recorded = evidence.newest(Stored.TOPIC_LIST)
    if recorded is not None:
        return migration.of_topics(recorded.topics)
    copied = ledger().copied_topics
    return migration.of_topics(resolve(migration.rules, copied, copied).topics)


def partitions_of(descriptions: Mapping[str, TopicDescription]) -> tuple[TopicPartition, ...]:
    """Return every partition of the described topics, sorted."""
    return tuple(sorted(p for d in descriptions.values() for p in d.topic_partitions))
