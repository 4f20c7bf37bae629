"""What the workers of a Kafka Connect cluster say by their REST interface. Nothing here changes anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol
from urllib.parse import urlsplit

from kafka_migration.core.connections.http import HttpSettings, http_findings
from kafka_migration.core.findings.errors import Refused

SOURCE_CONNECTOR = "org.apache.kafka.connect.mirror.MirrorSourceConnector"
# The key of what Connect says about a whole configuration.
ALL_KEYS = ""


@dataclass(frozen=True, slots=True)
class ConnectRoot:
    """A worker's release of Kafka, its commit, and the id of its Kafka cluster; empty texts if it does not say them."""

    version: str
    commit: str
    cluster_id: str


class ConnectTools(Protocol):
    """The worker that answers at an address; a balancer may choose another one for each request.

    Every method but `close` raises `TransientError` if no worker answers, or if one that answers is not ready, and
    `Refused` (`CONNECTION_INVALID`) if it refuses the login or something else answers.
    """

    @property
    def address(self) -> str:
        """The address, as a URL."""

    def root(self) -> ConnectRoot:
        """Return what the worker says of itself."""

    def plugins(self) -> Mapping[str, str]:
        """Return the version of each connector class that the worker has."""

    def problems(self, config: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
        """Return what the worker finds wrong in a configuration of `SOURCE_CONNECTOR`, by key, in Connect's words.

        Empty if it would take the configuration. What is wrong with none of its keys has the key `ALL_KEYS`. Nothing is
        created, and no cluster is asked.
        """

    def at(self, address: str) -> ConnectTools:
        """Return the tools of the worker with this address of its own; closed with these.

        Raises `Refused` if it is no address of an HTTP service.
        """

    def close(self) -> None:
        """Close the connection and those of single workers; a later call opens it again."""


def worker_settings(settings: HttpSettings, address: str) -> HttpSettings:
    """Return how a worker is reached at its own address, with the login and the authorities of the connection.

    Kafka names the address, and each client that may join the workers' group there can name another one. So the login
    is sent only to the address of the connection, or over TLS if the connection has its own authorities.
    Raises `Refused` if it is no address of an HTTP service.
    """
    found = replace(settings, url=address.rstrip("/"))
    if not _is_trusted(found.url, settings):
        found = replace(found, user="", password="")
    if findings := tuple(http_findings(found, {})):
        raise Refused(findings)
    return found


def _is_trusted(address: str, settings: HttpSettings) -> bool:
    try:
        own, known = urlsplit(address), urlsplit(settings.url)
    except ValueError:
        return False
    is_known = (own.scheme, own.netloc) == (known.scheme, known.netloc)
    return is_known or (own.scheme == "https" and bool(settings.ca_pem))
