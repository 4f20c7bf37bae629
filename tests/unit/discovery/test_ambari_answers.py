"""How the settings of Ambari become the listeners of a broker, and which of them clients use."""

from __future__ import annotations

import pytest

from kafka_migration.core.discovery.ambari_answers import described, stack_of
from kafka_migration.core.discovery.described_cluster import (
    UNKNOWN_PORT,
    Broker,
    BrokerListener,
    DiscoveredCluster,
    Entrance,
    ManagerKind,
    entrance,
    uses_tls,
)
from kafka_migration.core.discovery.json_answer import Answer

SASL = {"security.inter.broker.protocol": "SASL_PLAINTEXT"}


def cluster(settings: dict[str, str], security: str | None = "NONE") -> DiscoveredCluster:
    """Return a cluster with one broker `b`."""
    answer = Answer({"Clusters": {"security_type": security}}, "cluster")
    return described("demo", answer, Answer(settings, "settings"), ("b",), None, None)


@pytest.mark.parametrize(
    ("settings", "security", "listeners"),
    [
        ({"listeners": "PLAINTEXT://localhost:9092"}, "NONE", [("b", 9092, "PLAINTEXT")]),
        ({"listeners": "PLAINTEXT://:9092"}, "NONE", [("b", 9092, "PLAINTEXT")]),
        ({"listeners": "PLAINTEXT://0.0.0.0:9092"}, "NONE", [("b", 9092, "PLAINTEXT")]),
        ({"listeners": "SSL://x:9093 , PLAINTEXT://y:9092"}, "NONE", [("x", 9093, "SSL"), ("y", 9092, "PLAINTEXT")]),
        ({"listeners": "PLAINTEXTSASL://localhost:6667"}, "KERBEROS", [("b", 6667, "SASL_PLAINTEXT")]),
        # The agent gives a login to the listener.
        ({"listeners": "PLAINTEXT://localhost:6667", **SASL}, "KERBEROS", [("b", 6667, "SASL_PLAINTEXT")]),
        ({"listeners": "PLAINTEXT://localhost:6667", **SASL}, "NONE", [("b", 6667, "PLAINTEXT")]),
        ({"listeners": "PLAINTEXT://localhost:6667"}, "KERBEROS", [("b", 6667, "PLAINTEXT")]),
        (
            {"listeners": "PLAINTEXT://b:1,SASL_SSL://b:2", **SASL},
            "KERBEROS",
            [("b", 1, "PLAINTEXT"), ("b", 2, "SASL_SSL")],
        ),
        # Listeners with names of their own.
        ({"listeners": "CLIENTS://b:1"}, "NONE", [("b", 1, None)]),
        ({"listeners": "CLIENTS://b:1", "listener.security.protocol.map": "CLIENTS:SSL"}, "NONE", [("b", 1, "SSL")]),
        # Kafka 0.8.
        ({"port": "6667"}, "NONE", [("b", 6667, None)]),
        ({}, "NONE", []),
    ],
)
def test_listeners_of_a_broker(
    settings: dict[str, str], security: str, listeners: list[tuple[str, int, str | None]]
) -> None:
    """The host and the protocol are those that the agent of Ambari writes for the broker."""
    (broker,) = cluster(settings, security).brokers

    assert tuple(BrokerListener(*each) for each in listeners) == broker.listeners


def test_advertised_listeners_are_those_for_clients() -> None:
    """Clients use the advertised address; it is not known if the settings do not have it."""
    settings = {"listeners": "PLAINTEXT://localhost:9092"}
    advertised = {"advertised.listeners": "PLAINTEXT://10.0.0.4:9092"}

    assert cluster(settings).brokers[0].advertised is None
    assert (BrokerListener("10.0.0.4", 9092, "PLAINTEXT"),) == cluster(settings | advertised).brokers[0].advertised
    assert ("10.0.0.4:9092",) == entrance(cluster(settings | advertised)).servers


@pytest.mark.parametrize(
    ("version", "stack"), [("HDP-4.1", ("HDP", "4.1")), ("HDP", None), ("", None), (None, None), ("-2", None)]
)
def test_stack(version: str | None, stack: tuple[str, str] | None) -> None:
    """A text without name and version is no stack."""
    assert stack == stack_of(Answer({"Clusters": {"version": version}}, "cluster"))


@pytest.mark.parametrize(
    ("security", "settings", "kerberos"),
    [("KERBEROS", SASL, True), ("KERBEROS", {}, False), ("NONE", SASL, False), (None, SASL, None)],
)
def test_kerberos(security: str | None, settings: dict[str, str], kerberos: bool | None) -> None:
    """Kafka uses Kerberos if the cluster has it and the brokers log in to each other."""
    found = cluster(settings, security)

    assert kerberos is found.kerberos
    assert ("GSSAPI" if kerberos else None) == found.mechanism


def several(*offers: str, mechanism: str | None = None) -> DiscoveredCluster:
    """Return a cluster; each broker is given as `port protocol,…`."""
    listeners = [
        tuple(
            BrokerListener(f"b{number}", int(port), protocol or None)
            for port, _, protocol in (each.partition(" ") for each in offer.split(","))
            if port
        )
        for number, offer in enumerate(offers)
    ]
    brokers = tuple(Broker(f"b{number}", of) for number, of in enumerate(listeners))
    return DiscoveredCluster(ManagerKind.AMBARI, "demo", brokers, mechanism=mechanism)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (several("1 PLAINTEXT,2 SSL", "2 SSL,1 PLAINTEXT"), Entrance(("b0:2", "b1:2"), "SSL", None)),
        (several("1 PLAINTEXT,2 SSL", "1 PLAINTEXT"), Entrance(("b0:1", "b1:1"), "PLAINTEXT", None)),
        (several("1 SASL_SSL,2 SSL", mechanism="GSSAPI"), Entrance(("b0:1",), "SASL_SSL", "GSSAPI")),
        (several("1 SASL_SSL"), Entrance(("b0:1",), "SASL_SSL", None)),
        (several("1 SSL", mechanism="GSSAPI"), Entrance(("b0:1",), "SSL", None)),
        (several("1 SSL", "1 PLAINTEXT"), Entrance(("b0:1", "b1:1"), None, None)),
        (several("1 "), Entrance(("b0:1",), None, None)),
        (several("", "1 SSL"), Entrance((f"b0:{UNKNOWN_PORT}", "b1:1"), None, None)),
        (several(), Entrance((), None, None)),
    ],
)
def test_clients_use_the_safest_protocol_of_all_brokers(found: DiscoveredCluster, expected: Entrance) -> None:
    """A protocol that one broker lacks is not used; without a common one it is not known."""
    assert expected == entrance(found)


@pytest.mark.parametrize(
    ("found", "is_known"),
    [
        (Entrance(("a:1",), "SSL", None), True),
        (Entrance(("a:1",), "SASL_SSL", "PLAIN"), True),
        (Entrance(("a:1",), "SASL_SSL", None), False),
        (Entrance(("a:1",), None, None), False),
        (Entrance(("a:1", f"b:{UNKNOWN_PORT}"), "SSL", None), False),
        (Entrance((), "SSL", None), False),
    ],
)
def test_what_must_be_known_to_connect(found: Entrance, is_known: bool) -> None:
    """Clients need an address, the protocol, and with a login the mechanism."""
    assert is_known is found.is_known


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (several("1 SSL,2 PLAINTEXT"), True),
        (several("1 SASL_SSL,2 "), True),
        (several("1 PLAINTEXT"), False),
        (several("1 PLAINTEXT,2 "), None),
        (several(""), None),
        (several("1 PLAINTEXT", ""), None),
    ],
)
def test_encryption(found: DiscoveredCluster, expected: bool | None) -> None:
    """A listener whose protocol is not known may encrypt."""
    assert expected is uses_tls(found)
