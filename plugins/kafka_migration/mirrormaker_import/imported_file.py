"""The text of an imported migration file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafka_migration.core.migration.settings import Insecurity
from kafka_migration.core.text.yaml_text import yaml_string
from kafka_migration.mirrormaker_files.model.mirror_settings import Flow
from kafka_migration.mirrormaker_import.imported_groups import NO_GROUP
from kafka_migration.mirrormaker_import.imported_topics import TopicChoice
from kafka_migration.mirrormaker_import.names_on_target import TargetNames

SCHEMA_LINE = "# yaml-language-server: $schema=migration-file.schema.json"


@dataclass(frozen=True, slots=True)
class FileParts:
    """What the file is made of; `fields` are the values that MirrorMaker's files gave, by field name."""

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
    fields: Mapping[str, str]
    is_mirrormaker1: bool
    to_mirrormaker2: bool = False


def file_text(parts: FileParts) -> str:
    """Return the file."""
    return "\n".join([SCHEMA_LINE, *_lines(parts), ""])


def _lines(parts: FileParts) -> Iterator[str]:
    origin = "".join(letter if letter.isprintable() else "?" for letter in parts.origin)
    yield f"# The flow {_printable(str(parts.flow))} of {origin}. `kafka-migration schema` lists every field."
    yield "version: 1"
    yield f"name: {yaml_string(parts.name)}"
    yield from _cluster("source", parts.source, parts.insecure[0])
    if parts.names.naming == "prefixed":
        yield f"  alias: {yaml_string(parts.names.alias)}"
    yield from _cluster("target", parts.target, parts.insecure[1])
    if "replication_factor" in parts.fields:
        yield f"  replication_factor: {parts.fields['replication_factor']}"
    yield "topics:"
    yield from _topics(parts.topics)
    yield from _mirror(parts)
    yield "validation:"
    yield "  spark_connection: spark"
    if parts.groups:
        yield "cutover:"
        yield "  groups:  # matches no group" if parts.groups == (NO_GROUP,) else "  groups:"
        yield from (f"    - {yaml_string(pattern)}" for pattern in parts.groups)


def _cluster(side: str, connection: str, insecure: tuple[Insecurity, ...]) -> Iterator[str]:
    yield f"{side}:"
    yield f"  connection: {yaml_string(connection)}"
    if insecure:
        yield f"  insecure: [{', '.join(insecure)}]"


def _topics(topics: TopicChoice) -> Iterator[str]:
    yield from (f"  - {yaml_string(item.text)}" for item in topics.items if item.is_name)
    yield from (f"  - pattern: {yaml_string(item.text)}" for item in topics.items if not item.is_name)
    # They matter only beside patterns.
    if topics.has_patterns:
        yield from (f"  - exclude: {yaml_string(item.regex)}" for item in topics.exclusions)


def _mirror(parts: FileParts) -> Iterator[str]:
    yield "mirror:"
    yield f"  engine: {'mirrormaker1' if parts.is_mirrormaker1 and not parts.to_mirrormaker2 else 'mirrormaker2'}"
    yield f"  connection: {yaml_string(parts.mirror_host)}"
    if "isolation_level" in parts.fields:
        yield f"  isolation_level: {yaml_string(parts.fields['isolation_level'])}"
    # A number, and true or false.
    yield from (
        f"  {name}: {parts.fields[name]}" for name in ("tasks", "heap_mb", "exactly_once") if name in parts.fields
    )
    if parts.names.naming == "prefixed":
        yield "  topic_names:"
        yield "    naming: prefixed"
    tuning = {key.removeprefix("properties."): value for key, value in parts.fields.items() if "properties." in key}
    if tuning:
        yield "  properties:"
        yield from (f"    {yaml_string(key)}: {yaml_string(value)}" for key, value in sorted(tuning.items()))


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)
