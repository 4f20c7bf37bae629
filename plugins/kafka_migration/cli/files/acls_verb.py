"""`kafka-migration acls`: the rights that a migration needs, as commands for Kafka's own tool."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

from kafka_migration.cli.shell.arguments import Verbs, add_bare_verb, add_file, add_output, is_json, place
from kafka_migration.cli.shell.output import ExitCode, JsonObject, say, say_json
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.rights.acl_commands import acl_lines
from kafka_migration.core.rights.rights import Right
from kafka_migration.engines.engine_rights import required_rights
from kafka_migration.migration_file.loading import load_migration_file
from kafka_migration.steps.run.copy_scope import of_listed_topics

ACLS_SCHEMA = 1
SIDES: tuple[Side, ...] = get_args(Side)


def add_acls(verbs: Verbs) -> None:
    """Add the verb `acls`."""
    text = "show the rights that a migration needs, as commands of kafka-acls.sh"
    verb = add_bare_verb(verbs, "acls", text, "acls demo --source-principal User:reader --target-principal User:writer")
    add_file(verb)
    for side in ("source", "target"):
        verb.add_argument(
            f"--{side}-principal",
            type=place,
            default="User:kafka-migration",
            metavar="PRINCIPAL",
            help=f"principal of the login on the {side} (default: User:kafka-migration)",
        )
    verb.add_argument("--side", choices=SIDES, help="only the rights on this cluster (default: both)")
    add_output(verb)
    verb.set_defaults(run=acls)


def acls(arguments: Namespace) -> int:
    """Print the rights for the sides, as commands or as one JSON document.

    Only for a file with patterns, the source is asked for its topics.
    """
    _, migration = load_migration_file(migrations_folder_of(arguments.migrations) / f"{arguments.name}.yaml")
    if migration.rules.patterns:
        migration = _listed(migration)
    principals = {"source": arguments.source_principal, "target": arguments.target_principal}
    sides = (arguments.side,) if arguments.side else SIDES
    if is_json(arguments):
        say_json(acls_document(migration, principals, sides))
    else:
        for side in sides:
            say(_lines(migration, side, principals[side]))
    return ExitCode.DONE


def acls_document(migration: Migration, principals: Mapping[str, str], sides: Sequence[Side] = SIDES) -> JsonObject:
    """Return the rights on the sides as plain JSON values, one per operation and resource."""
    return {
        "schema": ACLS_SCHEMA,
        "migration": migration.name,
        **{
            side: {
                "principal": principals[side],
                "rights": [_document(right) for right in required_rights(migration, side)],
            }
            for side in sides
        },
    }


def _listed(migration: Migration) -> Migration:
    # Outside of a task, connections in Airflow's database are visible only with this setting.
    os.environ.setdefault("_AIRFLOW_PROCESS_CONTEXT", "server")
    # Importing Airflow takes seconds, and few verbs need it.
    from kafka_migration.airflow_adapters.airflow_connections import cluster_named

    source = cluster_named("source", migration.source.connection, migration.source.insecure)
    try:
        return of_listed_topics(migration, source)
    finally:
        source.close()


def _document(right: Right) -> JsonObject:
    return {
        "resource": right.resource.kind,
        "name": right.resource.name,
        "pattern": "prefixed" if right.resource.is_prefix else "literal",
        "operation": right.operation,
        "client": right.client,
        "for": right.need,
    }


def _lines(migration: Migration, side: Side, principal: str) -> list[str]:
    connection = migration.source.connection if side == "source" else migration.target.connection
    head = [f"# {side.capitalize()} cluster, connection {connection}"]
    note = ["# Rights on the topics that the source has now. Run this again when a new topic matches a pattern."]
    head += note if migration.rules.patterns else []
    return [*head, *acl_lines(required_rights(migration, side), f'"${side.upper()}"', principal)]


def migrations_folder_of(place: Path | None) -> Path:
    """Return the folder that the command line names, else the one in Airflow's configuration."""
    if place is not None:
        return place
    # Airflow takes seconds to import; a given folder does not need it.
    from kafka_migration.airflow_adapters.airflow_settings import migrations_folder

    return migrations_folder()
