"""Platforms on which Kafka runs: where Kafka is on their hosts, their usual ports, and what limits a migration; and
addresses that a person gives, completed with the defaults of a platform.

The sources are the platforms' own documentation:

- apache: `listeners` and `auto.create.topics.enable` in Kafka's broker settings
- hdinsight: "Apache Kafka on HDInsight" (quickstart, mirroring, TLS, Enterprise Security Package), release notes
- cloudera: "Securing Apache Kafka" (inter-broker security), "Unsupported command line tools"
- confluent: "Confluent Cloud clients", "Cluster and topic configuration settings"
- msk: "Port information", "IAM access control", "Default Amazon MSK configuration"
- eventhubs: "Event Hubs for Apache Kafka", "Frequently asked questions", "Recommended configurations"
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafka_migration.core.connections.client_settings import PLAIN, SCRAM_512, UNSUPPORTED_MECHANISMS
from kafka_migration.core.discovery.described_cluster import Entrance
from kafka_migration.core.discovery.json_answer import is_port
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.text.secret_forms import given_unless_secret

MSK_IAM = "AWS_MSK_IAM"


@dataclass(frozen=True, slots=True)
class Access:
    """What clients use on a port: the protocol, and the SASL mechanism if the platform offers only one."""

    protocol: str
    mechanism: str | None = None


@dataclass(frozen=True, slots=True)
class Preset:
    """A platform. `ports` has the port that is used by default first; `user` is a login that is always the same."""

    title: str
    ports: Mapping[int, Access]
    limits: tuple[str, ...] = ()
    kafka_home: str | None = None
    has_public_ca: bool = False
    user: str | None = None


_OWN_MIRROR_MAKER = (
    "A migration needs the MirrorMaker of Kafka 3.9 or 4. If the platform has an older Kafka, unpack 3.9 on the "
    "MirrorMaker host and set mirror.kafka_home to it."
)
_PLAIN = {9092: Access("PLAINTEXT"), 9093: Access("SSL")}
_SCRAM, _TLS, _IAM = Access("SASL_SSL", SCRAM_512), Access("SSL"), Access("SASL_SSL", MSK_IAM)
_MSK = {
    9096: _SCRAM,
    9094: _TLS,
    9092: Access("PLAINTEXT"),
    9098: _IAM,
    # Public access.
    9196: _SCRAM,
    9194: _TLS,
    9198: _IAM,
    # IPv6.
    20096: _SCRAM,
    20094: _TLS,
    20092: Access("PLAINTEXT"),
    20098: _IAM,
}

PRESETS: Mapping[str, Preset] = {
    "apache": Preset(
        "Apache Kafka",
        {9092: Access("PLAINTEXT")},
        (
            "Brokers create topics on first use unless auto.create.topics.enable is false. A client that starts too "
            "early could create a topic on the target.",
        ),
    ),
    "hdinsight": Preset(
        "Azure HDInsight",
        _PLAIN,
        (
            "The brokers can be reached only from the virtual network of the cluster, and from networks that are "
            "peered or connected with it.",
            "Brokers advertise host names of the virtual network. Clients in other networks need a DNS server that "
            "resolves them, or brokers that advertise IP addresses.",
            "Ambari does not show advertised addresses that the script kafka-env sets.",
            "With the Enterprise Security Package, port 9092 uses SASL_PLAINTEXT with Kerberos.",
            "By default, brokers do not create topics on first use (auto.create.topics.enable is false).",
            _OWN_MIRROR_MAKER,
        ),
        kafka_home="/usr/hdp/current/kafka-broker",
    ),
    "cloudera": Preset(
        "Cloudera",
        _PLAIN,
        (
            "With Apache Ranger, rights are its policies, which kafka-migration source-acls does not see.",
            "Cloudera Manager does not report the version of Kafka.",
            _OWN_MIRROR_MAKER,
        ),
        kafka_home="/opt/cloudera/parcels/CDH/lib/kafka",
    ),
    "confluent": Preset(
        "Confluent Cloud",
        {9092: Access("SASL_SSL", PLAIN)},
        (
            "User and password are key and secret of an API key for the cluster.",
            "Clients cannot read Kafka's internal topics, so kafka-migration waves does not know transactional ids.",
            "Settings of brokers cannot be changed, except some on Dedicated clusters.",
        ),
        has_public_ca=True,
    ),
    "msk": Preset(
        "Amazon MSK",
        _MSK,
        (
            "MSK IAM is refused. Enable SASL/SCRAM or mutual TLS on the cluster.",
            "MSK Serverless offers only IAM, so it cannot be used.",
            "By default, brokers do not create topics on first use (auto.create.topics.enable is false).",
        ),
        has_public_ca=True,
    ),
    "eventhubs": Preset(
        "Azure Event Hubs",
        {9093: Access("SASL_SSL", PLAIN)},
        (
            "The password is the connection string of the namespace.",
            "The tier Basic has no Kafka endpoint.",
            "Settings of brokers cannot be changed. Kafka clients can change few settings of topics: set the number of "
            "partitions and the retention in Azure.",
            "Rights are roles of Azure, not access control lists.",
            "A consumer group spans the namespace: all event hubs share its name.",
        ),
        has_public_ca=True,
        user="$ConnectionString",
    ),
}


def _unsupported(preset: Preset, number: int) -> Iterator[Finding]:
    """Yield the finding for a port whose only login a migration cannot use."""
    access = preset.ports.get(number)
    if access is None or access.mechanism is None or access.mechanism not in UNSUPPORTED_MECHANISMS:
        return
    reason, remedy = UNSUPPORTED_MECHANISMS[access.mechanism]
    others = (str(each) for each, other in preset.ports.items() if other.mechanism != access.mechanism)
    yield Finding(
        Code.CONNECTION_INVALID,
        "--bootstrap",
        f"port {number}, on which {preset.title} accepts only {access.mechanism}: {reason}",
        f"one of the ports {', '.join(others)}",
        remedy,
        happened=f"On port {number}, {preset.title} accepts only {access.mechanism}: {reason}.",
        matters="A migration could not log in at this port, so no connection is proposed.",
    )


_SERVER = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?")


def entrance_of(servers: str, preset: str) -> Entrance:
    """Return the addresses `host[:port],…` with the platform's port, protocol and mechanism.

    Raises `Refused` with a finding for each wrong address, and for a port whose login cannot be used.
    """
    texts = [each.strip() for each in servers.split(",")]
    found = [_SERVER.fullmatch(each) for each in texts]
    wrong = [text for text, match in zip(texts, found, strict=True) if not match or not is_port(match[2] or "1")]
    if wrong:
        raise Refused([_wrong(text) for text in dict.fromkeys(wrong)])
    platform = PRESETS[preset]
    pairs = [(match[1], int(match[2] or next(iter(platform.ports)))) for match in found if match]
    ports = dict.fromkeys(number for _, number in pairs)
    if findings := [finding for number in ports for finding in _unsupported(platform, number)]:
        raise Refused(findings)
    accesses = {platform.ports.get(number) for number in ports}
    only = accesses.pop() if len(accesses) == 1 else None
    access = (only.protocol, only.mechanism) if only else (None, None)
    return Entrance(tuple(f"{host}:{number}" for host, number in pairs), *access)


def _wrong(text: str) -> Finding:
    # An address with an @ may have a password.
    found = "an address with an @" if "@" in text else given_unless_secret(text)
    return Finding(
        Code.CONNECTION_INVALID,
        "--bootstrap",
        found,
        "host or host:port, separated by commas",
        "Write host or host:port, separated by commas.",
        happened=f"--bootstrap has {found}, which is no address of a broker.",
        matters="Without an address no connection can be proposed.",
    )
