"""Registers the package with Airflow."""

from __future__ import annotations

from airflow.plugins_manager import AirflowPlugin


class KafkaMigrationPlugin(AirflowPlugin):
    """The plugin's name in Airflow; operators are imported from `kafka_migration.orchestration`."""

    name = "kafka_migration"
