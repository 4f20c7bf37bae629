"""The migration file, as text, that copies records back that only the target has."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kafka_migration.core.groups.offsets_plan import TargetOnly
from kafka_migration.core.migration.engine_table import DEFAULT_ENGINE
from kafka_migration.core.migration.migration_text import Value, cluster_section, migration_text
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.text.shortened import some

MAX_NAME = 63
SUFFIX = "-back"


def reverse_migration(migration: Migration, target_only: Iterable[TargetOnly]) -> tuple[str, str]:
    """Return name and text of a migration file from the target to the source, for topics with records to copy back.

    It uses other topic names, because the topics on the source have their own records and maybe producers.
    """
    name = f"{migration.name[: MAX_NAME - len(SUFFIX)]}{SUFFIX}"
    left = tuple(target_only)
    return name, migration_text(_fields(migration, name, left), _comment(migration, name, left))


def _comment(migration: Migration, name: str, left: Iterable[TargetOnly]) -> Iterable[str]:
    yield f"Copies records back that only `{migration.target.connection}` has, into separate topics on"
    yield f"`{migration.source.connection}`: a topic t becomes {name}.t there. The whole topic is copied; the new"
    yield "records start at these offsets of the target:"
    for each in left:
        first = some([f"partition {p.partition}: {at}" for p, at in sorted(each.first_offsets.items())])
        yield f"  {migration.target_topic(each.topic)}: {each.count} records, {first}"
    yield f"Before you use it, remove these topics from {migration.name}.yaml (REPLICATION_LOOP), or that file if it"
    yield "has no other topic."


def _fields(migration: Migration, name: str, left: Collection[TargetOnly]) -> dict[str, Value]:
    source, target, mirror = migration.source, migration.target, migration.mirror
    return {
        "name": name,
        "source": cluster_section(target.connection, target.insecure, alias=name),
        "target": cluster_section(
            source.connection, source.insecure, replication_factor=migration.target_replication_factor
        ),
        "topics": [migration.target_topic(each.topic) for each in left],
        "mirror": {
            "engine": DEFAULT_ENGINE,
            "connection": mirror.connection,
            "kafka_home": mirror.kafka_home,
            "java_home": mirror.java_home,
            "heap_mb": mirror.heap_mb,
            "topic_names": {"naming": "prefixed"},
        },
        "validation": {"spark_connection": migration.validation.spark_connection},
        "schema_registry": _registries(migration, {each.topic for each in left}),
    }


def _registries(migration: Migration, topics: Collection[str]) -> dict[str, Value] | None:
    named = migration.schema_registry
    if named is None:
        return None
    parts = {migration.target_topic(topic): parts for topic, parts in named.parts.items() if topic in topics}
    return {"source": named.target, "target": named.source, "parts": parts or None}
