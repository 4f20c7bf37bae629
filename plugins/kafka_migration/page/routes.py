"""The addresses of the pages. Every one of them, assets included, needs a login.

No route is a coroutine, so each runs in a thread and holds up no other request.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any

from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from airflow.api_fastapi.core_api import security
from fastapi import Depends, FastAPI, HTTPException, Query, Request
from starlette.exceptions import HTTPException as NoPage
from starlette.responses import Response

from kafka_migration.orchestration.report_link import URL_PREFIX
from kafka_migration.page import pages, report_page
from kafka_migration.page.pages import Visit, WebAnswer
from kafka_migration.page.rendering import ASSETS, HEADERS, asset


def visit_of(request: Request, user: security.GetUserDep) -> Visit:
    """Return the request as the pages see it."""
    return Visit(_may_see(request, user), _root(request), request.headers.get("if-none-match", ""), datetime.now(UTC))


Visited = Annotated[Visit, Depends(visit_of)]
Wanted = Annotated[str, Query(alias="format")]


def application() -> FastAPI:
    """Return the application."""
    made = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, dependencies=[Depends(security.get_user)])
    made.exception_handler(NoPage)(_refused)
    made.get("/")(fleet)
    made.get("/dag/{dag_id}")(migration)
    made.get("/run/{dag_id}/{run_id:path}")(run)
    made.get("/series/{dag_id}")(series)
    made.get("/topic/{dag_id}/{topic}")(topic)
    made.get("/report/{dag_id}/{run_id:path}")(report)
    made.get("/asset/{name}")(file)
    return made


def fleet(visit: Visited) -> Response:
    """Serve the list of all migrations."""
    return _response(pages.fleet(visit))


def migration(dag_id: str, visit: Visited) -> Response:
    """Serve a migration, with its active or last run."""
    return _response(pages.migration(visit, dag_id))


def run(dag_id: str, run_id: str, visit: Visited) -> Response:
    """Serve a migration, with a run."""
    return _response(pages.migration(visit, dag_id, run_id))


def series(dag_id: str, visit: Visited) -> Response:
    """Serve the progress over time, as JSON."""
    return _response(pages.series(visit, dag_id))


def topic(dag_id: str, topic: str, visit: Visited) -> Response:
    """Serve the partitions of a topic."""
    return _response(pages.topic(visit, dag_id, topic))


def report(dag_id: str, run_id: str, visit: Visited, wanted: Wanted = "") -> Response:
    """Serve the report of a run, or save it in a format."""
    if not visit.may_see(dag_id):
        raise HTTPException(403)
    page = report_page.page_of(dag_id, run_id, wanted)
    policy = {"Content-Security-Policy": f"{page.policy}; frame-ancestors 'self'; sandbox", "Cache-Control": "no-store"}
    saved = {"Content-Disposition": f'attachment; filename="{page.download}"'} if page.download else {}
    return Response(page.text, page.status, {**HEADERS, **policy, **saved}, page.media)


def file(name: str) -> Response:
    """Serve an asset."""
    content = asset(name)
    if content is None:
        raise HTTPException(404)
    return Response(content, 200, HEADERS, ASSETS[name])


def _may_see(request: Request, user: Any) -> Callable[[str], bool]:
    """Return what asks Airflow whether the user may read the runs of a DAG.

    The id is handed over, so no other id in the address can be the one that is checked.
    """

    def may(dag_id: str) -> bool:
        # PostgreSQL takes no text with a zero byte.
        if "\0" in dag_id:
            return False
        check = security.requires_access_dag("GET", DagAccessEntity.RUN, dag_id)
        try:
            check(request, user)
        except HTTPException:
            return False
        return True

    return may


def _root(request: Request) -> str:
    """Return the relative address of the list; addresses stay relative, so that they work below any path prefix."""
    path = request.scope.get("raw_path", b"/").decode("ascii", "replace")
    return "../" * path.rpartition(f"{URL_PREFIX}/")[2].count("/") or "./"


async def _refused(request: Request, error: Any) -> Response:
    return _response(pages.refusal(_root(request), error.status_code))


def _response(answer: WebAnswer) -> Response:
    tag = {"ETag": answer.tag} if answer.tag else {}
    return Response(answer.body, answer.status, {**HEADERS, **tag}, answer.media)
