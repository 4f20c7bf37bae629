"""The rights that MirrorMaker needs, and those of a whole migration.

MirrorMaker 2 only reads the source: its own topics, the offset syncs included, are on the target.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import KafkaCluster, Operation, Resource, Side
from kafka_migration.core.migration.settings import MIRROR_GROUP_PREFIX, Migration, Mode
from kafka_migration.core.rights.rights import (
    Client,
    Need,
    Right,
    airflow_rights,
    missing_findings,
    rights_for,
    spark_rights,
    topics_on,
)
from kafka_migration.engines.mirrormaker2_topics import InternalTopics, offset_syncs_topic


def required_rights(migration: Migration, side: Side) -> tuple[Right, ...]:
    """Return all rights that the login of a side's connection needs for the modes of a migration."""
    return (*airflow_rights(migration, side), *mirror_rights(migration, side), *spark_rights(migration, side))


def missing_rights(
    cluster: KafkaCluster,
    migration: Migration,
    side: Side,
    mode: Mode,
    principal: str,
    only_on: Collection[Resource] | None = None,
) -> tuple[Finding, ...]:
    """Return a finding for the rights that the login of a side lacks in this mode, as far as the brokers report them.

    `only_on` limits them to these resources.
    """
    rights = rights_for(mode, required_rights(migration, side))
    rights = [right for right in rights if only_on is None or right.resource in only_on]
    granted = cluster.granted(list(dict.fromkeys(right.resource for right in rights)))
    connection = (migration.source if side == "source" else migration.target).connection
    return tuple(missing_findings(f"{side} (connection {connection})", rights, granted, principal))


def mirror_rights(migration: Migration, side: Side) -> Iterator[Right]:
    """Yield what MirrorMaker needs, and Airflow for MirrorMaker's positions and state."""
    operation = Operation.READ if side == "source" else Operation.WRITE
    for topic in topics_on(migration, side):
        yield Right(topic, operation, Client.MIRRORMAKER, Need.SYNC)
    own_side, own_rights = _OWN_RIGHTS[migration.mirror.engine]
    if side == own_side:
        yield from own_rights(migration)


def _mirrormaker1(migration: Migration) -> Iterator[Right]:
    # It commits the positions of its own group; after a kill, Airflow sets them back.
    own = Resource("group", f"{MIRROR_GROUP_PREFIX}{migration.name}")
    yield Right(own, Operation.READ, Client.MIRRORMAKER, Need.SYNC)


def _mirrormaker2(migration: Migration) -> Iterator[Right]:
    for topic, operations in _own_topics(migration):
        for operation in operations:
            yield Right(topic, operation, Client.MIRRORMAKER, Need.SYNC)
    # Airflow reads them, and deletes those of earlier generations.
    for topic in _generations(migration):
        yield Right(topic, Operation.DELETE, Client.AIRFLOW, Need.SYNC)
    worker = Resource("group", f"{migration.name}-source-mm2")
    yield Right(worker, Operation.READ, Client.MIRRORMAKER, Need.SYNC)
    if migration.mirror.exactly_once:
        for transactional in _transactional_ids(worker.name):
            yield Right(transactional, Operation.WRITE, Client.MIRRORMAKER, Need.SYNC)


def _connect(migration: Migration) -> Iterator[Right]:
    # Airflow reads its positions, and the states of its tasks; the workers have a login of their own.
    yield Right(
        Resource("topic", InternalTopics.of(migration.name, 0).offsets), Operation.READ, Client.AIRFLOW, Need.SYNC
    )
    connect = migration.mirror.connect
    if connect is None:
        return
    yield Right(Resource("topic", connect.status_topic), Operation.READ, Client.AIRFLOW, Need.SYNC)
    # Preflight looks at what the file names.
    named = (connect.status_topic, connect.config_topic, connect.offset_topic)
    for topic in dict.fromkeys(topic for topic in named if topic is not None):
        yield Right(Resource("topic", topic), Operation.DESCRIBE_CONFIGS, Client.AIRFLOW, Need.SYNC)
    if connect.group is not None:
        yield Right(Resource("group", connect.group), Operation.DESCRIBE, Client.AIRFLOW, Need.SYNC)


# The side on which an engine keeps its positions and its state, and the rights for them.
_OWN_RIGHTS: Mapping[str, tuple[Side, Callable[[Migration], Iterator[Right]]]] = {
    "connect": ("target", _connect),
    "mirrormaker1": ("source", _mirrormaker1),
    "mirrormaker2": ("target", _mirrormaker2),
}


def _own_topics(migration: Migration) -> Iterator[tuple[Resource, tuple[Operation, ...]]]:
    """Yield its internal topics. It reads back its positions, settings and state only (seen on Kafka 3.9.1)."""
    alias = migration.source.alias
    stored = (Operation.CREATE, Operation.READ, Operation.WRITE)
    yield Resource("topic", InternalTopics.of(migration.name, 0).offsets), stored
    for topic in _generations(migration):
        yield topic, stored
    yield Resource("topic", offset_syncs_topic(alias)), (Operation.CREATE, Operation.WRITE)
    # Without groups there are no checkpoints to write.
    yield Resource("topic", f"{alias}.checkpoints.internal"), (Operation.CREATE, Operation.DESCRIBE)


def _generations(migration: Migration) -> Iterator[Resource]:
    """Yield the prefixes of the topics that each generation has for itself."""
    names = InternalTopics.of(migration.name, 0)
    for topic in (names.configs, names.status):
        yield Resource("topic", topic.removesuffix("0.internal"), is_prefix=True)


def _transactional_ids(group: str) -> Iterator[Resource]:
    """Yield the worker's id and those of its tasks (Kafka Connect's rule, KIP-618)."""
    yield Resource("transactional-id", f"connect-cluster-{group}")
    yield Resource("transactional-id", f"{group}-MirrorSourceConnector-", is_prefix=True)
