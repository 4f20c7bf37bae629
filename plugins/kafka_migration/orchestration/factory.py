"""What a DAG file imports: the DAGs of all migration files, or one DAG that says why there are none.

It must be importable with an Airflow that is too old for the other modules.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from airflow.sdk import DAG, BaseOperator, Context

from kafka_migration.airflow_adapters.deployed_airflow import AIRFLOW_VERSION
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.run.airflow_version import airflow_findings
from kafka_migration.core.run.task_steps import TaskId

log = logging.getLogger(__name__)

DAG_ID = "kafka_migration"


def migration_dags(folder: Path | None = None) -> dict[str, DAG]:
    """Return the DAGs of every `*.yaml` file in the folder, by DAG id."""
    if findings := airflow_findings(AIRFLOW_VERSION):
        return refusing_dags(findings)
    from kafka_migration.orchestration.dag.building import built_dags

    return built_dags(folder)


def refusing_dags(findings: Sequence[Finding]) -> dict[str, DAG]:
    """Return one DAG in place of those of all migration files."""
    text = "\n\n".join(map(str, findings))
    with DAG(
        DAG_ID,
        dag_display_name="Kafka migrations",
        description="Kafka migrations do not work with this Airflow.",
        schedule=None,
        catchup=False,
        tags=["kafka-migration", "invalid"],
        doc_md=f"### Kafka migrations do not work with this Airflow\n\n{text}",
    ) as dag:
        RefusingOperator(task_id=TaskId.PREFLIGHT.value, reason=text, retries=0)
    return {DAG_ID: dag}


class RefusingOperator(BaseOperator):
    """Fail with a reason.

    :param reason: the text for the task's log.
    """

    def __init__(self, *, reason: str, **kwargs: object) -> None:
        super().__init__(**kwargs)
        self.reason = reason

    def execute(self, context: Context) -> None:
        """Log the reason and fail, without a traceback."""
        log.error("%s", self.reason)
        raise SystemExit(1)
