"""The DAG that an Airflow shows which is too old for the package: its page and its only task name the reason."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from airflow.sdk import DAG, BaseOperator, Context

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.run.task_steps import TaskId

log = logging.getLogger(__name__)

DAG_ID = "kafka_migration"


def refusing_dags(findings: Sequence[Finding]) -> dict[str, DAG]:
    """Return one DAG in place of those of all migration files."""
    text = "\n\n".join(map(str, findings))
    with DAG(
        DAG_ID,
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
