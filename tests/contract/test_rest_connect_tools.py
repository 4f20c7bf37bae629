"""What the answers of a worker of Kafka Connect become, and to whom the login of the connection is sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from kafka_migration.adapters.connect.rest_connect_tools import RestConnectTools
from kafka_migration.core.connect.connect_tools import ALL_KEYS, SOURCE_CONNECTOR, ConnectRoot, worker_settings
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused, TransientError

pytestmark = pytest.mark.unit

LOGIN, SECRET = "ada", "s3cret-of-connect"
ROOT = {"version": "3.9.1", "commit": "f745", "kafka_cluster_id": "OkxR"}
VALIDATION = f"/connector-plugins/{SOURCE_CONNECTOR}/config/validate"


@dataclass
class WorkerServer:
    """A worker whose answers (status, body) a test gives by path; `heard` are method, path, login and body."""

    answers: dict[str, tuple[int, str]] = field(default_factory=dict)
    heard: list[tuple[str, str, str, Any]] = field(default_factory=list)

    def __enter__(self) -> WorkerServer:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        Thread(target=self._server.serve_forever, args=[0.02], daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._server.server_port}"


def _handler_of(worker: WorkerServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer()

        def do_PUT(self) -> None:
            self._answer()

        def _answer(self) -> None:
            size = int(self.headers.get("Content-Length", "0"))
            body = json.loads(self.rfile.read(size)) if size else None
            worker.heard.append((self.command, self.path, self.headers.get("Authorization", ""), body))
            status, text = worker.answers.get(self.path, (404, '{"error_code": 404, "message": "Not Found"}'))
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    return Handler


@pytest.fixture
def worker() -> Iterator[WorkerServer]:
    """A worker that answers nothing yet."""
    with WorkerServer() as made:
        yield made


@pytest.fixture
def tools(worker: WorkerServer) -> Iterator[RestConnectTools]:
    """Its tools."""
    made = RestConnectTools(HttpSettings("shop_connect", worker.url, LOGIN, SECRET))
    yield made
    made.close()


def root(tools: RestConnectTools) -> object:
    """Ask for the root."""
    return tools.root()


def plugins(tools: RestConnectTools) -> object:
    """Ask for the plugins."""
    return tools.plugins()


def problems(tools: RestConnectTools) -> object:
    """Ask for a validation."""
    return tools.problems({"topics": "orders"})


Ask = Callable[[RestConnectTools], object]
PATHS: dict[Ask, str] = {root: "/", plugins: "/connector-plugins", problems: VALIDATION}


def value(key: str, *errors: str) -> dict[str, Any]:
    """Return a key with its errors, as Connect validates it."""
    return {"definition": {"name": key}, "value": {"name": key, "errors": list(errors), "visible": True}}


def test_answers_of_a_worker_are_read(worker: WorkerServer, tools: RestConnectTools) -> None:
    """Root, plugins and validation are read as Connect gives them, each request with the login of the connection."""
    worker.answers["/"] = 200, json.dumps(ROOT)
    worker.answers["/connector-plugins"] = 200, json.dumps([{"class": SOURCE_CONNECTOR, "version": "3.9.1"}])
    found = {"error_count": 1, "configs": [value("topics"), value("tasks.max", "Not a number")]}
    worker.answers[VALIDATION] = 200, json.dumps(found)

    assert (ConnectRoot("3.9.1", "f745", "OkxR"), {SOURCE_CONNECTOR: "3.9.1"}) == (tools.root(), tools.plugins())
    assert {"tasks.max": ("Not a number",)} == tools.problems({"topics": "orders"})
    sent = worker.heard[-1][3]
    assert {"topics": "orders", "connector.class": SOURCE_CONNECTOR} == {k: sent[k] for k in sent if k != "name"}
    assert sent["name"]
    assert [True] * 3 == [login.startswith("Basic ") for _, _, login, _ in worker.heard]
    assert ["GET", "GET", "PUT"] == [method for method, *_ in worker.heard]


def test_missing_cluster_id_is_empty(worker: WorkerServer, tools: RestConnectTools) -> None:
    """A worker that names no cluster has an empty id, which is no cluster's."""
    worker.answers["/"] = 200, json.dumps({"version": "3.9.1", "kafka_cluster_id": None})

    assert ConnectRoot("3.9.1", "", "") == tools.root()


@pytest.mark.parametrize("ask", PATHS)
@pytest.mark.parametrize("status", [404, 409, 429, 502, 503, 504])
def test_worker_that_is_not_ready_may_answer_later(
    worker: WorkerServer, tools: RestConnectTools, ask: Ask, status: int
) -> None:
    """A worker that starts, rebalances or is overloaded did not answer; nothing follows from it."""
    worker.answers[PATHS[ask]] = status, json.dumps({"error_code": status, "message": "later"})

    with pytest.raises(TransientError, match=f"status {status}"):
        ask(tools)


@pytest.mark.parametrize("ask", PATHS)
@pytest.mark.parametrize(
    ("status", "body"), [(401, ""), (403, "{}"), (302, ""), (200, ""), (200, "<html>"), (200, "{}"), (200, "[1]")]
)
def test_other_answers_are_refused(
    worker: WorkerServer, tools: RestConnectTools, ask: Ask, status: int, body: str
) -> None:
    """A refused login, and what no worker answers, is refused without the login in its words."""
    if ask is plugins and body == "[1]":
        body = "1"
    worker.answers[PATHS[ask]] = status, body

    with pytest.raises(Refused) as error:
        ask(tools)
    (finding,) = error.value.findings
    assert Code.CONNECTION_INVALID is finding.code
    assert SECRET not in str(finding)


@pytest.mark.parametrize(
    "found",
    [
        {"error_count": 0, "configs": [1]},
        {"error_count": 0, "configs": [{"value": {"name": "topics"}}]},
        {"error_count": "0", "configs": []},
        {"configs": []},
    ],
)
def test_validation_that_says_too_little_is_refused(
    worker: WorkerServer, tools: RestConnectTools, found: Mapping[str, Any]
) -> None:
    """A validation that does not say which keys have errors is no proof of a good configuration."""
    worker.answers[VALIDATION] = 200, json.dumps(found)

    with pytest.raises(Refused):
        tools.problems({})


def test_errors_without_a_key_are_problems(worker: WorkerServer, tools: RestConnectTools) -> None:
    """A validation that counts errors and names none is not a good one."""
    worker.answers[VALIDATION] = 200, json.dumps({"error_count": 2, "configs": [value("topics")]})

    assert {ALL_KEYS: ("2 error(s) without a reason",)} == tools.problems({})


@pytest.mark.parametrize("status", [400, 500])
def test_configuration_that_cannot_be_validated_is_a_problem(
    worker: WorkerServer, tools: RestConnectTools, status: int
) -> None:
    """If Connect cannot validate, for example because a config provider fails, its words are the problem."""
    worker.answers[VALIDATION] = status, json.dumps({"error_code": status, "message": "Could not read properties"})

    assert {ALL_KEYS: ("Could not read properties",)} == tools.problems({})


def test_worker_is_asked_at_its_own_address(worker: WorkerServer, tools: RestConnectTools) -> None:
    """Another worker is asked at its own address, and both are closed together."""
    with WorkerServer({"/": (200, json.dumps({**ROOT, "version": "3.8.1"}))}) as other:
        assert "3.8.1" == tools.at(f"{other.url}/").root().version
        assert tools.at(f"{other.url}/") is tools.at(f"{other.url}/")
        tools.close()
    assert [] == worker.heard


@pytest.mark.parametrize(
    ("address", "ca", "user"),
    [
        ("https://connect/", "", LOGIN),
        ("https://worker-1:8083/", "a CA", LOGIN),
        ("https://worker-1:8083/", "", ""),
        ("http://worker-1:8083/", "a CA", ""),
        ("http://connect/", "a CA", ""),
        ("http://10.0.0.7:8083", "", ""),
    ],
)
def test_login_goes_to_no_stranger(address: str, ca: str, user: str) -> None:
    """Kafka names the address of a worker, so it gets the login only if the connection's own CA vouches for it."""
    settings = HttpSettings("shop_connect", "https://connect", LOGIN, SECRET, ca)
    own = worker_settings(settings, address)

    assert (address.rstrip("/"), user, SECRET if user else "", ca) == (own.url, own.user, own.password, own.ca_pem)


@pytest.mark.parametrize(
    "address", ["NOTUSED", "", "http://[worker-1/", "ftp://worker-1:21/", "http://127.1:8083/", "http://a:b@c:1/"]
)
def test_odd_address_of_a_worker_is_refused(address: str) -> None:
    """What a member of the group names is asked only if it is a usual address of an HTTP service."""
    with pytest.raises(Refused):
        worker_settings(HttpSettings("shop_connect", "https://connect"), address)
