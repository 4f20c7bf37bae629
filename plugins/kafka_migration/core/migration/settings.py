"""The settings of one migration file as frozen plain values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import time
from enum import StrEnum
from typing import Literal

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.kafka.cluster import IsolationLevel, Side
from kafka_migration.core.migration.alert_settings import AlertSettings
from kafka_migration.core.migration.engine_table import Abilities, EngineName, abilities_of
from kafka_migration.core.migration.topic_rules import TopicRules, TopicSettings
from kafka_migration.core.text.local_time import LocalTime


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How many more records than the source the target may hold, per comparison.

    :param duplicates: records that MirrorMaker sent again after it was killed
    :param aborted: records of aborted transactions
    """

    duplicates: int = 0
    aborted: int = 0


NO_TOLERANCE = Tolerance()


class Insecurity(StrEnum):
    """A protection that a Kafka connection disables, which only the migration file can allow.

    `sasl_plaintext`: login and records are not encrypted. `no_host_name_check`: any host with a trusted certificate
    can pose as a broker.
    """

    SASL_PLAINTEXT = "sasl_plaintext"
    NO_HOST_NAME_CHECK = "no_host_name_check"


@dataclass(frozen=True, slots=True)
class Cluster:
    """One side of the migration: its Airflow connection (type `kafka`) and its MirrorMaker alias.

    The alias is the same in every run. By default it is derived from the migration's name.
    `insecure` are the protections that the connection may disable.
    """

    connection: str
    alias: str
    insecure: tuple[Insecurity, ...] = ()


TopicNaming = Literal["identity", "prefixed", "custom"]


@dataclass(frozen=True, slots=True)
class TopicNames:
    """The names of topics on the target.

    `identity` keeps names. `prefixed` puts the source's alias and a dot before them. `custom` uses the replication
    policy class of a user; `pattern` then gives the resulting name, with `{topic}` as the source name.
    """

    naming: TopicNaming = "identity"
    policy_class: str | None = None
    pattern: str = "{topic}"


@dataclass(frozen=True, slots=True)
class ConnectSettings:
    """What the REST API of a Kafka Connect cluster does not tell: settings of its workers, from the migration file.

    The topics are the workers' internal topics on the target: `status.storage.topic`, `config.storage.topic` and
    `offset.storage.topic`. `group` is their `group.id`. `None`: not known. `secrets` are references through the
    workers' config providers, by side and by the property of that side's client, such as `sasl.jaas.config`.
    """

    status_topic: str
    config_topic: str | None = None
    offset_topic: str | None = None
    group: str | None = None
    secrets: Mapping[Side, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MirrorSettings:
    """How MirrorMaker runs. `kafka_home` and `java_home` default to the variables of its host.

    `restarts` is how often a run restarts a MirrorMaker process that died. `properties` tune the clients:
    `consumer.…`, `producer.…`. `connect` is `None` for an engine that needs no Kafka Connect cluster. An engine without
    a host ignores `kafka_home`, `java_home`, `heap_mb`, `lease_s` and `stop_grace_s`, which have their defaults then.
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
    connect: ConnectSettings | None = None

    @property
    def abilities(self) -> Abilities:
        """What the engine can do."""
        return abilities_of(self.engine)

    @property
    def own_heap_mb(self) -> int | None:
        """The heap that a run gives MirrorMaker, `None` if it runs in a process of others."""
        return self.heap_mb if self.abilities.needs_host else None


# How much longer than `watch.poll_interval` a poll may take.
POLL_GRACE_S = 10.0
# The default of `watch.unreachable_after` is this many times `watch.stall_after`.
UNREACHABLE_STALLS = 3


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """How the lag is watched, in seconds.

    If a cluster, the host or the evidence store is unreachable for `stall_after_s`, an alert is sent. After
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

    `max_bytes_per_s` limits the bytes read from each broker of either cluster; `None` means no limit.
    `spark_unprotected` declares that a Spark cluster without authentication or encryption is isolated.
    """

    spark_connection: str
    tolerance: Tolerance = NO_TOLERANCE
    max_bytes_per_s: int | None = None
    spark_unprotected: bool = False


Part = Literal["key", "value"]
"""A part of a record that may begin with a schema id."""


@dataclass(frozen=True, slots=True)
class SchemaRegistrySettings:
    """The registries of both clusters, as Airflow connections of type `http`.

    `parts` are the parts of a topic's records, `key` and `value`, that may begin with schema ids; both by default.
    """

    source: str
    target: str
    parts: Mapping[str, tuple[Part, ...]] = field(default_factory=dict)


Uncommitted = Literal["unset", "refuse", "earliest", "latest"]
"""What a cutover does about a partition with records on which a group never committed.

`unset`: it gets no offset. `refuse`: the group is not moved. `earliest`: it starts at the begin of the copy. `latest`:
it starts at the end of the copy.
"""


class HookName(StrEnum):
    """The points of a cutover that call a user's hook.

    `stop_producers` when the copy is near its goal, `after_cutover` after the groups have moved.
    """

    STOP_PRODUCERS = "stop_producers"
    AFTER_CUTOVER = "after_cutover"


@dataclass(frozen=True, slots=True)
class Hook:
    """A user's hook: a DAG by its id, or a Python callable by its path. It must be idempotent."""

    dag: str | None = None
    callable: str | None = None

    def __str__(self) -> str:
        return f"DAG {self.dag}" if self.dag else f"callable {self.callable}"


@dataclass(frozen=True, slots=True)
class CutoverSettings:
    """How the consumers are moved; times in seconds.

    `groups` are regular expressions for a group's whole name. `near_offsets` is the remaining lag, summed over the
    partitions, at which the producers must stop. The source must then receive no records for `fence_quiet_s`, within
    `fence_wait_s`. `drain_groups_s` is the time limit for groups to finish reading on the source (`None`: they need
    not finish). `uncommitted` is `None` for the default of the engine (`Migration.uncommitted`).
    `may_be_active` are groups that need not have stopped on the source. `may_rewind` are groups whose target offsets
    may be set back. `hooks` are a user's own hooks. `approvers` are Airflow user ids; none means every user who may
    answer.
    """

    groups: tuple[str, ...]
    near_offsets: int
    fence_quiet_s: int
    fence_wait_s: int
    drain_groups_s: int | None
    approval_time_limit_s: int
    approvers: tuple[str, ...]
    four_eyes: bool
    uncommitted: Uncommitted | None = None
    may_be_active: tuple[str, ...] = ()
    may_rewind: tuple[str, ...] = ()
    hooks: Mapping[HookName, Hook] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NightlySettings:
    """When the nightly sync runs and how long it may act.

    `cron`, `until` and `validate_until` are local times in the time zone. `when_late` sets whether a run that did not
    finish in time fails or warns. `when_reserved` sets whether it waits for a reservation that another run holds, for
    at most `wait_limit_s`.
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

    `topics` are exact names. Those of a file with patterns are complete after `of_topics`. `rules` are the items of
    `topics` in the file.

    `alerts` are the notifiers of the file; `None` means that Airflow's configuration applies. Without
    `schema_registry` schema ids are not looked at. `accept` are the findings of preflight that do not refuse a run.
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
    schema_registry: SchemaRegistrySettings | None = None
    rules: TopicRules = field(default_factory=TopicRules)
    accept: frozenset[Code] = frozenset()

    def target_topic(self, topic: str) -> str:
        """Return the name on the target of a source topic."""
        names = self.mirror.topic_names
        if names.naming == "prefixed":
            return f"{self.source.alias}.{topic}"
        return names.pattern.replace("{topic}", topic)

    def source_topic(self, target_topic: str) -> str | None:
        """Return the source topic whose name on the target this is; `None` if no topic gets this name."""
        head, _, tail = self.target_topic("{topic}").partition("{topic}")
        name = target_topic.removeprefix(head).removesuffix(tail)
        return name if self.target_topic(name) == target_topic else None

    def settings_of(self, topic: str) -> TopicSettings:
        """Return the settings of the first item of `topics` in the file that applies to the topic."""
        return self.rules.settings_of(topic)

    @property
    def renames(self) -> bool:
        """Whether topics have other names on the target."""
        return self.target_topic("{topic}") != "{topic}"

    @property
    def keeps_partitions(self) -> bool:
        """Whether every record lands in the partition of the same number, in the same order."""
        return bool(self.mirror.abilities.keeps_partitions)

    @property
    def keeps_offsets(self) -> bool:
        """Whether consecutive records of a partition have consecutive offsets on the target."""
        return bool(self.mirror.abilities.keeps_offsets) and not self.mirror.exactly_once

    @property
    def uncommitted(self) -> Uncommitted:
        """What happens with partitions on which a group never committed.

        Without kept partitions none can stay unset: each target partition holds records of many source partitions.
        """
        return self.cutover.uncommitted or ("unset" if self.keeps_partitions else "refuse")

    def local_time(self, default_zone: str) -> LocalTime:
        """Return how people read its moments: in the zone of its nightly sync, else in Airflow's default zone."""
        return LocalTime(self.nightly.timezone if self.nightly else default_zone)

    def of_topics(self, topics: tuple[str, ...]) -> Migration:
        """Return the migration with these topics, to which its patterns were resolved."""
        return replace(self, topics=topics)

    def without(self, topics: Collection[str]) -> Migration:
        """Return the migration without these topics; the result may have no topics."""
        return replace(self, topics=tuple(topic for topic in self.topics if topic not in topics))

    def limited_to(self, topics: tuple[str, ...]) -> Migration:
        """Return the migration of only these of its topics; no topics means all of them."""
        return replace(self, topics=tuple(t for t in self.topics if t in topics)) if topics else self


class Mode(StrEnum):
    """What a run does.

    `sync` mirrors, stops and validates the delta; `follow` mirrors until it is asked to stop, then validates;
    `validate` re-reads the whole copy; `rehearse` is a sync that also plans the groups' offsets and writes none;
    `cutover` waits for the producers to stop and moves the groups. `interval` checks that the records of a time
    interval are copied and validated, and mirrors missing ones; only backfill runs have this mode.

    Two modes belong to the rollback: `restore` resets the groups' target offsets to those before the cutover,
    `fail_back` sets the groups' source offsets to their positions on the target.
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
        """Whether a user may choose this mode in the manual DAG."""
        return self is not Mode.INTERVAL and not self.rolls_back

    @property
    def rolls_back(self) -> bool:
        """Whether a run of this mode rolls a cutover back; the rollback DAG offers only these modes."""
        return self in {Mode.RESTORE, Mode.FAIL_BACK}

    @property
    def mirrors(self) -> bool:
        """Whether a run of this mode starts MirrorMaker."""
        return self is not Mode.VALIDATE and not self.rolls_back

    @property
    def follows_source(self) -> bool:
        """Whether a run of this mode continues to mirror after it has reached the end of the source."""
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
    """The phase of a migration, from its ledger.

    `cutting_over`: some of its topics are cut over. `rolled_back`: all cutovers were rolled back; the next run that
    mirrors changes the phase to `syncing`.
    """

    NEW = "new"
    SYNCING = "syncing"
    CUTTING_OVER = "cutting_over"
    CUT_OVER = "cut_over"
    ROLLED_BACK = "rolled_back"


# The prefix of MirrorMaker 1's consumer groups; the name of the migration follows.
MIRROR_GROUP_PREFIX = "kafka-migration-mirror-"
# Groups that no cutover moves unless the migration file names them: those of console consumers are temporary, those of
# MirrorMaker 1 belong to this package, and `__` is Kafka's own prefix. The groups of Connect's sinks do move.
UNMOVED_GROUP_PREFIXES = ("console-consumer-", MIRROR_GROUP_PREFIX, "__")
