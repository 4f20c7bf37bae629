"""The text of an imported migration file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafka_migration.core.migration.settings import Insecurity
from kafka_migration.core.text.yaml_text import yaml_string
from kafka_migration.mirrormaker_files.imported_topics import NameItem
from kafka_migration.mirrormaker_files.mirror_settings import Flow

SCHEMA_LINE = "# yaml-language-server: $schema=migration-file.schema.json"
# MirrorMaker 2 creates topics with this many replicas if it is not told otherwise.
_DEFAULT_REPLICAS = "2"
_ALIAS = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


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
    topics: tuple[NameItem, ...]
    exclusions: tuple[NameItem, ...]
    groups: tuple[str, ...]
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
    if _is_prefixed(parts) and _ALIAS.fullmatch(parts.flow.source):
        yield f"  alias: {yaml_string(parts.flow.source)}"
    yield from _cluster("target", parts.target, parts.insecure[1])
    if replicas := parts.fields.get("replication_factor", "" if parts.is_mirrormaker1 else _DEFAULT_REPLICAS):
        yield f"  replication_factor: {replicas}"
    yield "topics:"
    yield from (f"  - {yaml_string(item.text)}" for item in parts.topics if item.is_name)
    yield from (f"  - pattern: {yaml_string(item.text)}" for item in parts.topics if not item.is_name)
    yield from (f"  - exclude: {yaml_string(_pattern(item))}" for item in parts.exclusions)
    yield from _mirror(parts)
    yield "validation:"
    yield "  spark_connection: spark"
    if parts.groups:
        yield "cutover:"
        yield "  groups:"
        yield from (f"    - {yaml_string(pattern)}" for pattern in parts.groups)


def _cluster(side: str, connection: str, insecure: tuple[Insecurity, ...]) -> Iterator[str]:
    yield f"{side}:"
    yield f"  connection: {yaml_string(connection)}"
    if insecure:
        yield f"  insecure: [{', '.join(insecure)}]"


def _is_prefixed(parts: FileParts) -> bool:
    return not parts.is_mirrormaker1 and parts.fields.get("naming", "prefixed") == "prefixed"


def _mirror(parts: FileParts) -> Iterator[str]:
    yield "mirror:"
    yield f"  engine: {'mirrormaker1' if parts.is_mirrormaker1 and not parts.to_mirrormaker2 else 'mirrormaker2'}"
    yield f"  connection: {yaml_string(parts.mirror_host)}"
    if "isolation_level" in parts.fields:
        yield f"  isolation_level: {yaml_string(parts.fields['isolation_level'])}"
    # A number, and true or false.
    yield from (f"  {name}: {parts.fields[name]}" for name in ("tasks", "exactly_once") if name in parts.fields)
    if _is_prefixed(parts):
        yield "  topic_names:"
        yield "    naming: prefixed"
    tuning = {key.removeprefix("properties."): value for key, value in parts.fields.items() if "properties." in key}
    if tuning:
        yield "  properties:"
        yield from (f"    {yaml_string(key)}: {yaml_string(value)}" for key, value in sorted(tuning.items()))


def _pattern(item: NameItem) -> str:
    return re.escape(item.text) if item.is_name else item.text


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)
