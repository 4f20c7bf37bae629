"""A wave and its reasons in words, short lines for a terminal or a comment, and its proposed migration file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from kafka_migration.core.migration.engine_table import engines_with
from kafka_migration.core.migration.migration_text import (
    NO_GROUP,
    Remarked,
    Value,
    cluster_section,
    migration_text,
)
from kafka_migration.core.migration.settings import Insecurity
from kafka_migration.core.text.quoting import plain_name
from kafka_migration.core.text.terminal_text import counted
from kafka_migration.core.waves.wave_plan import GroupReads, Wave, some_plain

# The text shows at most this many joins; JSON has all.
MAX_JOINS = 20


def size_of(wave: Wave) -> str:
    """Return how large a wave is, on one line."""
    records = "an unknown number of records" if wave.records is None else f"at most {wave.records:,} records"
    return f"{counted(len(wave.topics), 'topic')}, {counted(wave.partitions, 'partition')}, {records}"


def reasons(wave: Wave) -> Iterator[str]:
    """Yield what joins the topics, the largest join first."""
    if not wave.is_read:
        yield "no group is known to read any of them: move them at any time, or not at all"
    elif wave.parts > 1:
        yield f"they are independent: {wave.parts:,} parts were merged (--min-topics)"
    elif not wave.joins:
        yield "it is alone: no group or transactional id was seen to use it together with another topic"
    verbs = {"group": "reads", "transactional id": "wrote"}
    for join in sorted(wave.joins, key=lambda join: -len(join.topics))[:MAX_JOINS]:
        yield f"{join.kind} {plain_name(join.name)} {verbs[join.kind]} {some_plain(join.topics)}"
    if len(wave.joins) > MAX_JOINS:
        yield f"and {len(wave.joins) - MAX_JOINS:,} more groups or transactional ids"


def remarks(wave: Wave) -> Iterator[str]:
    """Yield what an operator should know about a wave before it is moved."""
    for reason in sorted(set(wave.elsewhere.values())):
        topics = [topic for topic, why in wave.elsewhere.items() if why == reason]
        yield f"belongs together with {some_plain(topics)}, {reason}"
    immovable = [each.words for each in wave.groups if not each.is_movable]
    if immovable:
        yield f"no cutover can move {some_plain(immovable)}"
    if wave.ignored:
        yield f"ignored, although they read these topics: {some_plain(wave.ignored)}"
    if wave.streams:
        yield f"created by Kafka Streams: {some_plain(wave.streams)}"
    if wave.committing:
        yield f"transactional id {some_plain(wave.committing)} also commits offsets of an unknown group:"
        yield "a group of another wave may belong here"
    if wave.split is not None:
        parts = f"{wave.split.parts:,} parts, the largest with {counted(wave.split.largest, 'topic')}"
        groups = "group" if len(wave.split.groups) == 1 else "groups"
        yield f"without {groups} {some_plain(wave.split.groups)} it would split into {parts} (--ignore-group)"


def readers(groups: Iterable[GroupReads]) -> str:
    """Return the groups, and whether they are active."""
    return some_plain([f"{each.group}{_activity(each)}" for each in groups]) or "none"


def _activity(group: GroupReads) -> str:
    if group.is_active is None:
        return " (unknown whether it is active)"
    return " (active)" if group.is_active else ""


# The limits of `cutover.groups` in a migration file: patterns, and characters of a pattern.
MAX_PATTERNS = 1000
MAX_PATTERN = 500
# The default replication factor of a migration file, if the target has that many brokers.
USUAL_REPLICAS = 3


@dataclass(frozen=True, slots=True)
class Names:
    """The names in a proposed file: Airflow connections, and the folder of Kafka on the MirrorMaker host (optional).

    `mirror` is the connection of that host or, with `status_topic`, of a Kafka Connect cluster whose workers keep their
    states in that topic. `target_brokers` is the number of brokers of the target.
    """

    source: str
    target: str
    mirror: str
    spark: str
    target_brokers: int
    kafka_home: str = ""
    status_topic: str = ""
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
    if names.status_topic:
        yield "  mirror.connect: further settings of the workers, and references to the secrets of both clusters"
    elif not names.kafka_home:
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
        "mirror": _mirror(names),
        "validation": {"spark_connection": names.spark},
        # A wave without known groups moves none.
        "cutover": {"groups": Remarked(group_patterns(wave.movable), of_groups)},
    }


def _mirror(names: Names) -> dict[str, Value]:
    if not names.status_topic:
        return {"connection": names.mirror, "kafka_home": names.kafka_home or None}
    (engine,) = engines_with("mirror.connect")
    return {"engine": engine, "connection": names.mirror, "connect": {"status_topic": names.status_topic}}
