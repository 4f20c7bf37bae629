"""The migration file as pydantic models: strict, unknown keys refused. Nobody outside `spec` sees them."""

from __future__ import annotations

from datetime import time
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from kafka_migration.core.migration.client_tuning import value_problem
from kafka_migration.core.migration.settings import Uncommitted
from kafka_migration.core.text.brief import repeated, some
from kafka_migration.migration_file.alerts import AlertsModel
from kafka_migration.migration_file.scalars import (
    Alias,
    ClassName,
    ConnectionId,
    CronExpression,
    DagId,
    Duration,
    GroupName,
    HostPath,
    Name,
    Pattern,
    PropertyName,
    PropertyValue,
    TimeOfDay,
    TimeZone,
    TopicName,
    TopicPattern,
    UserId,
    Version,
)
from kafka_migration.migration_file.strict import Strict

# MirrorMaker 2 reads a setting that begins with an alias as one of that cluster.
MIRROR_WORDS = frozenset(
    {
        "checkpoints",
        "config",
        "dedicated",
        "emit",
        "heartbeats",
        "offset",
        "offset-syncs",
        "refresh",
        "replication",
        "status",
        "sync",
        "task",
        "tasks",
    }
)


# A lease that ends in weeks stops no MirrorMaker that everybody has forgotten.
LONGEST_LEASE_S = 7 * 86_400
LONGEST_GRACE_S = 3600
Insecure = Literal["sasl_plaintext", "no_host_name_check"]
INSECURE = (
    "Protections that the connection may give up: sasl_plaintext (login and records are not encrypted), "
    "no_host_name_check (the name in a broker's certificate is not compared)."
)


class SourceModel(Strict):
    """The cluster that is copied from."""

    connection: ConnectionId = Field(description="Airflow connection of type kafka.")
    alias: Alias | None = Field(
        None, description="MirrorMaker's name of the cluster; prefixed topic names begin with it. Else <name>-source."
    )
    insecure: list[Insecure] = Field([], description=INSECURE)


class TargetModel(Strict):
    """The cluster that is copied to."""

    connection: ConnectionId = Field(description="Airflow connection of type kafka.")
    replication_factor: int = Field(3, ge=1, le=32, description="Replicas of created and internal topics.")
    insecure: list[Insecure] = Field([], description=INSECURE)


class TopicNamesModel(Strict):
    """What topics are called on the target."""

    naming: Literal["identity", "prefixed", "custom"] = Field(
        "identity", description="identity keeps names; prefixed puts source.alias and a dot before them."
    )
    policy_class: ClassName | None = Field(
        None, description="For custom: a replication policy class that is in libs/*.jar of the Kafka home."
    )
    pattern: TopicPattern = Field(
        "{topic}", validate_default=True, description="For custom: what the class makes of a name, {topic}."
    )

    @field_validator("pattern")
    @classmethod
    def _belongs_to_custom(cls, pattern: str, info: ValidationInfo) -> str:
        is_custom, policy_class = info.data.get("naming") == "custom", info.data.get("policy_class")
        if is_custom != (policy_class is not None) or (not is_custom and pattern != "{topic}"):
            raise ValueError("policy_class and pattern with naming custom, and only then")
        return pattern


class MirrorModel(Strict):
    """MirrorMaker and its host."""

    engine: Literal["mirrormaker2", "mirrormaker1"] = Field("mirrormaker2", description="Which MirrorMaker is run.")
    connection: ConnectionId = Field(description="Airflow connection of type ssh.")
    kafka_home: HostPath | None = Field(None, description="Folder with libs/*.jar on the host; else $KAFKA_HOME.")
    java_home: HostPath | None = Field(None, description="Java on the host; else $JAVA_HOME, else the PATH.")
    tasks: int = Field(4, ge=1, le=1000, description="Parallel copy tasks (tasks.max); with mirrormaker1 streams.")
    heap_mb: int = Field(1024, ge=128, le=262144, description="Java heap in MiB.")
    lease: Duration = Field(
        "10m", le=LONGEST_LEASE_S, validate_default=True, description="Without renewal the host stops it; at most 7d."
    )
    stop_grace: Duration = Field(
        "90s", le=LONGEST_GRACE_S, validate_default=True, description="From TERM to KILL; at most 1h."
    )
    isolation_level: Literal["read_committed", "read_uncommitted"] = Field(
        "read_committed", description="Whether aborted transactions are left out."
    )
    topic_names: TopicNamesModel = Field(
        TopicNamesModel(), validate_default=True, description="What topics are called on the target."
    )
    exactly_once: bool = Field(
        False, description="Copy in transactions, so that no crash makes duplicates (MirrorMaker 2 of Kafka 3.5 on)."
    )
    restarts: int = Field(3, ge=0, le=20, description="How often in one run a MirrorMaker that died is started again.")
    properties: dict[PropertyName, PropertyValue] = Field(
        {}, description='Tuning of the clients, such as "producer.compression.type": "zstd".'
    )

    @field_validator("properties")
    @classmethod
    def _have_values_that_kafka_takes(cls, properties: dict[str, str]) -> dict[str, str]:
        problems = [problem for key, value in properties.items() if (problem := value_problem(key, value))]
        if problems:
            raise ValueError("; ".join(problems))
        return properties

    @field_validator("topic_names")
    @classmethod
    def _fits_engine(cls, names: TopicNamesModel, info: ValidationInfo) -> TopicNamesModel:
        if names.naming != "identity" and info.data.get("engine") == "mirrormaker1":
            raise ValueError("naming identity: MirrorMaker 1 cannot rename topics")
        return names

    @field_validator("exactly_once")
    @classmethod
    def _needs_committed_reads(cls, exactly_once: bool, info: ValidationInfo) -> bool:
        if exactly_once and info.data.get("engine") == "mirrormaker1":
            raise ValueError("false: MirrorMaker 1 copies at least once")
        if exactly_once and info.data.get("isolation_level") == "read_uncommitted":
            raise ValueError("false with isolation_level read_uncommitted: MirrorMaker 2 then refuses exactly-once")
        return exactly_once


class WatchModel(Strict):
    """How the lag is watched."""

    poll_interval: Duration = Field("15s", validate_default=True, description="Time between two polls.")
    stall_after: Duration = Field(
        "10m",
        validate_default=True,
        description="No movement for so long is a stall. After so much silence a person is told.",
    )
    unreachable_after: Duration | None = Field(
        None,
        validate_default=True,
        description="A cluster, the host or the evidence store that is silent for so long fails the run. "
        "Else three times stall_after.",
    )
    time_limit: Duration = Field("6h", validate_default=True, description="The goal must be reached in this time.")

    @field_validator("unreachable_after")
    @classmethod
    def _comes_after_the_warning(cls, unreachable_after: int | None, info: ValidationInfo) -> int | None:
        stall_after = info.data.get("stall_after")
        if unreachable_after is not None and stall_after is not None and unreachable_after <= stall_after:
            raise ValueError("more than stall_after, after which a person is told of the silence")
        return unreachable_after


class ValidationModel(Strict):
    """How the copy is compared."""

    spark_connection: ConnectionId = Field(description="Airflow connection of type spark.")
    max_duplicates: int = Field(
        1_000_000,
        ge=0,
        description="Records that a killed MirrorMaker may have sent twice, per comparison; more are a failure.",
    )
    max_aborted: int = Field(
        0,
        ge=0,
        description="Aborted records that may be on the target, with isolation_level read_uncommitted.",
    )
    compacted: dict[TopicName, bool] = Field(
        {},
        description="Topics that may lose records that have a newer one, or not; else the clusters' cleanup.policy.",
    )
    timestamps: dict[TopicName, bool] = Field(
        {}, description="Topics whose timestamps are compared or not; else the target's message.timestamp.type."
    )
    max_bytes_per_s: int | None = Field(
        None,
        ge=100_000,
        description="The most that it reads a second of each broker of either side, by a quota of Kafka's.",
    )
    spark_unprotected: bool = Field(
        False, description="Accept a Spark cluster without authentication or encryption, which nobody else can reach."
    )


# Console consumers are throw-away, Connect's groups belong to their connectors, MirrorMaker 1's to this package, and
# `__` is Kafka's own prefix.
ALL_USUAL_GROUPS = "(?!console-consumer-|connect-|kafka-migration-mirror-|__).+"


class HookModel(Strict):
    """A user's own work in a cutover; done twice it must do no harm."""

    dag: DagId | None = Field(None, description="Id of a DAG that is run, and waited for.")
    callable: ClassName | None = Field(
        None, validate_default=True, description="Or the path of a Python callable, such as shop.kafka.stop_producers."
    )

    @field_validator("callable")
    @classmethod
    def _is_the_only_one(cls, path: str | None, info: ValidationInfo) -> str | None:
        if (path is None) == (info.data.get("dag") is None):
            raise ValueError("either dag or callable")
        return path


class HooksModel(Strict):
    """What is called in a cutover, and when."""

    stop_producers: HookModel | None = Field(None, description="Once the copy is near: stop what writes to the source.")
    after_cutover: HookModel | None = Field(
        None,
        description="After the groups have moved: point the consumers and producers to the target and start them.",
    )


class CutoverModel(Strict):
    """How the consumers are moved."""

    groups: list[Pattern] = Field(
        [ALL_USUAL_GROUPS],
        min_length=1,
        max_length=1000,
        description="Regular expressions on the whole name of a consumer group; one that matches is enough.",
    )
    near: int = Field(
        10_000, ge=0, description="Offsets still to copy, over all partitions, at which the producers are to stop."
    )
    fence_quiet: Duration = Field("60s", validate_default=True, description="The source must stand still so long.")
    fence_wait: Duration = Field("60m", validate_default=True, description="It must do so within this time.")
    drain_groups: Duration | None = Field(
        None, description="If given, groups must finish reading on the source first, within this time."
    )
    uncommitted: Uncommitted = Field(
        "refuse",
        description="Where the copy has other partitions: where a group begins that never committed on a partition "
        "with records, as its auto.offset.reset says; or that it is left out.",
    )
    may_be_active: list[GroupName] = Field(
        [],
        max_length=1000,
        description="Names of groups that a cutover moves although they still have members on the source.",
    )
    may_rewind: list[GroupName] = Field(
        [],
        max_length=1000,
        description="Names of groups that a cutover may put back to offsets before those that they have on the target.",
    )
    hooks: HooksModel = Field(HooksModel(), description="Your own DAGs or functions, called as the cutover goes on.")
    approval_time_limit: Duration = Field("24h", validate_default=True, description="No answer by then ends the run.")
    approvers: list[UserId] = Field(
        [], max_length=100, description="Airflow user ids that may approve; none means everybody who may answer."
    )
    four_eyes: bool = Field(False, description="Whether who approves must not be who triggered the run.")


class NightlyModel(Strict):
    """The nightly sync: when it runs, and how long it may act."""

    cron: CronExpression = Field(
        description="When it begins: a cron expression of five fields. Its ticks bound the intervals of a backfill too."
    )
    timezone: TimeZone = Field("UTC", description="IANA time zone of cron, until and validate_until.")
    until: TimeOfDay | None = Field(
        None,
        description='Local time, such as "05:30", at which mirroring stops: the first after the beginning. '
        "What is left is for the next run.",
    )
    validate_until: TimeOfDay | None = Field(
        None,
        description="Local time at which the validation stops: the first such time after until (without until: after "
        "the beginning), and not the same. What is not validated then, the next run does.",
    )
    when_late: Literal["fail", "warn"] = Field(
        "fail", description="How a run ends that did not get everything mirrored and validated in time."
    )
    when_reserved: Literal["wait", "leave"] = Field(
        "wait", description="What it does while another run of this migration acts."
    )
    wait_limit: Duration = Field("4h", validate_default=True, description="It waits at most so long, backfills too.")

    @field_validator("validate_until")
    @classmethod
    def _leaves_time_to_validate(cls, validate_until: time | None, info: ValidationInfo) -> time | None:
        if validate_until is not None and validate_until == info.data.get("until"):
            raise ValueError("another time than until, after which the validation begins")
        return validate_until


class MigrationModel(Strict):
    """One migration file."""

    version: Version = Field(description="Version of this format.")
    name: Name = Field(description="Names the DAGs, the evidence and MirrorMaker's internal topics.")
    source: SourceModel
    target: TargetModel
    topics: list[TopicName] = Field(min_length=1, max_length=5000, description="Exact topic names.")
    mirror: MirrorModel
    watch: WatchModel = WatchModel()
    validation: ValidationModel
    cutover: CutoverModel = CutoverModel()
    nightly: NightlyModel | None = Field(None, description="Without it nothing runs by itself.")
    alerts: AlertsModel | None = Field(
        None, description="Who is told of refusals, stalls and the like; else what Airflow's configuration names."
    )

    @field_validator("validation")
    @classmethod
    def _names_only_its_topics(cls, validation: ValidationModel, info: ValidationInfo) -> ValidationModel:
        others = sorted({*validation.compacted, *validation.timestamps} - set(info.data.get("topics", ())))
        if others and "topics" in info.data:
            raise ValueError(f"topics of this migration in compacted and timestamps, not {some(others)}")
        return validation

    @field_validator("source")
    @classmethod
    def _has_an_alias_of_its_own(cls, source: SourceModel, info: ValidationInfo) -> SourceModel:
        if source.alias == f"{info.data.get('name')}-target":
            raise ValueError(f"another alias than {source.alias}, which is the target's")
        if source.alias in MIRROR_WORDS:
            raise ValueError(f"another alias than {source.alias}, with which MirrorMaker's own settings begin")
        return source

    @field_validator("topics")
    @classmethod
    def _no_repeated_or_internal_topics(cls, topics: list[str]) -> list[str]:
        if twice := repeated(topics):
            raise ValueError(f"topics named twice: {some(twice)}")
        internal = [t for t in topics if t.startswith(("__", ".")) or t.endswith((".internal", "-internal"))]
        if internal:
            raise ValueError(f"MirrorMaker never copies internal topics: {some(internal)}")
        return topics
