"""Rules of what logs show of a Kafka connection: none of its secrets, in whatever form a client writes them."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest
from airflow.sdk._shared.secrets_masker import redact
from airflow.sdk.execution_time import task_runner
from asgiref.sync import sync_to_async

from kafka_migration.airflow_adapters.connections import cluster_named, connection_config
from kafka_migration.cli.main import main
from kafka_migration.core.connections.java_properties import java_properties
from kafka_migration.core.connections.secrets import secret_texts, without_secrets
from kafka_migration.core.findings.errors import Refused
from kafka_migration.engines.properties import render_properties
from kafka_migration.orchestration.triggers.group_lag import ConsumerGroupLagTrigger
from tests.bad_connections import CERTIFICATE, KEY

PASSWORD = 'pa"ss\\wörd-4711'
SETTINGS = {
    "bootstrap.servers": "127.0.0.1:1",
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.username": "migration",
    "sasl.password": PASSWORD,
    "ssl.key.pem": KEY,
    "ssl.certificate.pem": CERTIFICATE,
}


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> str:
    """A connection with a login and a key."""
    monkeypatch.setenv("AIRFLOW_CONN_OLD_KAFKA", json.dumps({"conn_type": "kafka", "extra": SETTINGS}))
    return "old_kafka"


def forms() -> dict[str, str]:
    """Return lines in which the secrets stand as clients and logs write them."""
    properties = java_properties("c", SETTINGS)
    return {
        "the password": PASSWORD,
        "in a JAAS line": properties["sasl.jaas.config"],
        "in a properties file": render_properties(properties),
        "in JSON": json.dumps(properties),
        "in JSON within JSON": json.dumps({"extra": json.dumps({"x": KEY})}),
        "as Python shows it": repr(SETTINGS),
        "a key": KEY,
        "a key of another system": KEY.replace("\n", "\r\n"),
        "a key in one line": KEY.replace("\n", ""),
        "a line of a key": KEY.splitlines()[1],
    }


# Pieces of the secrets that no line may hold.
PIECES = ("ss\\\\w", "wörd-4711", "w\\u00f6rd", *KEY.splitlines()[1:-1])


@pytest.mark.parametrize("form", forms())
def test_log_line_is_masked(connection: str, form: str) -> None:
    """Once a connection was read, a line with a form of its secrets comes out masked; before, it does not."""
    line = f"error: {forms()[form]} was refused"
    assert any(piece in line for piece in PIECES)
    assert redact(line) == line

    cluster_named("source", connection)

    shown = str(redact(line))
    assert "***" in shown
    assert not [piece for piece in PIECES if piece in shown]


def test_task_log_is_masked(connection: str) -> None:
    """The log of a task goes through the masking that was told."""
    from airflow.sdk.log import mask_logs

    connection_config(connection)
    line = mask_logs(logging.getLogger(), "info", {"event": f"login with {PASSWORD}"})

    assert {"event": "login with ***"} == line


def test_refused_connection_is_masked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is refused its secrets are hidden, those under names that are not known as well."""
    extra = {"sasl.jaas.config": 'X required username="u" password="hidden-1";', "sasl_password": "hidden-2"}
    monkeypatch.setenv("AIRFLOW_CONN_OLD_KAFKA", json.dumps({"conn_type": "kafka", "extra": extra}))
    with pytest.raises(Refused):
        connection_config("old_kafka")

    assert "*** ***" == redact("hidden-1 hidden-2")


class Supervisor:
    """What a task or a trigger tells the process that writes its log."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def send(self, message: Any) -> None:
        """Take a message."""
        self.told.append(message)


def test_supervisor_is_told(connection: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever writes the log is another process, in tasks and in the triggerer alike; it hears of the secrets first."""
    supervisor = Supervisor()
    monkeypatch.setattr(task_runner, "SUPERVISOR_COMMS", supervisor, raising=False)
    monkeypatch.setattr("airflow.sdk.execution_time.context._get_connection", lambda conn_id: _connection(conn_id))

    async def as_in_a_trigger() -> None:
        await sync_to_async(connection_config)(connection)

    asyncio.run(as_in_a_trigger())

    masked = [message.value for message in supervisor.told if type(message).__name__ == "MaskSecret"]
    assert list(secret_texts(SETTINGS)) in masked


def _connection(conn_id: str) -> Any:
    from airflow.sdk import Connection

    return Connection(conn_id=conn_id, conn_type="kafka", extra=json.dumps(SETTINGS))


def test_trigger_masks(connection: str) -> None:
    """A trigger that reads a cluster has hidden its secrets before the first poll."""
    trigger = ConsumerGroupLagTrigger(
        kafka_conn_id=connection,
        groups={"shop": None},
        limit_offsets=0,
        samples=1,
        freshness_s=60,
        poll_interval_s=1,
        deadline="2030-01-01T00:00:00+00:00",
    )
    trigger._watcher()

    assert "***" == redact(PASSWORD)


def test_command_line_masks(
    connection: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command line hides them as well, and shows none itself."""
    monkeypatch.setenv("AIRFLOW_CONN_OLD_KAFKA", json.dumps({"conn_type": "kafka", "extra": {**SETTINGS, "x": "y"}}))

    assert main(["waves", "--source", connection, "--target", connection]) == 3
    assert "***" == redact(PASSWORD)
    assert PASSWORD not in capsys.readouterr().err


def test_names_are_not_hidden() -> None:
    """What is no secret stays readable: the address, the user, certificates."""
    hidden = secret_texts(SETTINGS)

    assert not [text for text in hidden if text in {"migration", "127.0.0.1:1", "SASL_SSL"}]
    assert CERTIFICATE == without_secrets(CERTIFICATE, SETTINGS)
