"""Airflow's REST API for tests: the requests of the command line over HTTP, with DAGs and runs in memory.

It replaces Airflow's API server, whose start takes half a minute.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

USER, PASSWORD, TOKEN = "ada", "secret-of-ada", "token-of-ada"
_NUMBERS = ("limit", "offset", "map_index")
DAG_ID, TOPICS = "kafka_migration__shop", ("orders", "audit")


@dataclass
class AirflowServer:
    """Serves DAGs and runs.

    :param dags: whether each DAG is paused
    :param runs: the body of each trigger, by run id
    :param states: the states that a run shows, one per request; the last one stays
    :param tasks: the tasks at work
    :param questions: the subjects of unanswered questions, by task
    :param xcoms: the XCom values of runs, by DAG, run, task, key and map index
    :param expired: tokens that are valid no longer
    :param faults: answers (status, body) to the next requests with a token; status 0 ends the connection
    :param late_faults: the same, but the request is done first
    """

    dags: dict[str, bool] = field(default_factory=dict)
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    states: list[str] = field(default_factory=lambda: ["queued"])
    tasks: list[str] = field(default_factory=list)
    questions: dict[str, str] = field(default_factory=dict)
    xcoms: dict[tuple[str, str, str, str, int], Any] = field(default_factory=dict)
    faults: list[tuple[int, str]] = field(default_factory=list)
    late_faults: list[tuple[int, str]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=lambda: [TOKEN])
    expired: set[str] = field(default_factory=set)

    def __enter__(self) -> AirflowServer:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        threading.Thread(target=self._server.serve_forever, args=[0.02], daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """The address."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, method: str, path: str, body: Any, token: str) -> tuple[int, Any]:
        """Return status and body of a request."""
        parts = [unquote(part) for part in urlsplit(path).path.split("/")[1:]]
        if parts == ["auth", "token"]:
            return self._login(body)
        if token in self.expired:
            return 401, {"detail": "Token Expired"}
        if token not in self.tokens:
            return 403, {"detail": "Invalid JWT token"}
        self.asked.append(f"{method} {path}")
        if self.faults:
            return self.faults.pop(0)
        asked = {name: int(values[0]) for name, values in parse_qs(urlsplit(path).query).items() if name in _NUMBERS}
        done = self._done(method, parts[2:], body) if "xcomEntries" not in parts else self._xcom(parts[2:], **asked)
        return self.late_faults.pop(0) if self.late_faults and method == "POST" else done

    def _login(self, body: Any) -> tuple[int, Any]:
        if body is None:
            return 403, {"detail": "This method is only allowed if ``[core] simple_auth_manager_all_admins`` is True"}
        if body != {"username": USER, "password": PASSWORD}:
            return 401, {"detail": "Invalid credentials"}
        self.tokens.append(f"token-{len(self.tokens)}")
        return 201, {"access_token": self.tokens[-1]}

    def _done(self, method: str, parts: list[str], body: Any) -> tuple[int, Any]:
        match method, parts:
            case "GET", ["dags", dag_id] if dag_id in self.dags:
                return 200, {"dag_id": dag_id, "is_paused": self.dags[dag_id]}
            case "PATCH", ["dags", dag_id] if dag_id in self.dags:
                self.dags[dag_id] = body["is_paused"]
                return 200, {"dag_id": dag_id, "is_paused": self.dags[dag_id]}
            case "POST", ["dags", dag_id, "dagRuns"] if {*body["conf"].get("topics", ())} - {*TOPICS}:
                return 400, {
                    "detail": f"Invalid input for param topics: 'foreign' is not one of {list(TOPICS)}\n\nFailed"
                }
            case "POST", ["dags", dag_id, "dagRuns"] if body["dag_run_id"] in self.runs:
                return 409, {"detail": "The dag run exists"}
            case "POST", ["dags", dag_id, "dagRuns"] if dag_id in self.dags:
                self.runs[body["dag_run_id"]] = body
                return 200, {"dag_run_id": body["dag_run_id"], "state": "queued"}
            case "GET", ["dags", _, "dagRuns", run_id, *what] if run_id in self.runs:
                return self._of_run(run_id, what)
        return 404, {"detail": "not found"}

    def _xcom(self, parts: list[str], limit: int = 50, offset: int = 0, map_index: int = -1) -> tuple[int, Any]:
        """Return a page of the entries of a run, or the value of one entry as JSON text."""
        match parts:
            case ["dags", dag_id, "dagRuns", run_id, "taskInstances", "~", "xcomEntries"]:
                found = [at for at in self.xcoms if at[:2] == (dag_id, run_id)]
                names = ("dag_id", "run_id", "task_id", "key", "map_index")
                entries = [dict(zip(names, at, strict=True)) for at in found[offset : offset + limit]]
                return 200, {"xcom_entries": entries, "total_entries": len(found)}
            case ["dags", dag_id, "dagRuns", run_id, "taskInstances", task, "xcomEntries", key]:
                at = (dag_id, run_id, task, key, map_index)
                return (200, {"key": key, "value": json.dumps(self.xcoms[at])}) if at in self.xcoms else (404, {})
        return 404, {"detail": "not found"}

    def _of_run(self, run_id: str, what: list[str]) -> tuple[int, Any]:
        match what:
            case []:
                state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
                return 200, {"dag_run_id": run_id, "state": state}
            case ["taskInstances"]:
                started = "2030-01-01T00:00:00Z"
                return 200, {"task_instances": [{"task_id": t, "start_date": started} for t in self.tasks]}
            case ["hitlDetails"]:
                details = [{"task_instance": {"task_id": t}, "subject": s} for t, s in self.questions.items()]
                return 200, {"hitl_details": details, "total_entries": len(details)}
        return 404, {"detail": "not found"}


def _handler_of(server: AirflowServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(None)

        def do_POST(self) -> None:
            self._reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def do_PATCH(self) -> None:
            self.do_POST()

        def _reply(self, body: Any) -> None:
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            status, found = server.answer(self.command, self.path, body, token)
            if not status:
                self.close_connection = True
                return
            text = found if isinstance(found, str) else json.dumps(found)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    return Handler
