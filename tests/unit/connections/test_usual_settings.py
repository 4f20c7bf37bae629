"""The usual settings of services, as the installation page shows them, are accepted for all clients."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_migration.core.connections.connection_checks import connection_findings
from kafka_migration.core.connections.java_properties import java_properties
from kafka_migration.core.migration.settings import Insecurity

PAGE = Path(__file__).parents[3] / "docs" / "installation.md"
SECTION = PAGE.read_text().partition("### Usual settings of services")[2].partition("\n### ")[0]
COLUMNS = ("bootstrap.servers", "security.protocol", "sasl.mechanism")
ROWS = re.findall(r"^\| [^|`]+ \| `(\S+:\d+)` \| `(\S+)` \| `(\S+)` \| (.*) \|$", SECTION, re.MULTILINE)
CONNECTION_STRING = "Endpoint=sb://namespace.servicebus.windows.net/;SharedAccessKeyName=migration;SharedAccessKey=a+b="
KERBEROS = {"sasl.kerberos.principal": "migration@EXAMPLE.COM", "sasl.kerberos.keytab": "/etc/security/a.keytab"}


def settings_of(row: tuple[str, ...]) -> dict[str, str]:
    """Return the settings of a row with a login as its last column says."""
    *named, login = row
    settings = dict(zip(COLUMNS, named, strict=True))
    user = re.search(r"literally `(\S+)`", login)
    password = {"sasl.username": user[1] if user else "migration", "sasl.password": CONNECTION_STRING}
    return settings | (KERBEROS if "[Kerberos](#kerberos)" in login else password)


SETTINGS = {row[0]: settings_of(row) for row in ROWS}


def test_five_services_are_documented() -> None:
    """Event Hubs, Confluent Cloud, MSK, HDInsight and Cloudera."""
    assert 5 == len(SETTINGS)


@pytest.mark.parametrize("service", SETTINGS)
def test_settings_are_accepted(service: str) -> None:
    """Airflow accepts them, and Java clients get a login; only an encryption that lacks must be allowed."""
    settings = SETTINGS[service]
    is_clear = settings["security.protocol"] == "SASL_PLAINTEXT"
    found = connection_findings("c", settings, (), lambda feature: True)

    assert (["CONNECTION_INSECURE"] if is_clear else []) == [finding.code for finding in found]
    assert () == connection_findings("c", settings, [Insecurity.SASL_PLAINTEXT], lambda feature: True)
    assert settings["sasl.mechanism"] == java_properties("c", settings)["sasl.mechanism"]


def test_connection_string_of_event_hubs_reaches_java_unchanged() -> None:
    """The dollar, the semicolons and the equals signs stand inside quotes, where JAAS reads them as they are."""
    (settings,) = (each for name, each in SETTINGS.items() if "servicebus" in name)
    jaas = java_properties("c", settings)["sasl.jaas.config"]

    assert f'username="$ConnectionString" password="{settings["sasl.password"]}";' in jaas
