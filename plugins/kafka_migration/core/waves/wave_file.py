"""The migration file that is proposed for a wave, as text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from kafka_migration.core.migration.migration_text import (
    NO_GROUP,
    Remarked,
    Value,
    cluster_section,
    migration_text,
)
from kafka_migration.core.migration.settings import Insecurity
from kafka_migration.core.waves.wave_plan import Wave
from kafka_migration.core.waves.wording import reasons, remarks, size_of

# The limits of `cutover.groups` in a migration file: patterns, and characters of a pattern.
MAX_PATTERNS = 1000
MAX_PATTERN = 500
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


def wave_file(name: str, wave: Wave, names: Names, remarks_on_all: Iterable[str] = ()) -> str:
    """Return the text of the migration file of a wave; `remarks_on_all` apply to every wave."""
    return migration_text(_fields(name, wave, names), _head(name, wave, names, remarks_on_all))


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


def _fields(name: str, wave: Wave, names: Names) -> dict[str, Value]:
    replicas = max(1, min(USUAL_REPLICAS, names.target_brokers))
    of_groups = "regular expressions; each matches the whole name of one group"
    return {
        "name": name,
        "source": cluster_section(names.source, names.source_insecure),
        "target": cluster_section(names.target, names.target_insecure, replication_factor=replicas),
        "topics": wave.topics,
        "mirror": {"connection": names.mirror_host, "kafka_home": names.kafka_home or None},
        "validation": {"spark_connection": names.spark},
        # A wave without known groups moves none.
        "cutover": {"groups": Remarked(group_patterns(wave.movable), of_groups)},
    }
