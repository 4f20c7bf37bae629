"""The rights that MirrorMaker needs, and those of a whole migration.

MirrorMaker 2 only reads the source: its own topics, the offset syncs included, are on the target.

On a Kafka Connect cluster the connector has two logins on the target. Its own clients, which write the offset syncs,
have that of the connection. Records and positions are written by the workers, with their login (read in Kafka 3.9.1).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from kafka_migration.core.connect.connect_config import copier_name
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
from kafka_migration.engines.mirrormaker2_topics import CONNECTOR, InternalTopics, offset_syncs_topic


def required_rights(migration: Migration, side: Side) -> tuple[Right, ...]:
    """Return all rights that the login of a side's connection needs for the modes of a migration.

    Those of another login are not among them: see `workers_rights`.
    """
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
    """Yield what MirrorMaker needs with the connection's login, and Airflow for MirrorMaker's positions and state."""
    operation = Operation.READ if side == "source" else Operation.WRITE
    if side == "source" or not migration.mirror.abilities.needs_connect:
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
        for transactional in _transactional_ids(worker.name, CONNECTOR):
            yield Right(transactional, Operation.WRITE, Client.MIRRORMAKER, Need.SYNC)


def _connect(migration: Migration) -> Iterator[Right]:
    # Airflow reads the positions, and the states of tasks that were restarted or moved.
    yield Right(_offsets_topic(migration), Operation.READ, Client.AIRFLOW, Need.SYNC)
    for resource, operations in _seen_of_workers(migration):
        for operation in operations:
            yield Right(resource, operation, Client.AIRFLOW, Need.SYNC)
    for operation in (Operation.CREATE, Operation.WRITE):
        yield Right(_offset_syncs(migration), operation, Client.MIRRORMAKER, Need.SYNC)


# The side on which an engine keeps its positions and its state, and the rights for them.
_OWN_RIGHTS: Mapping[str, tuple[Side, Callable[[Migration], Iterator[Right]]]] = {
    "connect": ("target", _connect),
    "mirrormaker1": ("source", _mirrormaker1),
    "mirrormaker2": ("target", _mirrormaker2),
}


def workers_rights(migration: Migration) -> tuple[Right, ...]:
    """Return what the login of the Kafka Connect workers needs on the target; nothing for an engine without workers.

    The workers have rights on their own group and topics already. The names of transactional ids are Kafka Connect's
    (KIP-618); without the workers' group they are not known, so they are missing.
    """
    if not migration.mirror.abilities.needs_connect:
        return ()
    stored = (Operation.CREATE, Operation.READ, Operation.WRITE)
    wanted = [(topic, Operation.WRITE) for topic in topics_on(migration, "target")]
    wanted += [(_offsets_topic(migration), operation) for operation in stored]
    wanted += [(each, Operation.WRITE) for each in _ids_of_workers(migration)]
    return tuple(Right(resource, operation, Client.WORKERS, Need.SYNC) for resource, operation in wanted)


def lacks_workers_group(migration: Migration) -> bool:
    """Return whether the workers copy in transactions, and the file does not name the group in the ids of those."""
    connect = migration.mirror.connect
    return connect is not None and migration.mirror.exactly_once and connect.group is None


def _ids_of_workers(migration: Migration) -> Iterator[Resource]:
    connect = migration.mirror.connect
    if connect is not None and connect.group is not None and migration.mirror.exactly_once:
        yield from _transactional_ids(connect.group, copier_name(migration.name))


def _seen_of_workers(migration: Migration) -> Iterator[tuple[Resource, tuple[Operation, ...]]]:
    """Yield the internal topics and the group of the workers that the file names; preflight looks at them."""
    if (connect := migration.mirror.connect) is not None:
        yield Resource("topic", connect.status_topic), (Operation.DESCRIBE_CONFIGS, Operation.READ)
        for name in filter(None, (connect.config_topic, connect.offset_topic)):
            yield Resource("topic", name), (Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS)
        if connect.group is not None:
            yield Resource("group", connect.group), (Operation.DESCRIBE,)


def _offsets_topic(migration: Migration) -> Resource:
    return Resource("topic", InternalTopics.of(migration.name, 0).offsets)


def _offset_syncs(migration: Migration) -> Resource:
    return Resource("topic", offset_syncs_topic(migration.source.alias))


def _own_topics(migration: Migration) -> Iterator[tuple[Resource, tuple[Operation, ...]]]:
    """Yield its internal topics. It reads back its positions, settings and state only (seen on Kafka 3.9.1)."""
    alias = migration.source.alias
    stored = (Operation.CREATE, Operation.READ, Operation.WRITE)
    yield _offsets_topic(migration), stored
    for topic in _generations(migration):
        yield topic, stored
    yield _offset_syncs(migration), (Operation.CREATE, Operation.WRITE)
    # Without groups there are no checkpoints to write.
    yield Resource("topic", f"{alias}.checkpoints.internal"), (Operation.CREATE, Operation.DESCRIBE)


def _generations(migration: Migration) -> Iterator[Resource]:
    """Yield the prefixes of the topics that each generation has for itself."""
    names = InternalTopics.of(migration.name, 0)
    for topic in (names.configs, names.status):
        yield Resource("topic", topic.removesuffix("0.internal"), is_prefix=True)


def _transactional_ids(group: str, connector: str) -> Iterator[Resource]:
    """Yield the worker's id and those of a connector's tasks (Kafka Connect's rule, KIP-618)."""
    yield Resource("transactional-id", f"connect-cluster-{group}")
    yield Resource("transactional-id", f"{group}-{connector}-", is_prefix=True)
