"""The *Report* link of a run and its page: the run's `report.md` as plain text.

Airflow's API server serves it to all users who may see the DAG's runs. It is plain text, so topic and group names are
never interpreted as markup or script. Airflow's web modules are imported on the first request, because every Airflow
component loads the plugin.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import quote

from airflow.sdk import BaseOperatorLink, conf

from kafka_migration.adapters.documents import is_there, listed
from kafka_migration.adapters.evidence import RunEvidence
from kafka_migration.airflow_adapters import settings
from kafka_migration.core.migration.run_identity import RunIdentity, migration_of

URL_PREFIX = "/kafka-migration"
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "no-store",
}
NOT_YET = "This run has no report yet. `finish` writes it when the run ends; its log names the path.\n"


class ReportLink(BaseOperatorLink):
    """The link from `finish` to the report of its run."""

    name = "Report"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """Return the URL; without `[api] base_url` it is relative to the server that shows the link."""
        base_url = (conf.get("api", "base_url", fallback="") or "").rstrip("/")
        return f"{base_url}{URL_PREFIX}/report/{quote(ti_key.dag_id, safe='')}/{quote(ti_key.run_id, safe='')}"


def newest_report(dag_id: str, run_id: str) -> str | None:
    """Return the newest report of a run; `None` if there is no report or the DAG is not a migration's DAG."""
    name = migration_of(dag_id)
    if name is None or not run_id.strip("./"):
        return None
    attempts = RunEvidence(settings.evidence_root(), name, RunIdentity(dag_id, run_id, 1)).folder.parent
    numbers = [_number(folder) for folder in listed(attempts)]
    for number in sorted(filter(None, numbers), reverse=True):
        report = attempts / f"attempt-{number}" / "report.md"
        if is_there(report):
            return str(report.read_text(encoding="utf-8"))
    return None


def _number(name: str) -> int:
    digits = name.removeprefix("attempt-")
    return int(digits) if digits.isdecimal() else 0


async def report_app(scope: Mapping[str, Any], receive: Any, send: Any) -> None:
    """Serve reports (ASGI)."""
    await _application()(scope, receive, send)


@cache
def _application() -> Any:
    from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
    from airflow.api_fastapi.core_api.security import requires_access_dag
    from fastapi import Depends, FastAPI
    from starlette.responses import PlainTextResponse

    may_see_run = Depends(requires_access_dag(method="GET", access_entity=DagAccessEntity.RUN))
    application = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, dependencies=[may_see_run])

    @application.get("/report/{dag_id}/{run_id:path}")
    def report(dag_id: str, run_id: str) -> PlainTextResponse:
        text = newest_report(dag_id, run_id)
        return PlainTextResponse(text or NOT_YET, 200 if text else 404, HEADERS)

    return application
