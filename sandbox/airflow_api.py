"""A small client of Airflow's REST API (`/api/v2` of Airflow 3.3): trigger runs, watch them, read task logs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from graphlib import TopologicalSorter
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

from sandbox.errors import SandboxError
from sandbox.state import SandboxState

REQUEST_TIMEOUT_S = 60.0
POLL_S = 1.0
FINISHED = frozenset({"success", "failed"})
# The answers of a restarting API server; the same request may succeed a moment later.
_PASSING = (httpx.ConnectError, httpx.ReadError, httpx.RemoteProtocolError, httpx.TimeoutException)
_READ_ATTEMPTS = 5


class AirflowApiError(SandboxError):
    """Airflow answered with an error, or not at all; the text holds its answer."""


class NotFinished(SandboxError):
    """A run or a DAG did not reach the expected state in time."""


@dataclass(frozen=True, slots=True)
class TaskState:
    """One task of a run: its state (`None` before it is scheduled), its try number and its duration so far."""

    task_id: str
    state: str | None
    try_number: int
    duration_s: float | None


@dataclass(frozen=True, slots=True)
class DagRun:
    """A DAG run and its tasks in the order of the graph."""

    dag_id: str
    run_id: str
    state: str
    tasks: tuple[TaskState, ...]

    @property
    def is_finished(self) -> bool:
        """True once Airflow has finished this run."""
        return self.state in FINISHED

    def task(self, task_id: str) -> TaskState | None:
        """Return one task, or `None` if the run has no such task."""
        return next((task for task in self.tasks if task.task_id == task_id), None)


@dataclass(frozen=True, slots=True)
class Span:
    """A start and an end time."""

    start: datetime
    end: datetime

    @property
    def seconds(self) -> float:
        """The duration."""
        return (self.end - self.start).total_seconds()


@dataclass(frozen=True, slots=True)
class Timeline:
    """The start and end times of a finished run and of its started tasks."""

    run: Span
    tasks: Mapping[str, Span]

    @property
    def wall_s(self) -> float:
        """The duration of the run."""
        return self.run.seconds


class AirflowApi:
    """A logged-in session; use it as a context manager.

    Every method raises `AirflowApiError` when Airflow refuses the request. Read requests are retried while the API
    server restarts; others are not.
    """

    def __init__(self, url: str, user: str, password: str) -> None:
        # Airflow is on loopback, which a proxy from the caller's environment cannot reach.
        self._client = httpx.Client(base_url=url, timeout=REQUEST_TIMEOUT_S, trust_env=False)
        self._login = {"username": user, "password": password}
        self._order: dict[str, dict[str, int]] = {}

    @classmethod
    def of(cls, state: SandboxState) -> AirflowApi:
        """Return a session with a sandbox's Airflow."""
        if state.airflow_url is None:
            raise AirflowApiError("this sandbox runs without Airflow")
        return cls(state.airflow_url, state.airflow_user, state.airflow_password)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def token(self) -> str:
        """Log in; return the token, which is also the cookie `_token` of the UI."""
        return str(_document(self._client.post("/auth/token", json=self._login))["access_token"])

    def import_errors(self) -> dict[str, str]:
        """Return {file: stack trace} of the DAG files that cannot be imported."""
        found = self._get("/api/v2/importErrors")["import_errors"]
        return {error["filename"]: error["stack_trace"] for error in found}

    def wait_for_dag(self, dag_id: str, timeout_s: float = 400.0, *, unpause: bool = True) -> None:
        """Return once the DAG is known; unpause it by default.

        Raises:
            AirflowApiError: a DAG file cannot be imported; the text holds the stack trace.
            NotFinished: the DAG is not known within the time.
        """
        deadline = time.monotonic() + timeout_s
        while (dag := self._find(f"/api/v2/dags/{dag_id}")) is None:
            for file, trace in self.import_errors().items():
                raise AirflowApiError(f"{file} cannot be imported:\n{trace}")
            if time.monotonic() > deadline:
                raise NotFinished(f"Airflow does not know the DAG {dag_id} after {timeout_s:.0f} s")
            time.sleep(POLL_S)
        if dag["is_paused"] and unpause:
            self.unpause(dag_id)

    def parse_again(self, dag_id: str) -> None:
        """Let Airflow parse the file of a known DAG immediately."""
        token = self._get(f"/api/v2/dags/{dag_id}")["file_token"]
        self._act("PUT", f"/api/v2/parseDagFile/{token}", {})

    def add_connection(self, connection_id: str, conn_type: str, extra: Mapping[str, Any], host: str = "") -> None:
        """Store a connection in Airflow's database."""
        body = {"connection_id": connection_id, "conn_type": conn_type, "extra": json.dumps(extra), "host": host}
        self._act("POST", "/api/v2/connections", body)

    def set_variable(self, key: str, value: str) -> None:
        """Store a variable in Airflow's database."""
        self._act("POST", "/api/v2/variables", {"key": key, "value": value})

    def pause(self, dag_id: str) -> None:
        """Pause a DAG: no new run starts, running ones continue."""
        self._set_paused(dag_id, is_paused=True)

    def unpause(self, dag_id: str) -> None:
        """Unpause a DAG."""
        self._set_paused(dag_id, is_paused=False)

    def _set_paused(self, dag_id: str, *, is_paused: bool) -> None:
        self._act("PATCH", f"/api/v2/dags/{dag_id}", {"is_paused": is_paused})

    def run_states(self, dag_id: str) -> dict[str, str]:
        """Return {run id: state} of a DAG's runs, the oldest first."""
        return {run["dag_run_id"]: run["state"] for run in self._runs(dag_id)}

    def tags(self, dag_id: str) -> frozenset[str]:
        """Return the names of a DAG's tags."""
        return frozenset(tag["name"] for tag in self._get(f"/api/v2/dags/{dag_id}")["tags"])

    def trigger(self, dag_id: str, conf: Mapping[str, Any] | None = None) -> str:
        """Trigger a run like the web form, without a logical date; return its id."""
        body = {"logical_date": None, "conf": dict(conf or {})}
        run: dict[str, Any] = self._act("POST", f"/api/v2/dags/{dag_id}/dagRuns", body)
        return str(run["dag_run_id"])

    def run_state(self, dag_id: str, run_id: str) -> str:
        """Return `queued`, `running`, `success` or `failed`."""
        return str(self._get(_run_path(dag_id, run_id))["state"])

    def run(self, dag_id: str, run_id: str) -> DagRun:
        """Return a run with its tasks."""
        state = self.run_state(dag_id, run_id)
        order = self._task_order(dag_id)
        tasks = sorted(
            map(_task_state, self._tasks(dag_id, run_id)), key=lambda task: order.get(task.task_id, len(order))
        )
        return DagRun(dag_id, run_id, state, tuple(tasks))

    def timeline(self, dag_id: str, run_id: str) -> Timeline:
        """Return when a finished run and its tasks began and ended."""
        tasks = {task["task_id"]: _span(task) for task in self._tasks(dag_id, run_id) if task["start_date"]}
        return Timeline(_span(self._get(_run_path(dag_id, run_id))), tasks)

    def task_pid(self, dag_id: str, run_id: str, task_id: str) -> int | None:
        """Return the process id of a running task; `None` if it is not running."""
        task = self._get(f"{_run_path(dag_id, run_id)}/taskInstances/{task_id}")
        return task["pid"] if task["state"] == "running" else None

    def wait(
        self, dag_id: str, run_id: str, timeout_s: float, on_poll: Callable[[DagRun], None] | None = None
    ) -> DagRun:
        """Return the run once it is finished; `on_poll` gets it about every second, including the finished run.

        Raises:
            NotFinished: it does not finish in time.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            run = self.run(dag_id, run_id)
            if on_poll:
                on_poll(run)
            if run.is_finished:
                return run
            if time.monotonic() > deadline:
                raise NotFinished(f"run {run_id} of {dag_id} is still {run.state} after {timeout_s:.0f} s")
            time.sleep(POLL_S)

    def log(self, dag_id: str, run_id: str, task_id: str, try_number: int = 1) -> str:
        """Return a task's log as text, one line per event; empty before there is one."""
        path = f"{_run_path(dag_id, run_id)}/taskInstances/{task_id}/logs/{try_number}"
        document = self._find(path, {"full_content": "true"})
        return "\n".join(_log_line(event) for event in document["content"]) if document else ""

    def set_run_state(self, dag_id: str, run_id: str, state: str) -> None:
        """Mark a run as `failed` or `success` like a user in the UI; running tasks are ended."""
        self._act("PATCH", _run_path(dag_id, run_id), {"state": state})

    def set_task_state(self, dag_id: str, run_id: str, task_id: str, state: str) -> None:
        """Mark a task of a run as `failed` or `success` like a user in the UI; a running task is ended."""
        self._act("PATCH", f"{_run_path(dag_id, run_id)}/taskInstances/{task_id}", {"new_state": state})

    def delete_dag(self, dag_id: str) -> None:
        """Delete a DAG with all its runs; Airflow adds it again while its file exists."""
        self._act("DELETE", f"/api/v2/dags/{dag_id}")

    def clear(self, dag_id: str, run_id: str, task_ids: list[str], *, downstream: bool = True) -> tuple[str, ...]:
        """Clear tasks of a run so that they run again; return the ids of all tasks cleared."""
        body = {
            "dry_run": False,
            "dag_run_id": run_id,
            "task_ids": task_ids,
            "include_downstream": downstream,
            "only_failed": False,
            "reset_dag_runs": True,
        }
        cleared = self._act("POST", f"/api/v2/dags/{dag_id}/clearTaskInstances", body)["task_instances"]
        return tuple(sorted(task["task_id"] for task in cleared))

    def answer(self, dag_id: str, run_id: str, task_id: str, option: str) -> None:
        """Answer a task's Required Action like a user in the UI."""
        path = _question_path(dag_id, run_id, task_id)
        self._act("PATCH", path, {"chosen_options": [option], "params_input": {}})

    def question(self, dag_id: str, run_id: str, task_id: str) -> str:
        """Return the text of a task's Required Action."""
        detail = self._get(_question_path(dag_id, run_id, task_id))
        return f"{detail['subject']}\n\n{detail['body'] or ''}"

    def asked_at(self, dag_id: str, run_id: str, task_id: str) -> datetime | None:
        """Return since when a task's Required Action waits for an answer; `None` if it does not."""
        detail = self._find(_question_path(dag_id, run_id, task_id))
        if detail is None or detail["response_received"]:
            return None
        return datetime.fromisoformat(detail["created_at"])

    def begun(self, dag_id: str, run_id: str) -> dict[str, tuple[str, datetime]]:
        """Return {task: state, start} of the tasks of a run that have started."""
        return {
            task["task_id"]: (task["state"], datetime.fromisoformat(task["start_date"]))
            for task in self._tasks(dag_id, run_id)
            if task["start_date"]
        }

    def hosts(self, dag_id: str, run_id: str) -> dict[str, str]:
        """Return {task: host name of the worker of its last try} of the tasks of a run that have started."""
        return {task["task_id"]: task["hostname"] for task in self._tasks(dag_id, run_id) if task["hostname"]}

    def confs(self, dag_id: str) -> dict[str, dict[str, Any]]:
        """Return {run id: what its form said} of a DAG's runs, the oldest first."""
        return {run["dag_run_id"]: run["conf"] for run in self._runs(dag_id)}

    def _runs(self, dag_id: str) -> list[dict[str, Any]]:
        found = self._find(f"/api/v2/dags/{dag_id}/dagRuns", {"order_by": "run_after", "limit": "100"})
        return found["dag_runs"] if found else []

    def _tasks(self, dag_id: str, run_id: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._get(f"{_run_path(dag_id, run_id)}/taskInstances")["task_instances"]
        return found

    def _task_order(self, dag_id: str) -> Mapping[str, int]:
        """Return each task's place in the graph; read once, because the graph does not change."""
        if dag_id not in self._order:
            tasks = self._get(f"/api/v2/dags/{dag_id}/tasks")["tasks"]
            self._order[dag_id] = {task_id: place for place, task_id in enumerate(_sorted(tasks))}
        return self._order[dag_id]

    def _get(self, path: str) -> dict[str, Any]:
        document = self._find(path)
        if document is None:
            raise AirflowApiError(f"GET {path}: not found")
        return document

    def _find(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, Any] | None:
        """Return the response, or `None` for 404."""
        for attempt in range(1, _READ_ATTEMPTS + 1):
            try:
                reply = self._request("GET", path, params=params)
            except _PASSING as error:
                if attempt == _READ_ATTEMPTS:
                    raise AirflowApiError(f"GET {path}: {type(error).__name__}: {error}") from error
                time.sleep(POLL_S)
                continue
            return None if reply.status_code == HTTPStatus.NOT_FOUND else _document(reply)
        raise AssertionError("unreachable")

    def _act(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        try:
            return _document(self._request(method, path, json=body))
        except httpx.HTTPError as error:
            raise AirflowApiError(f"{method} {path}: {type(error).__name__}: {error}") from error

    def _request(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        """Send a request; log in first if there is no valid token."""
        if "Authorization" in self._client.headers:
            reply = self._client.request(method, path, **arguments)
            if reply.status_code != HTTPStatus.UNAUTHORIZED:
                return reply
        self._client.headers["Authorization"] = f"Bearer {self.token()}"
        return self._client.request(method, path, **arguments)


def _document(reply: httpx.Response) -> dict[str, Any]:
    request = reply.request
    if reply.is_error:
        raise AirflowApiError(f"{request.method} {request.url.path}: {reply.status_code} {reply.text[:2000]}")
    document: dict[str, Any] = reply.json() if reply.content else {}
    return document


def _run_path(dag_id: str, run_id: str) -> str:
    return f"/api/v2/dags/{dag_id}/dagRuns/{quote(run_id, safe='')}"


def _question_path(dag_id: str, run_id: str, task_id: str) -> str:
    return f"{_run_path(dag_id, run_id)}/taskInstances/{task_id}/-1/hitlDetails"


def _task_state(task: Mapping[str, Any]) -> TaskState:
    return TaskState(task["task_id"], task["state"], task["try_number"], task["duration"])


def _span(document: Mapping[str, Any]) -> Span:
    return Span(*(datetime.fromisoformat(document[field]) for field in ("start_date", "end_date")))


def _sorted(tasks: list[dict[str, Any]]) -> tuple[str, ...]:
    """Return task ids in topological order."""
    waits_for: dict[str, set[str]] = {task["task_id"]: set() for task in tasks}
    for task in tasks:
        for later in task["downstream_task_ids"]:
            waits_for[later].add(task["task_id"])
    return tuple(TopologicalSorter(waits_for).static_order())


def _log_line(event: str | Mapping[str, Any]) -> str:
    """Write a log event as `time level text`; Airflow's own group marks come as they are."""
    if isinstance(event, str):
        return event
    parts = (event.get("timestamp"), event.get("level"), event.get("event"))
    return " ".join(str(part) for part in parts if part)
