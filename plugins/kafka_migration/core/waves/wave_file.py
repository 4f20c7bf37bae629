"""The migration file that is proposed for a wave, as text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from kafka_migration.core.migration.settings import Insecurity
from kafka_migration.core.text.yaml_text import yaml_string
from kafka_migration.core.waves.wave_plan import Wave
from kafka_migration.core.waves.wording import reasons, remarks, size_of

# The limits of `cutover.groups` in a migration file: patterns, and characters of a pattern.
MAX_PATTERNS = 1000
MAX_PATTERN = 500
# Matches no name: a wave without known groups moves none.
NO_GROUP = "(?!)"
# The default replication factor of a migration file, if the target has that many brokers.
USUAL_REPLICAS = 3


@dataclass(frozen=True, slots=True)
class Names:
    """The names in a proposed file: Airflow connections, and the folder of Kafka on the MirrorMaker host (optional).

    `target_brokers` is the number of brokers of the target.
    """

    source: str
    target: str
    mirror_host: str
    spark: str
    target_brokers: int
    kafka_home: str = ""
    source_insecure: tuple[Insecurity, ...] = ()
    target_insecure: tuple[Insecurity, ...] = ()


# Editors read it; `kafka-migration schema` prints the file that it names.
SCHEMA_LINE = "# yaml-language-server: $schema=migration-file.schema.json"


def wave_file(name: str, wave: Wave, names: Names, remarks_on_all: Iterable[str] = ()) -> str:
    """Return the text of the migration file of a wave; `remarks_on_all` apply to every wave."""
    head = [_comment(line) for line in _head(name, wave, names, remarks_on_all)]
    return "\n".join([SCHEMA_LINE, *head, *_file(name, wave, names), ""])


def group_patterns(groups: Collection[str]) -> list[str]:
    """Return regular expressions that match exactly these groups: one per group, unless there are too many."""
    escaped = [re.escape(group) or "(?:)" for group in sorted(groups)]
    if len(escaped) <= MAX_PATTERNS:
        return escaped or [NO_GROUP]
    patterns = [escaped[0]]
    for pattern in escaped[1:]:
        if len(patterns[-1]) + 1 + len(pattern) <= MAX_PATTERN:
            patterns[-1] += f"|{pattern}"
        else:
            patterns.append(pattern)
    return patterns


def _head(name: str, wave: Wave, names: Names, remarks_on_all: Iterable[str]) -> Iterator[str]:
    yield f"{name}, proposed by `kafka-migration waves` from {names.source} to {names.target}: {size_of(wave)}."
    yield "Why these topics are in one file:"
    yield from (f"  {line}" for line in reasons(wave))
    noted = [*remarks(wave), *remarks_on_all]
    if noted:
        yield "Notes:"
        yield from (f"  {line}" for line in noted)
    yield "To decide:"
    yield f"  target.replication_factor: the target has {names.target_brokers} broker(s)"
    if not names.kafka_home:
        yield "  mirror.kafka_home: the folder of Kafka on the MirrorMaker host, if $KAFKA_HOME is not set there"
    yield "  everything else has a default; `kafka-migration schema` lists every field"


def _comment(text: str) -> str:
    """Return a line of a comment; what could end it, or be invisible in it, is written as `\\n` or `\\u202e`."""
    return f"# {_printable(text)}"


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def _file(name: str, wave: Wave, names: Names) -> Iterator[str]:
    yield "version: 1"
    yield f"name: {yaml_string(name)}"
    yield "source:"
    yield f"  connection: {yaml_string(names.source)}"
    yield from insecure_lines(names.source_insecure)
    yield "target:"
    yield f"  connection: {yaml_string(names.target)}"
    yield from insecure_lines(names.target_insecure)
    yield f"  replication_factor: {max(1, min(USUAL_REPLICAS, names.target_brokers))}"
    yield "topics:"
    yield from (f"  - {yaml_string(topic)}" for topic in wave.topics)
    yield "mirror:"
    yield f"  connection: {yaml_string(names.mirror_host)}"
    if names.kafka_home:
        yield f"  kafka_home: {yaml_string(names.kafka_home)}"
    yield "validation:"
    yield f"  spark_connection: {yaml_string(names.spark)}"
    yield "cutover:"
    yield "  # Regular expressions; each matches the whole name of one group."
    yield "  groups:"
    yield from (f"    - {yaml_string(pattern)}" for pattern in group_patterns(wave.movable))


def insecure_lines(insecure: Collection[Insecurity]) -> Iterator[str]:
    """Yield the line of a cluster's section with the protections that its connection gives up."""
    if insecure:
        yield f"  insecure: [{', '.join(insecure)}]"
