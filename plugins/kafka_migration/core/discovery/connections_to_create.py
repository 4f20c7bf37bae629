"""The Airflow connections for a cluster, as commands with placeholders such as `<PASSWORD>` for what is not known."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_migration.core.connections.mechanisms import mechanism_named
from kafka_migration.core.discovery.described_cluster import UNKNOWN_PORT, Entrance
from kafka_migration.core.discovery.presets import Preset
from kafka_migration.core.text.quoting import shell_word

_PEM = "<CERTIFICATES OF THE AUTHORITY IN PEM>"
_NAME = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class ConnectionToCreate:
    """An Airflow connection with its fields, and what a person must know about it."""

    name: str
    fields: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    def command(self) -> str:
        """Return the command that creates it."""
        fields = json.dumps(self.fields, ensure_ascii=False)
        return f"airflow connections add {shell_word(self.name)} --conn-json {shell_word(fields)}"


def connection_base(name: str) -> str:
    """Return a name as the beginning of connection names, to which `_kafka` is added."""
    return _NAME.sub("_", name).strip("_").lower().removesuffix("_kafka") or "cluster"


def connections_for(base: str, entrance: Entrance, preset: Preset) -> tuple[ConnectionToCreate, ...]:
    """Return the connections of the cluster and of the MirrorMaker host."""
    fields = {"conn_type": "kafka", "extra": kafka_extra(entrance, preset)}
    return (
        ConnectionToCreate(f"{base}_kafka", fields, tuple(_notes(entrance))),
        mirror_host_connection(f"{base}_mirror_host"),
    )


def mirror_host_connection(name: str) -> ConnectionToCreate:
    """Return the connection of the host that runs MirrorMaker; nothing of it is known."""
    return ConnectionToCreate(name, _MIRROR_HOST, _MIRROR_HOST_NOTES)


def connect_connection(name: str) -> ConnectionToCreate:
    """Return the connection of the REST API of a Kafka Connect cluster; nothing of it is known."""
    return ConnectionToCreate(name, _CONNECT, _CONNECT_NOTES)


def kafka_extra(entrance: Entrance, preset: Preset) -> dict[str, str]:
    """Return the extra of a connection of type `kafka`."""
    protocol = entrance.protocol or "<PROTOCOL>"
    extra = {"bootstrap.servers": ",".join(entrance.servers), "security.protocol": protocol}
    if entrance.has_login:
        known = {"sasl.username": preset.user} if preset.user else {}
        extra |= mechanism_named(entrance.mechanism).placeholders(known)
    if protocol.endswith("SSL") and not preset.has_public_ca:
        extra["ssl.ca.pem"] = _PEM
    return extra


def _notes(entrance: Entrance) -> Iterator[str]:
    if entrance.protocol is None:
        yield "The protocol is not known: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL. The last two need a login."
    if entrance.has_login and entrance.mechanism is None:
        yield "The SASL mechanism is not known. PLAIN and SCRAM need user and password."
    if any(server.endswith(UNKNOWN_PORT) for server in entrance.servers):
        yield "The port of a broker is not known."
    if entrance.protocol == "SASL_PLAINTEXT":
        yield "The login is not encrypted. The migration file must allow it: insecure: [sasl_plaintext]"
    if entrance.protocol == "SSL":
        yield "If the brokers require a client certificate, add ssl.certificate.pem and ssl.key.pem."


_MIRROR_HOST: Mapping[str, Any] = {
    "conn_type": "ssh",
    "host": "<MIRRORMAKER HOST>",
    "login": "<USER>",
    "extra": {"private_key": "<PRIVATE KEY>", "host_key": "<TYPE AND KEY OF THE HOST>"},
}
_MIRROR_HOST_NOTES = ("The host on which a migration starts MirrorMaker. It must reach all brokers of both clusters.",)

_CONNECT: Mapping[str, Any] = {
    "conn_type": "http",
    "host": "https://<CONNECT WORKER>:8083",
    "login": "<USER>",
    "password": "<PASSWORD>",
    "extra": {"ssl.ca.pem": _PEM},
}
_CONNECT_NOTES = (
    "The REST API of the Connect cluster. Its workers must reach all brokers of both clusters.",
    "Leave out login, password and certificates that it does not ask for.",
)


def placeholders(connections: Sequence[ConnectionToCreate]) -> tuple[str, ...]:
    """Return the placeholders of the connections, in their order."""
    texts = (json.dumps(each.fields) for each in connections)
    return tuple(dict.fromkeys(found for text in texts for found in re.findall(r"<[A-Z ]{1,100}>", text)))
