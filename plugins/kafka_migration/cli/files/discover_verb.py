"""`kafka-migration discover`: the Airflow connections to create for a Kafka cluster.

The cluster is read from Ambari or Cloudera Manager, or its addresses are given. Nothing is written, and no secret is
read or printed: the commands have placeholders.
"""

from __future__ import annotations

import os
from argparse import Namespace
from functools import partial

from kafka_migration.cli.shell.arguments import VerbParser, Verbs, add_bare_verb, add_output, is_json, place
from kafka_migration.cli.shell.discover_output import Discovery, discovery_document, discovery_lines
from kafka_migration.cli.shell.output import ExitCode, say, say_json
from kafka_migration.core.discovery.connections_to_create import connection_base, connections_for
from kafka_migration.core.discovery.described_cluster import DiscoveredCluster, ManagerKind, entrance
from kafka_migration.core.discovery.given_addresses import entrance_of
from kafka_migration.core.discovery.presets import PRESETS

_PRESET_OF = {ManagerKind.AMBARI: "hdinsight", ManagerKind.CLOUDERA: "cloudera"}


def add_discover(verbs: Verbs) -> None:
    """Add the verb `discover`."""
    text = "show the Airflow connections to create for a Kafka cluster"
    verb = add_bare_verb(verbs, "discover", text, "discover --from ambari")
    where = verb.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--from",
        dest="manager",
        type=place,
        metavar="CONNECTION",
        help="Airflow connection of type http: Ambari or Cloudera Manager",
    )
    where.add_argument("--bootstrap", type=place, metavar="SERVERS", help="host[:port],… of brokers; needs --preset")
    verb.add_argument("--preset", choices=PRESETS, help="the platform (default with --from: that of the server)")
    verb.add_argument("--cluster", type=place, metavar="NAME", help="the cluster, if the server has several")
    verb.add_argument(
        "--name", type=place, help="beginning of the connections' names (default: the cluster's name, or the preset)"
    )
    add_output(verb)
    verb.set_defaults(run=partial(_discover, verb))


def discover(arguments: Namespace) -> int:
    """Print what is known of the cluster, and the connections, as lines or as one JSON document.

    The exit code tells if the connection's addresses, protocol and mechanism are known.
    """
    found = _given(arguments) if arguments.bootstrap else _managed(arguments)
    say_json(discovery_document(found)) if is_json(arguments) else say(discovery_lines(found))
    return ExitCode.DONE if found.entrance.is_known else ExitCode.PARTLY_DONE


def _given(arguments: Namespace) -> Discovery:
    return _discovery(arguments, arguments.preset, None)


def _managed(arguments: Namespace) -> Discovery:
    # Outside of a task, connections in Airflow's database are visible only with this setting.
    os.environ.setdefault("_AIRFLOW_PROCESS_CONTEXT", "server")
    # Importing Airflow takes seconds, and few verbs need it.
    from kafka_migration.airflow_adapters.airflow_connections import manager_named
    from kafka_migration.steps.discovery.read_managers import discovered

    cluster = discovered(partial(manager_named, arguments.manager), arguments.manager, arguments.cluster)
    return _discovery(arguments, arguments.preset or _PRESET_OF[cluster.manager], cluster)


def _discovery(arguments: Namespace, preset: str, cluster: DiscoveredCluster | None) -> Discovery:
    found = entrance(cluster) if cluster else entrance_of(arguments.bootstrap, preset)
    base = connection_base(arguments.name or (cluster.name if cluster else preset))
    return Discovery(preset, cluster, found, connections_for(base, found, PRESETS[preset]))


def _discover(verb: VerbParser, arguments: Namespace) -> int:
    if arguments.bootstrap and not arguments.preset:
        verb.error("--bootstrap needs --preset: the platform decides about protocol and login")
    if arguments.bootstrap and arguments.cluster:
        verb.error("--cluster needs --from: without a server there is nothing to choose from")
    return discover(arguments)
