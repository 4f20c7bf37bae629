"""The answers of Cloudera Manager's REST API, and what they say of a Kafka service.

A setting of a role overrides that of its group, which overrides that of the service. An item of settings has a `value`
if it is set, and with `view=full` a `default`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kafka_migration.core.connections.client_settings import KERBEROS, PLAIN
from kafka_migration.core.discovery.described_cluster import Broker, BrokerListener, DiscoveredCluster, ManagerKind
from kafka_migration.core.discovery.json_answer import Answer, is_true, port

KAFKA, BROKER, MIRROR_MAKER, ZOOKEEPER = "KAFKA", "KAFKA_BROKER", "KAFKA_MIRROR_MAKER", "SERVER"
STARTED = "STARTED"
_VERSION = re.compile(r"v[0-9]{1,4}")
_NEEDED = {
    "auto.create.topics.enable",
    "kerberos.auth.enable",
    "ldap.auth.enable",
    "port",
    "sasl.plain.auth",
    "ssl_enabled",
    "ssl_port",
    "zookeeper_service",
}
Settings = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Role:
    """A role of a service: its type, host, state and group of settings."""

    name: str
    kind: str
    host: str
    state: str
    group: str


def is_version(text: str) -> bool:
    """Return whether a text is an answer of `/api/version`, such as `v41`."""
    return _VERSION.fullmatch(text.strip()) is not None


def service_names(cluster: str, services: Answer) -> list[str]:
    """Return each Kafka service of a cluster as `cluster/service`."""
    return [f"{cluster}/{item.text('name')}" for item in services.items("items") if item.text("type") == KAFKA]


def release_of(clusters: Answer, name: str) -> str | None:
    """Return the release of a cluster, from `/clusters`."""
    return next(
        (each.maybe_text("fullVersion") for each in clusters.items("items") if each.text("name") == name),
        None,
    )


def needs_hosts(roles: Answer) -> bool:
    """Return whether roles name their hosts by id only, as in older versions of the API."""
    return any(role.part("hostRef").maybe_text("hostname") is None for role in roles.items("items"))


def hosts_by_id(hosts: Answer) -> dict[str, str]:
    """Return {id: host name} of `/hosts`."""
    return {item.text("hostId"): item.host("hostname") for item in hosts.items("items")}


def roles_of(answer: Answer, hosts: Mapping[str, str]) -> list[Role]:
    """Return the roles of `/roles`, sorted by host."""
    return sorted((_role(item, hosts) for item in answer.items("items")), key=lambda role: (role.host, role.name))


def of_kind(roles: Iterable[Role], kind: str) -> list[Role]:
    """Return the roles of one type."""
    return [role for role in roles if role.kind == kind]


def _role(item: Answer, hosts: Mapping[str, str]) -> Role:
    return Role(
        item.text("name"),
        item.text("type"),
        _host(item.part("hostRef"), hosts),
        item.text("roleState"),
        item.part("roleConfigGroupRef").text("roleConfigGroupName"),
    )


def _host(reference: Answer, hosts: Mapping[str, str]) -> str:
    if reference.maybe_text("hostname") is not None:
        return reference.host("hostname")
    found = hosts.get(reference.text("hostId"))
    if found is None:
        raise reference.part("hostId").unexpected("the id of a host that /hosts has")
    return found


def settings_of(answer: Answer) -> Settings:
    """Return the needed settings that are set or have a default; others may be secrets."""
    named = [(item.text("name"), item) for item in answer.items("items")]
    found = {name: _value(item) for name, item in named if name in _NEEDED}
    return {name: value for name, value in found.items() if value is not None}


def _value(item: Answer) -> str | None:
    value = item.maybe_text("value")
    return item.maybe_text("default") if value is None else value


def described(
    name: str,
    release: str | None,
    roles: list[Role],
    service: Settings,
    brokers: Mapping[str, Settings],
    zookeepers: tuple[str, ...] | None,
) -> DiscoveredCluster:
    """Return what the answers say together; `brokers` are the settings of each broker by the name of its role."""
    found = Answer(service, "the service's settings")
    kerberos = is_true(found, "kerberos.auth.enable")
    mechanism = KERBEROS if kerberos else PLAIN if _has_passwords(found) else None
    has_login = None if kerberos is None and mechanism is None else mechanism is not None
    merged = [
        (role.host, Answer({**service, **brokers[role.name]}, f"the settings of {role.name}"))
        for role in of_kind(roles, BROKER)
    ]
    creating = {is_true(settings, "auto.create.topics.enable") for _, settings in merged}
    return DiscoveredCluster(
        ManagerKind.CLOUDERA,
        name,
        tuple(_broker(host, settings, has_login) for host, settings in merged),
        release=release,
        zookeepers=zookeepers,
        auto_create_topics=creating.pop() if len(creating) == 1 else None,
        kerberos=kerberos,
        mechanism=mechanism,
        mirror_makers=tuple(role.host for role in of_kind(roles, MIRROR_MAKER) if role.state == STARTED),
    )


def _broker(host: str, settings: Answer, has_login: bool | None) -> Broker:
    encrypts = is_true(settings, "ssl_enabled")
    number = None if encrypts is None else port(settings, "ssl_port" if encrypts else "port")
    if encrypts is None or number is None:
        return Broker(host, ())
    return Broker(host, (BrokerListener(host, number, _protocol(encrypts, has_login)),))


def _protocol(encrypts: bool, has_login: bool | None) -> str | None:
    if has_login is None:
        return None
    login, encryption = "SASL_" if has_login else "", "SSL" if encrypts else "PLAINTEXT"
    return f"{login}{encryption}"


def _has_passwords(service: Answer) -> bool:
    """Return whether the brokers check passwords with LDAP or PAM; older releases have a setting for LDAP only."""
    by = service.maybe_text("sasl.plain.auth") or ""
    return bool(is_true(service, "ldap.auth.enable")) or by.upper() in {"LDAP", "PAM"}
