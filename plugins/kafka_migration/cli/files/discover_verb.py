"""`kafka-migration discover`: the Airflow connections to create for a Kafka cluster.

The cluster is read from Ambari or Cloudera Manager, or its addresses are given. Nothing is written, and no secret is
read or printed: the commands have placeholders.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from kafka_migration.cli.shell.airflow_access import need_connections
from kafka_migration.cli.shell.arguments import Verbs, add_bare_verb, add_output, place
from kafka_migration.cli.shell.output import ExitCode, JsonObject, aligned, respond
from kafka_migration.cli.shell.progress_line import working
from kafka_migration.core.discovery.connections_to_create import (
    ConnectionToCreate,
    connection_base,
    connections_for,
    placeholders,
)
from kafka_migration.core.discovery.described_cluster import (
    Broker,
    BrokerListener,
    DiscoveredCluster,
    Entrance,
    ManagerKind,
    entrance,
    uses_tls,
)
from kafka_migration.core.discovery.presets import PRESETS, entrance_of
from kafka_migration.core.documents.codec import written

DISCOVER_SCHEMA = 1
NOT_KNOWN = "not known"
_PRESET_OF = {ManagerKind.AMBARI: "hdinsight", ManagerKind.CLOUDERA: "cloudera"}


@dataclass(frozen=True, slots=True)
class Discovery:
    """What is known of a cluster, and its connections; without a manager the cluster is `None`."""

    preset: str
    cluster: DiscoveredCluster | None
    entrance: Entrance
    connections: tuple[ConnectionToCreate, ...]


def add_discover(verbs: Verbs) -> None:
    """Add the verb `discover`."""
    verb = add_bare_verb(verbs, discover, "discover", "discover --from ambari")
    where = verb.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--from",
        dest="manager",
        type=place,
        metavar="CONNECTION",
        help="Airflow connection of type http: Ambari or Cloudera Manager",
    )
    where.add_argument(
        "--bootstrap",
        type=place,
        metavar="SERVERS",
        help="host[:port],… of brokers; needs --preset, which has the default port, and no Airflow",
    )
    verb.add_argument("--preset", choices=PRESETS, help="the platform (default with --from: that of the server)")
    verb.add_argument(
        "--cluster",
        type=place,
        metavar="NAME",
        help="the cluster, if the server has several; for Cloudera Manager CLUSTER or CLUSTER/SERVICE",
    )
    verb.add_argument(
        "--name", type=place, help="beginning of the connections' names (default: the cluster's name, or the preset)"
    )
    add_output(verb)


def discover(arguments: Namespace) -> int:
    """Print what is known of the cluster, and the connections, as lines or as one JSON document.

    The exit code tells if the connection's addresses, protocol and mechanism are known.
    """
    if arguments.bootstrap and not arguments.preset:
        arguments.parser.error("--bootstrap needs --preset: the platform decides about protocol and login")
    if arguments.bootstrap and arguments.cluster:
        arguments.parser.error("--cluster needs --from: without a server there is nothing to choose from")
    found = _discovery(arguments, arguments.preset, None) if arguments.bootstrap else _managed(arguments)
    respond(arguments, discovery_document(found), discovery_lines(found))
    return ExitCode.DONE if found.entrance.is_known else ExitCode.PARTLY_DONE


def _managed(arguments: Namespace) -> Discovery:
    need_connections()
    # Importing Airflow takes seconds, and few verbs need it.
    from kafka_migration.airflow_adapters.airflow_connections import manager_named
    from kafka_migration.steps.discovery.read_managers import discovered

    working("Reading the cluster from its manager")
    cluster = discovered(partial(manager_named, arguments.manager), arguments.manager, arguments.cluster)
    return _discovery(arguments, arguments.preset or _PRESET_OF[cluster.manager], cluster)


def _discovery(arguments: Namespace, preset: str, cluster: DiscoveredCluster | None) -> Discovery:
    found = entrance(cluster) if cluster else entrance_of(arguments.bootstrap, preset)
    base = connection_base(arguments.name or (cluster.name if cluster else preset))
    return Discovery(preset, cluster, found, connections_for(base, found, PRESETS[preset]))


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
