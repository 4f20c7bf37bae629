"""The answers of Ambari's REST API (`/api/v1`), and what they say of a Kafka cluster.

`listeners` names the broker's own host `localhost`, which the agent of Ambari replaces. On a cluster with Kerberos the
agent also replaces PLAINTEXT if no listener has a login (the file kafka.py of Ambari's service KAFKA).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kafka_migration.core.connections.client_settings import KERBEROS
from kafka_migration.core.discovery.described_cluster import Broker, BrokerListener, DiscoveredCluster, ManagerKind
from kafka_migration.core.discovery.json_answer import Answer, is_port, is_true, port

KAFKA_SETTINGS = "kafka-broker"
_LISTENER = re.compile(r"([A-Za-z0-9_.-]+)://([A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})")
# Hosts of a listener that stand for the broker's own.
_OWN_HOST = {"", "localhost", "0.0.0.0", "[::]"}  # noqa: S104
# The protocols under Kafka's names and under Hortonworks' name.
_PROTOCOLS = {
    "PLAINTEXT": "PLAINTEXT",
    "SSL": "SSL",
    "SASL_PLAINTEXT": "SASL_PLAINTEXT",
    "PLAINTEXTSASL": "SASL_PLAINTEXT",
    "SASL_SSL": "SASL_SSL",
}
_WITH_LOGIN = {"SASL_PLAINTEXT", "PLAINTEXTSASL", "SASL_SSL"}


def cluster_names(answer: Answer) -> list[str]:
    """Return the clusters of `/clusters`."""
    return [item.part("Clusters").text("cluster_name") for item in answer.items("items")]


def tag_of_settings(cluster: Answer) -> str:
    """Return the tag of Kafka's present settings, from `Clusters/desired_configs`."""
    return cluster.at("Clusters", "desired_configs", KAFKA_SETTINGS).text("tag")


def stack_of(cluster: Answer) -> tuple[str, str] | None:
    """Return name and version of the stack, from a text such as `HDP-2.6`."""
    name, _, version = (cluster.part("Clusters").maybe_text("version") or "").partition("-")
    return (name, version) if name and version else None


def component_hosts(component: Answer) -> tuple[str, ...]:
    """Return the hosts of a component, sorted."""
    return tuple(sorted(each.part("HostRoles").host("host_name") for each in component.items("host_components")))


def settings_of(answer: Answer) -> Answer:
    """Return the properties of `/configurations?type=…&tag=…`, which has one item."""
    items = answer.items("items")
    if len(items) != 1:
        raise answer.part("items").unexpected("a list of one item")
    return items[0].part("properties")


def described(
    name: str,
    cluster: Answer,
    settings: Answer,
    brokers: tuple[str, ...],
    zookeepers: tuple[str, ...] | None,
    kafka_version: str | None,
) -> DiscoveredCluster:
    """Return what the answers say together."""
    kerberos = _has_kerberos(cluster, settings)
    return DiscoveredCluster(
        ManagerKind.AMBARI,
        name,
        tuple(_broker(host, settings, bool(kerberos)) for host in brokers),
        cluster.part("Clusters").maybe_text("version"),
        kafka_version,
        zookeepers,
        is_true(settings, "auto.create.topics.enable"),
        kerberos,
        KERBEROS if kerberos else None,
    )


def _has_kerberos(cluster: Answer, settings: Answer) -> bool | None:
    security = cluster.part("Clusters").maybe_text("security_type")
    if security is None:
        return None
    return security == "KERBEROS" and settings.maybe_text("security.inter.broker.protocol") in _WITH_LOGIN


def _broker(host: str, settings: Answer, has_kerberos: bool) -> Broker:
    listeners = _listeners(host, settings, "listeners", has_kerberos)
    if listeners is None:
        number = port(settings, "port")
        listeners = () if number is None else (BrokerListener(host, number, None),)
    return Broker(host, listeners, _listeners(host, settings, "advertised.listeners", has_kerberos))


def _listeners(host: str, settings: Answer, name: str, has_kerberos: bool) -> tuple[BrokerListener, ...] | None:
    text = settings.maybe_text(name)
    if text is None:
        return None
    found = [_LISTENER.fullmatch(each.strip()) for each in text.split(",")]
    matches = [each for each in found if each and is_port(each[3])]
    if len(matches) < len(found):
        raise settings.part(name).unexpected("NAME://host:port, separated by commas")
    protocols = _protocols(settings, has_kerberos and "SASL" not in text)
    return tuple(
        BrokerListener(host if each[2] in _OWN_HOST else each[2], int(each[3]), protocols.get(each[1].upper()))
        for each in matches
    )


def _protocols(settings: Answer, gets_login: bool) -> Mapping[str, str]:
    """Return the protocol of each name of a listener."""
    pairs = (settings.maybe_text("listener.security.protocol.map") or "").split(",")
    named = {name.strip().upper(): protocol.strip() for name, _, protocol in (each.partition(":") for each in pairs)}
    known = {name: _PROTOCOLS[protocol] for name, protocol in named.items() if protocol in _PROTOCOLS}
    return {**_PROTOCOLS, **known, **({"PLAINTEXT": "SASL_PLAINTEXT"} if gets_login else {})}
