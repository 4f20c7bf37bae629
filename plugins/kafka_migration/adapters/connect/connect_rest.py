"""Requests to Kafka Connect's REST interface about single connectors, and the meaning of its answers.

A connector is always asked for by its name, so those of others are never listed. An answer of 409 may mean that the
workers are rebalancing: it is asked again for a while. So is one of 404 that does not name the connector: a worker that
starts answers so to everything. Facts from Kafka 3.9.1 (`ConnectorsResource`, `DistributedHerder`, `RestClient`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, NoReturn
from urllib.parse import quote

import httpcore

from kafka_migration.adapters.http.http_service import HttpAnswer, HttpService
from kafka_migration.adapters.system.deadlines import time_left
from kafka_migration.core.connect.connect_config import hidden
from kafka_migration.core.connect.connect_words import no_worker
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, OutcomeUnknown, Refused, TransientError
from kafka_migration.core.text.shortened import brief
from kafka_migration.core.text.terminal_text import shown, storable

SERVICE = "the Connect cluster"
# Workers that rebalance answer again within this time, as long as none of them is lost.
PATIENCE_S = 60.0
PAUSE_S = 0.5
LONGEST_QUOTE = 300
_BUSY = frozenset(
    {
        HTTPStatus.CONFLICT,
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)
# The errors of a connection that was never made.
_NOT_SENT = (httpcore.ConnectError, httpcore.ConnectTimeout)
_PARTS = {"POST": "", "PUT": "/stop", "DELETE": ""}
# What Connect answers, besides that there is no such connector.
_ANSWERS = {
    "POST": (HTTPStatus.CREATED, HTTPStatus.BAD_REQUEST),
    "PUT": (HTTPStatus.ACCEPTED, HTTPStatus.NO_CONTENT),
    "DELETE": (HTTPStatus.NO_CONTENT,),
}
Body = Mapping[str, Any]


class ConnectRest:
    """The connectors of one Connect cluster, by an Airflow connection of type `http`. Not thread-safe.

    Every method raises `TransientError` while the cluster does not answer or is rebalancing, and `Refused` if it
    refuses the login or answers with something that is not Kafka Connect's. `create`, `stop` and `delete` raise
    `OutcomeUnknown` if the request may have been carried out and the connector cannot be read.
    """

    def __init__(self, settings: HttpSettings) -> None:
        self._settings = settings
        self._service = HttpService(SERVICE, settings, self._refusal)

    def config(self, name: str) -> dict[str, str] | None:
        """Return a connector's configuration, `None` if it does not exist."""
        found = self._read(name, "/config", dict)
        texts = {key: value for key, value in (found or {}).items() if isinstance(value, str)}
        return None if found is None else {storable(key): storable(value) for key, value in texts.items()}

    def status(self, name: str) -> Body | None:
        """Return the states of a connector and its tasks, `None` if there are none (yet)."""
        found: Body | None = self._read(name, "/status", dict)
        return found

    def tasks(self, name: str) -> list[Body] | None:
        """Return the configurations of a connector's tasks, `None` if it does not exist."""
        found = self._read(name, "/tasks", list)
        return None if found is None else [each for each in found if isinstance(each, dict)]

    def create(self, name: str, config: Mapping[str, str], *, is_running: bool) -> None:
        """Create a connector, unless one of this name exists.

        No answer proves whose it is: of two creations at the same moment both may be accepted, and the second one's
        configuration counts. Read it afterwards.
        """
        state = "RUNNING" if is_running else "STOPPED"
        body = {"name": name, "config": dict(config), "initial_state": state}
        answer = self._act("POST", name, body, lambda: self.config(name) is not None)
        if answer is not None and answer.status == HTTPStatus.BAD_REQUEST:
            raise Refused([self._config_refused(name, hidden(_message(answer), config))])

    def stop(self, name: str) -> bool:
        """Ask that a connector and its tasks end; false if it does not exist. The answer proves no end."""
        answer = self._act("PUT", name)
        return answer is None or answer.status != HTTPStatus.NOT_FOUND

    def delete(self, name: str, present: Mapping[str, str] | None = None) -> bool:
        """Delete a connector that has the configuration `present`, or else the one that is there.

        It is no error if it does not exist. Returns once it cannot be read any more: false if there is another one.
        """
        meant = self.config(name) if present is None else present

        def is_gone() -> bool:
            return self.config(name) != meant

        if meant is not None and not is_gone():
            # Connect deletes whatever has the name, so it is read before each further request.
            self._act("DELETE", name, is_done=is_gone)
            self.wait(is_gone, f"the deletion of {name}")
        return self.config(name) is None

    def wait(self, condition: Callable[[], bool], what: str, limit_s: float = PATIENCE_S) -> None:
        """Return when a condition holds. Raises `TransientError` after the limit."""
        end = time.monotonic() + time_left(limit_s)
        while not condition():
            if time.monotonic() >= end:
                raise TransientError(f"{SERVICE} did not finish {what} within {limit_s:.0f} s")
            time.sleep(PAUSE_S)

    def close(self) -> None:
        """Close the connection; a later call opens it again."""
        self._service.close()

    def _read(self, name: str, part: str, kind: type) -> Any:
        """Return the JSON of an answer about a connector, `None` if Connect says that there is none."""
        answer = self._answered("GET", name, part)
        if answer is None or is_absence(answer, name):
            return None
        if answer.status != HTTPStatus.OK:
            self._raise_for(answer)
        document = answer.document()
        if not isinstance(document, kind):
            raise self._refusal("an answer that is not of the form of Kafka Connect's")
        return document

    def _act(
        self, method: str, name: str, body: Body | None = None, is_done: Callable[[], bool] | None = None
    ) -> HttpAnswer | None:
        """Return the answer to a request that changes something; `None` if it took effect without its answer.

        `is_done` reads whether it took effect. Without it the request is idempotent, and is sent again.
        """
        part = _PARTS[method]
        try:
            answer = self._answered(method, name, part, body, is_done)
        except TransientError as lost:
            try:
                if is_done is not None and is_done():
                    return None
                answer = self._answered(method, name, part, body, is_done)
            except TransientError as error:
                raise _unknown(method, lost, error) from error
        if answer is not None and answer.status not in _ANSWERS[method] and not is_absence(answer, name):
            self._raise_for(answer)
        return answer

    def _answered(
        self,
        method: str,
        name: str,
        part: str,
        body: Body | None = None,
        is_done: Callable[[], bool] | None = None,
    ) -> HttpAnswer | None:
        """Return the first answer that does not ask for patience, or the last one; `None` if `is_done` before it."""
        end = time.monotonic() + time_left(PATIENCE_S)
        path = "/connectors" if method == "POST" else f"/connectors/{quote(name, safe='')}{part}"
        while True:
            answer = self._service.request(method, path, body)
            if not _is_passing(answer, name):
                return answer
            if is_done is not None and is_done():
                return None
            if time.monotonic() >= end:
                return answer
            time.sleep(PAUSE_S)

    def _raise_for(self, answer: HttpAnswer) -> NoReturn:
        said = f"status {answer.status}: {_message(answer)}"
        if answer.status in _BUSY or answer.status == HTTPStatus.NOT_FOUND:
            raise TransientError(f"{SERVICE} cannot answer now: {said}")
        raise self._refusal(f"an answer with {said},")

    def _refusal(self, found: str) -> Refused:
        return no_worker(self._settings, found)

    def _config_refused(self, name: str, said: str) -> Finding:
        return Finding(
            Code.CONNECT_CONFIG_REFUSED,
            f"connector {name}",
            said,
            "a configuration that Kafka Connect accepts",
            "Remove the cause that Kafka Connect names. Then trigger the run again.",
            happened=f"Kafka Connect refused the configuration of connector {name}: {said}",
            matters="The connector was not created, so no records are copied.",
        )


def is_absence(answer: HttpAnswer, connector: str) -> bool:
    """Whether Kafka Connect says that there is no such connector.

    A worker that starts has no resources yet, and its HTTP server answers 404 to everything, without its name.
    """
    said = answer.json_object().get("message")
    return answer.status == HTTPStatus.NOT_FOUND and isinstance(said, str) and connector in said


def _is_passing(answer: HttpAnswer, name: str) -> bool:
    return answer.status in _BUSY or (answer.status == HTTPStatus.NOT_FOUND and not is_absence(answer, name))


def _unknown(method: str, lost: TransientError, error: TransientError) -> TransientError | OutcomeUnknown:
    """Return the error of a request whose answer was lost; without any connection it was certainly not sent."""
    if all(isinstance(each.__cause__, _NOT_SENT) for each in (lost, error)):
        return lost
    return OutcomeUnknown(
        f"A {method} request was sent to {SERVICE} and its answer was lost ({lost}). A further request did not clarify "
        f"the outcome ({error})."
    )


def _message(answer: HttpAnswer) -> str:
    """Return Connect's words, or the begin of another body."""
    said = answer.json_object().get("message")
    text = said if isinstance(said, str) else answer.body[:LONGEST_QUOTE].decode(errors="replace")
    return brief(shown(" ".join(text.split())), LONGEST_QUOTE)
