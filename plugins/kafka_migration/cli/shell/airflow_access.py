"""Airflow's configuration and connections. Importing Airflow takes seconds, so that only a call of a function does."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_migration.cli.shell.progress_line import working

if TYPE_CHECKING:
    from logging import LogRecord

    from kafka_migration.core.kafka.cluster import KafkaCluster
    from kafka_migration.core.migration.settings import Cluster, Insecurity, Migration
    from kafka_migration.preflight.scene.scene import CheckedAirflow
    from kafka_migration.steps.run.deployment import Deployment


# Airflow has its masker twice: for tasks, and for its own processes.
_MASKERS = tuple(f"airflow.{part}_shared.secrets_masker.secrets_masker" for part in ("", "sdk."))


def need_connections() -> None:
    """Make the connections in Airflow's database visible: outside of a task, they are so only with this setting."""
    loading_airflow()
    os.environ.setdefault("_AIRFLOW_PROCESS_CONTEXT", "server")


def loading_airflow() -> None:
    """Say that Airflow is loaded, and remove a warning of its masker; to be called before the first import of Airflow.

    The masker warns of each short value of a connection, also of one that is no secret. `SECRET_NOT_MASKED` names those
    that are.
    """
    # A command without Airflow is faster without it.
    import logging

    working("Loading Airflow")
    for masker in _MASKERS:
        logging.getLogger(masker).addFilter(_is_no_short_value)


def _is_no_short_value(record: LogRecord) -> bool:
    return not str(record.msg).startswith("Skipping masking for a secret as it's too short")


def migrations_folder_of(place: Path | None) -> Path:
    """Return the folder that the command line names, else the one in Airflow's configuration."""
    if place is not None:
        return place
    loading_airflow()
    from kafka_migration.airflow_adapters.airflow_settings import migrations_folder

    return migrations_folder()


def migration_names(place: Path | None) -> list[str]:
    """Return the names of the migration files in the folder that `add_folder` lets a user name."""
    return sorted(path.stem for path in migrations_folder_of(place).glob("*.yaml"))


def filed_migration(arguments: Namespace) -> Migration | None:
    """Return the migration file of a verb on evidence, `None` if its folder is not known. Raises `Refused`."""
    return migration_of(arguments) if knows_files(arguments) else None


def knows_files(arguments: Namespace) -> bool:
    """Return whether the folder of files is known; the one in Airflow's configuration belongs to its own evidence."""
    return arguments.migrations is not None or arguments.evidence_root is None


def migration_of(arguments: Namespace) -> Migration:
    """Read the migration file that `add_file` lets a user name; raises `Refused`."""
    from kafka_migration.migration_file.loading import load_migration_file

    return load_migration_file(migrations_folder_of(arguments.migrations) / f"{arguments.name}.yaml")[1]


def cluster_at(side: str, cluster: Cluster) -> KafkaCluster:
    """Return a cluster of a migration; raises `Refused`."""
    return cluster_named(side, cluster.connection, cluster.insecure)


def cluster_named(side: str, connection_id: str, allowed: Collection[Insecurity]) -> KafkaCluster:
    """Return the cluster of an Airflow connection; raises `Refused`."""
    need_connections()
    from kafka_migration.airflow_adapters import airflow_connections as connections

    working(f"Connecting to the {side} cluster")
    return connections.cluster_named(side, connection_id, allowed)


def shown_deployment(migrations: Path | None) -> Deployment:
    """Return what this Airflow is to a run that is only shown; `migrations` replaces the configured folder.

    The ledger is compared with what Airflow's database keeps of it, if the database answers.
    """
    need_connections()
    from kafka_migration.airflow_adapters.deployment_factory import airflow_deployment
    from kafka_migration.airflow_adapters.ledger_anchor import stored_anchor

    return airflow_deployment(stored_anchor, lambda identity, _: str(identity), migrations)


def this_airflow() -> CheckedAirflow:
    """Return what the checks of a run ask of this Airflow."""
    from kafka_migration.airflow_adapters.checked_airflow import ThisAirflow

    return ThisAirflow()
