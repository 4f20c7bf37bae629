"""A Kafka cluster as its manager describes it. A value of `None` is not known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.text.shortened import brief, some

# The protocols of a listener, the safest first.
_SAFEST = ("SASL_SSL", "SSL", "SASL_PLAINTEXT", "PLAINTEXT")
# Stands for a port that is not known, in an address.
UNKNOWN_PORT = "<PORT>"


class ManagerKind(StrEnum):
    """The servers that can be asked."""

    AMBARI = "Ambari"
    CLOUDERA = "Cloudera Manager"


@dataclass(frozen=True, slots=True)
class BrokerListener(Document):
    """An address of a broker; the protocol is not known if the listener has a name of its own."""

    host: str
    port: int
    protocol: str | None


@dataclass(frozen=True, slots=True)
class Broker(Document):
    """A broker with its listeners; `advertised` is not known if the manager does not set it."""

    host: str
    listeners: tuple[BrokerListener, ...]
    advertised: tuple[BrokerListener, ...] | None = None


@dataclass(frozen=True, slots=True)
class DiscoveredCluster(Document):
    """What a manager says of a Kafka cluster.

    `mechanism` is the SASL mechanism of its logins. `mirror_makers` are the hosts where it runs MirrorMaker.
    """

    manager: ManagerKind
    name: str
    brokers: tuple[Broker, ...]
    release: str | None = None
    kafka_version: str | None = None
    zookeepers: tuple[str, ...] | None = None
    auto_create_topics: bool | None = None
    kerberos: bool | None = None
    mechanism: str | None = None
    mirror_makers: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Entrance:
    """The addresses through which clients reach a cluster, with the protocol and the SASL mechanism there."""

    servers: tuple[str, ...]
    protocol: str | None
    mechanism: str | None

    @property
    def has_login(self) -> bool:
        """Whether clients log in with SASL."""
        return self.protocol is not None and self.protocol.startswith("SASL")

    @property
    def is_known(self) -> bool:
        """Whether all addresses, the protocol and the mechanism are known."""
        has_ports = not any(each.endswith(UNKNOWN_PORT) for each in self.servers)
        return bool(self.servers and self.protocol and has_ports and (self.mechanism or not self.has_login))


class ClusterManager(Protocol):
    """A server that manages Kafka clusters.

    Each call raises `Refused` if the server refuses it, `UnexpectedAnswer` if its answer is not understood, and
    `TransientError` if it does not answer.
    """

    def clusters(self) -> Sequence[str]:
        """Return the names of the Kafka clusters, as `cluster` takes them."""

    def cluster(self, name: str) -> DiscoveredCluster:
        """Return one cluster."""

    def close(self) -> None:
        """Close the connection."""


def uses_tls(cluster: DiscoveredCluster) -> bool | None:
    """Return whether a listener encrypts."""
    protocols = {each.protocol for broker in cluster.brokers for each in broker.listeners}
    if protocols & {"SSL", "SASL_SSL"}:
        return True
    are_all_known = None not in protocols and all(broker.listeners for broker in cluster.brokers)
    return False if cluster.brokers and are_all_known else None


def entrance(cluster: DiscoveredCluster) -> Entrance:
    """Return the addresses for clients: those with the safest protocol that all brokers offer."""
    offered = [(broker, broker.advertised or broker.listeners) for broker in cluster.brokers]
    common = (each for each in _SAFEST if offered and all(_with(each, of) for _, of in offered))
    protocol = next(common, None)
    servers = tuple(_server(broker, _with(protocol, of) or of) for broker, of in offered)
    found = Entrance(servers, protocol, cluster.mechanism)
    return found if found.has_login else Entrance(servers, protocol, None)


def _server(broker: Broker, listeners: Sequence[BrokerListener]) -> str:
    return f"{listeners[0].host}:{listeners[0].port}" if listeners else f"{broker.host}:{UNKNOWN_PORT}"


def _with(protocol: str | None, listeners: Iterable[BrokerListener]) -> tuple[BrokerListener, ...]:
    return tuple(each for each in listeners if protocol and each.protocol == protocol)


def chosen(names: Sequence[str], wanted: str | None, subject: str) -> str:
    """Return the cluster to describe; raises `Refused` (`MANAGED_CLUSTER_UNKNOWN`) unless exactly one fits.

    A name may be `cluster/service`; then the cluster alone is enough if it has one Kafka service.
    """
    fitting = [name for name in names if wanted in {None, name, name.rpartition("/")[0]}]
    if len(fitting) == 1:
        return fitting[0]
    raise Refused([_not_one(names, wanted, subject, some(fitting))])


def _not_one(names: Sequence[str], wanted: str | None, subject: str, fitting: str) -> Finding:
    if not names:
        found, remedy = "no cluster with Kafka", "Use the connection of the server that manages the Kafka cluster."
        happened = "The server manages no cluster with Kafka."
    elif fitting:
        found, remedy = f"several clusters: {fitting}", "Name one of them with --cluster."
        happened = f"The server manages several clusters with Kafka: {fitting}."
    else:
        found = f"no Kafka cluster {brief(wanted or '')}, but {some(names)}"
        remedy = "Pass one of these names with --cluster. Capital letters count."
        happened = f"The server manages no Kafka cluster {brief(wanted or '')}, but {some(names)}."
    matters = "Without exactly one cluster, addresses and logins could be those of another cluster."
    expected = "exactly one Kafka cluster"
    return Finding(Code.MANAGED_CLUSTER_UNKNOWN, subject, found, expected, remedy, happened=happened, matters=matters)
