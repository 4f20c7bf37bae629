"""What this Airflow is to a run: its configuration, its connections and its MirrorMaker hosts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kafka_migration.adapters.store.ledger_store import Anchor
from kafka_migration.airflow_adapters import airflow_settings
from kafka_migration.airflow_adapters.airflow_connections import cluster_named, connection_config, registry_named
from kafka_migration.core.migration.settings import Migration
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
        open_cluster=lambda side, cluster: cluster_named(side, cluster.connection, cluster.insecure),
        open_mirror=_open_mirror,
        open_registry=registry_named,
        client_settings=lambda cluster: connection_config(cluster.connection, cluster.insecure),
        run_link=run_link,
    )


def _open_mirror(migration: Migration) -> OpenedMirror:
    # Most tasks use no SSH, and its import takes a sixth of the time that the import of the DAG file takes.
    from kafka_migration.airflow_adapters.ssh import opened_mirror

    return opened_mirror(migration)
