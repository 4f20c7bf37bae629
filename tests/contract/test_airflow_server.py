"""The tests' Airflow does what the contract says, and the client answers faults with the right errors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_migration.adapters.http import http_service
from kafka_migration.adapters.http.airflow_api import HttpAirflow
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.errors import Refused, TransientError
from tests.contract.airflow_api_contract import AirflowApiContract
from tests.contract.airflow_server import DAG_ID, PASSWORD, TOKEN, USER, AirflowServer


@pytest.fixture
def server() -> Iterator[AirflowServer]:
    """An Airflow with the paused DAG."""
    with AirflowServer({DAG_ID: True}) as made:
        yield made


class TestAirflowServer(AirflowApiContract):
    """The server of the tests."""

    @pytest.fixture(autouse=True)
    def _serves(self, server: AirflowServer) -> None:
        self.url = server.url


def client(server: AirflowServer, token: str = "") -> HttpAirflow:
    """Return a client with the user's login, or with a token."""
    return HttpAirflow("--server", HttpSettings("--server", server.url, USER, PASSWORD), token)


def test_an_expired_token_is_renewed(server: AirflowServer) -> None:
    """A wait that is longer than the token's life goes on with a new token; a given token cannot be renewed."""
    airflow = client(server)
    assert airflow.dag(DAG_ID)
    server.expired.update(server.tokens)

    assert airflow.dag(DAG_ID)
    with pytest.raises(Refused, match="a refused login"):
        client(server, TOKEN).dag(DAG_ID)


@pytest.mark.parametrize("fault", [(500, ""), (503, "busy"), (0, "")])
def test_no_answer_is_temporary(server: AirflowServer, fault: tuple[int, str]) -> None:
    """A server that fails, is busy or ends the connection may answer later; a request is sent once."""
    server.faults.append(fault)

    with pytest.raises(TransientError):
        client(server).trigger(DAG_ID, "manual__1", {})
    assert 1 == len(server.asked)


@pytest.mark.parametrize("fault", [(200, "<html>"), (200, "[]"), (302, ""), (418, ""), (404, "")])
def test_another_service_is_refused(server: AirflowServer, fault: tuple[int, str]) -> None:
    """An answer that Airflow does not give is a finding with the status."""
    server.faults.append(fault)

    with pytest.raises(Refused, match=rf"AIRFLOW_API_REFUSED .*status {fault[0]}"):
        client(server).trigger(DAG_ID, "manual__1", {})


ECHO = json.dumps(
    {"detail": [{"type": "missing", "loc": ["body", "x"], "msg": "Field required", "input": {"password": PASSWORD}}]}
)


@pytest.mark.parametrize("text", [ECHO, json.dumps({"detail": f"no {PASSWORD} and no {TOKEN}"})])
def test_answer_that_repeats_its_input_shows_no_login(server: AirflowServer, text: str) -> None:
    """A finding has neither the password nor the token, whatever the server repeats."""
    server.faults.append((422, text))
    airflow = client(server, TOKEN)

    with pytest.raises(Refused, match="status 422") as refused:
        airflow.trigger(DAG_ID, "manual__1", {})
    assert PASSWORD not in str(refused.value)
    assert TOKEN not in str(refused.value)


def test_questions_in_an_odd_form_are_refused(server: AirflowServer) -> None:
    """Answers about a run that Airflow does not give are a finding."""
    server.faults.append((200, json.dumps({"hitl_details": [{"task_instance": 5}]})))

    with pytest.raises(Refused, match="AIRFLOW_API_REFUSED"):
        client(server, TOKEN).questions(DAG_ID, "manual__1")


def test_settings_that_no_client_takes() -> None:
    """Certificates that cannot be read, and a token that is no header, are findings."""
    settings = HttpSettings("--server", "https://127.0.0.1:1", ca_pem="no certificate")

    with pytest.raises(Refused, match="without a certificate in PEM"):
        HttpAirflow("--server", settings)
    with pytest.raises(Refused, match="no text of ASCII"):
        HttpAirflow("--server", HttpSettings("--server", "https://127.0.0.1:1"), "tok\nen")


def test_only_tls_reads_authorities(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service without TLS needs no authorities, which take longer to read than the whole request."""
    read: list[str | None] = []
    monkeypatch.setattr(http_service, "trusting", read.append)
    HttpAirflow("--server", HttpSettings("--server", "http://127.0.0.1:1"), "token")
    assert [] == read

    HttpAirflow("--server", HttpSettings("--server", "https://127.0.0.1:1", ca_pem="a certificate"), "token")
    assert ["a certificate"] == read


def echo(shape: str, body: Any, headers: str) -> Any:
    """Return the detail of an error that repeats its request."""
    item = {"type": "missing", "loc": ["body", 0], "msg": "Field required", "input": body, "ctx": {"error": headers}}
    shapes = {
        "items": [item, "odd", None, 7, {"loc": 1, "input": body}],
        "item": {"reason": "Unique constraint violation", "statement": str(body), "orig_error": headers},
        "nested": {"body": body, "headers": headers},
        "text": f"wrong: {json.dumps(body)} {headers}",
        "texts in the message": [{"msg": f"wrong: {body!r} {headers}", "loc": [body, headers]}],
    }
    return shapes[shape]


@pytest.mark.parametrize("status", [302, 400, 401, 403, 409, 422, 500])
@pytest.mark.parametrize("shape", ["items", "item", "nested", "text", "texts in the message"])
@pytest.mark.parametrize("at", ["/auth/token", "/dagRuns", "given token"])
def test_error_that_repeats_its_request_shows_no_secret(
    server: AirflowServer, monkeypatch: pytest.MonkeyPatch, status: int, shape: str, at: str
) -> None:
    """No answer of Airflow brings the password or the token of the request into an error."""
    password, given = 's3cret "ö of ada', "t0ken.of-a/da=="

    def echoing(method: str, path: str, body: Any, token: str) -> tuple[int, Any]:
        if path.endswith("/auth/token") and at != path:
            return 201, {"access_token": given}
        return status, {"detail": echo(shape, {"conf": password, **body}, f"Authorization: Bearer {token}")}

    monkeypatch.setattr(server, "answer", echoing)
    settings = HttpSettings("--server", server.url, "ada", password)
    airflow = HttpAirflow("--server", settings, given if at == "given token" else "")
    with pytest.raises((Refused, TransientError)) as error:
        airflow.trigger(DAG_ID, "manual__1", {})

    text = str(error.value)
    assert str(status) in text
    assert not [each for each in ("s3cret", "t0ken") if each in text]


def test_detail_of_fastapi_says_the_place_and_the_problem(server: AirflowServer) -> None:
    """An error of validation is shown as its places and problems."""
    server.faults.append((422, json.dumps({"detail": echo("items", {}, "")})))
    with pytest.raises(Refused, match=r"the request: status 422, body\.0: Field required; odd\."):
        client(server).trigger(DAG_ID, "manual__1", {})

    server.faults.append((409, json.dumps({"detail": echo("item", {}, "")})))
    with pytest.raises(Refused, match="the request: status 409, Unique constraint violation\\."):
        client(server).trigger(DAG_ID, "manual__1", {})


@pytest.mark.parametrize(
    "details", [7, "odd", {"a": 1}, [7], [None], ["odd"], [{}], [{"task_instance": None, "subject": "s"}]]
)
def test_odd_questions_are_refused(server: AirflowServer, details: Any) -> None:
    """Questions that Airflow does not give are a finding."""
    server.faults.append((200, json.dumps({"hitl_details": details})))
    with pytest.raises(Refused, match=r"AIRFLOW_API_REFUSED .*question"):
        client(server).questions(DAG_ID, "manual__1")
