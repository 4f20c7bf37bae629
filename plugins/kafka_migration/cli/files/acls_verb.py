"""`kafka-migration acls`: the rights that a migration needs, as commands for Kafka's own tool."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import get_args

from kafka_migration.cli.shell.airflow_access import cluster_at, migration_of
from kafka_migration.cli.shell.arguments import Verbs, add_bare_verb, add_file, add_output, place
from kafka_migration.cli.shell.output import ExitCode, JsonObject, respond
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.rights.rights import Right, acl_lines
from kafka_migration.engines.engine_rights import required_rights
from kafka_migration.steps.run.copy_scope import of_listed_topics

ACLS_SCHEMA = 1
SIDES: tuple[Side, ...] = get_args(Side)


def add_acls(verbs: Verbs) -> None:
    """Add the verb `acls`."""
    example = "acls demo --source-principal User:reader --target-principal User:writer"
    verb = add_bare_verb(verbs, acls, "acls", example)
    add_file(verb)
    for side in SIDES:
        text = f"principal of the login on the {side}"
        verb.add_value(f"--{side}-principal", "PRINCIPAL", text, "User:kafka-migration", type=place)
    verb.add_argument("--side", choices=SIDES, help="only the rights on this cluster (default: both)")
    add_output(verb)


def acls(arguments: Namespace) -> int:
    """Print the rights for the sides, as commands or as one JSON document.

    Only for a file with patterns, the source is asked for its topics.
    """
    migration = migration_of(arguments)
    if migration.rules.patterns:
        migration = _listed(migration)
    principals = {"source": arguments.source_principal, "target": arguments.target_principal}
    sides = (arguments.side,) if arguments.side else SIDES
    lines = (line for side in sides for line in _lines(migration, side, principals[side]))
    respond(arguments, acls_document(migration, principals, sides), lines)
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
    with closing(cluster_at("source", migration.source)) as source:
        return of_listed_topics(migration, source)


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
