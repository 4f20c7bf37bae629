"""Airflow's public REST API (`/api/v2`), as far as the command line needs it to trigger and follow a run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from kafka_migration.adapters.http.http_service import HttpAnswer, HttpService
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.connections.secrets import without_secrets
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.run.run_conf import conf_finding
from kafka_migration.core.text.shortened import brief

TIMEOUT_S = 30.0
_LONGEST_ANSWER = 500
# XCom entries per request, and in all: far more than the tasks of a run have.
_PAGE, _MOST_ENTRIES = 100, 10_000
# Airflow's text for a field of the conf that the form of the DAG does not take.
_WRONG_PARAM = re.compile(r"Invalid input for param (?P<field>\w+): (?P<problem>.*)")


class HttpAirflow:
    """An Airflow behind its address; it logs in when a request needs it.

    Every method raises `Refused` (`AIRFLOW_API_REFUSED`) if Airflow refuses the request, and `TransientError` without
    an answer.

    :param subject: names the setting that has the address, for findings
    :param token: a token of Airflow; empty: log in with the user of the settings
    """

    def __init__(self, subject: str, settings: HttpSettings, token: str = "") -> None:
        self._subject = subject
        self._settings = settings
        self._secrets = {"login": settings.user, "password": settings.password, "token": token}
        # The login goes to `/auth/token` only.
        service = replace(settings, user="", password="")
        self._service = HttpService(settings.url, service, self._refused, timeout_s=TIMEOUT_S)
        self._token: dict[str, str] = {}
        self._is_given = bool(token)
        if token:
            self._use(token)

    @property
    def url(self) -> str:
        """The address."""
        return self._settings.url

    def dag(self, dag_id: str) -> Mapping[str, Any] | None:
        """Return what Airflow knows of a DAG, `None` if it knows no such DAG."""
        return self._found(_dag_path(dag_id))

    def unpause(self, dag_id: str) -> None:
        """Unpause a DAG."""
        self._understood(self._asked("PATCH", _dag_path(dag_id), {"is_paused": False}))

    def trigger(self, dag_id: str, run_id: str, conf: Mapping[str, Any]) -> None:
        """Create a run with this id. After `TransientError` it may exist; nothing is repeated."""
        body = {"dag_run_id": run_id, "logical_date": None, "conf": dict(conf)}
        answer = self._asked("POST", f"{_dag_path(dag_id)}/dagRuns", body)
        if answer.status == HTTPStatus.BAD_REQUEST and (found := _WRONG_PARAM.match(self._detail(answer))):
            raise Refused([conf_finding(found["field"], found["problem"], "a value that the form of the DAG takes")])
        self._understood(answer)

    def run_state(self, dag_id: str, run_id: str) -> str | None:
        """Return `queued`, `running`, `success` or `failed`; `None` if there is no such run."""
        found = self._found(_run_path(dag_id, run_id))
        return None if found is None else str(found.get("state"))

    def active_tasks(self, dag_id: str, run_id: str) -> tuple[str, ...]:
        """Return the tasks of a run that run or are deferred, in the order of their starts."""
        found = self._found(f"{_run_path(dag_id, run_id)}/taskInstances?state=running&state=deferred") or {}
        listed = found.get("task_instances") or []
        if not isinstance(listed, list) or not all(isinstance(each, Mapping) for each in listed):
            raise self._refused("task instances that are no list")
        started = sorted((str(each.get("start_date")), str(each.get("task_id"))) for each in listed)
        return tuple(task for _, task in started)

    def questions(self, dag_id: str, run_id: str) -> dict[str, str]:
        """Return the questions of a run that have no answer yet: each with its subject, by task."""
        found = self._found(f"{_run_path(dag_id, run_id)}/hitlDetails?response_received=false") or {}
        details = found.get("hitl_details") or []
        if not isinstance(details, list):
            raise self._refused("questions that are no list")
        return dict(self._question(each) for each in details)

    def values(self, dag_id: str, run_id: str, prefix: str) -> list[Any]:
        """Return the XCom values of a run whose key begins with a text; none if there is no such run."""
        tasks = f"{_run_path(dag_id, run_id)}/taskInstances"
        wanted = [each for each in self._entries(f"{tasks}/~/xcomEntries") if each[1].startswith(prefix)]
        # One that is gone was deleted in between, because its task began again.
        found = (self._found(f"{tasks}/{_entry_path(*each)}") for each in wanted)
        return [_value(entry.get("value")) for entry in found if entry is not None]

    def _entries(self, path: str) -> Iterator[tuple[str, str, int]]:
        """Yield task, key and map index of each XCom entry."""
        offset, total = 0, 1
        while offset < min(total, _MOST_ENTRIES):
            match self._found(f"{path}?limit={_PAGE}&offset={offset}"):
                case None | {"xcom_entries": []}:
                    return
                case {"xcom_entries": list(listed), "total_entries": int(total)}:
                    yield from map(self._entry, listed)
                    offset += len(listed)
                case _:
                    raise self._refused("XCom entries that are no list")

    def _entry(self, found: object) -> tuple[str, str, int]:
        match found:
            case {"task_id": str(task), "key": str(key), "map_index": int(number)}:
                return task, key, number
        raise self._refused("an XCom entry without a task and a key")

    def close(self) -> None:
        """Close the connection."""
        self._service.close()

    def _question(self, found: object) -> tuple[str, str]:
        match found:
            case {"task_instance": {"task_id": task}, "subject": subject}:
                return str(task), str(subject)
        raise self._refused("a question without a task and a subject")

    def _found(self, path: str) -> Mapping[str, Any] | None:
        answer = self._asked("GET", path)
        return None if answer.status == HTTPStatus.NOT_FOUND else self._understood(answer)

    def _asked(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> HttpAnswer:
        """Send a request; log in before it, or if the token has expired."""
        if self._token:
            answer = self._sent(method, path, body)
            if answer.status != HTTPStatus.UNAUTHORIZED or self._is_given:
                return answer
        self._log_in()
        return self._sent(method, path, body)

    def _log_in(self) -> None:
        user, password = self._settings.user, self._settings.password
        # Without a user, Airflow gives a token only if it takes everyone for an administrator.
        login = {"username": user, "password": password} if user else None
        answer = self._sent("POST" if login else "GET", "/auth/token", login)
        if not login and 400 <= answer.status < 500:
            raise self._refused("no user and no token, which are required")
        # An error of `/auth/token` may repeat the login, in any form: only its status is shown.
        if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
            answer = HttpAnswer(answer.status, b"")
        token = self._understood(answer).get("access_token")
        if not isinstance(token, str):
            raise self._refused("an answer without a token at /auth/token")
        self._use(token)

    def _use(self, token: str) -> None:
        if not token.isascii() or not token.isprintable():
            raise self._refused("a token that is no text of ASCII characters")
        self._secrets["token"] = token
        self._token = {"Authorization": f"Bearer {token}"}

    def _sent(self, method: str, path: str, body: Mapping[str, Any] | None) -> HttpAnswer:
        return self._service.request(method, path, body, self._token)

    def _understood(self, answer: HttpAnswer) -> Mapping[str, Any]:
        status, found = answer.status, answer.json_object()
        if 200 <= status < 300 and found:
            return found
        if status == HTTPStatus.UNAUTHORIZED:
            raise self._refused("a refused login (status 401)")
        if status == HTTPStatus.FORBIDDEN:
            raise self._refused("a user without the right to do this, or a wrong token (status 403)")
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise TransientError(f"{self.url} answered with status {status}")
        if detail := self._detail(answer):
            raise self._refused(f"status {status}, {detail}")
        raise self._refused(f"an answer that Airflow does not give (status {status})")

    def _detail(self, answer: HttpAnswer) -> str:
        """Return the first line of the reason that Airflow gives for an error; empty if it gives none."""
        lines = without_secrets(_reason(answer.json_object().get("detail")), self._secrets).splitlines()
        return brief(lines[0], _LONGEST_ANSWER) if lines else ""

    def _refused(self, found: str) -> Refused:
        return Refused(
            [
                Finding(
                    Code.AIRFLOW_API_REFUSED,
                    self._subject,
                    f"{found} from {self.url}",
                    "an Airflow that accepts the request",
                    "Correct the address or the login, or let an administrator of Airflow give this user the right to "
                    "trigger the DAG. Then look in Airflow, and run the command again only if it shows no such run.",
                    happened=f"Airflow's REST API at {self.url} did not accept the request: {found}.",
                    matters="The command ended here. A run that Airflow created before this request continues.",
                )
            ]
        )


def _dag_path(dag_id: str) -> str:
    return f"/api/v2/dags/{quote(dag_id, safe='')}"


def _run_path(dag_id: str, run_id: str) -> str:
    return f"{_dag_path(dag_id)}/dagRuns/{quote(run_id, safe='')}"


def _entry_path(task: str, key: str, map_index: int) -> str:
    return f"{quote(task, safe='')}/xcomEntries/{quote(key, safe='')}?map_index={map_index}"


def _value(value: object) -> object:
    """Return an XCom value, which Airflow shows as JSON text or as it is."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def _reason(detail: object) -> str:
    """Return what a `detail` says; its other fields may repeat the request, as `input` does in an error of FastAPI."""
    match detail:
        case str():
            return detail
        case list():
            return "; ".join(filter(None, map(_reason, detail)))
        case dict():
            place, problem = detail.get("loc"), str(detail.get("msg") or detail.get("reason") or "")
            return f"{'.'.join(map(str, place))}: {problem}" if isinstance(place, list) else problem
    return ""
