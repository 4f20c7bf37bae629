"""What Airflow's own REST API shows of the digests is what `report --verify` reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from airflow.api_fastapi.core_api.routes.public.xcom import xcom_router
from airflow.models import import_all_models
from airflow.models.base import Base
from airflow.models.dag import DagModel
from airflow.models.dagbundle import DagBundleModel
from airflow.models.dagrun import DagRun
from airflow.models.taskinstance import TaskInstance
from airflow.models.xcom import XComModel
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import create_engine, insert
from sqlalchemy.orm import Session
from sqlalchemy.pool import StaticPool

from kafka_migration.adapters.http.airflow_api import HttpAirflow
from kafka_migration.adapters.http.http_service import HttpAnswer, HttpService
from kafka_migration.adapters.store.digest_keeper import KEY, digests_in
from kafka_migration.core.connections.http import HttpSettings

DAG_ID, RUN_ID = "kafka_migration__shop", "manual__2030-01-01T00:00:00+00:00"
FIRST, SECOND = ({"migration": "shop", "digests": {f"attempt-1/{name}": "ab"}} for name in ("run.json", "x.json"))
# More entries of other tasks than a page of the API has.
VALUES = {
    **{("other", "return_value", number): number for number in range(130)},
    ("finish", KEY, -1): FIRST,
    ("judge", f"{KEY}_of_trigger_shop", 3): json.dumps(SECOND),
}


@pytest.fixture
def tables() -> Iterator[Session]:
    """Airflow's tables, with one run and what its tasks stored: as an object, and as text as earlier versions do."""
    import_all_models()
    engine = create_engine("sqlite://", connect_args={"check_same_thread": False}, poolclass=StaticPool)
    Base.metadata.create_all(engine)
    now = datetime(2030, 1, 1, tzinfo=UTC)
    with Session(engine) as session:
        run = DagRun(dag_id=DAG_ID, run_id=RUN_ID, run_type="manual", state="success", run_after=now)
        session.add_all([DagBundleModel(name="b"), DagModel(dag_id=DAG_ID, bundle_name="b"), run])
        session.flush()
        for (task, key, number), value in VALUES.items():
            place = {"dag_id": DAG_ID, "run_id": RUN_ID, "task_id": task, "map_index": number}
            session.execute(
                insert(TaskInstance.__table__).values(**place, id=uuid4(), pool="p", task_display_name=task)
            )
            session.add(XComModel(**place, dag_run_id=run.id, key=key, value=value, timestamp=now))
        session.commit()
        yield session


@pytest.fixture
def airflow(tables: Session, monkeypatch: pytest.MonkeyPatch) -> HttpAirflow:
    """The client of the command line before Airflow's own routes, with a user who may read everything."""
    app = FastAPI()
    app.include_router(xcom_router, prefix="/api/v2")
    for route in app.routes:
        if dependant := getattr(route, "dependant", None):
            _replace(dependant, app, tables)
    client = TestClient(app)

    def requested(_: object, method: str, path: str, body: object, headers: Mapping[str, str]) -> HttpAnswer:
        answer = client.request(method, path, headers=dict(headers))
        return HttpAnswer(answer.status_code, answer.content)

    monkeypatch.setattr(HttpService, "request", requested)
    return HttpAirflow("server", HttpSettings("server", "http://localhost:1"), "token")


def _replace(dependant: Any, app: FastAPI, tables: Session) -> None:
    """Replace what the routes ask of a deployed Airflow: its database, the user, and the user's rights."""
    replaced = {
        "get_session": tables,
        "get_user": None,
        "requires_access_dag": None,
        "permitted": SimpleNamespace(to_orm=lambda select: select),
    }
    for each in dependant.dependencies:
        name = getattr(each.call, "__qualname__", "")
        for part, value in replaced.items():
            if part in name:
                app.dependency_overrides[each.call] = _always(value)
        _replace(each, app, tables)


def _always(value: object) -> Callable[[], object]:
    # An argument would be a parameter of the request.
    return lambda: value


def test_digests_are_read_over_airflows_own_routes(airflow: HttpAirflow) -> None:
    """The values of all tasks under the key of evidence are read, whatever else the run has stored."""
    values = airflow.values(DAG_ID, RUN_ID, KEY)

    assert {"attempt-1/run.json": "ab", "attempt-1/x.json": "ab"} == digests_in(values, "shop")
    assert [] == airflow.values(DAG_ID, "another", KEY)
