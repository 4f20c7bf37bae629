"""A migration: what one migration file says, frozen into plain values."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import time
from enum import StrEnum
from typing import Literal

from kafka_migration.core.kafka.cluster import IsolationLevel
from kafka_migration.core.migration.alert_settings import AlertSettings
from kafka_migration.core.migration.tolerance import NO_TOLERANCE, Tolerance


class Insecurity(StrEnum):
    """A protection that a Kafka connection gives up, which only the migration file can allow.

    `sasl_plaintext`: login and records are not encrypted. `no_host_name_check`: whoever has a trusted certificate
    passes for a broker.
    """

    SASL_PLAINTEXT = "sasl_plaintext"
    NO_HOST_NAME_CHECK = "no_host_name_check"


@dataclass(frozen=True, slots=True)
class Cluster:
    """One side of the migration: its Airflow connection (type `kafka`) and its MirrorMaker alias.

    The alias is the same in every run. Unless the file says otherwise it is derived from the migration's name.
    `insecure` are the protections that the connection may give up.
    """

    connection: str
    alias: str
    insecure: tuple[Insecurity, ...] = ()


EngineName = Literal["mirrormaker2", "mirrormaker1"]
TopicNaming = Literal["identity", "prefixed", "custom"]


@dataclass(frozen=True, slots=True)
class TopicNames:
    """What a topic is called on the target.

    `identity` keeps names, `prefixed` puts the source's alias and a dot before them. `custom` is a replication policy
    class of the user's own; `pattern` then says what it makes of a name, which stands in it as `{topic}`.
    """

    naming: TopicNaming = "identity"
    policy_class: str | None = None
    pattern: str = "{topic}"


@dataclass(frozen=True, slots=True)
class MirrorSettings:
    """How MirrorMaker runs on its host. `kafka_home` and `java_home` default to the host's own variables.

    `restarts` is how often in one run a MirrorMaker that died is started again. `properties` are tuning of the
    clients: `consumer.…`, `producer.…`.
    """

    engine: EngineName
    connection: str
    kafka_home: str | None
    java_home: str | None
    tasks: int
    heap_mb: int
    lease_s: int
    stop_grace_s: int
    isolation_level: IsolationLevel
    topic_names: TopicNames = TopicNames()
    exactly_once: bool = False
    restarts: int = 3
    properties: Mapping[str, str] = field(default_factory=dict)


# How much longer than `watch.poll_interval` a poll may take.
POLL_GRACE_S = 10.0
# Without `watch.unreachable_after` a silence may last so many times `watch.stall_after`.
UNREACHABLE_STALLS = 3


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """How the lag is watched, in seconds.

    After `stall_after_s` of silence of a cluster, the host or the evidence store a person is told, after
    `unreachable_after_s` the run fails.
    """

    poll_interval_s: float
    stall_after_s: float
    time_limit_s: float
    unreachable_after_s: float

    @property
    def poll_limit_s(self) -> float:
        """How long one poll may take."""
        return self.poll_interval_s + POLL_GRACE_S


@dataclass(frozen=True, slots=True)
class ValidationSettings:
    """How the copy is compared.

    `compacted` and `timestamps` say of topics what is otherwise asked of the clusters: whether records may be deleted
    that have a newer one, and whether timestamps are compared.
    `max_bytes_per_s` is the most that it reads of each broker of either side; `None` is no limit. `spark_unprotected`
    declares that nobody else reaches a Spark cluster that has no authentication or encryption.
    """

    spark_connection: str
    tolerance: Tolerance = NO_TOLERANCE
    compacted: Mapping[str, bool] = field(default_factory=dict)
    timestamps: Mapping[str, bool] = field(default_factory=dict)
    max_bytes_per_s: int | None = None
    spark_unprotected: bool = False


Uncommitted = Literal["refuse", "earliest", "latest"]
"""Where a group begins that never committed on a partition: nowhere, or as its `auto.offset.reset` says."""


class HookName(StrEnum):
    """When a user's own work is called in a cutover.

    `stop_producers` once the copy is near, `after_cutover` after the groups have moved.
    """

    STOP_PRODUCERS = "stop_producers"
    AFTER_CUTOVER = "after_cutover"


@dataclass(frozen=True, slots=True)
class Hook:
    """A user's own work: a DAG by its id, or else a Python callable by its path. Must do no harm when done twice."""

    dag: str | None = None
    callable: str | None = None

    def __str__(self) -> str:
        return f"DAG {self.dag}" if self.dag else f"callable {self.callable}"


@dataclass(frozen=True, slots=True)
class CutoverSettings:
    """How the consumers are moved; times in seconds.

    `groups` are regular expressions on a group's whole name. `near_offsets` is how close the copy must be,
    in offsets summed over the partitions, before the producers are asked to stop; the source must then stand still
    for `fence_quiet_s`, within `fence_wait_s`. `drain_groups_s` is how long the groups may take to finish reading
    on the source (`None`: they need not). `uncommitted` is about topics that are not translated partition by partition
    (`core.repartitioned`). `may_be_active` are groups that need not have stopped on the source, `may_rewind` those
    that may be put back on the target. `hooks` are a user's own work. `approvers` are Airflow user ids; none means
    everybody who may.
    """

    groups: tuple[str, ...]
    near_offsets: int
    fence_quiet_s: int
    fence_wait_s: int
    drain_groups_s: int | None
    approval_time_limit_s: int
    approvers: tuple[str, ...]
    four_eyes: bool
    uncommitted: Uncommitted = "refuse"
    may_be_active: tuple[str, ...] = ()
    may_rewind: tuple[str, ...] = ()
    hooks: Mapping[HookName, Hook] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NightlySettings:
    """When the nightly sync runs and how long it may act.

    `until` and `validate_until` are local times of the time zone, in which `cron` counts as well. `when_late` says
    whether a run that did not get everything done in time fails or warns, `when_reserved` whether it waits for a
    reservation that another run holds, at most `wait_limit_s`.
    """

    cron: str
    timezone: str
    until: time | None
    validate_until: time | None
    when_late: Literal["fail", "warn"]
    when_reserved: Literal["wait", "leave"]
    wait_limit_s: int


@dataclass(frozen=True, slots=True)
class Migration:
    """One migration, as frozen at the start of a run; `digest` is the SHA-256 of the file's text.

    `alerts` is who is told what; `None`: the file does not say, so that Airflow's configuration does.
    """

    name: str
    source: Cluster
    target: Cluster
    target_replication_factor: int
    topics: tuple[str, ...]
    mirror: MirrorSettings
    watch: WatchSettings
    validation: ValidationSettings
    cutover: CutoverSettings
    nightly: NightlySettings | None
    digest: str
    alerts: AlertSettings | None = None

    def target_topic(self, topic: str) -> str:
        """Return what a topic of the source is called on the target."""
        names = self.mirror.topic_names
        if names.naming == "prefixed":
            return f"{self.source.alias}.{topic}"
        return names.pattern.replace("{topic}", topic)

    @property
    def renames(self) -> bool:
        """Whether topics have other names on the target."""
        return any(self.target_topic(topic) != topic for topic in self.topics)

    @property
    def keeps_partitions(self) -> bool:
        """Whether every record lands in the partition of the same number, in the same order."""
        return self.mirror.engine != "mirrormaker1"

    @property
    def keeps_offsets(self) -> bool:
        """Whether records that follow each other in a partition do so on the target, without offsets between them."""
        return self.keeps_partitions and not self.mirror.exactly_once

    def without(self, topics: Collection[str]) -> Migration:
        """Return the migration without these topics; none may be left."""
        return replace(self, topics=tuple(topic for topic in self.topics if topic not in topics))

    def limited_to(self, topics: tuple[str, ...]) -> Migration:
        """Return the migration of only these of its topics; no topics means all of them."""
        return replace(self, topics=tuple(t for t in self.topics if t in topics)) if topics else self


class Mode(StrEnum):
    """What a run does.

    `sync` mirrors, stops and validates the delta; `follow` mirrors until it is told to end, then does the same;
    `validate` re-reads the whole copy; `rehearse` is a sync that also plans the groups' offsets and writes none;
    `cutover` waits for the producers to stop and moves the groups. `interval` answers what became of the records of
    a time interval and mirrors only what it lacks; it is the mode of backfill runs, and nobody can ask for it.

    Two modes are those of the rollback: `restore` puts the groups on the target back to where they stood before the
    cutover, `fail_back` those on the source to where they stand on the target.
    """

    REHEARSE = "rehearse"
    SYNC = "sync"
    FOLLOW = "follow"
    VALIDATE = "validate"
    CUTOVER = "cutover"
    INTERVAL = "interval"
    RESTORE = "restore"
    FAIL_BACK = "fail_back"

    @property
    def is_offered(self) -> bool:
        """Whether a person may ask for this mode of the manual DAG."""
        return self is not Mode.INTERVAL and not self.rolls_back

    @property
    def rolls_back(self) -> bool:
        """Whether a run of this mode takes a cutover back; the rollback DAG offers these modes and no others."""
        return self in {Mode.RESTORE, Mode.FAIL_BACK}

    @property
    def mirrors(self) -> bool:
        """Whether a run of this mode starts MirrorMaker."""
        return self is not Mode.VALIDATE and not self.rolls_back

    @property
    def follows_source(self) -> bool:
        """Whether a run of this mode mirrors on when the end of the source was reached, as more may come."""
        return self in {Mode.FOLLOW, Mode.CUTOVER}

    @property
    def plans_groups(self) -> bool:
        """Whether a run of this mode plans the groups' offsets."""
        return self in {Mode.REHEARSE, Mode.CUTOVER}

    @property
    def moves_groups(self) -> bool:
        """Whether a run of this mode writes the groups' offsets on the target."""
        return self is Mode.CUTOVER


class Phase(StrEnum):
    """Where a migration stands in its life; the ledger tells.

    `cutting_over`: some of its topics are cut over. `rolled_back`: they were, and no topic is any more; the next run
    that mirrors makes it `syncing` again.
    """

    NEW = "new"
    SYNCING = "syncing"
    CUTTING_OVER = "cutting_over"
    CUT_OVER = "cut_over"
    ROLLED_BACK = "rolled_back"


# So begin the ids of the DAGs that run by a schedule, and of those that take cutovers back; the name follows.
NIGHTLY_DAG_PREFIX = "kafka_nightly_sync__"
ROLLBACK_DAG_PREFIX = "kafka_rollback__"
MANUAL_DAG_PREFIX = "kafka_migration__"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def migration_of(dag_id: str) -> str | None:
    """Return the name of the migration that a DAG belongs to; `None` for a DAG that is none of ours."""
    for prefix in (MANUAL_DAG_PREFIX, NIGHTLY_DAG_PREFIX, ROLLBACK_DAG_PREFIX):
        name = dag_id.removeprefix(prefix)
        if name != dag_id and _NAME.fullmatch(name):
            return name
    return None


# So begin the groups in which MirrorMaker 1 keeps its positions; the migration's name follows.
MIRROR_GROUP_PREFIX = "kafka-migration-mirror-"


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """Which run acts: Airflow's DAG and run id, and the attempt (1 + how often the run was cleared)."""

    dag_id: str
    run_id: str
    attempt: int

    def __str__(self) -> str:
        return f"{self.dag_id} / {self.run_id} (attempt {self.attempt})"

    @property
    def holder(self) -> str:
        """How the run signs the reservation on the MirrorMaker host: `dag_id/run_id#attempt`."""
        return f"{self.dag_id}/{self.run_id}#{self.attempt}"

    @classmethod
    def from_holder(cls, holder: str) -> RunIdentity:
        """Read back a `holder`; a run id may hold any character, the last `#` divides."""
        dag_id, _, rest = holder.partition("/")
        run_id, _, attempt = rest.rpartition("#")
        return cls(dag_id, run_id, int(attempt))

    def is_same_run(self, other: RunIdentity) -> bool:
        """Tell whether both are attempts of one DAG run."""
        return (self.dag_id, self.run_id) == (other.dag_id, other.run_id)

    def is_earlier_attempt_of(self, other: RunIdentity) -> bool:
        """Tell whether this is an attempt of the other's run from before it was cleared."""
        return self.is_same_run(other) and self.attempt < other.attempt

    @property
    def is_nightly(self) -> bool:
        """Whether the run belongs to the DAG that runs by a schedule and by backfills."""
        return self.dag_id.startswith(NIGHTLY_DAG_PREFIX)

    @property
    def is_rollback(self) -> bool:
        """Whether the run belongs to the DAG that takes cutovers back."""
        return self.dag_id.startswith(ROLLBACK_DAG_PREFIX)
