"""Presets of platforms, and the connections that are made from them."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import pytest

from kafka_migration.core.connections.client_settings import UNSUPPORTED_MECHANISMS
from kafka_migration.core.connections.connection_checks import connection_findings
from kafka_migration.core.discovery.connections_to_create import (
    connection_base,
    connections_for,
    kafka_extra,
    placeholders,
)
from kafka_migration.core.discovery.described_cluster import Entrance
from kafka_migration.core.discovery.presets import PRESETS, entrance_of
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.migration.settings import Insecurity

PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
# What a person writes in place of the placeholders.
WRITTEN = {"<PRINCIPAL>": "me@EXAMPLE.COM", "<PATH OF THE KEYTAB>": "/etc/me.keytab", "<MECHANISM>": "PLAIN"}


def replaced(extra: dict[str, str]) -> dict[str, str]:
    """Return the settings with every placeholder replaced."""
    return {name: PEM if "PEM>" in value else WRITTEN.get(value, value) for name, value in extra.items()}


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("kerberos", ["GSSAPI", None])
@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"])
def test_connection_is_accepted_when_it_is_filled(preset: str, protocol: str, kerberos: str | None) -> None:
    """A connection of each platform, protocol and login has all settings that a migration checks."""
    extra = kafka_extra(Entrance(("b:9092",), protocol, kerberos), PRESETS[preset])

    assert () == connection_findings("c", replaced(extra), [Insecurity.SASL_PLAINTEXT], lambda feature: True)


@pytest.mark.parametrize(
    ("protocol", "mechanism"), [(None, None), ("SASL_SSL", "GSSAPI"), ("SASL_SSL", None), ("SSL", None)]
)
def test_forgotten_placeholder_is_refused(protocol: str | None, mechanism: str | None) -> None:
    """A connection with the placeholder of a setting that is no free text is refused before it is used."""
    extra = kafka_extra(Entrance(("b:9092",), protocol, mechanism), PRESETS["cloudera"])

    assert connection_findings("c", extra, (), lambda feature: True)


@pytest.mark.parametrize("preset", PRESETS)
def test_preset_is_complete(preset: str) -> None:
    """Each platform has a port that can be used, and each limit is a sentence."""
    found = PRESETS[preset]

    assert next(iter(found.ports.values())).mechanism not in UNSUPPORTED_MECHANISMS
    assert found.limits
    assert all(limit.endswith(".") for limit in found.limits)


@pytest.mark.parametrize(
    ("preset", "servers", "expected"),
    [
        ("apache", "a", Entrance(("a:9092",), "PLAINTEXT", None)),
        ("confluent", "pkc-1.example", Entrance(("pkc-1.example:9092",), "SASL_SSL", "PLAIN")),
        ("eventhubs", "ns.example", Entrance(("ns.example:9093",), "SASL_SSL", "PLAIN")),
        ("msk", "a, b", Entrance(("a:9096", "b:9096"), "SASL_SSL", "SCRAM-SHA-512")),
        ("msk", "a:9194,b:9194", Entrance(("a:9194", "b:9194"), "SSL", None)),
        ("hdinsight", "a:9093", Entrance(("a:9093",), "SSL", None)),
        ("apache", "[::1]:9092", Entrance(("[::1]:9092",), "PLAINTEXT", None)),
        ("apache", "a:9999", Entrance(("a:9999",), None, None)),
        ("msk", "a:9094,b:9092", Entrance(("a:9094", "b:9092"), None, None)),
    ],
)
def test_addresses_are_completed(preset: str, servers: str, expected: Entrance) -> None:
    """A port of the platform gives the protocol and the mechanism; for another port they are not known."""
    assert expected == entrance_of(servers, preset)


@pytest.mark.parametrize(
    ("preset", "servers", "found"),
    [
        ("apache", "", ["''"]),
        ("apache", "a,,b", ["''"]),
        ("apache", "a:0,b:70000,c", ["'a:0'", "'b:70000'"]),
        ("apache", "a b,PLAINTEXT://c:1", ["'a b'", "'PLAINTEXT://c:1'"]),
        ("apache", "ada:s3cret@a:1", ["an address with an @"]),
        ("msk", "a:9098,b:9098", ["port 9098"]),
        ("msk", "a:9098,b:9198", ["port 9098", "port 9198"]),
    ],
)
def test_wrong_addresses_have_a_finding_each(preset: str, servers: str, found: list[str]) -> None:
    """All wrong addresses are named together, and none shows a login."""
    with pytest.raises(Refused) as refused:
        entrance_of(servers, preset)
    findings = refused.value.findings

    assert [Code.CONNECTION_INVALID] * len(found) == [finding.code for finding in findings]
    assert all(finding.found.startswith(text) for finding, text in zip(findings, found, strict=True))
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "base"),
    [("Cluster 1/kafka", "cluster_1"), ("demo-1", "demo-1"), ("'; rm", "rm"), ("日本", "cluster")],
)
def test_names_of_connections(name: str, base: str) -> None:
    """A connection's name has no letter that a shell or Airflow would read."""
    assert base == connection_base(name)


def fields_of(command: str) -> dict[str, Any]:
    """Return the fields of a command, as a shell and Airflow read it."""
    *_, option, text = shlex.split(command)
    assert "--conn-json" == option
    fields: dict[str, Any] = json.loads(text)
    return fields


@pytest.mark.parametrize("preset", PRESETS)
def test_commands_are_what_a_shell_reads(preset: str) -> None:
    """The text of each command has exactly the fields, and each placeholder is listed."""
    made = connections_for("demo", entrance_of("a", preset), PRESETS[preset])

    assert ["demo_kafka", "demo_mirror_host"] == [each.name for each in made]
    assert [dict(each.fields) for each in made] == [fields_of(each.command()) for each in made]
    assert set(placeholders(made)) == {text for each in made for text in re.findall(r"<[^>]*>", each.command())}


@pytest.mark.parametrize(
    ("entrance", "note"),
    [
        (Entrance(("a:1",), None, None), "The protocol is not known"),
        (Entrance(("a:<PORT>",), None, None), "The port of a broker is not known."),
        (Entrance(("a:1",), "SASL_PLAINTEXT", None), "insecure: [sasl_plaintext]"),
        (Entrance(("a:1",), "SASL_SSL", None), "The SASL mechanism is not known."),
        (Entrance(("a:1",), "SSL", None), "ssl.certificate.pem and ssl.key.pem"),
    ],
)
def test_notes_say_what_a_person_must_know(entrance: Entrance, note: str) -> None:
    """What is not known, and what the migration file must allow, is in a note."""
    kafka, _ = connections_for("demo", entrance, PRESETS["apache"])

    assert any(note in each for each in kafka.notes)
