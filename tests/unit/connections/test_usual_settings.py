"""The usual settings of services, as the installation page shows them, are accepted for all clients."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kafka_migration.core.connections.connection_checks import connection_findings
from kafka_migration.core.connections.java_properties import java_properties
from kafka_migration.core.migration.settings import Insecurity

PAGE = Path(__file__).parents[3] / "docs" / "installation.md"
SECTION = PAGE.read_text().partition("### Usual settings of services")[2].partition("\n### ")[0]
BLOCKS = [json.loads(block)["extra"] for block in re.findall(r"```json\n(.*?)```", SECTION, re.DOTALL)]
SETTINGS = {each["bootstrap.servers"]: each for each in BLOCKS}


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
