"""The workers of a Kafka Connect cluster over their REST interface (`core.connect.connect_tools.ConnectTools`)."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from kafka_migration.adapters.http.http_service import HttpAnswer, HttpService
from kafka_migration.core.connect.connect_tools import (
    ALL_KEYS,
    SOURCE_CONNECTOR,
    ConnectRoot,
    worker_settings,
)
from kafka_migration.core.connect.connect_words import no_worker
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.text.shortened import brief

_NO_RIGHT = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
# A worker that starts answers 404 or 503 to everything, and 409 while the workers rebalance.
_NOT_READY = frozenset(
    {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}
)
# What Connect answers if it cannot validate at all, for example if a config provider finds no file.
_UNTESTED = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.INTERNAL_SERVER_ERROR})
# A configuration must have a name to be valid.
_ANY_NAME = {"name": "kafka-migration"}
_VALIDATE = f"/connector-plugins/{SOURCE_CONNECTOR}/config/validate"


class RestConnectTools:
    """The workers at the address of an HTTP connection. Not thread-safe."""

    def __init__(self, settings: HttpSettings) -> None:
        self._settings = settings
        self._name = f"Kafka Connect ({settings.connection}, {settings.url})"
        self._service = HttpService(self._name, settings, self._refused)
        self._workers: dict[str, RestConnectTools] = {}

    @property
    def address(self) -> str:
        """The address, as a URL."""
        return self._settings.url

    def root(self) -> ConnectRoot:
        """Return what the worker says of itself."""
        found = self._understood(self._service.get("/"))
        if not isinstance(found, dict) or not isinstance(found.get("version"), str):
            raise self._odd("without a version")
        return ConnectRoot(found["version"], _text(found, "commit"), _text(found, "kafka_cluster_id"))

    def plugins(self) -> Mapping[str, str]:
        """Return the version of each connector class that the worker has."""
        found = self._understood(self._service.get("/connector-plugins"))
        if not isinstance(found, list):
            raise self._odd("without a list of plugins")
        return {_text(each, "class"): _text(each, "version") for each in found if isinstance(each, dict)}

    def problems(self, config: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
        """Return what the worker finds wrong in a configuration of `SOURCE_CONNECTOR`, by key, in Connect's words."""
        answer = self._service.request("PUT", _VALIDATE, {**_ANY_NAME, **config, "connector.class": SOURCE_CONNECTOR})
        said = answer.json_object().get("message")
        if answer.status in _UNTESTED and isinstance(said, str):
            return {ALL_KEYS: (brief(said),)}
        return self._problems(self._understood(answer))

    def at(self, address: str) -> RestConnectTools:
        """Return the tools of the worker with this address of its own; closed with these."""
        if address not in self._workers:
            self._workers[address] = RestConnectTools(worker_settings(self._settings, address))
        return self._workers[address]

    def close(self) -> None:
        """Close the connection and those of single workers; a later call opens it again."""
        self._service.close()
        for worker in self._workers.values():
            worker.close()

    def _problems(self, found: object) -> Mapping[str, tuple[str, ...]]:
        match found:
            case {"error_count": int(count), "configs": list(configs)}:
                problems = dict(self._problem(each) for each in configs)
            case _:
                raise self._odd("without a validation")
        named = {key: said for key, said in problems.items() if said}
        return named or ({ALL_KEYS: (f"{count} error(s) without a reason",)} if count else {})

    def _problem(self, found: object) -> tuple[str, tuple[str, ...]]:
        match found:
            case {"value": {"name": str(key), "errors": list(errors)}}:
                return key, tuple(brief(str(error)) for error in errors)
        raise self._odd("without the errors of a key")

    def _understood(self, answer: HttpAnswer) -> Any:
        """Return the document of a successful answer."""
        if answer.status in _NO_RIGHT:
            raise self._refused(f"a refused login or right (status {int(answer.status)})")
        if answer.status in _NOT_READY or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise TransientError(
                f"{self._name} answered with status {answer.status}: the worker is not ready, or this is not the "
                "address of its REST interface"
            )
        if answer.status != HTTPStatus.OK:
            raise self._odd(f"with status {answer.status}")
        return answer.document()

    def _odd(self, how: str) -> Refused:
        return self._refused(f"an answer {how}, which no worker of Kafka Connect gives")

    def _refused(self, found: str) -> Refused:
        return no_worker(self._settings, found)


def _text(found: Mapping[str, Any], name: str) -> str:
    """Return a text of an answer, empty if it has none."""
    value = found.get(name)
    return brief(value) if isinstance(value, str) else ""
