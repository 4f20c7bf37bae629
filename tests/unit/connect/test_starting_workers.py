"""A worker that starts answers 404 to everything; that proves nothing about a connector."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import pytest

from kafka_migration.adapters.connect import connect_rest
from kafka_migration.adapters.connect.connect_rest import ConnectRest
from kafka_migration.adapters.connect.worker_address import WorkerAnswer, ask_worker
from kafka_migration.adapters.http.http_service import HttpAnswer, HttpService
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.errors import TransientError

pytestmark = pytest.mark.unit

SETTINGS = HttpSettings("connect", "http://localhost:8083")
STARTING = HttpAnswer(404, b"<html><h2>HTTP ERROR 404 Not Found</h2></html>")
ABSENT = HttpAnswer(404, b'{"error_code": 404, "message": "Connector name not found"}')
CREATED = HttpAnswer(201, b"{}")


def rest_of(monkeypatch: pytest.MonkeyPatch, answers: Iterable[HttpAnswer], patience_s: float = 60) -> ConnectRest:
    """Return the connectors of a worker that gives these answers."""
    left = iter(answers)

    class Service:
        def request(self, *_: Any) -> HttpAnswer:
            return next(left)

    rest = ConnectRest(SETTINGS)
    monkeypatch.setattr(rest, "_service", cast("HttpService", Service()))
    monkeypatch.setattr(connect_rest, "PAUSE_S", 0)
    monkeypatch.setattr(connect_rest, "PATIENCE_S", patience_s)
    return rest


def test_only_kafka_connect_says_that_a_connector_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer of a worker that starts is waited over; else the connector would count as deleted by somebody."""
    assert rest_of(monkeypatch, [STARTING, ABSENT]).config("name") is None
    with pytest.raises(TransientError, match="cannot answer now: status 404"):
        rest_of(monkeypatch, [STARTING], patience_s=0).config("name")


def test_change_is_asked_again_of_a_worker_that_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A creation and a stop reach the worker once it is ready."""
    rest_of(monkeypatch, [STARTING, ABSENT, CREATED]).create("name", {}, is_running=True)
    assert rest_of(monkeypatch, [STARTING, HttpAnswer(204, b"")]).stop("name")
    assert not rest_of(monkeypatch, [STARTING, ABSENT]).stop("name")


@pytest.mark.parametrize(("answer", "meaning"), [(STARTING, WorkerAnswer.UNCLEAR), (ABSENT, WorkerAnswer.FREE)])
def test_worker_that_starts_is_not_free_yet(
    monkeypatch: pytest.MonkeyPatch, answer: HttpAnswer, meaning: WorkerAnswer
) -> None:
    """Until it says so in Connect's words, it does not tell whether it has tasks."""
    monkeypatch.setattr(HttpService, "get", lambda _, __: answer)

    assert meaning is ask_worker(SETTINGS, "http://localhost:8083", "name")
