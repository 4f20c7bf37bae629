"""Airflow's configuration and connections, for verbs that show what a run would do."""

from __future__ import annotations

import os
from pathlib import Path

from kafka_migration.cli.files.acls_verb import migrations_folder_of
from kafka_migration.core.mirror.host import MirrorHost
from kafka_migration.preflight.scene.scene import CheckedAirflow
from kafka_migration.steps.run.deployment import Deployment


def airflow_deployment(migrations: Path | None) -> Deployment:
    """Return what this Airflow is to a run that is only shown; `migrations` replaces the configured folder.

    The ledger is compared with what Airflow's database keeps of it, if the database answers.
    """
    # Outside of a task, connections in Airflow's database are visible only with this setting.
    os.environ.setdefault("_AIRFLOW_PROCESS_CONTEXT", "server")
    # Importing Airflow takes seconds, and few verbs need it.
    from kafka_migration.airflow_adapters import airflow_connections as connections
    from kafka_migration.airflow_adapters import airflow_settings as settings
    from kafka_migration.airflow_adapters.http_connections import registry_named
    from kafka_migration.airflow_adapters.ledger_anchor import stored_anchor

    return Deployment(
        evidence_root=settings.evidence_root(),
        migrations_folder=migrations_folder_of(migrations),
        anchor=stored_anchor,
        open_cluster=lambda side, cluster: connections.cluster_named(side, cluster.connection, cluster.insecure),
        open_host=_open_host,
        open_registry=registry_named,
        client_settings=lambda cluster: connections.connection_config(cluster.connection, cluster.insecure),
        run_link=lambda identity, _: str(identity),
    )


def this_airflow() -> CheckedAirflow:
    """Return what the checks of a run ask of this Airflow."""
    from kafka_migration.airflow_adapters.checked_airflow import ThisAirflow

    return ThisAirflow()


def _open_host(migration: str, connection: str) -> MirrorHost:
    from kafka_migration.airflow_adapters.ssh_host import SshMirrorHost

    return SshMirrorHost(migration, connection)
