"""Connections of type `http` are read, masked and checked before anything is connected."""

from __future__ import annotations

import json
from typing import Any

import pytest
from airflow.sdk._shared.secrets_masker import redact

from kafka_migration.airflow_adapters.airflow_connections import http_settings, registry_named
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.errors import Refused

SECRET = "s3cret-of-the-registry"


def connection(monkeypatch: pytest.MonkeyPatch, **fields: Any) -> None:
    """Set the connection `reg`."""
    monkeypatch.setenv("AIRFLOW_CONN_REG", json.dumps({"conn_type": "http", **fields}))


def test_fields_become_the_address_and_the_login(monkeypatch: pytest.MonkeyPatch) -> None:
    """Host, schema and port are the address; the extra has the CA; a log does not show the password."""
    ca = {"ssl.ca.pem": "…"}
    connection(
        monkeypatch, host="registry", schema="https", port=8081, login="ada", password=SECRET, extra=json.dumps(ca)
    )

    settings = http_settings("reg")

    assert settings == HttpSettings("reg", "https://registry:8081", "ada", SECRET, "…")
    assert SECRET not in str(redact(f"Authorization: {SECRET}"))
    assert SECRET not in repr(settings)


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"conn_type": "kafka"}, "CONNECTION_INVALID · connection reg: The connection reg has type kafka"),
        (
            {"host": "registry", "extra": "{"},
            "CONNECTION_INVALID · connection reg: The connection reg has an extra that is not valid",
        ),
        ({"host": "http://registry", "login": "ada", "password": SECRET}, "CONNECTION_INSECURE · connection reg"),
        (
            {"host": "https://registry", "extra": '{"verify": false}'},
            "The settings of reg have the name 'verify' in its extra",
        ),
        ({}, "no address of a service"),
    ],
)
def test_wrong_connection_is_refused(monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], found: str) -> None:
    """Each mistake is a finding that names the connection and shows no password."""
    connection(monkeypatch, **fields)

    with pytest.raises(Refused) as refused:
        registry_named("source", "reg")

    assert found in str(refused.value)
    assert SECRET not in str(refused.value)


def test_missing_connection_is_refused() -> None:
    """The command that creates a connection names its type."""
    with pytest.raises(Refused, match=r"CONNECTION_MISSING .* --conn-type http"):
        http_settings("reg")
