"""The rights that Airflow and Spark need on each cluster.

Kafka's authorizer grants Describe with Read, Write, Delete and Alter, and DescribeConfigs with AlterConfigs. A right
that another one includes is not listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from kafka_migration.core.kafka.cluster import THE_CLUSTER, Operation, Resource, Side
from kafka_migration.core.migration.settings import Migration

# The consumer that reads single records has a group id with this prefix; it joins no group and commits nothing.
READER_PREFIX = "kafka-migration-reader-"


class Client(StrEnum):
    """Which client needs a right; all of them share the login of the Kafka connection."""

    AIRFLOW = "Airflow"
    MIRRORMAKER = "MirrorMaker"
    SPARK = "Spark"


class Need(StrEnum):
    """What a right is needed for, as the modes of a run: every run, planning groups, and writing their offsets."""

    SYNC = "every run"
    PLAN = "rehearsal and cutover"
    CUTOVER = "cutover"
    RESTORE = "rollback in mode restore"
    FAIL_BACK = "rollback in mode fail_back"


@dataclass(frozen=True, slots=True)
class Right:
    """One operation on one resource, who needs it, and what for."""

    resource: Resource
    operation: Operation
    client: Client
    need: Need


def airflow_rights(migration: Migration, side: Side) -> Iterator[Right]:
    """Yield what Airflow's tasks and triggers need."""
    wanted = _on_source(migration) if side == "source" else _on_target(migration)
    for need, resource, operations in wanted:
        for operation in operations:
            yield Right(resource, operation, Client.AIRFLOW, need)


def spark_rights(migration: Migration, side: Side) -> Iterator[Right]:
    """Yield what the validation needs; a limit on its reading is a quota, which it sets on both clusters."""
    for topic in topics_on(migration, side):
        yield Right(topic, Operation.READ, Client.SPARK, Need.SYNC)
    if migration.validation.max_bytes_per_s is not None:
        yield Right(THE_CLUSTER, Operation.ALTER_CONFIGS, Client.SPARK, Need.SYNC)


def topics_on(migration: Migration, side: Side) -> list[Resource]:
    """Return the migration's topics by their names on a side."""
    names = [topic if side == "source" else migration.target_topic(topic) for topic in migration.topics]
    return [Resource("topic", name) for name in names]


_Wanted = Iterator[tuple[Need, Resource, tuple[Operation, ...]]]


def _on_source(migration: Migration) -> _Wanted:
    for topic in topics_on(migration, "source"):
        # It describes the topics and reads single records.
        yield Need.SYNC, topic, (Operation.DESCRIBE_CONFIGS, Operation.READ)
    yield Need.SYNC, Resource("group", READER_PREFIX, is_prefix=True), (Operation.DESCRIBE,)
    for group in selected_groups(migration):
        yield Need.PLAN, group, (Operation.DESCRIBE,)
        yield Need.FAIL_BACK, group, (Operation.READ,)


def _on_target(migration: Migration) -> _Wanted:
    for topic in topics_on(migration, "target"):
        # It creates topics, adds partitions, sets retention, and reads single records.
        yield Need.SYNC, topic, (Operation.CREATE, Operation.ALTER, Operation.ALTER_CONFIGS, Operation.READ)
    yield Need.SYNC, Resource("group", READER_PREFIX, is_prefix=True), (Operation.DESCRIBE,)
    for group in selected_groups(migration):
        yield Need.PLAN, group, (Operation.DESCRIBE,)
        yield Need.CUTOVER, group, (Operation.READ,)
        yield Need.RESTORE, group, (Operation.READ, Operation.DELETE)


def selected_groups(migration: Migration) -> list[Resource]:
    """Return the groups of `cutover.groups`: a pattern that is neither a name nor `prefix.*` stands for all groups."""
    found = [_group(pattern) for pattern in migration.cutover.groups]
    return [Resource("group", "*")] if Resource("group", "*") in found else list(dict.fromkeys(found))


def _group(pattern: str) -> Resource:
    start = pattern.removesuffix(".*")
    is_plain = re.fullmatch(r"(?:[\w-]|\\.)+", start) is not None
    if not is_plain:
        return Resource("group", "*")
    return Resource("group", re.sub(r"\\(.)", r"\1", start), is_prefix=start != pattern)
