"""`kafka-migration acls`: the rights that a migration needs, as commands for Kafka's own tool."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any, get_args

from kafka_migration.cli.output import ExitCode, say, say_json
from kafka_migration.core.access.commands import acl_lines
from kafka_migration.core.access.rights import Right
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.migration.settings import Migration
from kafka_migration.engines.rights import required_rights
from kafka_migration.migration_file.loading import load_migration_file

ACLS_SCHEMA = 1
SIDES: tuple[Side, ...] = get_args(Side)


def acls(arguments: Namespace) -> int:
    """Print the rights for both sides, as commands or as one JSON document; no cluster is asked."""
    _, migration = load_migration_file(migrations_folder_of(arguments.migrations) / f"{arguments.name}.yaml")
    principals = {"source": arguments.source_principal, "target": arguments.target_principal}
    if arguments.json:
        say_json(acls_document(migration, principals))
    else:
        for side in SIDES:
            say(_lines(migration, side, principals[side]))
    return ExitCode.DONE


def acls_document(migration: Migration, principals: dict[str, str]) -> dict[str, Any]:
    """Return the rights on both sides as plain JSON values, one per operation and resource."""
    return {
        "schema": ACLS_SCHEMA,
        "migration": migration.name,
        **{
            side: {
                "principal": principals[side],
                "rights": [_document(right) for right in required_rights(migration, side)],
            }
            for side in SIDES
        },
    }


def _document(right: Right) -> dict[str, object]:
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
    head = f"# {side.capitalize()} cluster, connection {connection}"
    return [head, *acl_lines(required_rights(migration, side), f'"${side.upper()}"', principal)]


def migrations_folder_of(place: Path | None) -> Path:
    """Return the folder that the command line names, else the one in Airflow's configuration."""
    if place is not None:
        return place
    # Airflow takes seconds to import; a given folder does not need it.
    from kafka_migration.airflow_adapters.settings import migrations_folder

    return migrations_folder()
