"""Requests to Kafka Connect's REST interface about single connectors, and the meaning of its answers.

A connector is always asked for by its name, so those of others are never listed. An answer of 409 may mean that the
workers are rebalancing: it is asked again for a while. Facts from Kafka 3.9.1 (`ConnectorsResource`, `RestClient`).
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
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, OutcomeUnknown, Refused, TransientError
from kafka_migration.core.text.shortened import brief
from kafka_migration.core.text.terminal_text import shown

SERVICE = "the Connect cluster"
# Workers that rebalance answer again within this time, as long as none of them is lost.
PATIENCE_S = 60.0
PAUSE_S = 0.5
LONGEST_QUOTE = 300
_BUSY = frozenset(
    {
        HTTPStatus.CONFLICT,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)
# The errors of a connection that was never made.
_NOT_SENT = (httpcore.ConnectError, httpcore.ConnectTimeout)
_LOGIN = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
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
        found = self._read(f"{_path(name)}/config")
        return None if found is None else {str(key): str(value) for key, value in _object(found).items()}

    def status(self, name: str) -> Body | None:
        """Return the states of a connector and its tasks, `None` if there are none (yet)."""
        found = self._read(f"{_path(name)}/status")
        return None if found is None else _object(found)

    def tasks(self, name: str) -> list[Body] | None:
        """Return the configurations of a connector's tasks, `None` if it does not exist."""
        found = self._read(f"{_path(name)}/tasks")
        return None if found is None else [each for each in found if isinstance(each, dict)]

    def create(self, name: str, config: Mapping[str, str], *, is_running: bool) -> bool:
        """Create a connector; false if one of this name exists.

        Neither answer proves whose it is: of two creations at the same moment both may be accepted, and the second
        one's configuration counts. Read it afterwards.
        """
        state = "RUNNING" if is_running else "STOPPED"
        body = {"name": name, "config": dict(config), "initial_state": state}

        def is_settled(answer: HttpAnswer) -> bool:
            is_unclear = answer.status == HTTPStatus.CONFLICT or _is_unready(answer)
            return not is_unclear or self.config(name) is not None

        answer = self._act("POST", "/connectors", body, is_settled, lambda: self.config(name) is not None)
        if answer is not None and answer.status == HTTPStatus.BAD_REQUEST:
            raise Refused([self._config_refused(name, _message(answer))])
        return answer is None or answer.status == HTTPStatus.CREATED

    def stop(self, name: str) -> bool:
        """Ask that a connector and its tasks end; false if it does not exist. The answer proves no end."""
        answer = self._act("PUT", f"{_path(name)}/stop")
        return answer is None or answer.status != HTTPStatus.NOT_FOUND

    def delete(self, name: str, present: Mapping[str, str] | None = None) -> None:
        """Delete a connector that has the configuration `present`, or else the one that is there.

        It is no error if it does not exist, or is another one by now. Returns once it cannot be read any more.
        """
        meant = self.config(name) if present is None else present

        def is_gone() -> bool:
            return self.config(name) != meant

        if meant is None or is_gone():
            return
        self._act("DELETE", _path(name), is_settled=lambda _: is_gone(), is_done=is_gone)
        self.wait(is_gone, f"the deletion of {name}")

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

    def _read(self, path: str) -> Any:
        """Return the JSON of an answer, `None` for 404."""
        answer = self._answered("GET", path)
        if is_absence(answer):
            return None
        if answer.status != HTTPStatus.OK:
            self._raise_for(answer)
        document = answer.document()
        if not isinstance(document, (dict, list)):
            raise self._refusal("an answer that is not Kafka Connect's")
        return document

    def _act(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        is_settled: Callable[[HttpAnswer], bool] | None = None,
        is_done: Callable[[], bool] | None = None,
    ) -> HttpAnswer | None:
        """Return the answer to a request that changes something; `None` if its answer was lost, but it took effect.

        `is_settled` says whether an answer that may ask for patience is final. `is_done` reads whether the request took
        effect. Without it the request is idempotent, and is sent again.
        """
        try:
            answer = self._answered(method, path, body, is_settled)
        except TransientError as lost:
            try:
                if is_done is not None and is_done():
                    return None
                answer = self._answered(method, path, body, is_settled)
            except TransientError as error:
                raise _unknown(method, lost, error) from error
        if answer.status in _LOGIN or _is_unready(answer) or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            self._raise_for(answer)
        return answer

    def _answered(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        is_settled: Callable[[HttpAnswer], bool] | None = None,
    ) -> HttpAnswer:
        """Return the first answer that does not ask for patience, or the last one."""
        end = time.monotonic() + time_left(PATIENCE_S)
        while True:
            answer = self._service.request(method, path, body)
            is_final = not _is_busy(answer) or (is_settled is not None and is_settled(answer))
            if is_final or time.monotonic() >= end:
                return answer
            time.sleep(PAUSE_S)

    def _raise_for(self, answer: HttpAnswer) -> NoReturn:
        said = f"HTTP status {answer.status}: {_message(answer)}"
        if _is_busy(answer):
            raise TransientError(f"{SERVICE} cannot answer now: {said}")
        raise self._refusal(said)

    def _refusal(self, found: str) -> Refused:
        connection = self._settings.connection
        return Refused(
            [
                Finding(
                    Code.CONNECTION_INVALID,
                    f"connection {connection}",
                    found,
                    "the REST interface of a Kafka Connect cluster",
                    "Correct the Airflow connection: its host is the REST address of a worker, and its login one that "
                    "may create connectors.",
                    happened=f"The Connect cluster of connection {connection} gave {found}.",
                    matters="Without its answers, MirrorMaker's connector can neither be started nor stopped there.",
                )
            ]
        )

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


def is_absence(answer: HttpAnswer) -> bool:
    """Whether Kafka Connect says that there is no such connector.

    A worker that starts has no resources yet, and its HTTP server answers 404 to everything, in other words.
    """
    said = answer.json_object().get("error_code")
    return answer.status == HTTPStatus.NOT_FOUND and said == HTTPStatus.NOT_FOUND


def _is_busy(answer: HttpAnswer) -> bool:
    return answer.status in _BUSY or _is_unready(answer)


def _is_unready(answer: HttpAnswer) -> bool:
    return answer.status == HTTPStatus.NOT_FOUND and not is_absence(answer)


def _path(name: str) -> str:
    return f"/connectors/{quote(name, safe='')}"


def _object(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


def _unknown(method: str, lost: TransientError, error: TransientError) -> TransientError | OutcomeUnknown:
    """Return the error of a request whose answer was lost; without a connection it was certainly not sent."""
    if isinstance(lost.__cause__, _NOT_SENT):
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
