"""What a DAG file imports: the DAGs of all migration files, or one DAG that says why there are none.

This module and `too_old_dag.py` must be importable with an Airflow that is too old for the others.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kafka_migration.airflow_adapters.deployed_airflow import AIRFLOW_VERSION
from kafka_migration.core.run.airflow_version import airflow_findings

if TYPE_CHECKING:
    from airflow.sdk import DAG


def migration_dags(folder: Path | None = None) -> dict[str, DAG]:
    """Return the DAGs of every `*.yaml` file in the folder, by DAG id."""
    if findings := airflow_findings(AIRFLOW_VERSION):
        from kafka_migration.orchestration.dag.too_old_dag import refusing_dags

        return refusing_dags(findings)
    from kafka_migration.orchestration.dag.building import built_dags

    return built_dags(folder)
