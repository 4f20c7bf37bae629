"""`kafka-migration source-acls`: the source's access control lists on a migration, as commands for the target.

Nothing is written. An administrator selects users, reads the commands, and runs them.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import closing

from kafka_migration.cli.shell.airflow_access import cluster_at, migration_of
from kafka_migration.cli.shell.arguments import Verbs, add_bare_verb, add_file, add_output, place
from kafka_migration.cli.shell.output import ExitCode, JsonObject, respond
from kafka_migration.core.groups.selection import which_groups
from kafka_migration.core.kafka.cluster import Acl, KafkaCluster
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.rights.source_acls import MovedAcl, move_lines, moves, not_moved
from kafka_migration.steps.run.copy_scope import of_listed_topics

SOURCE_ACLS_SCHEMA = 1


def add_source_acls(verbs: Verbs) -> None:
    """Add the verb `source-acls`."""
    verb = add_bare_verb(verbs, source_acls, "source-acls", "source-acls demo --principal User:billing")
    add_file(verb)
    verb.add_values(
        "--principal", "PRINCIPAL", "only the lists of this user; may be repeated (default: all)", type=place
    )
    add_output(verb)


def source_acls(arguments: Namespace) -> int:
    """Print the lists on the migration's topics and groups, as commands or as one JSON document."""
    migration = migration_of(arguments)
    with closing(cluster_at("source", migration.source)) as cluster:
        migration = of_listed_topics(migration, cluster)
        acls = cluster.acls()
        found = _moves(migration, cluster, acls, arguments.principal)
    others = not_moved(acls, {*arguments.principal, *(move.acl.principal for move in found)})
    respond(arguments, _document(migration, found, others), _lines(migration, found, others))
    return ExitCode.DONE


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


def _document(migration: Migration, found: Sequence[MovedAcl], others: Sequence[str]) -> JsonObject:
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
        "not_moved": others,
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
