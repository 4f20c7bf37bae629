"""What the checks of one run may look at, the answers that they have got, and what several of them ask clusters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import wraps
from pathlib import Path
from threading import Lock, RLock
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from kafka_migration.core.clock import Clock
from kafka_migration.core.connect.connect_tools import ConnectTools
from kafka_migration.core.evidence.root import EvidencePlace
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Certificate, ClusterFacts, KafkaCluster, NewTopic, Side, TopicDescription
from kafka_migration.core.kafka.records import SampledRecord
from kafka_migration.core.kafka.schema_registry import SchemaRegistry
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.alert_settings import NotifierSettings
from kafka_migration.core.migration.settings import Cluster, Migration, Mode
from kafka_migration.core.migration.topic_rules import TopicList
from kafka_migration.core.mirror.host import HostTools
from kafka_migration.core.mirror.mirror_process import AnyProcess
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.run.run_window import RunType
from kafka_migration.core.spark.spark_target import SparkTarget
from kafka_migration.core.target.target_topics import plan_topics

P = ParamSpec("P")
T = TypeVar("T")
SIDES: tuple[Side, ...] = ("source", "target")
SAMPLED_PARTITIONS, SAMPLED_RECORDS = 200, 20
SAMPLING_S = 10.0


class Requested(Protocol):
    """What the run was asked for (`steps.run.run_request.RunRequest`)."""

    @property
    def mode(self) -> Mode:
        """What the run does."""

    @property
    def topics(self) -> tuple[str, ...]:
        """The chosen topics; empty means all."""

    @property
    def groups(self) -> tuple[str, ...]:
        """The chosen groups; empty means all."""

    @property
    def follow_until(self) -> datetime | None:
        """When mode `follow` ends; `None` means that it waits for a stop request."""

    @property
    def generations(self) -> range:
        """The generations to read again."""


class CheckedDeployment(Protocol):
    """Where the run happens (`steps.run.migration_run.Deployment`)."""

    @property
    def migrations_folder(self) -> Path:
        """The folder of the migration files."""

    @property
    def open_registry(self) -> Callable[[Side, str], SchemaRegistry]:
        """Returns the schema registry of a connection; connects on its first use."""

    @property
    def client_settings(self) -> Callable[[Cluster], Mapping[str, Any]]:
        """Returns the librdkafka settings of a cluster's connection."""


class CheckedRun(Protocol):
    """The run (`steps.run.migration_run.MigrationRun`), which opens each connection once, when it is first used.

    `migration` is limited to the requested topics; `whole_migration` has all topics of the file.
    """

    identity: RunIdentity
    clock: Clock

    @property
    def migration(self) -> Migration:
        """The migration of the run."""

    @property
    def whole_migration(self) -> Migration:
        """The migration with all topics of its file."""

    @property
    def request(self) -> Requested:
        """What the run was asked for."""

    @property
    def deployment(self) -> CheckedDeployment:
        """Where the run happens."""

    @property
    def source(self) -> KafkaCluster:
        """The source cluster."""

    @property
    def target(self) -> KafkaCluster:
        """The target cluster."""

    @property
    def process(self) -> AnyProcess:
        """The process that copies."""

    @property
    def host_tools(self) -> HostTools | None:
        """The tools of the MirrorMaker host; `None` if the engine needs no host."""

    @property
    def connect_tools(self) -> ConnectTools | None:
        """The workers of the Kafka Connect cluster, as they show themselves; `None` if the engine needs none."""

    @property
    def second_host_tools(self) -> HostTools | None:
        """The same tools over a second connection, for calls at the same time."""


class Connections(Protocol):
    """Airflow's connections. No method opens a connection to a cluster."""

    def connection_type(self, connection_id: str) -> str | None:
        """Return the type of a connection, or `None` if it does not exist."""

    def unmasked_secrets(self, connection_id: str) -> tuple[str, ...]:
        """Return the settings of a connection whose secrets Airflow does not mask; empty if it does not exist."""

    def kafka_findings(self, cluster: Cluster) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
        """Return the findings that prevent the use of a Kafka connection, and its allowed insecure settings."""

    def principal(self, cluster: Cluster) -> str:
        """Return the broker's probable name for the user of a Kafka connection."""

    def certificates(self, cluster: Cluster) -> tuple[Certificate, ...]:
        """Return the client certificates of a Kafka connection."""

    def has_login(self, cluster: Cluster) -> bool:
        """Return whether a Kafka connection has a login. Raises `Refused` if it cannot be translated."""


class InstalledSpark(Protocol):
    """Spark as it is installed on this worker, with its configuration. A question may start Java or Python."""

    def spark_target(self, connection_id: str) -> SparkTarget:
        """Return the cluster to which a Spark connection submits. Raises `Refused` if it cannot be used."""

    def spark_numbers(self, target: SparkTarget) -> tuple[int, ...]:
        """Return the first three numbers of Spark's version. Raises `Refused` if it is unknown."""

    def spark_client_findings(self) -> tuple[Finding, ...]:
        """Return the findings about Spark's Kafka client, if a login is used."""

    def spark_version_findings(self, connection_id: str) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
        """Return which versions of a Spark connection's Spark cannot work together, and which are unknown."""


class CheckedAirflow(Protocol):
    """The Airflow and the worker on which the checks run (`airflow_adapters.checked_airflow.ThisAirflow`)."""

    @property
    def connections(self) -> Connections:
        """Airflow's connections."""

    @property
    def spark(self) -> InstalledSpark:
        """Spark on this worker."""

    @property
    def evidence_place(self) -> EvidencePlace:
        """The evidence root, as Airflow and Spark spell it."""

    @property
    def alerts_file(self) -> Path | None:
        """The file with the alert settings of all migrations; `None` without one."""

    @property
    def asks_tools(self) -> bool:
        """Whether the clusters may be asked from the MirrorMaker host."""

    def at_once(self, works: Sequence[Callable[[], T]]) -> list[T]:
        """Do works at the same time, and return their results in order; raises the first error in this order."""

    def notifier_problem(self, notifier: NotifierSettings) -> str:
        """Return why a notifier cannot be created; empty if it can."""

    def look_up(self, name: str) -> Sequence[str]:
        """Return the addresses of a host name on this worker; empty if it has none."""


@dataclass(eq=False)
class Scene:
    """What the checks of one run may look at. Nothing is asked before the first check that needs it.

    `find_topic_list` returns the topics that the file's patterns found, or raises why they are unknown; `None` without
    patterns.
    """

    run: CheckedRun
    airflow: CheckedAirflow
    ledger: Ledger
    now: datetime
    run_type: RunType = RunType.MANUAL
    find_topic_list: Callable[[], TopicList | None] = lambda: None
    _answers: dict[Hashable, _Answer] = field(default_factory=dict, init=False, repr=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)

    @property
    def migration(self) -> Migration:
        """The migration of the run, limited to the requested topics."""
        return self.run.migration

    @property
    def mode(self) -> Mode:
        """What the run does."""
        return self.run.request.mode

    @property
    def source(self) -> KafkaCluster:
        """The source cluster; it is opened once, also by threads at the same time."""
        return self.once("source", lambda: self.run.source)

    @property
    def target(self) -> KafkaCluster:
        """The target cluster; it is opened once, also by threads at the same time."""
        return self.once("target", lambda: self.run.target)

    @property
    def has_login(self) -> bool:
        """Whether one of the Kafka connections has a login. Raises `Refused` if one cannot be translated."""
        return any(self.airflow.connections.has_login(self.named(side)) for side in SIDES)

    def cluster(self, side: Side) -> KafkaCluster:
        """Return the cluster of a side."""
        return self.source if side == "source" else self.target

    def named(self, side: Side) -> Cluster:
        """Return what the migration file says of a side."""
        return self.migration.source if side == "source" else self.migration.target

    def once(self, key: Hashable, ask: Callable[[], T]) -> T:
        """Return the answer to a question; it is asked once, also by threads at the same time. An error is not kept."""
        with self._lock:
            answer = self._answers.setdefault(key, _Answer())
        return cast(T, answer.of(ask))


@dataclass(eq=False, slots=True)
class _Answer:
    """The answer to one question, after it was asked."""

    # A question that asks itself ends with an error, and does not wait for itself.
    _lock: RLock = field(default_factory=RLock)
    _known: list[object] = field(default_factory=list)

    def of(self, ask: Callable[[], object]) -> object:
        with self._lock:
            if not self._known:
                self._known.append(ask())
            return self._known[0]


def asked_once(question: Callable[Concatenate[Scene, P], T]) -> Callable[Concatenate[Scene, P], T]:
    """Let a question about a scene be asked once per scene and arguments, however many checks need the answer."""

    @wraps(question)
    def ask(scene: Scene, /, *args: P.args, **kwargs: P.kwargs) -> T:
        key = (question, args, tuple(sorted(kwargs.items())))
        return scene.once(key, lambda: question(scene, *args, **kwargs))

    return ask


@asked_once
def facts(scene: Scene, side: Side) -> ClusterFacts:
    """Return the id and the brokers of a cluster."""
    return scene.cluster(side).facts()


@asked_once
def topics_of(scene: Scene, side: Side) -> Mapping[str, TopicDescription]:
    """Return the migration's topics on a side, by their source names; those that do not exist are missing."""
    return scene.cluster(side).describe_topics(scene.migration.topics)


@asked_once
def new_topics(scene: Scene) -> tuple[NewTopic, ...]:
    """Return the topics that the target lacks, as a run would create them."""
    source, target = topics_of(scene, "source"), topics_of(scene, "target")
    return plan_topics(scene.migration, source, target, scene.ledger).create


@asked_once
def newest_records(scene: Scene, topics: tuple[str, ...]) -> Mapping[str, list[SampledRecord]]:
    """Return up to `SAMPLED_RECORDS` of the newest records of each partition of these topics on the source, by topic.

    At most `SAMPLED_PARTITIONS` partitions are read; a topic without a record is missing.
    """
    known, source = topics_of(scene, "source"), scene.source
    partitions = [partition for topic in topics for partition in known[topic].topic_partitions][:SAMPLED_PARTITIONS]
    starts = source.log_start_offsets(partitions)
    ends = source.log_end_offsets(partitions, "read_uncommitted")
    ends = {partition: end for partition, end in ends.items() if partition in starts}
    first = {partition: max(starts[partition], end - SAMPLED_RECORDS) for partition, end in ends.items()}
    found = defaultdict[str, list[SampledRecord]](list)
    for record in source.sampled_records(first, ends, SAMPLING_S):
        found[record.partition.topic].append(record)
    return found
