"""The migration file as strict pydantic models that refuse unknown keys."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import time
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from kafka_migration.core.migration.aliases import alias_problem
from kafka_migration.core.migration.client_tuning import pair_problems, value_problem
from kafka_migration.core.migration.engine_table import DEFAULT_ENGINE, EngineName, abilities_of
from kafka_migration.core.migration.settings import UNMOVED_GROUP_PREFIXES, Part
from kafka_migration.core.text.shortened import some
from kafka_migration.migration_file.alerts_section import AlertsModel
from kafka_migration.migration_file.connect_section import ConnectModel
from kafka_migration.migration_file.scalars import (
    AcceptedCode,
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
    Strict,
    TimeOfDay,
    TimeZone,
    TopicName,
    TopicPattern,
    UserId,
    Version,
    up_to,
)
from kafka_migration.migration_file.topics_section import TopicItem, TopicModel, frozen_rules, problems_of

# A lease of weeks would not stop a forgotten MirrorMaker process in time.
Lease = Annotated[Duration, up_to("7d")]
Grace = Annotated[Duration, up_to("1h")]
Insecure = Literal["sasl_plaintext", "no_host_name_check"]
INSECURE = (
    "Protections that the connection may disable: sasl_plaintext (login and records are not encrypted), "
    "no_host_name_check (the host name in a broker's certificate is not checked)."
)


class SourceModel(Strict):
    """The source cluster."""

    connection: ConnectionId = Field(description="Airflow connection of type kafka.")
    alias: Alias | None = Field(
        None,
        description="MirrorMaker's name for the cluster; prefixed topic names start with it. Default: <name>-source.",
    )
    insecure: list[Insecure] = Field([], description=INSECURE)


class TargetModel(Strict):
    """The target cluster."""

    connection: ConnectionId = Field(description="Airflow connection of type kafka.")
    replication_factor: int = Field(3, ge=1, le=32, description="Replication factor of created and internal topics.")
    insecure: list[Insecure] = Field([], description=INSECURE)


class TopicNamesModel(Strict):
    """The names of topics on the target."""

    naming: Literal["identity", "prefixed", "custom"] = Field(
        "identity", description="identity keeps names; prefixed puts source.alias and a dot before them."
    )
    policy_class: ClassName | None = Field(
        None, description="For custom: a replication policy class in libs/*.jar of the Kafka home, or of the workers."
    )
    pattern: TopicPattern = Field(
        "{topic}", validate_default=True, description="For custom: the resulting name, with {topic} as the source name."
    )

    @field_validator("pattern")
    @classmethod
    def _belongs_to_custom(cls, pattern: str, info: ValidationInfo) -> str:
        if not {"naming", "policy_class"} <= info.data.keys():
            return pattern
        is_custom, policy_class = info.data["naming"] == "custom", info.data["policy_class"]
        if is_custom != (policy_class is not None) or (not is_custom and pattern != "{topic}"):
            raise ValueError("policy_class and pattern only with naming custom, and both then")
        return pattern


class MirrorModel(Strict):
    """MirrorMaker, and the host or the Kafka Connect cluster on which it runs."""

    engine: EngineName = Field(
        DEFAULT_ENGINE,
        description="What copies: MirrorMaker 2 or 1 on a host, or MirrorMaker 2's connector on a Kafka Connect "
        "cluster.",
    )
    connection: ConnectionId = Field(
        description="Airflow connection of type ssh; with engine connect of type http: the REST API of Kafka Connect."
    )
    connect: ConnectModel | None = Field(
        None, validate_default=True, description="Required with engine connect, and only there."
    )
    kafka_home: HostPath | None = Field(None, description="Folder with libs/*.jar on the host. Default: $KAFKA_HOME.")
    java_home: HostPath | None = Field(None, description="Java on the host. Default: $JAVA_HOME, then the PATH.")
    tasks: int = Field(4, ge=1, le=1000, description="Parallel copy tasks (tasks.max); streams with mirrormaker1.")
    heap_mb: int = Field(1024, ge=128, le=262144, description="Java heap in MiB.")
    lease: Lease = Field(
        "10m",
        validate_default=True,
        description="The host stops MirrorMaker if its lease is not renewed for this long; at most 7d.",
    )
    stop_grace: Grace = Field("90s", validate_default=True, description="Time between TERM and KILL; at most 1h.")
    isolation_level: Literal["read_committed", "read_uncommitted"] = Field(
        "read_committed", description="read_committed skips records of aborted transactions."
    )
    topic_names: TopicNamesModel = Field(
        TopicNamesModel(), validate_default=True, description="The names of topics on the target."
    )
    exactly_once: bool = Field(
        False,
        description="Copy in transactions, so that a crash causes no duplicates (not with mirrormaker1).",
    )
    restarts: int = Field(3, ge=0, le=20, description="How often a run restarts a MirrorMaker process that died.")
    properties: dict[PropertyName, PropertyValue] = Field(
        {}, description='Client settings, such as "producer.compression.type": "zstd".'
    )

    @field_validator("connect")
    @classmethod
    def _belongs_to_kafka_connect(cls, connect: ConnectModel | None, info: ValidationInfo) -> ConnectModel | None:
        reason = _why_not("needs_connect", info)
        if connect is not None and reason:
            raise ValueError(f"no such field, because {reason}")
        if connect is None and not reason and "engine" in info.data:
            raise PydanticCustomError("missing", "Field required")
        return connect

    @field_validator("properties")
    @classmethod
    def _have_values_that_kafka_takes(cls, properties: dict[str, str]) -> dict[str, str]:
        problems = [problem for key, value in properties.items() if (problem := value_problem(key, value))]
        if problems := problems or list(pair_problems(properties)):
            raise ValueError("; ".join(problems))
        return properties

    @field_validator("topic_names")
    @classmethod
    def _fits_engine(cls, names: TopicNamesModel, info: ValidationInfo) -> TopicNamesModel:
        if names.naming != "identity" and (reason := _why_not("renames_topics", info)):
            raise ValueError(f"naming identity: {reason}")
        return names

    @field_validator("exactly_once")
    @classmethod
    def _needs_committed_reads(cls, exactly_once: bool, info: ValidationInfo) -> bool:
        if exactly_once and (reason := _why_not("exactly_once", info)):
            raise ValueError(f"false: {reason}")
        if exactly_once and info.data.get("isolation_level") == "read_uncommitted":
            title = abilities_of(info.data.get("engine", DEFAULT_ENGINE)).title
            raise ValueError(f"false: {title} refuses exactly-once with isolation_level read_uncommitted")
        return exactly_once


def _why_not(ability: str, info: ValidationInfo) -> str:
    """Return why the engine of the file cannot do something; empty if it can, or if the engine itself is invalid."""
    engine = info.data.get("engine")
    return "" if engine is None else str(getattr(abilities_of(engine), ability).why_not)


class WatchModel(Strict):
    """How the lag is watched."""

    poll_interval: Duration = Field("15s", validate_default=True, description="Time between two polls.")
    stall_after: Duration = Field(
        "10m",
        validate_default=True,
        description="No progress for this long is a stall. A service that is unreachable for this long causes an "
        "alert.",
    )
    unreachable_after: Duration | None = Field(
        None,
        validate_default=True,
        description="The run fails if a cluster, the host or the evidence store is unreachable for this long. "
        "Default: three times stall_after.",
    )
    time_limit: Duration = Field(
        "6h", validate_default=True, description="The run fails if copying takes longer than this."
    )

    @field_validator("unreachable_after")
    @classmethod
    def _comes_after_the_warning(cls, unreachable_after: int | None, info: ValidationInfo) -> int | None:
        stall_after = info.data.get("stall_after")
        if unreachable_after is not None and stall_after is not None and unreachable_after <= stall_after:
            raise ValueError("more than stall_after, after which an alert is sent")
        return unreachable_after


class ValidationModel(Strict):
    """How the copy is compared."""

    spark_connection: ConnectionId = Field(description="Airflow connection of type spark.")
    max_duplicates: int = Field(
        1_000_000,
        ge=0,
        description="Accepted duplicates from a killed MirrorMaker process, per comparison. More are a failure.",
    )
    max_aborted: int = Field(
        0,
        ge=0,
        description="Accepted records of aborted transactions on the target, with isolation_level read_uncommitted.",
    )
    max_bytes_per_s: int | None = Field(
        None,
        ge=100_000,
        description="Maximum bytes per second read from each broker of either cluster, enforced by a Kafka quota.",
    )
    spark_unprotected: bool = Field(
        False, description="Accept an isolated Spark cluster without authentication or encryption."
    )


ALL_USUAL_GROUPS = f"(?!{'|'.join(UNMOVED_GROUP_PREFIXES)}).+"


class HookModel(Strict):
    """A user's hook in a cutover. It must be idempotent."""

    dag: DagId | None = Field(None, description="Id of a DAG; the cutover triggers it and waits for it.")
    callable: ClassName | None = Field(
        None, validate_default=True, description="Or the path of a Python callable, such as shop.kafka.my_function."
    )

    @field_validator("callable")
    @classmethod
    def _is_the_only_one(cls, path: str | None, info: ValidationInfo) -> str | None:
        if "dag" in info.data and (path is None) == (info.data["dag"] is None):
            raise ValueError("either dag or callable")
        return path


class HooksModel(Strict):
    """The hooks of a cutover."""

    stop_producers: HookModel | None = Field(
        None, description="Called when the copy is near its goal: stop the producers on the source."
    )
    after_cutover: HookModel | None = Field(
        None,
        description="Called after the groups have moved: switch consumers and producers to the target and start them.",
    )


class CutoverModel(Strict):
    """How the consumers are moved."""

    groups: list[Pattern] = Field(
        [ALL_USUAL_GROUPS],
        min_length=1,
        max_length=1000,
        description="Regular expressions for the whole name of a consumer group; one match is enough.",
    )
    near: int = Field(
        10_000, ge=0, description="Remaining offsets, over all partitions, at which the producers must stop."
    )
    fence_quiet: Duration = Field(
        "60s", validate_default=True, description="The source must receive no records for this long."
    )
    fence_wait: Duration = Field("60m", validate_default=True, description="Time limit for fence_quiet to be reached.")
    drain_groups: Duration | None = Field(
        None, description="If set, groups must first finish reading on the source within this time."
    )
    uncommitted: Literal["refuse", "earliest", "latest"] | None = Field(
        None,
        description="Where a group starts on a partition with records on which it never committed: at the begin or at "
        "the end of the copy; refuse does not move the group. Default: no offset is written (MirrorMaker 2), refuse "
        "(MirrorMaker 1).",
    )
    may_be_active: list[GroupName] = Field(
        [],
        max_length=1000,
        description="Names of groups that a cutover moves even if they still have members on the source.",
    )
    may_rewind: list[GroupName] = Field(
        [],
        max_length=1000,
        description="Names of groups whose offsets on the target a cutover may set back.",
    )
    hooks: HooksModel = Field(HooksModel(), description="Your own DAGs or functions, called during the cutover.")
    approval_time_limit: Duration = Field(
        "24h", validate_default=True, description="The run ends if there is no answer within this time."
    )
    approvers: list[UserId] = Field(
        [], max_length=100, description="Airflow user ids that may approve; empty means every user who may answer."
    )
    four_eyes: bool = Field(False, description="The approver must not be the user who triggered the run.")


class NightlyModel(Strict):
    """The nightly sync: when it runs, and how long it may act."""

    cron: CronExpression = Field(
        description="Start time: a cron expression of five fields. Its ticks also bound the intervals of a backfill."
    )
    timezone: TimeZone = Field(
        "UTC", description="IANA time zone of cron, until and validate_until, and of the moments that people read."
    )
    until: TimeOfDay | None = Field(
        None,
        description='Local time, such as "05:30", at which mirroring stops: the first such time after the start. '
        "The next run copies the rest.",
    )
    validate_until: TimeOfDay | None = Field(
        None,
        description="Local time, other than until, at which the validation stops: the first such time after until, or "
        "after the start if until is not set. The next run validates the rest.",
    )
    when_late: Literal["fail", "warn"] = Field(
        "fail", description="How a run ends if not everything was mirrored and validated in time."
    )
    when_reserved: Literal["wait", "leave"] = Field(
        "wait", description="What the run does while another run holds the reservation."
    )
    wait_limit: Duration = Field("4h", validate_default=True, description="Maximum waiting time, also for backfills.")

    @field_validator("validate_until")
    @classmethod
    def _leaves_time_to_validate(cls, validate_until: time | None, info: ValidationInfo) -> time | None:
        if validate_until is not None and validate_until == info.data.get("until"):
            raise ValueError("a time other than until, because the validation starts after until")
        return validate_until


class SchemaRegistryModel(Strict):
    """The schema registries of both clusters: each schema id must stand for the same schema in both."""

    source: ConnectionId = Field(description="Airflow connection of type http: the registry of the source.")
    target: ConnectionId = Field(description="Airflow connection of type http: the registry of the target.")
    parts: dict[TopicName, list[Part]] = Field(
        {}, description="The parts of a topic's records that have schema ids. Default: key and value."
    )


class MigrationModel(Strict):
    """One migration file."""

    version: Version = Field(description="Version of this format.")
    name: Name = Field(description="Used in the names of the DAGs, the evidence and MirrorMaker's internal topics.")
    source: SourceModel
    target: TargetModel
    topics: list[TopicItem] = Field(min_length=1, max_length=5000)
    mirror: MirrorModel
    watch: WatchModel = WatchModel()
    validation: ValidationModel
    cutover: CutoverModel = CutoverModel()
    nightly: NightlyModel | None = Field(None, description="Without it there are no scheduled runs.")
    alerts: AlertsModel | None = Field(
        None, description="Notifiers for refusals, stalls and other alerts. Default: those in Airflow's configuration."
    )
    schema_registry: SchemaRegistryModel | None = Field(None, description="Without it schema ids are not checked.")
    accept: list[AcceptedCode] = Field(
        [],
        max_length=100,
        description="Codes of findings of preflight that neither refuse a run nor warn; the report names them.",
    )

    @field_validator("schema_registry")
    @classmethod
    def _registry_names_only_its_topics(
        cls, registry: SchemaRegistryModel | None, info: ValidationInfo
    ) -> SchemaRegistryModel | None:
        if others := _others(registry.parts if registry else (), info):
            raise ValueError(f"topics of this migration in parts, not {some(others)}")
        return registry

    @field_validator("source")
    @classmethod
    def _has_an_alias_of_its_own(cls, source: SourceModel, info: ValidationInfo) -> SourceModel:
        if source.alias and (problem := alias_problem(source.alias, str(info.data.get("name")))):
            raise ValueError(problem)
        return source

    @field_validator("topics")
    @classmethod
    def _items_fit_together(cls, topics: list[TopicModel]) -> list[TopicModel]:
        if problems := list(problems_of(topics)):
            raise ValueError("; ".join(problems))
        return topics


def _others(topics: Iterable[str], info: ValidationInfo) -> list[str]:
    """Return those of the topics that neither a name nor a pattern of the file takes."""
    rules = frozen_rules(info.data.get("topics", ()))
    return sorted(topic for topic in topics if not rules.takes(topic)) if "topics" in info.data else []
