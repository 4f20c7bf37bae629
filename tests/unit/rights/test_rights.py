"""The rights of a migration: what its clients need, and nothing that another right includes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_migration.core.kafka.cluster import THE_CLUSTER, Operation, Resource, Side
from kafka_migration.core.migration.engine_table import EngineName
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.rights.rights import Client, Need, Right, acl_lines
from kafka_migration.engines.engine_rights import required_rights
from kafka_migration.migration_file.loading import load_migration
from tests.conftest import MIGRATION_TEXT

INCLUDED = {
    Operation.DESCRIBE: {Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER},
    Operation.DESCRIBE_CONFIGS: {Operation.ALTER_CONFIGS},
}


@pytest.fixture
def migration() -> Migration:
    return load_migration(MIGRATION_TEXT, where="test")


def on(migration: Migration, side: Side, resource: Resource) -> set[Operation]:
    """Return the operations on a resource, for all needs."""
    return {right.operation for right in required_rights(migration, side) if right.resource == resource}


@pytest.mark.parametrize("engine", ["mirrormaker2", "mirrormaker1"])
def test_source_is_read_only(migration: Migration, engine: EngineName) -> None:
    """No run writes, creates, alters or deletes anything on the source but group offsets."""
    migration = replace(migration, mirror=replace(migration.mirror, engine=engine))
    operations = {right.operation for right in required_rights(migration, "source") if right.need is not Need.FAIL_BACK}

    assert operations == {Operation.READ, Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS}


@pytest.mark.parametrize("side", ["source", "target"])
def test_nothing_is_listed_that_another_right_of_the_same_need_includes(migration: Migration, side: Side) -> None:
    """Describe is not listed beside Read, Write, Delete or Alter, nor DescribeConfigs beside AlterConfigs."""
    rights = {(right.need, right.resource, right.operation) for right in required_rights(migration, side)}
    doubled = {
        (resource, operation)
        for need, resource, operation in rights
        for other in INCLUDED.get(operation, set())
        if (need, resource, other) in rights
    }

    assert set() == doubled


def test_engine_decides_who_needs_a_group(migration: Migration) -> None:
    """MirrorMaker 1 commits for its own group on the source; the worker of MirrorMaker 2 has one on the target."""
    old = replace(migration, mirror=replace(migration.mirror, engine="mirrormaker1"))
    own, worker = (
        Resource("group", f"kafka-migration-mirror-{migration.name}"),
        Resource("group", f"{migration.name}-source-mm2"),
    )

    assert ({Operation.READ}, set()) == (on(old, "source", own), on(old, "target", worker))
    assert (set(), {Operation.READ}) == (on(migration, "source", own), on(migration, "target", worker))


def test_options_add_their_rights(migration: Migration) -> None:
    """A limit on reading needs a quota on both clusters, exactly-once copies need transactional ids."""
    limited = replace(migration, validation=replace(migration.validation, max_bytes_per_s=1))
    exact = replace(migration, mirror=replace(migration.mirror, exactly_once=True))
    worker = Resource("transactional-id", f"connect-cluster-{migration.name}-source-mm2")

    for side in ("source", "target"):
        assert {Operation.ALTER_CONFIGS} == on(limited, side, THE_CLUSTER)
        assert set() == on(migration, side, THE_CLUSTER)
    assert ({Operation.WRITE}, set()) == (on(exact, "target", worker), on(migration, "target", worker))


def test_target_names_are_used(migration: Migration) -> None:
    """Rights on the target are for the names that topics have there."""
    names = replace(migration.mirror.topic_names, naming="prefixed")
    renamed = replace(migration, mirror=replace(migration.mirror, topic_names=names))
    topic = migration.topics[0]

    assert Operation.WRITE in on(renamed, "target", Resource("topic", f"{migration.source.alias}.{topic}"))
    assert set() == on(renamed, "target", Resource("topic", topic))


@pytest.mark.parametrize(
    ("patterns", "groups"),
    [
        ((".*",), [Resource("group", "*")]),
        (("shop-app", r"billing\.eu"), [Resource("group", "shop-app"), Resource("group", "billing.eu")]),
        (("shop-.*",), [Resource("group", "shop-", is_prefix=True)]),
        (("shop-app", "shop-(a|b)"), [Resource("group", "*")]),
        (("shop.app",), [Resource("group", "*")]),
    ],
)
def test_groups_are_as_narrow_as_their_patterns(
    migration: Migration, patterns: tuple[str, ...], groups: list[Resource]
) -> None:
    """A plain name is one group, `name.*` a prefix; any other pattern needs all groups."""
    changed = replace(migration, cutover=replace(migration.cutover, groups=patterns))
    read = [r.resource for r in required_rights(changed, "target") if r.need is Need.CUTOVER]

    assert groups == read


def test_commands_grant_each_right_once() -> None:
    """Alike resources share a command, words are quoted for a shell, and a later need repeats nothing."""
    orders, pay, groups = Resource("topic", "orders"), Resource("topic", "pay"), Resource("group", "*")
    rights = [
        Right(orders, Operation.READ, Client.AIRFLOW, Need.SYNC),
        Right(pay, Operation.READ, Client.SPARK, Need.SYNC),
        Right(orders, Operation.READ, Client.SPARK, Need.SYNC),
        Right(THE_CLUSTER, Operation.ALTER_CONFIGS, Client.SPARK, Need.SYNC),
        Right(Resource("group", "a-", is_prefix=True), Operation.DESCRIBE, Client.AIRFLOW, Need.SYNC),
        Right(groups, Operation.READ, Client.AIRFLOW, Need.CUTOVER),
        Right(groups, Operation.READ, Client.AIRFLOW, Need.RESTORE),
        Right(groups, Operation.DELETE, Client.AIRFLOW, Need.RESTORE),
    ]
    start = (
        "kafka-acls.sh --bootstrap-server b:9092 --command-config admin.properties --add "
        "--allow-principal 'User:CN=my app'"
    )

    assert acl_lines(rights, "b:9092", "User:CN=my app") == [
        "# For every run: Airflow, Spark",
        f"{start} --operation Read --topic orders --topic pay",
        f"{start} --operation AlterConfigs --cluster",
        f"{start} --operation Describe --resource-pattern-type prefixed --group a-",
        "# For cutover: Airflow",
        f"{start} --operation Read --group '*'",
        "# For rollback in mode restore: Airflow",
        f"{start} --operation Delete --group '*'",
    ]
