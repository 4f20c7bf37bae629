"""Registers the package with Airflow."""

from __future__ import annotations

from typing import Any, ClassVar

from airflow.plugins_manager import AirflowPlugin

from kafka_migration.airflow_adapters.deployed_airflow import AIRFLOW_VERSION
from kafka_migration.core.run.airflow_version import airflow_findings

_FINDINGS = airflow_findings(AIRFLOW_VERSION)
if not _FINDINGS:
    from kafka_migration.orchestration.report_link import URL_PREFIX, ReportLink
    from kafka_migration.orchestration.task.note_writer import RunNoteListener
    from kafka_migration.page.application import page_app


def _views(prefix: str) -> list[dict[str, str]]:
    """Return the entries in Airflow's UI; their addresses are relative, so that they work below a path prefix."""
    return [
        {"name": "Migrations", "href": f"{prefix}/", "destination": "nav", "url_route": "kafka-migrations"},
        {
            "name": "Migration",
            "href": f"{prefix}/dag/{{DAG_ID}}",
            "destination": "dag",
            "url_route": "kafka-migration",
        },
        {
            "name": "Migration",
            "href": f"{prefix}/run/{{DAG_ID}}/{{RUN_ID}}",
            "destination": "dag_run",
            "url_route": "kafka-migration-run",
        },
    ]


class KafkaMigrationPlugin(AirflowPlugin):
    """Adds the pages, the *Report* link and the run's note. Operators are imported from the package.

    With an Airflow that is too old it adds nothing; the DAG file says why.
    """

    name = "kafka_migration"
    operator_extra_links: ClassVar[list[Any]] = [] if _FINDINGS else [ReportLink()]
    fastapi_apps: ClassVar[list[Any]] = (
        [] if _FINDINGS else [{"app": page_app, "url_prefix": URL_PREFIX, "name": "Kafka migrations"}]
    )
    external_views: ClassVar[list[Any]] = [] if _FINDINGS else _views(URL_PREFIX.lstrip("/"))
    listeners: ClassVar[list[Any]] = [] if _FINDINGS else [RunNoteListener()]
