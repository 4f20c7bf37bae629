"""Airflow's configuration and connections, for verbs that show what a run would do."""

from __future__ import annotations

import os
from pathlib import Path

from kafka_migration.steps.before.preflight_checks import Checkers
from kafka_migration.steps.run.alert_sending import alert_settings
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


def airflow_checkers() -> Checkers:
    """Return what the checks of a run ask of this Airflow."""
    from kafka_migration.airflow_adapters import airflow_settings as settings
    from kafka_migration.airflow_adapters.checked_connections import AirflowConnections
    from kafka_migration.airflow_adapters.notifiers import notifier_problem

    return Checkers(
        connections=AirflowConnections(),
        evidence_place=settings.evidence_place(),
        alerts_of=lambda migration: alert_settings(migration, settings.alerts_file()),
        notifier_problem=notifier_problem,
        asks_tools=settings.host_tools(),
    )
