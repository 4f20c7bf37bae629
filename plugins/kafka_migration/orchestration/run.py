"""What every step of a run starts from: who it is, its frozen migration, its evidence, its clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from airflow.providers.apache.kafka.hooks.client import KafkaAdminClientHook
from airflow.sdk import Context

from kafka_migration.adapters.clock import SystemClock
from kafka_migration.adapters.evidence import LedgerStore, RunEvidence
from kafka_migration.adapters.kafka import ConfluentCluster
from kafka_migration.adapters.mirror_host import SshMirrorHost
from kafka_migration.core.cluster import KafkaCluster, TopicDescription
from kafka_migration.core.codes import Code
from kafka_migration.core.errors import Finding, Refused
from kafka_migration.core.evidence import Kind
from kafka_migration.core.host import MirrorHost
from kafka_migration.core.migration import Migration, Mode, RunIdentity
from kafka_migration.core.offsets import Offsets, TopicPartition, from_document
from kafka_migration.orchestration import settings
from kafka_migration.spec.loading import load_migration

Side = Literal["source", "target"]
DEFAULT_MODE = Mode.REHEARSE


@dataclass(frozen=True, slots=True)
class PlanOffsets:
    """The plan's positions before the start and frozen goals, per source partition."""

    positions: Offsets
    goals: Offsets


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What the person who triggered the run asked for, on the form or in `conf`."""

    mode: Mode = DEFAULT_MODE
    topics: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    note: str = ""

    FIELDS = ("mode", "topics", "groups", "note")

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> RunRequest:
        """Read the run's params; a field that is missing has its default.

        Raises `Refused` (`RUN_CONF_INVALID`) for an unknown field or value; Airflow itself accepts both.
        """
        findings = [
            _conf_finding(name, "an unknown field", f"one of {', '.join(cls.FIELDS)}")
            for name in sorted(set(params) - set(cls.FIELDS))
        ]
        mode, note = params.get("mode", DEFAULT_MODE), params.get("note") or ""
        if mode not in set(Mode):
            findings.append(_conf_finding("mode", repr(mode), f"one of {', '.join(Mode)}"))
        topics, groups = (_names(params, field, findings) for field in ("topics", "groups"))
        if not isinstance(note, str):
            findings.append(_conf_finding("note", repr(note), "a text"))
        if findings:
            raise Refused(findings)
        return cls(Mode(mode), topics, groups, note)


def _names(params: Mapping[str, Any], field: str, findings: list[Finding]) -> tuple[str, ...]:
    """Return the names given in a field of the conf; anything but a list of texts is added to the findings."""
    names = params.get(field) or []
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        findings.append(_conf_finding(field, repr(names), f"a list of {field.removesuffix('s')} names"))
        return ()
    return tuple(names)


def _conf_finding(name: str, found: str, expected: str) -> Finding:
    remedy = "Correct the field and trigger the run again; nothing was started."
    return Finding(Code.RUN_CONF_INVALID, f"run conf field {name}", found, expected, remedy)


class MigrationRun:
    """One DAG run of one migration, seen from inside one of its tasks (or its trigger).

    Nothing is read or connected before it is asked for.
    """

    def __init__(self, migration_name: str, identity: RunIdentity, params: Mapping[str, Any]) -> None:
        self.name = migration_name
        self.identity = identity
        self.params = params
        self.clock = SystemClock()
        root = settings.evidence_root()
        self.evidence = RunEvidence(root, migration_name, identity)
        self.ledger = LedgerStore(root, migration_name)
        self._host: SshMirrorHost | None = None

    @classmethod
    def from_context(cls, context: Context, migration_name: str) -> MigrationRun:
        """Return the run that a task belongs to."""
        return cls(migration_name, identity_of(context), context.get("params") or {})

    @cached_property
    def request(self) -> RunRequest:
        """What was asked for; raises `Refused` when that makes no sense."""
        return RunRequest.from_params(self.params)

    @cached_property
    def migration(self) -> Migration:
        """The migration as the first task froze it, limited to the topics asked for."""
        text = self.evidence.frozen_migration()
        return load_migration(text, where=f"{self.name} (frozen)").limited_to(self.request.topics)

    @cached_property
    def source(self) -> KafkaCluster:
        """The source cluster."""
        return cluster("source", self.migration.source.connection)

    @cached_property
    def target(self) -> KafkaCluster:
        """The target cluster."""
        return cluster("target", self.migration.target.connection)

    @property
    def host(self) -> MirrorHost:
        """The MirrorMaker host; one connection for the whole task."""
        if self._host is None:
            self._host = SshMirrorHost(self.name, self.migration.mirror.connection)
        return self._host

    def close(self) -> None:
        """Close the connection to the MirrorMaker host."""
        if self._host is not None:
            self._host.close()

    def describe(self, side: Side) -> Mapping[str, TopicDescription]:
        """Return the migration's topics on one side; one that does not exist is missing."""
        reader = self.source if side == "source" else self.target
        return reader.describe_topics(self.migration.topics)

    def plan_offsets(self) -> PlanOffsets:
        """Return the positions and frozen goals of the run's plan."""
        plan = self.evidence.require(Kind.PLAN)
        return PlanOffsets(from_document(plan["positions"]), from_document(plan["goals"]))

    def now(self) -> str:
        """Return the present time in UTC as ISO 8601 text with seconds."""
        return self.clock.now().isoformat(timespec="seconds")

    def refused(self, task_id: str, findings: tuple[Finding, ...]) -> None:
        """Record why a task refused or failed on purpose, so that `finish` can tell it from an accident."""
        document = {"task": task_id, "at": self.now(), "findings": [f.to_document() for f in findings]}
        self.evidence.write(Kind.REFUSAL, document)


def identity_of(context: Context) -> RunIdentity:
    """Return which run, and which attempt of it, a task belongs to."""
    dag_run = context["dag_run"]
    return RunIdentity(dag_run.dag_id, dag_run.run_id, (dag_run.clear_number or 0) + 1)


def triggered_by(context: Context) -> str | None:
    """Return the name of the user who triggered the run; `None` where Airflow knows of none."""
    return getattr(context["dag_run"], "triggering_user_name", None) or None


def connection_config(connection_id: str) -> dict[str, Any]:
    """Return the librdkafka settings of a `kafka` connection, the provider's callbacks included."""
    config: dict[str, Any] = KafkaAdminClientHook(kafka_config_id=connection_id)._build_config()
    return config


def cluster(side: Side, connection_id: str) -> KafkaCluster:
    """Return the cluster behind an Airflow connection."""
    config = connection_config(connection_id)
    return ConfluentCluster(f"{side} ({connection_id}, {config['bootstrap.servers']})", config)


def cluster_at(connection_id: str) -> KafkaCluster:
    """Return the cluster behind an Airflow connection that is no side of a migration."""
    config = connection_config(connection_id)
    return ConfluentCluster(f"{connection_id} ({config['bootstrap.servers']})", config)


def partitions_of(descriptions: Mapping[str, TopicDescription]) -> tuple[TopicPartition, ...]:
    """Return every partition of the described topics, sorted."""
    return tuple(sorted(p for d in descriptions.values() for p in d.topic_partitions))
