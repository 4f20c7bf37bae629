"""How the settings of Cloudera Manager become the protocol and the login of the brokers."""

from __future__ import annotations

import pytest

from kafka_migration.core.discovery.cloudera import BROKER, MIRROR_MAKER, Role, Settings, described, is_version
from kafka_migration.core.discovery.described_cluster import DiscoveredCluster

TLS = {"ssl_enabled": "true", "ssl_port": "9093", "port": "9092"}
CLEAR = {**TLS, "ssl_enabled": "false"}


def cluster(service: Settings, broker: Settings, *states: str) -> DiscoveredCluster:
    """Return a cluster with one broker, and a MirrorMaker in each state."""
    makers = [Role(f"m{n}", MIRROR_MAKER, f"h{n}", state, "g") for n, state in enumerate(states)]
    return described("c/kafka", None, [Role("b", BROKER, "h", "STARTED", "g"), *makers], service, {"b": broker}, None)


@pytest.mark.parametrize(
    ("service", "broker", "expected", "mechanism"),
    [
        ({"kerberos.auth.enable": "true"}, TLS, (9093, "SASL_SSL"), "GSSAPI"),
        ({"kerberos.auth.enable": "true"}, CLEAR, (9092, "SASL_PLAINTEXT"), "GSSAPI"),
        ({"kerberos.auth.enable": "false"}, TLS, (9093, "SSL"), None),
        ({"kerberos.auth.enable": "false"}, CLEAR, (9092, "PLAINTEXT"), None),
        ({"kerberos.auth.enable": "false", "ldap.auth.enable": "true"}, TLS, (9093, "SASL_SSL"), "PLAIN"),
        ({"kerberos.auth.enable": "false", "sasl.plain.auth": "PAM"}, TLS, (9093, "SASL_SSL"), "PLAIN"),
        ({"kerberos.auth.enable": "false", "sasl.plain.auth": "NONE"}, TLS, (9093, "SSL"), None),
        ({"kerberos.auth.enable": "true", "sasl.plain.auth": "LDAP"}, TLS, (9093, "SASL_SSL"), "GSSAPI"),
        ({"sasl.plain.auth": "LDAP"}, TLS, (9093, "SASL_SSL"), "PLAIN"),
        ({}, TLS, (9093, None), None),
    ],
)
def test_protocol_follows_from_encryption_and_login(
    service: Settings, broker: Settings, expected: tuple[int, str | None], mechanism: str | None
) -> None:
    """The protocol is that of Cloudera's table for an inferred protocol; without the settings it is not known."""
    found = cluster(service, broker)

    assert [expected] == [(each.port, each.protocol) for each in found.brokers[0].listeners]
    assert mechanism == found.mechanism


@pytest.mark.parametrize("broker", [{}, {"port": "9092", "ssl_port": "9093"}, {"ssl_enabled": "true", "port": "9092"}])
def test_listener_without_its_settings_is_not_known(broker: Settings) -> None:
    """Neither the encryption nor the port is taken from a default."""
    assert () == cluster({"kerberos.auth.enable": "false"}, broker).brokers[0].listeners


def test_only_a_started_mirrormaker_runs() -> None:
    """A role that is stopped copies nothing."""
    assert ("h1",) == cluster({}, {}, "STOPPED", "STARTED").mirror_makers
    assert () == cluster({}, {}).mirror_makers


@pytest.mark.parametrize(
    ("text", "expected"),
    [("v41", True), ("v6\n", True), ("<html>v41", False), ("", False), ("v", False), ("41", False)],
)
def test_version_of_the_interface(text: str, expected: bool) -> None:
    """Only a version is one: a page of another server is not."""
    assert expected is is_version(text)
