"""The migration file, as text, that copies records back that only the target has."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kafka_migration.core.groups.offsets_plan import TargetOnly
from kafka_migration.core.migration.engine_table import DEFAULT_ENGINE
from kafka_migration.core.migration.settings import Migration, SchemaRegistrySettings
from kafka_migration.core.text.shortened import some
from kafka_migration.core.text.yaml_text import yaml_string
from kafka_migration.core.waves.wave_file import insecure_lines

MAX_NAME = 63
SUFFIX = "-back"


def reverse_migration(migration: Migration, target_only: Iterable[TargetOnly]) -> tuple[str, str]:
    """Return name and text of a migration file from the target to the source, for topics with records to copy back.

    It uses other topic names, because the topics on the source have their own records and maybe producers.
    """
    name = f"{migration.name[: MAX_NAME - len(SUFFIX)]}{SUFFIX}"
    left = tuple(target_only)
    return name, "\n".join([*_comment(migration, name, left), *_file(migration, name, left), ""])


def _comment(migration: Migration, name: str, left: Iterable[TargetOnly]) -> Iterable[str]:
    yield f"# Copies records back that only `{migration.target.connection}` has, into separate topics on"
    yield f"# `{migration.source.connection}`: a topic t becomes {name}.t there. The whole topic is copied; the new"
    yield "# records start at these offsets of the target:"
    for each in left:
        first = some([f"partition {p.partition}: {at}" for p, at in sorted(each.first_offsets.items())])
        yield f"#   {migration.target_topic(each.topic)}: {each.count} records, {first}"
    yield f"# Before you use it, remove these topics from {migration.name}.yaml (REPLICATION_LOOP), or that file if it"
    yield "# has no other topic."


def _file(migration: Migration, name: str, left: Iterable[TargetOnly]) -> Iterable[str]:
    mirror = migration.mirror
    yield "version: 1"
    yield f"name: {name}"
    yield "source:"
    yield f"  connection: {yaml_string(migration.target.connection)}"
    yield from insecure_lines(migration.target.insecure)
    yield f"  alias: {name}"
    yield "target:"
    yield f"  connection: {yaml_string(migration.source.connection)}"
    yield from insecure_lines(migration.source.insecure)
    yield f"  replication_factor: {migration.target_replication_factor}"
    yield f"topics: [{', '.join(yaml_string(migration.target_topic(each.topic)) for each in left)}]"
    yield "mirror:"
    yield f"  engine: {DEFAULT_ENGINE}"
    yield f"  connection: {yaml_string(mirror.connection)}"
    yield from (f"  {key}: {yaml_string(value)}" for key, value in _homes(migration) if value is not None)
    yield f"  heap_mb: {mirror.heap_mb}"
    yield "  topic_names:"
    yield "    naming: prefixed"
    yield "validation:"
    yield f"  spark_connection: {yaml_string(migration.validation.spark_connection)}"
    if migration.schema_registry is not None:
        yield from _registries(migration, migration.schema_registry, {each.topic for each in left})


def _registries(migration: Migration, named: SchemaRegistrySettings, topics: Collection[str]) -> Iterable[str]:
    yield "schema_registry:"
    yield f"  source: {yaml_string(named.target)}"
    yield f"  target: {yaml_string(named.source)}"
    parts = [
        f"{yaml_string(migration.target_topic(t))}: [{', '.join(p)}]" for t, p in named.parts.items() if t in topics
    ]
    yield from [f"  parts: {{{', '.join(parts)}}}"] if parts else []


def _homes(migration: Migration) -> Iterable[tuple[str, str | None]]:
    return ("kafka_home", migration.mirror.kafka_home), ("java_home", migration.mirror.java_home)
