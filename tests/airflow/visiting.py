"""A user who visits the pages of the plugin, with rights on some DAGs."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from airflow.api_fastapi.auth.managers.simple.simple_auth_manager import SimpleAuthManager
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
from airflow.api_fastapi.core_api import security
from airflow.models.dag import DagModel
from fastapi.testclient import TestClient

from kafka_migration.page.routes import application

ADA = SimpleAuthManagerUser(username="ada", role="viewer")


class RightsPerDag(SimpleAuthManager):  # type: ignore[misc] # Airflow's class has no types
    """Airflow's own auth manager, with rights to read the runs of some DAGs only: the own one knows only roles."""

    def __init__(self, dag_ids: Collection[str]) -> None:
        super().__init__()
        self._dag_ids = dag_ids

    def is_authorized_dag(self, *, method: Any, user: Any, access_entity: Any = None, details: Any = None) -> bool:
        """Return whether the user may read the runs of this DAG."""
        is_reading = (method, access_entity) == ("GET", DagAccessEntity.RUN)
        return is_reading and details is not None and details.id in self._dag_ids


@contextmanager
def visitor(monkeypatch: pytest.MonkeyPatch, *dag_ids: str) -> Iterator[TestClient]:
    """Return a client of the pages for a user who may read only the runs of these DAGs."""
    manager = RightsPerDag(dag_ids)
    monkeypatch.setattr(security, "get_auth_manager", lambda: manager)
    monkeypatch.setattr(DagModel, "get_team_name", lambda *_: None)
    pages = application()
    pages.dependency_overrides[security.get_user] = lambda: ADA
    with TestClient(pages) as client:
        yield client
