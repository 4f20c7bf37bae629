"""The tests' Airflow does what the contract says, and the client answers faults with the right errors."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from kafka_migration.adapters.airflow_api import HttpAirflow
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
