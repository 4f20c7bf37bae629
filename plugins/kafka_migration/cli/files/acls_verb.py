"""`kafka-migration acls`: the rights that a migration needs, as commands for Kafka's own tool."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import get_args

from kafka_migration.cli.shell.airflow_access import cluster_at, migration_of
from kafka_migration.cli.shell.arguments import Verbs, add_bare_verb, add_file, add_output, place
from kafka_migration.cli.shell.output import ExitCode, JsonObject, respond
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.rights.rights import Right, acl_lines
from kafka_migration.engines.engine_rights import lacks_workers_group, required_rights, workers_rights
from kafka_migration.steps.run.copy_scope import of_listed_topics

ACLS_SCHEMA = 1
SIDES: tuple[Side, ...] = get_args(Side)
# The login of the Kafka Connect workers, which is on the target.
WORKERS = "workers"


def add_acls(verbs: Verbs) -> None:
    """Add the verb `acls`."""
    example = "acls demo --source-principal User:reader --target-principal User:writer"
    verb = add_bare_verb(verbs, acls, "acls", example)
    add_file(verb)
    for side in SIDES:
        text = f"principal of the login on the {side}"
        verb.add_value(f"--{side}-principal", "PRINCIPAL", text, "User:kafka-migration", type=place)
    text = "principal of the Kafka Connect workers on the target, for engine connect"
    verb.add_value("--workers-principal", "PRINCIPAL", text, "User:kafka-connect", type=place)
    verb.add_argument("--side", choices=SIDES, help="only the rights on this cluster (default: both)")
    add_output(verb)


def acls(arguments: Namespace) -> int:
    """Print the rights of each login on the sides, as commands or as one JSON document.

    Only for a file with patterns, the source is asked for its topics.
    """
    migration = migration_of(arguments)
    if migration.rules.patterns:
        migration = _listed(migration)
    principals = {login: getattr(arguments, f"{login}_principal") for login in (*SIDES, WORKERS)}
    sides = (arguments.side,) if arguments.side else SIDES
    lines = (
        line for login, rights in logins_of(migration, sides) for line in _lines(migration, login, rights, principals)
    )
    respond(arguments, acls_document(migration, principals, sides), lines)
    return ExitCode.DONE


def acls_document(migration: Migration, principals: Mapping[str, str], sides: Sequence[Side] = SIDES) -> JsonObject:
    """Return the rights on the sides as plain JSON values, one per operation and resource.

    Those of the workers of a Kafka Connect cluster, which are on the target, are apart.
    """
    return {
        "schema": ACLS_SCHEMA,
        "migration": migration.name,
        **{
            login: {"principal": principals[login], "rights": [_document(right) for right in rights]}
            for login, rights in logins_of(migration, sides)
        },
    }


def logins_of(migration: Migration, sides: Sequence[Side]) -> Iterator[tuple[str, tuple[Right, ...]]]:
    """Yield each login with its rights: those of the connections by their sides, and that of the workers, if any."""
    for side in sides:
        yield side, required_rights(migration, side)
    if "target" in sides and (rights := workers_rights(migration)):
        yield WORKERS, rights


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


def _lines(migration: Migration, login: str, rights: Sequence[Right], principals: Mapping[str, str]) -> list[str]:
    side = "source" if login == "source" else "target"
    return [*_head(migration, login), *acl_lines(rights, f'"${side.upper()}"', principals[login])]


def _head(migration: Migration, login: str) -> Iterator[str]:
    """Yield comments: whose login it is, and what the commands below do not cover."""
    if login == WORKERS:
        yield "# Target cluster, login of the Kafka Connect workers; they have their rights on their own topics already"
    else:
        connection = migration.source.connection if login == "source" else migration.target.connection
        yield f"# {login.capitalize()} cluster, connection {connection}"
    if migration.rules.patterns:
        yield "# Rights on the topics that the source has now. Run this again when a new topic matches a pattern."
    if login == WORKERS and lacks_workers_group(migration):
        yield "# Not covered: transactional ids, which contain the workers' group.id. Name it in mirror.connect.group."
