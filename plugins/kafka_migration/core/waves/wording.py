"""What a wave is, and why, in words; short lines that a terminal and a comment can take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafka_migration.core.text.names import plain_name
from kafka_migration.core.waves.plan import GroupReads, Wave, some

# So many joins are told in words; JSON has all.
MAX_JOINS = 20


def size_of(wave: Wave) -> str:
    """Return how large a wave is, on one line."""
    records = "a number of records that is not known" if wave.records is None else f"at most {wave.records:,} records"
    return f"{_count(len(wave.topics), 'topic')}, {_count(wave.partitions, 'partition')}, {records}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def reasons(wave: Wave) -> Iterator[str]:
    """Yield what holds the topics together, what holds most of them first."""
    if not wave.is_read:
        yield "no group is known to read any of them: they may be moved at any time, or not at all"
    elif wave.parts > 1:
        yield f"they need not be: {wave.parts:,} parts that nothing joins are put together (--min-topics)"
    elif not wave.joins:
        yield "it is alone: nothing was seen that reads or writes it together with another topic"
    verbs = {"group": "reads", "transactional id": "wrote"}
    for join in sorted(wave.joins, key=lambda join: -len(join.topics))[:MAX_JOINS]:
        yield f"{join.kind} {plain_name(join.name)} {verbs[join.kind]} {some(join.topics)}"
    if len(wave.joins) > MAX_JOINS:
        yield f"and {len(wave.joins) - MAX_JOINS:,} more groups or transactional ids"


def remarks(wave: Wave) -> Iterator[str]:
    """Yield what a person should know of a wave before it is moved."""
    for reason in sorted(set(wave.elsewhere.values())):
        topics = [topic for topic, why in wave.elsewhere.items() if why == reason]
        yield f"belongs together with {some(topics)}, {reason}"
    immovable = [f"{each.group} ({each.kind})" for each in wave.groups if not each.is_movable]
    if immovable:
        yield f"no cutover can move {some(immovable)}"
    if wave.ignored:
        yield f"ignored, and read on the source too: {some(wave.ignored)}"
    if wave.streams:
        yield f"made by Kafka Streams: {some(wave.streams)}"
    if wave.committing:
        yield f"transactional id {some(wave.committing)} commits the offsets of a group, too; which one is not known:"
        yield "a group that reads in another wave may belong here"
    if wave.split is not None:
        parts = f"{wave.split.parts:,} parts, the largest with {_count(wave.split.largest, 'topic')}"
        groups = "group" if len(wave.split.groups) == 1 else "groups"
        yield f"without {groups} {some(wave.split.groups)} it would fall into {parts} (--ignore-group)"


def readers(groups: Iterable[GroupReads]) -> str:
    """Return the groups with what is known of their members."""
    return some([f"{each.group}{_activity(each)}" for each in groups]) or "none"


def _activity(group: GroupReads) -> str:
    if group.is_active is None:
        return " (whether it is active is not known)"
    return " (active)" if group.is_active else ""
