"""A scene for the checks of preflight, of a run and an Airflow that tests make up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from kafka_migration.adapters.system.this_machine import SystemClock
from kafka_migration.airflow_adapters.task_thread import at_once
from kafka_migration.core.clock import Clock
from kafka_migration.core.evidence.root import EvidencePlace
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Certificate, Side
from kafka_migration.core.kafka.schema_registry import SchemaRegistry
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.alert_settings import NotifierSettings
from kafka_migration.core.migration.settings import Cluster, Migration, Mode
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.spark.spark_target import SparkTarget
from kafka_migration.preflight.scene.check import Check
from kafka_migration.preflight.scene.scene import Scene
from kafka_migration.steps.run.run_request import RunRequest
from tests.contract.fake_cluster import FakeCluster
from tests.contract.fake_connect_tools import FakeConnectTools
from tests.contract.fake_mirror_host import FakeMirrorHost

T = TypeVar("T")
# The checks of engine connect, which do not apply to the others.
OF_CONNECT = (
    *("connect secrets", "connect lease", "connect topics", "connect tasks"),
    *("connect", "connect kafka", "connect workers", "connect configuration"),
)
# The same migration with engine connect.
ON_CONNECT = """mirror:
  engine: connect
  connection: shop_connect
  connect:
    status_topic: connect-status
    config_topic: connect-configs
    offset_topic: connect-offsets
    group: connect-cluster
"""


def on_connect(text: str) -> str:
    """Return the text of a migration file with the engine on a Kafka Connect cluster."""
    return text.replace("mirror:\n  connection: mirror_host\n", ON_CONNECT)


def _no_registry(side: Side, connection: str) -> SchemaRegistry:
    raise AssertionError(f"a schema registry was asked: {connection}")


@dataclass
class Deployed:
    """Where the run happens: nowhere."""

    migrations_folder: Path = Path("/nowhere")
    open_registry: Callable[[Side, str], SchemaRegistry] = _no_registry
    client_settings: Callable[[Cluster], Mapping[str, Any]] = lambda _: {"bootstrap.servers": "b1:9092"}


@dataclass
class Run:
    """A run of a migration; by default its clusters and its host are those of fast tests, and without problems."""

    migration: Migration
    request: RunRequest = field(default_factory=lambda: RunRequest(mode=Mode.SYNC))
    identity: RunIdentity = field(default_factory=lambda: RunIdentity("kafka_migration__shop", "manual", 1))
    source: Any = field(default_factory=lambda: FakeCluster("source"))
    target: Any = field(default_factory=lambda: FakeCluster("target"))
    host: Any = field(default_factory=FakeMirrorHost)
    second_host: Any = field(default_factory=FakeMirrorHost)
    connect: Any = field(default_factory=FakeConnectTools)
    deployment: Deployed = field(default_factory=Deployed)
    clock: Clock = field(default_factory=SystemClock)

    @property
    def whole_migration(self) -> Migration:
        """The migration with all topics of its file."""
        return self.migration

    @property
    def process(self) -> Any:
        """The process that copies, on the host."""
        return self.host

    @property
    def host_tools(self) -> Any:
        """The tools of the host."""
        return self.host

    @property
    def connect_tools(self) -> Any:
        """The workers of the Kafka Connect cluster, if the engine has one."""
        return self.connect if self.migration.mirror.abilities.needs_connect else None

    @property
    def second_host_tools(self) -> Any:
        """The tools of the host over the second connection."""
        return self.second_host


class Connections:
    """Connections that exist, have a login and no problem, and a Spark that protects it."""

    def connection_type(self, connection_id: str) -> str | None:
        """Return the type that the migration file of the tests needs."""
        return {"old_kafka": "kafka", "new_kafka": "kafka", "mirror_host": "ssh", "shop_connect": "http"}.get(
            connection_id, "spark"
        )

    def unmasked_secrets(self, connection_id: str) -> tuple[str, ...]:
        """Return none."""
        return ()

    def kafka_findings(self, cluster: Cluster) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
        """Return none."""
        return (), ()

    def principal(self, cluster: Cluster) -> str:
        """Return the user of the fake clusters."""
        return "User:migration"

    def certificates(self, cluster: Cluster) -> tuple[Certificate, ...]:
        """Return none."""
        return ()

    def has_login(self, cluster: Cluster) -> bool:
        """Return that there is one."""
        return True


class Spark:
    """A Spark on the worker itself."""

    def spark_target(self, connection_id: str) -> SparkTarget:
        """Return a cluster of this machine."""
        return SparkTarget(connection_id, "local[2]")

    def spark_numbers(self, target: SparkTarget) -> tuple[int, ...]:
        """Return the version of Spark that is tested."""
        return (4, 0, 0)

    def spark_client_findings(self) -> tuple[Finding, ...]:
        """Return none."""
        return ()

    def spark_version_findings(self, connection_id: str) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
        """Return none."""
        return (), ()


@dataclass
class Airflow:
    """An Airflow whose worker finds no name."""

    connections: Any = field(default_factory=Connections)
    spark: Any = field(default_factory=Spark)
    evidence_place: EvidencePlace = field(default_factory=lambda: EvidencePlace("/evidence", "/evidence"))
    alerts_file: Path | None = None
    asks_tools: bool = True
    on_worker: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def at_once(self, works: Sequence[Callable[[], T]]) -> list[T]:
        """Do works at the same time."""
        return at_once(works)

    def notifier_problem(self, notifier: NotifierSettings) -> str:
        """Return that there is none."""
        return ""

    def look_up(self, name: str) -> Sequence[str]:
        """Return the addresses of a name on the worker."""
        return self.on_worker.get(name, ())


def scene_of(run: Run, airflow: Airflow | None = None, **changes: Any) -> Scene:
    """Return what the checks of a run look at, with an empty ledger."""
    return Scene(run, airflow or Airflow(), **{"ledger": Ledger(), "now": datetime.now(UTC), **changes})


def alone(check: Check) -> Check:
    """Return a check without the checks that must have passed before it."""
    return replace(check, needs=())
