"""A wave and its reasons in words: short lines for a terminal or a comment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafka_migration.core.text.quoting import plain_name
from kafka_migration.core.waves.wave_plan import GroupReads, Wave, some

# The text shows at most this many joins; JSON has all.
MAX_JOINS = 20


def size_of(wave: Wave) -> str:
    """Return how large a wave is, on one line."""
    records = "an unknown number of records" if wave.records is None else f"at most {wave.records:,} records"
    return f"{_count(len(wave.topics), 'topic')}, {_count(wave.partitions, 'partition')}, {records}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


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
        yield f"{join.kind} {plain_name(join.name)} {verbs[join.kind]} {some(join.topics)}"
    if len(wave.joins) > MAX_JOINS:
        yield f"and {len(wave.joins) - MAX_JOINS:,} more groups or transactional ids"


def remarks(wave: Wave) -> Iterator[str]:
    """Yield what an operator should know about a wave before it is moved."""
    for reason in sorted(set(wave.elsewhere.values())):
        topics = [topic for topic, why in wave.elsewhere.items() if why == reason]
        yield f"belongs together with {some(topics)}, {reason}"
    immovable = [each.words for each in wave.groups if not each.is_movable]
    if immovable:
        yield f"no cutover can move {some(immovable)}"
    if wave.ignored:
        yield f"ignored, although they read these topics: {some(wave.ignored)}"
    if wave.streams:
        yield f"created by Kafka Streams: {some(wave.streams)}"
    if wave.committing:
        yield f"transactional id {some(wave.committing)} also commits offsets of an unknown group:"
        yield "a group of another wave may belong here"
    if wave.split is not None:
        parts = f"{wave.split.parts:,} parts, the largest with {_count(wave.split.largest, 'topic')}"
        groups = "group" if len(wave.split.groups) == 1 else "groups"
        yield f"without {groups} {some(wave.split.groups)} it would split into {parts} (--ignore-group)"


def readers(groups: Iterable[GroupReads]) -> str:
    """Return the groups, and whether they are active."""
    return some([f"{each.group}{_activity(each)}" for each in groups]) or "none"


def _activity(group: GroupReads) -> str:
    if group.is_active is None:
        return " (unknown whether it is active)"
    return " (active)" if group.is_active else ""
