"""`kafka-migration source-acls`: the source's access control lists on a migration, as commands for the target.

Nothing is written. An administrator selects users, reads the commands, and runs them.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator, Sequence

from kafka_migration.cli.files.acls_verb import migrations_folder_of
from kafka_migration.cli.shell.arguments import Verbs, add_bare_verb, add_file, add_output, is_json, place
from kafka_migration.cli.shell.output import ExitCode, JsonObject, say, say_json
from kafka_migration.core.groups.selection import which_groups
from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.core.kafka.resources import Acl
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.rights.source_acls import MovedAcl, move_lines, moves, not_moved
from kafka_migration.migration_file.loading import load_migration_file
from kafka_migration.steps.run.copy_scope import of_listed_topics

SOURCE_ACLS_SCHEMA = 1


def add_source_acls(verbs: Verbs) -> None:
    """Add the verb `source-acls`."""
    text = "show the source's access control lists on a migration, as commands for the target"
    verb = add_bare_verb(verbs, "source-acls", text, "source-acls demo --principal User:billing")
    add_file(verb)
    verb.add_argument(
        "--principal",
        type=place,
        action="append",
        default=[],
        metavar="PRINCIPAL",
        help="only the lists of this user; may be repeated (default: all)",
    )
    add_output(verb)
    verb.set_defaults(run=source_acls)


def source_acls(arguments: Namespace) -> int:
    """Print the lists on the migration's topics and groups, as commands or as one JSON document."""
    # Outside of a task, connections in Airflow's database are visible only with this setting.
    os.environ.setdefault("_AIRFLOW_PROCESS_CONTEXT", "server")
    _, migration = load_migration_file(migrations_folder_of(arguments.migrations) / f"{arguments.name}.yaml")
    cluster = source_of(migration)
    try:
        migration = of_listed_topics(migration, cluster)
        acls = cluster.acls()
        found = _moves(migration, cluster, acls, arguments.principal)
    finally:
        cluster.close()
    others = not_moved(acls, {*arguments.principal, *(move.acl.principal for move in found)})
    if is_json(arguments):
        say_json({**_document(migration, found), "not_moved": others})
    else:
        say(_lines(migration, found, others))
    return ExitCode.DONE


def source_of(migration: Migration) -> KafkaCluster:
    """Return the source cluster of a migration."""
    # Importing Airflow takes seconds, and few verbs need it.
    from kafka_migration.airflow_adapters import airflow_connections as connections

    return connections.cluster_named("source", migration.source.connection, migration.source.insecure)


def _moves(
    migration: Migration, cluster: KafkaCluster, acls: Sequence[Acl], principals: Sequence[str]
) -> list[MovedAcl]:
    topics = {topic: migration.target_topic(topic) for topic in migration.topics}
    groups = which_groups(cluster.list_groups(), migration.cutover.groups)
    return moves(acls, topics, groups, principals)


def _lines(migration: Migration, found: Sequence[MovedAcl], others: Sequence[str]) -> Iterator[str]:
    yield f"# Access control lists of the source (connection {migration.source.connection}) on {migration.name}"
    if not found:
        yield "# None of them is on the migration's topics or groups, or the source has no authorizer."
    yield from move_lines(found, '"$TARGET"')
    yield from (f"# Not moved: {each}. Grant it on the target if it is needed there." for each in others)
    yield "# Not moved: users and their passwords (SCRAM). Create them on the target."
    yield "# Not moved: quotas. To list them: kafka-configs.sh --describe --entity-type users (or clients)"


def _document(migration: Migration, found: Sequence[MovedAcl]) -> JsonObject:
    return {
        "schema": SOURCE_ACLS_SCHEMA,
        "migration": migration.name,
        "acls": [
            {
                **_acl(move.acl),
                "by_mirrormaker": move.by_mirrormaker.name.lower(),
                "on_target": [_acl(each) for each in move.on_target],
            }
            for move in found
        ],
    }


def _acl(acl: Acl) -> JsonObject:
    return {
        "resource": acl.resource.kind,
        "name": acl.resource.name,
        "pattern": "prefixed" if acl.resource.is_prefix else "literal",
        "principal": acl.principal,
        "host": acl.host,
        "operation": acl.operation,
        "permission": "allow" if acl.is_allowed else "deny",
    }
