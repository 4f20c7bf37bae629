"""The page of the *Report* link: the run's `report.md` as plain text.

Airflow's API server serves it to all users who may see the DAG's runs. It is plain text, so topic and group names are
never interpreted as markup or script. Others may write to the evidence root, so only a report with the digest that
`finish` kept in Airflow is served. Airflow's web modules are imported on the first request, because every Airflow
component loads the plugin.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from kafka_migration.adapters.store.digest_keeper import digests_in
from kafka_migration.adapters.store.document_files import read_whole
from kafka_migration.adapters.store.evidence_store import REPORT_FILE, RunEvidence
from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.core.evidence.digests import change_of, written
from kafka_migration.core.findings.errors import EvidenceUnreadable, StoreFailed
from kafka_migration.core.run.run_identity import RunIdentity, migration_of
from kafka_migration.orchestration.task.digest_store import KEY

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "no-store",
}
# A longer report is not shown. One of 10,000 topics has less than 1 MiB.
MAX_BYTES = 8 * 1024 * 1024
_MOST_TASKS = 1000
_REPORT = re.compile(rf"attempt-([1-9][0-9]{{0,8}})/{re.escape(REPORT_FILE)}")


@dataclass(frozen=True, slots=True)
class Page:
    """An answer: the report with status 200, or a text that says why there is none."""

    status: int
    text: str


NOT_KEPT = Page(
    404,
    "There is no report of this run that can be checked. `finish` writes it when the run ends, and keeps its digest in "
    "Airflow; version 0.1.0 kept none. Until then see the log of `finish`, which names the evidence.\n",
)


def page_of(dag_id: str, run_id: str) -> Page:
    """Return the report of the newest attempt with a digest in Airflow, if the file is still what `finish` wrote."""
    # PostgreSQL takes no text with a zero byte.
    name = None if "\0" in run_id else migration_of(dag_id)
    kept = {} if name is None else _digests_by_attempt(digests_in(_stored(dag_id, run_id), name))
    if name is None or not kept:
        return NOT_KEPT
    attempt = max(kept)
    folder = RunEvidence(settings.evidence_root(), name, RunIdentity(dag_id, run_id, attempt)).folder
    try:
        content = read_whole(folder / REPORT_FILE, MAX_BYTES)
    except FileNotFoundError:
        return _not_shown(409, "It was deleted.")
    except EvidenceUnreadable as error:
        return _not_shown(409, f"Found: {error.findings[0].found}.")
    except StoreFailed as error:
        return _not_shown(503, f"The evidence root does not answer: {error.findings[0].found}.")
    if change_of(kept[attempt], content):
        return _not_shown(409, "It was changed after `finish` wrote it.")
    return Page(200, content.decode(errors="replace"))


def _not_shown(status: int, why: str) -> Page:
    return Page(
        status,
        f"The report of this run is not shown. {why} Only the report that `finish` wrote is shown, because others may "
        "write to the evidence root. Find out who changed it; Airflow's log of `finish` has the result of the run.\n",
    )


def _stored(dag_id: str, run_id: str) -> list[Any]:
    """Return what the tasks of a run stored in XCom about their evidence, from the database of the API server."""
    from airflow.models.xcom import XComModel
    from airflow.utils.session import create_session
    from sqlalchemy import select

    wanted = select(XComModel).where(XComModel.dag_id == dag_id, XComModel.run_id == run_id, XComModel.key == KEY)
    with create_session() as session:
        return [XComModel.deserialize_value(row) for row in session.scalars(wanted.limit(_MOST_TASKS))]


def _digests_by_attempt(digests: Mapping[str, str]) -> dict[int, str]:
    """Return the digests of the reports that are known to be written, by attempt."""
    matches = ((_REPORT.fullmatch(document), digest) for document, digest in written(digests).items())
    return {int(match[1]): digest for match, digest in matches if match}


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
        # No coroutine, so it runs in a thread and holds up no other request.
        page = page_of(dag_id, run_id)
        return PlainTextResponse(page.text, page.status, HEADERS)

    return application
