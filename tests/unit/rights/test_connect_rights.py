"""The rights of a migration on a Kafka Connect cluster: those of the connections, and apart those of the workers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_migration.core.kafka.cluster import Operation, Resource, ResourceKind, Side
from kafka_migration.core.migration.settings import ConnectSettings, Migration
from kafka_migration.core.rights.rights import Client, Need, Right
from kafka_migration.engines.engine_rights import lacks_workers_group, required_rights, workers_rights
from kafka_migration.migration_file.loading import load_migration
from tests.connect_files import CONNECT_TEXT

KNOWN = ConnectSettings("connect-status", "connect-configs", "connect-offsets", "my-workers")


@pytest.fixture
def on_connect() -> Migration:
    """The small migration on a Connect cluster."""
    return load_migration(CONNECT_TEXT, where="shop.yaml")


def with_connect(migration: Migration, connect: ConnectSettings, *, exactly_once: bool = False) -> Migration:
    """Return the migration with other settings of the workers."""
    return replace(migration, mirror=replace(migration.mirror, connect=connect, exactly_once=exactly_once))


def on(rights: tuple[Right, ...], name: str, kind: ResourceKind = "topic") -> dict[Operation, Client]:
    """Return the operations on a resource and who needs them."""
    return {r.operation: r.client for r in rights if (r.resource.kind, r.resource.name) == (kind, name)}


def test_source_is_as_with_mirrormaker_2(on_connect: Migration) -> None:
    """The connector reads the source with the login of its connection, and nothing else is needed there."""
    mirrormaker2 = replace(on_connect, mirror=replace(on_connect.mirror, engine="mirrormaker2", connect=None))

    assert required_rights(mirrormaker2, "source") == required_rights(on_connect, "source")


def test_airflow_reads_positions_and_states(on_connect: Migration) -> None:
    """The login of the target's connection reads the connector's positions and the workers' states of tasks."""
    rights = required_rights(on_connect, "target")

    assert on(rights, "mm2-offsets.shop-source.internal") == {Operation.READ: Client.AIRFLOW}
    assert on(rights, "connect-status") == dict.fromkeys((Operation.READ, Operation.DESCRIBE_CONFIGS), Client.AIRFLOW)


def test_airflow_looks_only_at_what_the_file_names(on_connect: Migration) -> None:
    """The other topics and the group of the workers are described if the file names them, and never read."""
    known = required_rights(with_connect(on_connect, KNOWN), "target")
    described = dict.fromkeys((Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS), Client.AIRFLOW)

    assert (described, described) == (on(known, "connect-configs"), on(known, "connect-offsets"))
    assert on(known, "my-workers", "group") == {Operation.DESCRIBE: Client.AIRFLOW}
    assert {"connect-configs", "connect-offsets", "my-workers"}.isdisjoint(
        right.resource.name for right in required_rights(on_connect, "target")
    )


def test_connection_writes_offset_syncs_but_no_copy(on_connect: Migration) -> None:
    """The connector's own clients write the offset syncs; records are written by the workers, with their login."""
    rights = required_rights(on_connect, "target")

    syncs = dict.fromkeys((Operation.CREATE, Operation.WRITE), Client.MIRRORMAKER)
    assert syncs == on(rights, "mm2-offset-syncs.shop-source.internal")
    assert Operation.WRITE not in on(rights, "orders")
    assert all(right.client is not Client.WORKERS for right in rights)


def test_workers_write_the_copy_and_its_positions(on_connect: Migration) -> None:
    """The login of the workers writes the copied topics by their names there, and has the connector's offsets topic."""
    names = replace(on_connect.mirror.topic_names, naming="prefixed")
    rights = workers_rights(replace(on_connect, mirror=replace(on_connect.mirror, topic_names=names)))

    stored = (Operation.CREATE, Operation.READ, Operation.WRITE)
    assert rights == tuple(
        Right(Resource("topic", name), operation, Client.WORKERS, Need.SYNC)
        for name, operations in (
            ("shop-source.orders", (Operation.WRITE,)),
            ("shop-source.audit", (Operation.WRITE,)),
            ("mm2-offsets.shop-source.internal", stored),
        )
        for operation in operations
    )


def test_transactions_of_the_workers_contain_their_group(on_connect: Migration) -> None:
    """With exactly-once the workers write the leader's transactional id and those of the connector's tasks."""
    exact = workers_rights(with_connect(on_connect, KNOWN, exactly_once=True))
    ids = {right.resource for right in exact if right.resource.kind == "transactional-id"}

    assert ids == {
        Resource("transactional-id", "connect-cluster-my-workers"),
        Resource("transactional-id", "my-workers-kafka-migration.shop-", is_prefix=True),
    }
    assert all(right.resource not in ids for right in workers_rights(with_connect(on_connect, KNOWN)))


def test_unknown_transactional_ids_are_not_invented(on_connect: Migration) -> None:
    """Without the name of the workers' group there are no ids to grant, which is said."""
    unnamed = replace(KNOWN, group=None)

    assert {"topic"} == {
        right.resource.kind for right in workers_rights(with_connect(on_connect, unnamed, exactly_once=True))
    }
    assert lacks_workers_group(with_connect(on_connect, unnamed, exactly_once=True))
    assert not lacks_workers_group(with_connect(on_connect, unnamed))
    assert not lacks_workers_group(with_connect(on_connect, KNOWN, exactly_once=True))


def test_other_engines_have_no_workers(migration: Migration) -> None:
    """A MirrorMaker on a host writes with the login of the connection, so there is no other login."""
    exact = replace(migration, mirror=replace(migration.mirror, exactly_once=True))

    assert () == workers_rights(exact)
    assert not lacks_workers_group(exact)


@pytest.mark.parametrize("side", ["source", "target"])
def test_nothing_is_listed_twice(on_connect: Migration, side: Side) -> None:
    """Describe is not listed beside Read or Write of the same resource and need, nor is any right twice."""
    known = with_connect(on_connect, KNOWN, exactly_once=True)
    for rights in (required_rights(known, side), workers_rights(known)):
        listed = [(r.need, r.resource, r.operation, r.client) for r in rights]
        including = {(r.need, r.resource) for r in rights if r.operation in {Operation.READ, Operation.WRITE}}

        assert len(listed) == len(set(listed))
        assert not {(r.need, r.resource) for r in rights if r.operation is Operation.DESCRIBE} & including
