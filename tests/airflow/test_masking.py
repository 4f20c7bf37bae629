"""Rules of masking: no log shows a secret of a Kafka connection, in whatever form a client writes it."""

from __future__ import annotations

import asyncio
import html
import json
import logging
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus, urlencode

import pytest
from airflow.sdk._shared.secrets_masker import SecretsMasker, redact
from airflow.sdk.execution_time import task_runner
from airflow.sdk.log import mask_secret
from asgiref.sync import sync_to_async

from kafka_migration.airflow_adapters.airflow_connections import cluster_named, connection_config, http_settings
from kafka_migration.airflow_adapters.ssh import SshTransport
from kafka_migration.cli.main import main
from kafka_migration.cli.shell.airflow_access import loading_airflow
from kafka_migration.core.connections.java_properties import java_properties
from kafka_migration.core.connections.secrets import secret_texts, unmasked_names, without_secrets
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.engines.launching import render_properties
from tests.airflow.driving import lag_trigger
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
    """Return the secrets in the forms in which clients and logs write them."""
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


# Parts of the secrets that no line may have.
PIECES = ("ss\\\\w", "wörd-4711", "w\\u00f6rd", *KEY.splitlines()[1:-1])


@pytest.mark.parametrize("form", forms())
def test_log_line_is_masked(connection: str, form: str) -> None:
    """After a connection was read, every form of its secrets is masked."""
    line = f"error: {forms()[form]} was refused"
    assert any(piece in line for piece in PIECES)
    assert redact(line) == line

    cluster_named("source", connection)

    shown = str(redact(line))
    assert "***" in shown
    assert not [piece for piece in PIECES if piece in shown]


def test_task_log_is_masked(connection: str) -> None:
    """The log of a task is masked."""
    from airflow.sdk.log import mask_logs

    connection_config(connection)
    line = mask_logs(logging.getLogger(), "info", {"event": f"login with {PASSWORD}"})

    assert {"event": "login with ***"} == line


def test_refused_connection_is_masked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The secrets of a refused connection are masked, also those of unknown settings."""
    extra = {"sasl.jaas.config": 'X required username="u" password="hidden-1";', "sasl_password": "hidden-2"}
    monkeypatch.setenv("AIRFLOW_CONN_OLD_KAFKA", json.dumps({"conn_type": "kafka", "extra": extra}))
    with pytest.raises(Refused):
        connection_config("old_kafka")

    assert "*** ***" == redact("hidden-1 hidden-2")


class Supervisor:
    """Records what a task or a trigger sends to the process that writes its log."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def send(self, message: Any) -> None:
        """Take a message."""
        self.sent.append(message)


def test_supervisor_receives_the_secrets(connection: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that writes the log receives the secrets before the connection is used."""
    supervisor = Supervisor()
    monkeypatch.setattr(task_runner, "SUPERVISOR_COMMS", supervisor, raising=False)
    monkeypatch.setattr("airflow.sdk.execution_time.context._get_connection", lambda conn_id: _connection(conn_id))

    async def as_in_a_trigger() -> None:
        await sync_to_async(connection_config)(connection)

    asyncio.run(as_in_a_trigger())

    masked = [message.value for message in supervisor.sent if type(message).__name__ == "MaskSecret"]
    assert list(secret_texts(SETTINGS)) in masked


def _connection(conn_id: str) -> Any:
    from airflow.sdk import Connection

    return Connection(conn_id=conn_id, conn_type="kafka", extra=json.dumps(SETTINGS))


def test_trigger_masks(connection: str) -> None:
    """A trigger masks the secrets of its connection before the first poll."""
    lag_trigger()._watcher()

    assert "***" == redact(PASSWORD)


def test_command_line_masks(
    connection: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command line masks the secrets and shows none."""
    monkeypatch.setenv("AIRFLOW_CONN_OLD_KAFKA", json.dumps({"conn_type": "kafka", "extra": {**SETTINGS, "x": "y"}}))

    assert main(["waves", "--source", connection, "--target", connection]) == 3
    assert "***" == redact(PASSWORD)
    assert PASSWORD not in capsys.readouterr().err


def test_names_are_not_hidden() -> None:
    """The address, the user and certificates are not masked."""
    hidden = secret_texts(SETTINGS)

    assert not [text for text in hidden if text in {"migration", "127.0.0.1:1", "SASL_SSL"}]
    assert CERTIFICATE == without_secrets(CERTIFICATE, SETTINGS)


USER, PLAIN = "mi gration", "p&=w\u00f6rd:#!/4711"


def encoded_forms(user: str = USER, password: str = PLAIN) -> dict[str, str]:
    """Return a login in the forms in which requests, URLs, files and pages have it."""
    login, plain = f"{user}:{password}", f"\0{user}\0{password}"
    escaped = f"{quote_plus(user)}:{quote_plus(password)}"
    return {
        "basic authentication": f"Authorization: Basic {b64encode(login.encode()).decode()}",
        "basic authentication of a token endpoint": f"Basic {b64encode(escaped.encode()).decode()}",
        "SASL PLAIN": b64encode(plain.encode()).decode(),
        "SASL PLAIN with an identity": b64encode(f"{user}{plain}".encode()).decode(),
        "in base64": b64encode(password.encode()).decode(),
        "in base64 of URLs": urlsafe_b64encode(plain.encode()).decode(),
        "in a query": f"https://a/?{urlencode({'password': password})}",
        "in a path": f"https://a/{quote(password)}",
        "in a URL": f"https://ada:{quote(password, safe='')}@a",
        "in a file of Java": "p&\\=w\\u00F6rd\\:\\#\\!/4711",
        "in a properties file": render_properties({"sasl.password": password}),
        "in JSON": json.dumps({"password": password}),
        "on a page": html.escape(password),
        "as it is": password,
    }


LOGINS: dict[str, tuple[str, dict[str, Any]]] = {
    "Kafka": ("kafka", {"extra": {**SETTINGS, "sasl.username": USER, "sasl.password": PLAIN}}),
    "OAuth": ("kafka", {"extra": {"sasl.oauthbearer.client.id": USER, "sasl.oauthbearer.client.secret": PLAIN}}),
    "HTTP": ("http", {"host": "https://registry", "login": USER, "password": PLAIN}),
    "SSH": ("ssh", {"host": "mirror", "login": USER, "password": PLAIN, "extra": {"private_key": KEY}}),
}


def read(kind: str) -> None:
    """Read the connection as the package does, and ignore the result."""
    readers: dict[str, Callable[[str], object]] = {
        "kafka": connection_config,
        "http": http_settings,
        "ssh": SshTransport,
    }
    with suppress(Refused):
        readers[kind]("login")


@pytest.mark.parametrize("form", encoded_forms())
@pytest.mark.parametrize("login", LOGINS)
def test_login_is_masked_in_every_encoding(monkeypatch: pytest.MonkeyPatch, login: str, form: str) -> None:
    """After a connection of any kind was read, no log shows its login in the encoding of a request or a file."""
    kind, fields = LOGINS[login]
    line = encoded_forms()[form]
    monkeypatch.setenv("AIRFLOW_CONN_LOGIN", json.dumps({"conn_type": kind, **fields}))
    assert redact(line) == line

    read(kind)

    shown = str(redact(line))
    assert "***" in shown
    assert "4711" not in shown
    assert not [word for word in re.findall(r"[\w-]{20,}", line) if word in shown]


def test_key_file_of_ssh_is_masked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The key in a file is a secret like the key in the connection."""
    file = tmp_path / "key"
    file.write_text(KEY)
    extra = {"key_file": str(file), "look_for_keys": False}
    monkeypatch.setenv(
        "AIRFLOW_CONN_LOGIN", json.dumps({"conn_type": "ssh", "host": "127.0.0.1", "port": 1, "extra": extra})
    )

    with suppress(Refused, TransientError):
        SshTransport("login")._connect()

    assert not [line for line in KEY.splitlines()[1:-1] if line in str(redact(KEY))]


SECRETS = ("sasl.password", "password", "ssl.key.password", "private_key")


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"sasl.password": "abcd"}, ("sasl.password",)),
        ({"sasl.password": " abcd "}, ("sasl.password",)),
        ({"password": "Airflow", "ssl.key.password": "x"}, ("password", "ssl.key.password")),
        ({"sasl.password": "abcde", "sasl.username": "ada", "password": "", "private_key": None}, ()),
        ({"no_host_key_check": False, "host": "a", "x.token": 1}, ()),
    ],
)
def test_secret_that_airflow_does_not_mask_is_named(settings: dict[str, object], names: tuple[str, ...]) -> None:
    """Airflow masks no short secret and not its own name, as its masker shows."""
    assert names == unmasked_names(settings, 5)

    for name, value in settings.items():
        mask_secret(text := str(value or "").strip())
        assert (name in names) == (name in SECRETS and bool(text) and redact(f"<{text}>") == f"<{text}>")


def test_short_values_that_are_no_secrets_are_no_warning_of_the_command_line(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Airflow's masker warns of every short value, as of `SSL`; preflight names the short secrets itself."""
    monkeypatch.setattr(SecretsMasker, "_has_warned_short_secret", False)
    loading_airflow()
    mask_secret({"security.protocol": "SSL"})
    logging.getLogger(SecretsMasker.__module__).warning("another warning")

    assert SecretsMasker._has_warned_short_secret
    assert ["another warning"] == caplog.messages
