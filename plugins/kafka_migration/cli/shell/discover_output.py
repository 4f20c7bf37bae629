"""What `kafka-migration discover` prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kafka_migration.cli.shell.output import JsonObject, aligned
from kafka_migration.core.discovery.connections_to_create import ConnectionToCreate, placeholders
from kafka_migration.core.discovery.described_cluster import (
    Broker,
    BrokerListener,
    DiscoveredCluster,
    Entrance,
    uses_tls,
)
from kafka_migration.core.discovery.presets import PRESETS
from kafka_migration.core.documents.codec import written

DISCOVER_SCHEMA = 1
NOT_KNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Discovery:
    """What is known of a cluster, and its connections; without a manager the cluster is `None`."""

    preset: str
    cluster: DiscoveredCluster | None
    entrance: Entrance
    connections: tuple[ConnectionToCreate, ...]


def discovery_lines(found: Discovery) -> Iterator[str]:
    """Yield the lines for people; each line that is no command is a comment."""
    preset = PRESETS[found.preset]
    rows = [*_facts(found.cluster), ("Platform", preset.title)]
    if preset.kafka_home:
        rows.append(("Kafka folder", preset.kafka_home))
    yield from (f"# {line}" for line in aligned(rows))
    if found.cluster and found.cluster.mirror_makers:
        yield "# The platform runs MirrorMaker. Stop it before a migration copies the same topics."
    for connection in found.connections:
        yield ""
        yield from (f"# {note}" for note in connection.notes)
        yield connection.command()
    yield ""
    yield f"# Replace before you run a command: {', '.join(placeholders(found.connections))}"
    yield from (f"# {preset.title}: {limit}" for limit in preset.limits)


def discovery_document(found: Discovery) -> JsonObject:
    """Return the JSON document."""
    preset = PRESETS[found.preset]
    return {
        "schema": DISCOVER_SCHEMA,
        "preset": found.preset,
        "kafka_home": preset.kafka_home,
        "limits": list(preset.limits),
        "cluster": found.cluster and {**found.cluster.to_document(), "tls": uses_tls(found.cluster)},
        "connections": [
            {"name": each.name, "fields": written(each.fields), "notes": list(each.notes), "command": each.command()}
            for each in found.connections
        ],
        "placeholders": list(placeholders(found.connections)),
    }


def _facts(cluster: DiscoveredCluster | None) -> Iterator[tuple[str, str]]:
    if cluster is None:
        return
    yield "Cluster", f"{cluster.name}, read from {cluster.manager}"
    yield "Release", cluster.release or NOT_KNOWN
    yield "Kafka version", cluster.kafka_version or NOT_KNOWN
    for number, broker in enumerate(cluster.brokers):
        yield "" if number else "Brokers", _broker(broker)
    yield "ZooKeeper", _hosts(cluster.zookeepers)
    yield "auto.create.topics.enable", _truth(cluster.auto_create_topics, "true", "false")
    yield "TLS", _truth(uses_tls(cluster), "yes", "no")
    yield "Kerberos", _truth(cluster.kerberos, "yes", "no")
    yield "Running MirrorMaker", _hosts(cluster.mirror_makers)


def _broker(broker: Broker) -> str:
    advertised = "" if broker.advertised is None else f", advertised as {_listeners(broker.advertised)}"
    return f"{_listeners(broker.listeners) or f'{broker.host}, port {NOT_KNOWN}'}{advertised}"


def _listeners(listeners: Iterable[BrokerListener]) -> str:
    return ", ".join(f"{each.host}:{each.port} ({each.protocol or 'protocol not known'})" for each in listeners)


def _hosts(hosts: tuple[str, ...] | None) -> str:
    return NOT_KNOWN if hosts is None else ", ".join(hosts) or "none"


def _truth(value: bool | None, yes: str, no: str) -> str:
    return NOT_KNOWN if value is None else yes if value else no
