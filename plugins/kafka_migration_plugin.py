"""Registers the package with Airflow."""

from __future__ import annotations

from typing import Any, ClassVar

from airflow.plugins_manager import AirflowPlugin

from kafka_migration.airflow_adapters.deployed_airflow import AIRFLOW_VERSION
from kafka_migration.core.run.airflow_version import airflow_findings

_FINDINGS = airflow_findings(AIRFLOW_VERSION)
if not _FINDINGS:
    from kafka_migration.orchestration.report_link import URL_PREFIX, ReportLink
    from kafka_migration.orchestration.report_page import report_app
    from kafka_migration.orchestration.task.note_writer import RunNoteListener


class KafkaMigrationPlugin(AirflowPlugin):
    """Adds the *Report* link, the report page and the run's note. Operators are imported from the package.

    With an Airflow that is too old it adds nothing; the DAG file says why.
    """

    name = "kafka_migration"
    operator_extra_links: ClassVar[list[Any]] = [] if _FINDINGS else [ReportLink()]
    fastapi_apps: ClassVar[list[Any]] = (
        [] if _FINDINGS else [{"app": report_app, "url_prefix": URL_PREFIX, "name": "Migration reports"}]
    )
    listeners: ClassVar[list[Any]] = [] if _FINDINGS else [RunNoteListener()]
