"""The basis of every step of a run: its identity, frozen migration, evidence and clusters."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, TypeVar

from airflow.sdk import Context

from kafka_migration.adapters import settings
from kafka_migration.adapters.clock import SystemClock
from kafka_migration.adapters.connections import cluster_named
from kafka_migration.adapters.evidence import RunEvidence
from kafka_migration.adapters.ledger_anchor import VariableAnchor
from kafka_migration.adapters.ledger_store import LedgerStore
from kafka_migration.adapters.mirror_host import SshMirrorHost
from kafka_migration.adapters.news import NewsStore
from kafka_migration.adapters.renamed_topics import RenamedTopics
from kafka_migration.adapters.stop_requests import StopRequestStore
from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.evidence.kept import Keeper, Kept
from kafka_migration.core.findings.errors import Finding, FindingsError, Refused
from kafka_migration.core.kafka.cluster import KafkaCluster, TopicDescription
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition, from_document
from kafka_migration.core.ledger.generations import NO_GENERATIONS, parse_generations
from kafka_migration.core.migration.run_conf import MAX_UNKNOWN, conf_finding, unused_findings
from kafka_migration.core.migration.run_window import Occasion, RunType
from kafka_migration.core.migration.settings import Cluster, Insecurity, Migration, Mode, RunIdentity
from kafka_migration.core.mirror.engine import MirrorEngine
from kafka_migration.core.mirror.host import MirrorHost
from kafka_migration.core.text.brief import given
from kafka_migration.engines.engines import engine_of
from kafka_migration.orchestration.keeping import AirflowKeeper, TaskShelf, TriggerShelf
from kafka_migration.spec.loading import load_migration, load_migration_file

Side = Literal["source", "target"]
DEFAULT_MODE = Mode.REHEARSE
DEFAULT_ROLLBACK = Mode.FAIL_BACK
# The maximum number of topics in a migration file.
MAX_NAMES = 5_000
LONGEST_NAME = 1_000
LONGEST_NOTE = 2_000


@dataclass(frozen=True, slots=True)
class PlanOffsets:
    """The plan's positions before the start and frozen goals, per source partition."""

    positions: Offsets
    goals: Offsets


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The parameters of a run, from the form or `conf`, or from the schedule or a backfill.

    `follow_until` is when mode `follow` ends; `None` means that it waits for a stop request. `mirror_outside_window`
    lets a backfill mirror missing records at any time of day. `generations` are those whose windows mode `validate`
    reads again; none means the whole copy. `leave_records_of` are topics whose records may stay on the target only
    after a rollback.
    """

    mode: Mode = DEFAULT_MODE
    topics: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    note: str = ""
    follow_until: datetime | None = None
    mirror_outside_window: bool = False
    generations: range = NO_GENERATIONS
    leave_records_of: tuple[str, ...] = ()

    MANUAL_FIELDS = ("mode", "topics", "groups", "generations", "follow_until", "note")
    NIGHTLY_FIELDS = ("mirror_outside_window", "note")
    ROLLBACK_FIELDS = ("mode", "leave_records_of", "note")

    @property
    def reads_whole(self) -> bool:
        """Whether the run reads the whole copy."""
        return self.mode is Mode.VALIDATE and not self.generations

    @classmethod
    def from_params(
        cls, params: Mapping[str, Any], nightly_mode: Mode | None = None, *, is_rollback: bool = False
    ) -> RunRequest:
        """Read the run's params; a field that is missing has its default.

        `nightly_mode` is the mode of a run that was not triggered manually. Raises `Refused` (`RUN_CONF_INVALID`) for
        an unknown field or value; Airflow itself accepts both.
        """
        manual = cls.ROLLBACK_FIELDS if is_rollback else cls.MANUAL_FIELDS
        fields = manual if nightly_mode is None else cls.NIGHTLY_FIELDS
        findings = [
            conf_finding(name, "an unknown field", f"one of {', '.join(fields)}")
            for name in sorted(set(params) - set(fields))[:MAX_UNKNOWN]
        ]
        mode = nightly_mode or params.get("mode", DEFAULT_ROLLBACK if is_rollback else DEFAULT_MODE)
        offered = [str(mode) for mode in Mode if (mode.rolls_back if is_rollback else mode.is_offered)]
        if nightly_mode is None and mode not in offered:
            findings.append(conf_finding("mode", given(mode), f"one of {', '.join(offered)}"))
        topics, groups, left = (_names(params, field, findings) for field in ("topics", "groups", "leave_records_of"))
        follow_until = _moment(params, "follow_until", findings)
        generations = _generations(params, findings)
        outside = _of_type(params, "mirror_outside_window", False, "true or false", findings)
        note = _of_type(params, "note", "", "a text", findings)
        if len(note) > LONGEST_NOTE:
            findings.append(conf_finding("note", given(note), f"a text of at most {LONGEST_NOTE:,} characters"))
        if not findings:
            findings += unused_findings(Mode(mode), {name: str(params[name]) for name in fields if params.get(name)})
        if findings:
            raise Refused(findings)
        return cls(Mode(mode), topics, groups, note, follow_until, outside, generations, left)


T = TypeVar("T")


def _of_type(params: Mapping[str, Any], field: str, default: T, expected: str, findings: list[Finding]) -> T:
    """Return a conf field that has the default's type, or the default; a value of another type is a finding."""
    value = params.get(field)
    if value is None:
        return default
    if isinstance(value, type(default)):
        return value
    findings.append(conf_finding(field, given(value), expected))
    return default


def _moment(params: Mapping[str, Any], field: str, findings: list[Finding]) -> datetime | None:
    """Return the date and time in a conf field; an invalid one, or one without a time zone, is a finding."""
    text = params.get(field)
    if text is None or text == "":
        return None
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        moment = None
    if moment is None or moment.tzinfo is None:
        findings.append(conf_finding(field, given(text), 'a time with a zone, such as "2030-01-31T05:30:00+01:00"'))
        return None
    return moment


def _generations(params: Mapping[str, Any], findings: list[Finding]) -> range:
    """Return the generations in a conf field; anything but a number or a range is a finding."""
    text = params.get("generations")
    if text is None or text == "":
        return NO_GENERATIONS
    try:
        return parse_generations(text)
    except (TypeError, ValueError):
        findings.append(conf_finding("generations", given(text), 'a generation, or a range such as "3-5"'))
        return NO_GENERATIONS


def _names(params: Mapping[str, Any], field: str, findings: list[Finding]) -> tuple[str, ...]:
    """Return the names in a conf field; anything but a list of strings is a finding."""
    names = params.get(field)
    if names is None:
        return ()
    if not isinstance(names, list) or len(names) > MAX_NAMES or not all(_is_name(name) for name in names):
        kind = field.removesuffix("s")
        findings.append(conf_finding(field, given(names), f"a list of at most {MAX_NAMES:,} {kind} names"))
        return ()
    return tuple(dict.fromkeys(names))


def _is_name(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= LONGEST_NAME


class MigrationRun:
    """One DAG run of one migration, as seen by one of its tasks or triggers.

    Files are read and connections are opened only when they are needed.
    """

    def __init__(
        self,
        migration_name: str,
        identity: RunIdentity,
        params: Mapping[str, Any],
        nightly_mode: Mode | None = None,
        keeper: Keeper | None = None,
        tasks: Sequence[str] = (),
    ) -> None:
        self.name = migration_name
        self.identity = identity
        self.params = params
        self.nightly_mode = nightly_mode
        # The digests that Airflow keeps for the run; `None` for a read-only view.
        self.keeper = keeper
        self.tasks = tasks
        self.clock = SystemClock()
        self._root = root = settings.evidence_root()
        self.evidence = RunEvidence(root, migration_name, identity, keeper)
        self.ledger = LedgerStore(root, migration_name, identity.holder, VariableAnchor(migration_name))
        self.stop_requests = StopRequestStore(root, migration_name)
        self.news = NewsStore(root, migration_name)
        # Set when the trigger has ended, so that its threads must not start anything.
        self.has_left = threading.Event()
        self._host: SshMirrorHost | None = None

    @classmethod
    def from_context(cls, context: Context, migration_name: str) -> MigrationRun:
        """Return the run that a task belongs to."""
        shelf = TaskShelf(context, migration_name)
        keeper = AirflowKeeper(shelf, migration_name)
        params = context.get("params") or {}
        return cls(migration_name, identity_of(context), params, nightly_mode_of(context), keeper, shelf.tasks)

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

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> MigrationRun:
        """Return the run that `to_arguments` described."""
        identity = RunIdentity(arguments["dag_id"], arguments["run_id"], arguments["attempt"])
        mode, name, tasks = arguments["nightly_mode"], arguments["migration"], arguments["tasks"]
        keeper = AirflowKeeper(TriggerShelf(identity, tasks, name), name, arguments["digests"])
        return cls(name, identity, arguments["params"], None if mode is None else Mode(mode), keeper, tasks)

    def evidence_of(self, holder: str) -> RunEvidence:
        """Return the evidence of another run, by its holder name; the ledger knows its digests."""
        identity = RunIdentity.from_holder(holder)
        return RunEvidence(self._root, self.name, identity, self.ledger.read().keeper_of(identity))

    @property
    def kept(self) -> Kept:
        """What Airflow keeps about the run's evidence; empty for a read-only view."""
        return self.keeper.kept() if self.keeper is not None else Kept()

    @cached_property
    def request(self) -> RunRequest:
        """The parameters of the run; raises `Refused` if they are invalid."""
        return RunRequest.from_params(self.params, self.nightly_mode, is_rollback=self.identity.is_rollback)

    @cached_property
    def occasion(self) -> Occasion:
        """The purpose and the time limits of the run, as decided by its preflight."""
        document = self.evidence.require(Kind.PREFLIGHT)
        return Occasion.from_document(document["occasion"])

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
        return self.ledger.read().moved_topics(but_by=self.identity)

    @cached_property
    def whole_migration(self) -> Migration:
        """The migration as frozen by the first task, with all topics of the file."""
        return load_migration(self.evidence.frozen_migration(), where=f"{self.name} (frozen)")

    def live_migration(self) -> Migration:
        """Return the migration from the current file; only the approvers are taken from it."""
        return load_migration_file(settings.migrations_folder() / f"{self.name}.yaml")[1]

    @property
    def topics_of_groups(self) -> tuple[str, ...]:
        """The topics on which groups are moved: the run's topics, and those of earlier cutovers."""
        return (*self.migration.topics, *sorted(self.moved_topics))

    @cached_property
    def target_names(self) -> Mapping[str, str]:
        """The names on the target of all topics in the file and all topics that were ever copied, by source name.

        Empty if topics keep their names.
        """
        whole = self.whole_migration
        if not whole.renames:
            return {}
        return {topic: whole.target_topic(topic) for topic in {*whole.topics, *self.ledger.read().copied_topics}}

    @cached_property
    def source(self) -> KafkaCluster:
        """The source cluster."""
        return cluster("source", self.whole_migration.source)

    @cached_property
    def target(self) -> KafkaCluster:
        """The target cluster; the migration's topics are addressed by their source names."""
        return RenamedTopics(self.bare_target, self.target_names) if self.target_names else self.bare_target

    @cached_property
    def bare_target(self) -> KafkaCluster:
        """The target cluster, with its topics under their real names."""
        return cluster("target", self.whole_migration.target)

    @cached_property
    def engine(self) -> MirrorEngine:
        """The MirrorMaker engine that the migration uses."""
        return engine_of(self.migration, self.source, self.target)

    @property
    def host(self) -> MirrorHost:
        """The MirrorMaker host; one connection for the whole task."""
        if self._host is None:
            self._host = SshMirrorHost(self.name, self.whole_migration.mirror.connection)
        return self._host

    def close(self) -> None:
        """Close all open connections to the MirrorMaker host and the clusters."""
        if self._host is not None:
            self._host.close()
        for made in vars(self).keys() & {"source", "bare_target"}:
            getattr(self, made).close()

    def describe(self, side: Side, topics: Collection[str] | None = None) -> Mapping[str, TopicDescription]:
        """Return topics of one side, by default those of the migration; topics that do not exist are left out."""
        reader = self.source if side == "source" else self.target
        return reader.describe_topics(self.migration.topics if topics is None else tuple(sorted(topics)))

    def plan_offsets(self) -> PlanOffsets:
        """Return the positions and frozen goals of the run's plan."""
        plan = self.evidence.require(Kind.PLAN)
        return PlanOffsets(from_document(plan["positions"]), from_document(plan["goals"]))

    def now(self) -> str:
        """Return the present time in UTC as ISO 8601 text with seconds."""
        return self.clock.now().isoformat(timespec="seconds")

    def refused(self, task_id: str, error: FindingsError) -> None:
        """Record why a task refused or failed on purpose, so that `finish` can distinguish it from a crash."""
        findings = [finding.to_document() for finding in error.findings]
        document = {"task": task_id, "at": self.now(), "error": type(error).__name__, "findings": findings}
        self.evidence.write(Kind.REFUSAL, document)


def identity_of(context: Context) -> RunIdentity:
    """Return the run and the attempt to which a task belongs."""
    dag_run = context["dag_run"]
    return RunIdentity(dag_run.dag_id, dag_run.run_id, (dag_run.clear_number or 0) + 1)


def nightly_mode_of(context: Context) -> Mode | None:
    """Return the mode of a run of the nightly DAG; `None` for all other DAGs, whose params set the mode.

    A user's own DAG with these operators may have a schedule and still needs a mode in its params.
    """
    if not identity_of(context).is_nightly:
        return None
    return Mode.INTERVAL if run_type_of(context) is RunType.BACKFILL else Mode.SYNC


def run_type_of(context: Context) -> RunType:
    """Return Airflow's type of the run; a run triggered by an asset or another DAG counts as manual."""
    # Airflow's enum members are strings but do not print as their values.
    run_type = context["dag_run"].run_type.value
    return RunType(run_type) if run_type in set(RunType) else RunType.MANUAL


def triggered_by(context: Context) -> str | None:
    """Return the name of the user who triggered the run; `None` if Airflow does not know it."""
    return getattr(context["dag_run"], "triggering_user_name", None) or None


def started_at(context: Context) -> str | None:
    """Return the start time of the run as ISO 8601 text with seconds; `None` if Airflow does not know it."""
    moment: datetime | None = getattr(context["dag_run"], "start_date", None)
    return None if moment is None else moment.isoformat(timespec="seconds")


def cluster(side: Side, of: Cluster) -> KafkaCluster:
    """Return the cluster of one side, with the connection security that the migration file allows."""
    return cluster_named(side, of.connection, of.insecure)


def cluster_at(connection_id: str, insecure: Collection[str] = ()) -> KafkaCluster:
    """Return the cluster of an Airflow connection that does not belong to a migration."""
    return cluster_named("", connection_id, tuple(Insecurity(each) for each in insecure))


def partitions_of(descriptions: Mapping[str, TopicDescription]) -> tuple[TopicPartition, ...]:
    """Return every partition of the described topics, sorted."""
    return tuple(sorted(p for d in descriptions.values() for p in d.topic_partitions))
