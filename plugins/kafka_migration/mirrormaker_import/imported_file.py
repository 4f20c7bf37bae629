"""The text of an imported migration file."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_migration.core.migration.migration_text import (
    NO_GROUP,
    Remarked,
    Value,
    cluster_section,
    migration_text,
)
from kafka_migration.core.migration.settings import Insecurity
from kafka_migration.mirrormaker_files.model.mirror_settings import Flow
from kafka_migration.mirrormaker_import.imported_topics import TopicChoice
from kafka_migration.mirrormaker_import.line_values import LineValues
from kafka_migration.mirrormaker_import.names_on_target import TargetNames


@dataclass(frozen=True, slots=True)
class FileParts:
    """What the file is made of."""

    name: str
    origin: str
    flow: Flow
    source: str
    target: str
    mirror_host: str
    insecure: tuple[tuple[Insecurity, ...], ...]
    topics: TopicChoice
    groups: tuple[str, ...]
    names: TargetNames
    values: LineValues
    is_mirrormaker1: bool
    to_mirrormaker2: bool = False


def file_text(parts: FileParts) -> str:
    """Return the file."""
    origin = f"The flow {parts.flow} of {parts.origin}. `kafka-migration schema` lists every field."
    return migration_text(_fields(parts), [origin])


def _fields(parts: FileParts) -> dict[str, Value]:
    source, target = parts.insecure
    return {
        "name": parts.name,
        "source": cluster_section(parts.source, source, alias=parts.names.alias or None),
        "target": cluster_section(parts.target, target, replication_factor=parts.values.replication_factor),
        "topics": _topics(parts.topics),
        "mirror": _mirror(parts),
        "validation": {"spark_connection": "spark"},
        "cutover": {"groups": _groups(parts.groups)} if parts.groups else None,
    }


def _groups(groups: tuple[str, ...]) -> Value:
    return Remarked(groups, "matches no group") if groups == (NO_GROUP,) else groups


def _topics(topics: TopicChoice) -> list[Value]:
    names: list[Value] = [item.text for item in topics.items if item.is_name]
    patterns: list[Value] = [{"pattern": item.text} for item in topics.items if not item.is_name]
    # They matter only beside patterns.
    exclusions = topics.exclusions if topics.has_patterns else ()
    return [*names, *patterns, *({"exclude": item.regex} for item in exclusions)]


def _mirror(parts: FileParts) -> dict[str, Value]:
    is_old = parts.is_mirrormaker1 and not parts.to_mirrormaker2
    values = parts.values
    return {
        "engine": "mirrormaker1" if is_old else "mirrormaker2",
        "connection": parts.mirror_host,
        "isolation_level": values.isolation_level,
        "tasks": values.tasks,
        "heap_mb": values.heap_mb,
        "exactly_once": values.exactly_once,
        "topic_names": {"naming": "prefixed"} if parts.names.naming == "prefixed" else None,
        "properties": dict(sorted(values.properties.items())) or None,
    }
