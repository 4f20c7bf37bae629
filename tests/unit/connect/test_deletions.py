"""A connector is deleted only as the one that was read: another run may put its own in its place at any moment."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from kafka_migration.adapters.connect import connect_rest
from kafka_migration.adapters.connect.connect_rest import ConnectRest
from kafka_migration.adapters.http.http_service import HttpAnswer, HttpService
from kafka_migration.core.connections.http import HttpSettings

pytestmark = pytest.mark.unit

ABSENT = HttpAnswer(404, b'{"error_code": 404, "message": "Connector name not found"}')
MINE, OTHERS = {"kafka.migration.creation": "mine"}, {"kafka.migration.creation": "others"}


class Answering:
    """A service whose connector has these configurations, one after the other, and these answers to deletions.

    Each deletion lets the next configuration be there.
    """

    def __init__(self, configs: Sequence[Mapping[str, str] | None], deletions: Sequence[int]) -> None:
        self.configs, self.deletions = list(configs), list(deletions)

    def request(self, method: str, _: str, __: Any = None) -> HttpAnswer:
        if method == "DELETE":
            self.configs.pop(0)
            return HttpAnswer(self.deletions.pop(0), b"")
        config = self.configs[0]
        return ABSENT if config is None else HttpAnswer(200, json.dumps(config).encode())


def left_after(monkeypatch: pytest.MonkeyPatch, present: Mapping[str, str] | None, service: Answering) -> list[int]:
    """Delete a connector; return the answers that no request asked for."""
    monkeypatch.setattr(connect_rest, "PAUSE_S", 0)
    rest = ConnectRest(HttpSettings("connect", "http://localhost:8083"))
    monkeypatch.setattr(rest, "_service", cast("HttpService", service))
    rest.delete("name", present)
    return service.deletions


def test_deletion_ends_when_another_run_has_created_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands there after the deletion is not waited for."""
    assert [] == left_after(monkeypatch, MINE, Answering([MINE, OTHERS], [204]))
    assert [] == left_after(monkeypatch, None, Answering([MINE, OTHERS], [204]))


def test_connector_of_another_run_is_not_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    """No request is sent if the connector is another one by now."""
    assert [204] == left_after(monkeypatch, MINE, Answering([OTHERS], [204]))
    assert [204] == left_after(monkeypatch, None, Answering([None], [204]))


def test_deletion_is_not_asked_again_for_another_connector(monkeypatch: pytest.MonkeyPatch) -> None:
    """After an answer that asks for patience, only the same connector is deleted."""

    assert [204] == left_after(monkeypatch, MINE, Answering([MINE, OTHERS], [409, 204]))
