"""`discover --from`: a connection of Airflow leads to a server, and the answer shows no secret."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk._shared.secrets_masker import redact

from kafka_migration.adapters.http import cluster_managers
from kafka_migration.cli.main import main
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.discovery.described_cluster import ClusterManager
from tests.contract.manager_servers import (
    AMBARI_SETTINGS,
    GROUP_SETTINGS,
    SETTINGS,
    ManagerServer,
    ambari_answers,
    cloudera_answers,
    items,
)

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "discover.md"
SECRET = "s3cret-of-the-manager"
KEYSTORE_SECRET = "s3cret-of-the-keystore"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ManagerServer]:
    """A server, and the connection `manager` that leads to it with a login.

    A login is refused over http, so the connection has https, and the client of the tests leaves the s out.
    """
    with ManagerServer({}) as made:
        fields = {"conn_type": "http", "host": made.url.replace("http:", "https:"), "login": "ada", "password": SECRET}
        monkeypatch.setenv("AIRFLOW_CONN_MANAGER", json.dumps(fields))
        real = cluster_managers.manager_of

        def plain(settings: HttpSettings) -> ClusterManager:
            return real(HttpSettings(settings.connection, made.url, settings.user, settings.password))

        monkeypatch.setattr(cluster_managers, "manager_of", plain)
        yield made


def discovered(server: ManagerServer, answers: dict[str, Any], capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """Return what the command prints for these answers; no secret is in it."""
    server.answers |= answers
    assert 0 == main(["discover", "--from", "manager", *more])
    captured = capsys.readouterr()
    assert not any(secret in captured.out + captured.err for secret in (SECRET, KEYSTORE_SECRET))
    return captured.out


def test_lines_of_ambari(server: ManagerServer, capsys: pytest.CaptureFixture[str]) -> None:
    """What is known is a comment, and so is what is not known."""
    lines = discovered(server, ambari_answers(), capsys).splitlines()

    assert "# Cluster                    demo, read from Ambari" in lines
    assert "# Kafka version              2.4.1" in lines
    assert "# auto.create.topics.enable  false" in lines
    assert "# Running MirrorMaker        not known" in lines
    servers = "wn0-demo.example.com:9092,wn1-demo.example.com:9092"
    assert any(line.startswith("airflow connections add demo_kafka ") and servers in line for line in lines)
    assert any(line.startswith("# Azure HDInsight: ") for line in lines)


def test_page_shows_the_output(server: ManagerServer, capsys: pytest.CaptureFixture[str]) -> None:
    """The lines of the how-to page are those of the command, in the same order."""
    lines = discovered(server, ambari_answers(), capsys).splitlines()
    shown = [line.strip() for line in PAGE.read_text().partition("```text\n")[2].partition("```")[0].splitlines()]

    assert lines[: len(shown)] == shown


def test_mirrormaker_that_runs_is_named(server: ManagerServer, capsys: pytest.CaptureFixture[str]) -> None:
    """A MirrorMaker that the platform runs would copy the same topics, so the output warns of it."""
    lines = discovered(server, cloudera_answers(), capsys).splitlines()

    assert "# Running MirrorMaker        host3.example.com" in lines
    assert "# The platform runs MirrorMaker. Stop it before a migration copies the same topics." in lines


def test_document_of_cloudera_manager(server: ManagerServer, capsys: pytest.CaptureFixture[str]) -> None:
    """The document has the cluster with its values, `null` for what is not known, and the connection."""
    document = json.loads(discovered(server, cloudera_answers(), capsys, "--cluster", "Cluster 1", "-o", "json"))
    cluster, (kafka, _) = document["cluster"], document["connections"]

    assert "cloudera" == document["preset"]
    assert ("Cloudera Manager", "Cluster 1/kafka", "7.1.7", None, True, True) == tuple(
        cluster[name] for name in ("manager", "name", "release", "kafka_version", "tls", "kerberos")
    )
    assert ["host3.example.com"] == cluster["mirror_makers"]
    assert {"host": "host1.example.com", "port": 9093, "protocol": "SASL_SSL"} == (
        cluster["brokers"][0]["listeners"][0]
    )
    assert ("SASL_SSL", "GSSAPI", "<PRINCIPAL>") == tuple(
        kafka["fields"]["extra"][name] for name in ("security.protocol", "sasl.mechanism", "sasl.kerberos.principal")
    )


def test_secret_settings_of_brokers_are_not_shown(server: ManagerServer, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the brokers' settings only those that are needed are read."""
    ambari = {**AMBARI_SETTINGS, "ssl.keystore.password": KEYSTORE_SECRET}
    discovered(server, ambari_answers(ambari), capsys, "-o", "json")
    group = items({"ssl_enabled": ("false", None), "port": ("9092", None), "ssl_key_password": (KEYSTORE_SECRET, None)})
    group["items"].append({"name": "ssl_server_keystore_password", "value": [KEYSTORE_SECRET]})
    discovered(server, cloudera_answers() | {GROUP_SETTINGS: group}, capsys, "-o", "json")


def test_answer_of_another_shape_shows_no_secret(server: ManagerServer, capsys: pytest.CaptureFixture[str]) -> None:
    """A finding names the kind of a value that may contain secrets, not the value."""
    answers = ambari_answers()
    answers[SETTINGS]["items"][0]["properties"] = [f"ssl.keystore.password={KEYSTORE_SECRET}"]
    server.answers |= answers

    assert 3 == main(["discover", "--from", "manager"])
    captured = capsys.readouterr()
    assert " a list in /api/v1/clusters/demo/configurations, items[0], properties" in captured.err
    assert KEYSTORE_SECRET not in captured.out + captured.err


def test_refusal_shows_no_password(server: ManagerServer, capsys: pytest.CaptureFixture[str]) -> None:
    """A refused login is one line, and the password is masked in logs."""
    server.answers["/api/v1/clusters"] = (401, f"{SECRET} is wrong")

    assert 3 == main(["discover", "--from", "manager"])
    captured = capsys.readouterr()
    (line,) = [line for line in captured.err.splitlines() if " · " in line]
    assert line.startswith("MANAGER_REFUSED · connection manager")
    assert SECRET not in captured.out + captured.err
    assert SECRET not in str(redact(f"Authorization: {SECRET}"))


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        (None, "CONNECTION_MISSING · connection manager"),
        ({"conn_type": "kafka"}, "has type kafka"),
        ({"conn_type": "http", "host": "http://a", "login": "ada"}, "CONNECTION_INSECURE · connection manager"),
    ],
)
def test_wrong_connection(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fields: dict[str, str] | None, found: str
) -> None:
    """The connection is checked before anything is connected."""
    if fields:
        monkeypatch.setenv("AIRFLOW_CONN_MANAGER", json.dumps(fields))

    assert 3 == main(["discover", "--from", "manager"])
    assert found in capsys.readouterr().err
