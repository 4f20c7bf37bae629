"""What this Airflow is to a run: its configuration, its connections and its MirrorMaker hosts.

The clients of Kafka, SSH and HTTP are imported when a task opens its first connection, because many tasks open none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kafka_migration.adapters.store.ledger_store import Anchor
from kafka_migration.airflow_adapters import airflow_settings
from kafka_migration.core.kafka.cluster import KafkaCluster, Side
from kafka_migration.core.kafka.schema_registry import SchemaRegistry
from kafka_migration.core.migration.settings import Cluster, Migration
from kafka_migration.core.mirror.host import OpenedMirror
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.steps.run.deployment import Deployment


def airflow_deployment(
    anchor: Callable[[str], Anchor | None],
    run_link: Callable[[RunIdentity, str], str],
    migrations_folder: Path | None = None,
) -> Deployment:
    """Return the deployment; `migrations_folder` replaces the configured one.

    `anchor` and `run_link` are those of the `Deployment`.
    """
    return Deployment(
        evidence_root=airflow_settings.evidence_root(),
        migrations_folder=migrations_folder or airflow_settings.migrations_folder(),
        anchor=anchor,
        open_cluster=_open_cluster,
        open_mirror=_open_mirror,
        open_registry=_open_registry,
        client_settings=_client_settings,
        run_link=run_link,
        timezone=airflow_settings.default_timezone(),
    )


def _open_cluster(side: Side, cluster: Cluster) -> KafkaCluster:
    from kafka_migration.airflow_adapters.airflow_connections import cluster_named

    return cluster_named(side, cluster.connection, cluster.insecure)


def _open_registry(side: Side, connection_id: str) -> SchemaRegistry:
    from kafka_migration.airflow_adapters.airflow_connections import registry_named

    return registry_named(side, connection_id)


def _client_settings(cluster: Cluster) -> Mapping[str, Any]:
    from kafka_migration.airflow_adapters.airflow_connections import connection_config

    return connection_config(cluster.connection, cluster.insecure)


def _open_mirror(migration: Migration) -> OpenedMirror:
    if migration.mirror.abilities.needs_connect:
        return _opened_connect(migration)
    from kafka_migration.airflow_adapters.ssh import opened_mirror

    return opened_mirror(migration)


def _opened_connect(migration: Migration) -> OpenedMirror:
    from kafka_migration.adapters.connect.connect_process import ConnectProcess
    from kafka_migration.adapters.connect.connect_rest import ConnectRest
    from kafka_migration.adapters.connect.task_watch import TaskWatch
    from kafka_migration.airflow_adapters.airflow_connections import connect_tools_named, http_settings

    connect, connection = migration.mirror.connect, migration.mirror.connection
    if connect is None:
        raise ValueError(f"{migration.name} has no mirror.connect")
    settings = http_settings(connection)
    watch = TaskWatch(_open_cluster("target", migration.target), connect.status_topic, settings, connect.group)
    process = ConnectProcess(migration.name, ConnectRest(settings), watch)
    return OpenedMirror(process, connect_tools=connect_tools_named(connection))
