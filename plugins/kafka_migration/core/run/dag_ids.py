"""The DAG that people trigger."""

from __future__ import annotations

from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.run.run_identity import MANUAL_DAG_PREFIX, ROLLBACK_DAG_PREFIX


def triggered_dag_id(name: str, mode: Mode) -> str:
    """Return the id of the DAG that has this mode in its form: the rollback DAG, or else the manual DAG."""
    return f"{ROLLBACK_DAG_PREFIX if mode.rolls_back else MANUAL_DAG_PREFIX}{name}"
