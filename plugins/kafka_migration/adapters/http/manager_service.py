"""Requests to a server that manages Kafka clusters. Only GET requests are sent."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from kafka_migration.adapters.http.http_service import DEADLINE_S, HttpAnswer, HttpService
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.discovery.json_answer import Answer
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError

_EXPECTED = "answers of Ambari's API v1 or of Cloudera Manager's API"


class ManagerService:
    """A manager's REST interface: each answer is a JSON document, or the request is refused.

    :param deadline_s: for a whole request
    """

    def __init__(self, settings: HttpSettings, *, deadline_s: float = DEADLINE_S) -> None:
        self._name = f"the manager ({settings.connection}, {settings.url})"
        self._subject = f"connection {settings.connection}"
        self._service = HttpService(self._name, settings, self._refused, deadline_s=deadline_s)

    def text(self, path: str) -> str | None:
        """Return an answer as it is, `None` unless the request succeeds; a refused login is no error here."""
        answer = self._service.get(path)
        return answer.body.decode(errors="replace") if answer.status == HTTPStatus.OK else None

    def get(self, path: str) -> Answer:
        """Return the document of a path.

        Raises `Refused` if the server refuses the request or gives no JSON, `TransientError` if it does not answer.
        """
        found = self.get_if_there(path)
        if found is None:
            raise self._refused(f"no {path} (status 404)")
        return found

    def get_if_there(self, path: str) -> Answer | None:
        """Return the document of a path, `None` if the server has no such thing (404). Raises like `get`."""
        answer = self._service.get(path)
        if answer.status == HTTPStatus.NOT_FOUND:
            return None
        return Answer(self._document(answer, path), path.partition("?")[0])

    def close(self) -> None:
        """Close the connection."""
        self._service.close()

    def _document(self, answer: HttpAnswer, path: str) -> Any:
        if answer.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            raise self._refused(f"a refused login or right for {path} (status {answer.status})")
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise TransientError(f"{self._name} answered {path} with status {answer.status}")
        if answer.status != HTTPStatus.OK:
            raise self._refused(f"status {answer.status} for {path}")
        document = answer.document()
        if document is None:
            raise self._refused(f"an answer for {path} that is no JSON document")
        return document

    def _refused(self, found: str) -> Refused:
        return Refused(
            [
                Finding(
                    Code.MANAGER_REFUSED,
                    self._subject,
                    f"{found} from {self._name}",
                    _EXPECTED,
                    "Correct address, login and ssl.ca.pem of the Airflow connection, or grant its user the right to "
                    "read the cluster.",
                    happened=f"The cluster manager {self._name} did not describe the cluster: {found}.",
                    matters="Without its answer no connection and no migration file can be proposed.",
                )
            ]
        )


def escaped_name(name: str) -> str:
    """Return a name as one part of a path."""
    return quote(name, safe="", errors="replace")
