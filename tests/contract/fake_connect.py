"""A Kafka Connect cluster in memory, as its clients see it: its REST interface by HTTP, and its status topic.

Its workers do one thing at a time, whenever the time of its clients moves: a connector starts, is given tasks, its
tasks start. It is held to real workers by `connect_process_contract.py`. What it does not do: run a connector.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote, urlsplit

import httpcore
import pytest

from kafka_migration.adapters.connect import connect_process, connect_rest, stop_proof, task_watch, worker_address
from kafka_migration.adapters.connect.connect_process import ConnectProcess
from kafka_migration.adapters.connect.connect_rest import ConnectRest
from kafka_migration.adapters.connect.task_watch import TaskWatch
from kafka_migration.adapters.http.http_service import HttpAnswer
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.kafka.cluster import NewTopic
from tests.contract.fake_cluster import FakeCluster

STATUS_TOPIC, GROUP = "connect-status", "connect"
# The pause between two requests of a client that waits; few requests fill the longest wait.
PAUSE_S = 3.0


@dataclass
class FakeRow:
    """The newest row of a connector or task: its state and the worker that wrote it."""

    state: str
    worker: str


@dataclass
class FakeConnector:
    """A connector: what the cluster's settings say of it, and what its worker does. `row` is `None` before its start.

    `tasks` are the settings of its tasks; `lives` are the workers on which they run.
    """

    config: dict[str, str]
    target: str
    row: FakeRow | None = None
    tasks: int = 0
    lives: dict[int, str] = field(default_factory=dict)

    @property
    def copies(self) -> bool:
        """Whether a topic matches, so that it has tasks."""
        return self.config.get("topics") != "//"


@dataclass
class Wrong:
    """What goes wrong with requests of a method to paths that end so, `count` times.

    `status` and `body` replace the answer, and then nothing is done. Without them the answer is lost; `is_done` says
    whether the request was carried out, and `is_refused` that it was not even sent.
    """

    method: str
    end: str = ""
    count: int = 1
    status: int | None = None
    body: str = '{"error_code": 409, "message": "Cannot complete request because of a conflicting operation"}'
    is_done: bool = True
    is_refused: bool = False
    before: Callable[[], None] | None = None


class FakeConnect:
    """Workers by their names, which are the addresses that they advertise. A client reaches the first one by `url`.

    A worker is `up`, `paused` (it answers nothing, and its tasks run on), `starting` (it answers 404), `cut` (as
    `paused`, for Airflow only), or `gone` (nothing listens at its address).
    """

    def __init__(self, cluster: FakeCluster, workers: tuple[str, ...] = ("w1.test:8083", "w2.test:8083")) -> None:
        self.cluster = cluster
        self.workers = dict.fromkeys(workers, "up")
        self.connectors: dict[str, FakeConnector] = {}
        self.wrongs: list[Wrong] = []
        # Every request, with its address and whether it had a login.
        self.requests: list[tuple[str, str, str, bool]] = []
        # Tasks that fail at their start, by the text of their trace.
        self.fails_with = ""
        self.is_slow = False
        # What happens when the time of a client moves, once each.
        self.events: list[Callable[[], None]] = []
        self.elapsed_s = 0.0
        cluster.create_topics([NewTopic(STATUS_TOPIC, 2, 1, {"cleanup.policy": "compact"})])
        self._join()

    @property
    def url(self) -> str:
        """The address of the first worker."""
        return f"http://{next(iter(self.workers))}"

    def monotonic(self) -> float:
        """Return the time of its clients."""
        return self.elapsed_s

    def sleep(self, seconds: float) -> None:
        """Let the time of its clients pass, and the workers work."""
        self.elapsed_s += seconds
        if self.events:
            self.events.pop(0)()
        self.tick()

    def service(
        self, name: str, settings: HttpSettings, refused: Callable[[str], Refused], *_: Any, **__: Any
    ) -> FakeService:
        """Return the client of a worker; it replaces `HttpService`."""
        return FakeService(self, name, settings)

    def process(self, migration: str, user: str = "", group: str | None = GROUP) -> ConnectProcess:
        """Return the process of a migration, with a login of its connection if there is a user."""
        settings = HttpSettings("shop_connect", self.url, user, "s3cret" if user else "")
        watch = TaskWatch(self.cluster, STATUS_TOPIC, settings, group)
        return ConnectProcess(migration, ConnectRest(settings), watch)

    def become(self, worker: str, state: str) -> None:
        """Change the state of a worker; one that is gone or paused soon leaves the group."""
        self.workers[worker] = state
        if state == "gone":
            for connector in self.connectors.values():
                connector.lives = {n: at for n, at in connector.lives.items() if at != worker}
        self._join()

    def tick(self) -> None:
        """Let each worker do its next step."""
        if self.is_slow:
            return
        for name, connector in list(self.connectors.items()):
            if connector.row is None:
                self._start(name, connector)
            elif connector.target == "STOPPED":
                self._stop(name, connector)
            elif not connector.tasks and connector.copies:
                connector.tasks = int(connector.config.get("tasks.max", "1"))
            else:
                self._start_tasks(name, connector)

    def restart_task(self, name: str, number: int, worker: str = "") -> None:
        """Let a task start again, as an operator may do with Connect's own command, or on another worker."""
        connector = self.connectors[name]
        old = connector.lives[number]
        if self._works(old):
            self._write(f"status-task-{name}-{number}", "UNASSIGNED", old)
        connector.lives[number] = worker or old
        self._write(f"status-task-{name}-{number}", "RUNNING", worker or old)

    def write_state(self, name: str, state: str) -> None:
        """Let the worker of a connector write its state."""
        connector = self.connectors[name]
        worker = connector.row.worker if connector.row else ""
        connector.row = FakeRow(state, worker)
        self._write(f"status-connector-{name}", state, worker)

    def write_task(self, name: str, number: int, state: str) -> None:
        """Let the worker of a task write its state, without a trace."""
        self._write(f"status-task-{name}-{number}", state, self.connectors[name].lives[number])

    def answer(self, worker: str, method: str, path: str, body: Any) -> tuple[int, Any]:
        """Return status and document of a worker that is up."""
        parts = [unquote(part) for part in path.strip("/").split("/")]
        if method == "POST" and parts == ["connectors"]:
            return self._create(body)
        name, *more = parts[1:]
        connector = self.connectors.get(name)
        if connector is None or (more == ["status"] and connector.row is None):
            what = "No status found for connector" if more == ["status"] else "Connector"
            return 404, {"error_code": 404, "message": f"{what} {name} not found"}
        return self._done(name, connector, method, "/".join(more))

    def _done(self, name: str, connector: FakeConnector, method: str, part: str) -> tuple[int, Any]:
        match method, part:
            case "GET", "config":
                return 200, {**connector.config, "name": name}
            case "GET", "status":
                return 200, self._status(name, connector)
            case "GET", "tasks":
                return 200, [
                    {"id": {"connector": name, "task": n}, "config": {"task.assigned.partitions": f"orders-{n}"}}
                    for n in range(connector.tasks)
                ]
            case "PUT", "stop":
                connector.target, connector.tasks = "STOPPED", 0
                return 204, None
            case "DELETE", "":
                self._delete(name)
                return 204, None
        return 404, {"error_code": 404, "message": "HTTP 404 Not Found"}

    def _create(self, body: dict[str, Any]) -> tuple[int, Any]:
        if body["name"] in self.connectors:
            return 409, {"error_code": 409, "message": f"Connector {body['name']} already exists"}
        self.connectors[body["name"]] = FakeConnector(dict(body["config"]), body["initial_state"])
        return 201, body

    def _delete(self, name: str) -> None:
        connector = self.connectors.pop(name)
        self._end_tasks(name, connector)
        self._write(f"status-connector-{name}", None, "")

    def _status(self, name: str, connector: FakeConnector) -> dict[str, Any]:
        row = connector.row or FakeRow("UNASSIGNED", "")
        tasks = [{"id": n, "state": "RUNNING", "worker_id": at} for n, at in connector.lives.items()]
        return {"name": name, "connector": {"state": row.state, "worker_id": row.worker}, "tasks": tasks}

    def _start(self, name: str, connector: FakeConnector) -> None:
        if working := self._working():
            connector.row = FakeRow(connector.target, working[0])
            self._write(f"status-connector-{name}", connector.target, working[0])

    def _stop(self, name: str, connector: FakeConnector) -> None:
        self._end_tasks(name, connector)
        row = connector.row
        if row is not None and row.state != "STOPPED" and self._works(row.worker):
            connector.row = FakeRow("STOPPED", row.worker)
            self._write(f"status-connector-{name}", "STOPPED", row.worker)

    def _end_tasks(self, name: str, connector: FakeConnector) -> None:
        for number, worker in list(connector.lives.items()):
            if self._works(worker):
                self._write(f"status-task-{name}-{number}", "UNASSIGNED", worker)
                self._write(f"status-task-{name}-{number}", None, "")
                del connector.lives[number]

    def _start_tasks(self, name: str, connector: FakeConnector) -> None:
        working = self._working()
        for number in range(connector.tasks if working else 0):
            worker = working[number % len(working)]
            if number not in connector.lives and not self.fails_with:
                connector.lives[number] = worker
                self._write(f"status-task-{name}-{number}", "RUNNING", worker)
            elif self.fails_with and number not in connector.lives:
                connector.lives[number] = worker
                self._write(f"status-task-{name}-{number}", "FAILED", worker, self.fails_with)

    def _write(self, key: str, state: str | None, worker: str, trace: str | None = None) -> None:
        row = {"state": state, "trace": trace, "worker_id": worker, "generation": 1}
        value = None if state is None else json.dumps(row).encode()
        if topic := self.cluster.topics.get(STATUS_TOPIC):
            partition = sum(key.encode()) % len(topic.partitions)
            self.cluster.produce(STATUS_TOPIC, partition, (key.encode(), value))

    def _working(self) -> list[str]:
        return [worker for worker in self.workers if self._works(worker)]

    def _works(self, worker: str) -> bool:
        return self.workers.get(worker) in ("up", "cut")

    def _join(self) -> None:
        self.cluster.workers[GROUP] = tuple(f"http://{worker}" for worker in self._working())


@dataclass
class FakeService:
    """`HttpService` whose answers come from a `FakeConnect`."""

    connect: FakeConnect
    name: str
    settings: HttpSettings

    def get(self, path: str) -> HttpAnswer:
        """Return the answer to a GET request."""
        return self.request("GET", path)

    def request(self, method: str, path: str, body: Any = None) -> HttpAnswer:
        """Return the answer, or raise `TransientError` as `HttpService` does."""
        worker = urlsplit(self.settings.url).netloc
        self.connect.requests.append((worker, method, path, bool(self.settings.user)))
        self._raise_for(self.connect.workers.get(worker, "gone"))
        wrong = next((w for w in self.connect.wrongs if w.method == method and path.endswith(w.end)), None)
        if self.connect.workers[worker] == "starting":
            return HttpAnswer(404, b"<html>Error 404 Not Found</html>")
        return self._answered(worker, method, path, body) if wrong is None else self._wrong(wrong, worker, path, body)

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def _answered(self, worker: str, method: str, path: str, body: Any) -> HttpAnswer:
        status, document = self.connect.answer(worker, method, path, body)
        return HttpAnswer(HTTPStatus(status), b"" if document is None else json.dumps(document).encode())

    def _wrong(self, wrong: Wrong, worker: str, path: str, body: Any) -> HttpAnswer:
        wrong.count -= 1
        if not wrong.count:
            self.connect.wrongs.remove(wrong)
        if wrong.before:
            wrong.before()
        if wrong.status is not None:
            return HttpAnswer(wrong.status, wrong.body.encode())
        if wrong.is_refused:
            self._raise_for("gone")
        if wrong.is_done:
            self._answered(worker, wrong.method, path, body)
        raise self._lost(httpcore.ReadTimeout("timed out"))

    def _raise_for(self, state: str) -> None:
        if state in ("paused", "cut"):
            raise self._lost(httpcore.ReadTimeout("timed out"))
        if state == "gone":
            try:
                raise httpcore.ConnectError("refused") from ConnectionRefusedError()
            except httpcore.ConnectError as error:
                raise self._lost(error) from error

    def _lost(self, error: Exception) -> TransientError:
        lost = TransientError(f"{self.name} did not answer: {type(error).__name__} {error}")
        lost.__cause__ = error
        return lost


def connect_in_memory(monkeypatch: pytest.MonkeyPatch, *workers: str) -> FakeConnect:
    """Return workers in memory which all clients reach from now on; their time passes only by waiting."""
    made = FakeConnect(FakeCluster("target"), *([workers] if workers else []))
    for module in (connect_process, connect_rest, stop_proof, task_watch):
        monkeypatch.setattr(module, "time", made)
    for module in (connect_rest, stop_proof, task_watch):
        monkeypatch.setattr(module, "PAUSE_S", PAUSE_S)
    for module in (connect_rest, worker_address):
        monkeypatch.setattr(module, "HttpService", made.service)
    return made
