"""Airflow's configuration and connections, for verbs that show what a run would do."""

from __future__ import annotations

import os
from pathlib import Path

from kafka_migration.preflight.scene.scene import CheckedAirflow
from kafka_migration.steps.run.deployment import Deployment


def shown_deployment(migrations: Path | None) -> Deployment:
    """Return what this Airflow is to a run that is only shown; `migrations` replaces the configured folder.

    The ledger is compared with what Airflow's database keeps of it, if the database answers.
    """
    # Outside of a task, connections in Airflow's database are visible only with this setting.
    os.environ.setdefault("_AIRFLOW_PROCESS_CONTEXT", "server")
    # Importing Airflow takes seconds, and few verbs need it.
    from kafka_migration.airflow_adapters.deployment_factory import airflow_deployment
    from kafka_migration.airflow_adapters.ledger_anchor import stored_anchor

    return airflow_deployment(stored_anchor, lambda identity, _: str(identity), migrations)


def this_airflow() -> CheckedAirflow:
    """Return what the checks of a run ask of this Airflow."""
    from kafka_migration.airflow_adapters.checked_airflow import ThisAirflow

    return ThisAirflow()
