"""The commands of the installation page turn a key store of Java into a connection that every client accepts."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from kafka_migration.core.connections.connection_checks import connection_findings
from kafka_migration.core.connections.java_properties import java_properties
from sandbox.environment import program
from sandbox.kafka import SHORT_LIVED

PAGE = Path(__file__).parents[2] / "docs" / "installation.md"
PASSWORD = "changeit-4711"


@pytest.mark.parametrize("kind", ["JKS", "PKCS12"])
def test_key_store_becomes_pem(tmp_path: Path, kind: str) -> None:
    """Key, certificate and CA arrive in a form that librdkafka loads and Java reads."""
    environment = {**os.environ, "STORE_PASSWORD": PASSWORD, "JAVA_TOOL_OPTIONS": " ".join(SHORT_LIVED)}

    def run(*command: str) -> None:
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    store = ("-keystore", "client.jks", "-storetype", kind, "-storepass:env", "STORE_PASSWORD")
    made = ("-genkeypair", "-alias", "client", "-keyalg", "EC", "-dname", "CN=migration", "-keypass", PASSWORD)
    run(program("keytool"), *made, *store)
    run(program("keytool"), "-exportcert", "-alias", "client", "-file", "own.der", *store)
    trust = ("-keystore", "truststore.jks", "-storetype", kind, "-storepass:env", "STORE_PASSWORD", "-noprompt")
    run(program("keytool"), "-importcert", "-alias", "ca", "-file", "own.der", *trust)
    section = PAGE.read_text().partition("### From key stores to PEM")[2].partition("\n### ")[0]
    (commands,) = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)

    run("bash", "-e", "-o", "pipefail", "-c", commands)

    names = {"ssl.key.pem": "key.pem", "ssl.certificate.pem": "certificate.pem", "ssl.ca.pem": "ca.pem"}
    settings = {"bootstrap.servers": "a:1", "security.protocol": "SSL"}
    settings |= {name: (tmp_path / file).read_text() for name, file in names.items()}
    assert () == connection_findings("c", settings, (), lambda feature: True)
    assert java_properties("c", settings)["ssl.keystore.key"].startswith("-----BEGIN PRIVATE KEY-----")
    AdminClient(settings)
