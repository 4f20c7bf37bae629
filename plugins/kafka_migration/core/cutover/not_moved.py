"""The groups, topics and partitions that a plan does not move, each with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.groups.selection import OtherGroups
from kafka_migration.core.groups.uncommitted import START_FIRST, late_words, place_words
from kafka_migration.core.kafka.offsets import TopicPartition


@dataclass(frozen=True, slots=True)
class NotMoved(Document):
    """Partitions of one topic on which a group is not moved; `topic` is empty if its topics are unknown."""

    group: str
    topic: str
    partitions: tuple[int, ...]
    reason: str


def not_moved(plan: OffsetsPlan) -> Iterator[NotMoved]:
    """Yield everything that the plan does not move."""
    for group in plan.left_out:
        yield from _of_topics(group.group, group.left, ", ".join(group.refusal_codes))
    for group in plan.planned:
        for row in _of_topics(group.group, group.unset, "", or_none=False):
            words = late_words(row.group, place_words(row.topic, row.partitions))
            yield replace(row, reason=f"{Code.OFFSET_NEVER_COMMITTED}: {words} {START_FIRST}")
    yield from _others(plan.others)


def _others(others: OtherGroups) -> Iterator[NotMoved]:
    for group, topics in others.not_chosen.items():
        for topic in topics:
            yield NotMoved(group, topic, (), "not named by cutover.groups, or not chosen for this run")
    for group, why in others.unsupported.items():
        yield NotMoved(group, "", (), f"cannot be moved: {why}")
    for group, reason in others.unreadable.items():
        yield NotMoved(group, "", (), f"it is unknown whether it reads these topics: {reason}")


def _of_topics(
    group: str, partitions: Iterable[TopicPartition], reason: str, *, or_none: bool = True
) -> Iterator[NotMoved]:
    """Yield one row per topic; without a topic, one row for the whole group."""
    topics: dict[str, list[int]] = {}
    for topic, number in sorted(partitions):
        topics.setdefault(topic, []).append(number)
    if not topics and or_none:
        yield NotMoved(group, "", (), reason)
    for topic, numbers in topics.items():
        yield NotMoved(group, topic, tuple(numbers), reason)
