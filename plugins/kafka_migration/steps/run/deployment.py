"""Where a run happens: its folders, and what opens its clusters and its MirrorMaker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka_migration.adapters.store.ledger_store import Anchor
from kafka_migration.adapters.system.this_machine import SystemClock
from kafka_migration.core.clock import Clock
from kafka_migration.core.kafka.cluster import KafkaCluster, Side
from kafka_migration.core.kafka.schema_registry import SchemaRegistry
from kafka_migration.core.migration.settings import Cluster, Migration
from kafka_migration.core.mirror.engine import AnyEngine
from kafka_migration.core.mirror.host import OpenedMirror
from kafka_migration.core.report.metrics import Metric
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.engines.engines import engine_of


def _nowhere(*metrics: Metric) -> None:
    """Send no metrics."""


def _no_page(_: RunIdentity) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Deployment:
    """What a run needs from the place where it runs. Airflow's is made in `airflow_adapters/deployment_factory.py`.

    :param evidence_root: the folder of all evidence (`adapters.store.document_files.Folder`)
    :param migrations_folder: the folder of the migration files
    :param anchor: returns what keeps the head of a migration's ledger outside the evidence root; `None`: nothing does
    :param open_cluster: returns the cluster of one side; connects on its first use
    :param open_mirror: returns the process of a migration, and its host if the engine needs one; connects on first use
    :param open_registry: returns the schema registry of a connection; connects on its first use
    :param client_settings: returns the librdkafka settings of a cluster's connection
    :param run_link: returns the address in Airflow's UI of a run, or of the question that one of its tasks asks
    :param report_link: returns the address of a run's report; empty: nothing serves it
    :param spark_path: returns how Spark spells a path below the evidence root
    :param send_metrics: sends metrics (`core.report.metrics.Metric`); never raises
    :param timezone: the time zone in which people read moments of a migration whose file names none
    """

    evidence_root: Any
    migrations_folder: Path
    anchor: Callable[[str], Anchor | None]
    open_cluster: Callable[[Side, Cluster], KafkaCluster]
    open_mirror: Callable[[Migration], OpenedMirror]
    open_registry: Callable[[Side, str], SchemaRegistry]
    client_settings: Callable[[Cluster], Mapping[str, Any]]
    run_link: Callable[[RunIdentity, str], str]
    engine_of: Callable[..., AnyEngine] = engine_of
    report_link: Callable[[RunIdentity], str] = _no_page
    spark_path: Callable[[str], str] = str
    send_metrics: Callable[..., None] = _nowhere
    timezone: str = "UTC"
    clock: Clock = field(default_factory=SystemClock)
