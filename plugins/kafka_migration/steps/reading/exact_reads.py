"""Reads of which every value is needed: a missing one is an error of now, never zero."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.kafka.cluster import IsolationLevel, KafkaCluster
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.kafka.records import RecordPrint
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.translation.by_partition import OffsetRange, Position, Prints

T = TypeVar("T")
Value = TypeVar("Value")


def every_value(
    values: Mapping[TopicPartition, Value], partitions: Collection[TopicPartition], what: str
) -> Mapping[TopicPartition, Value]:
    """Return the values. Raises `TransientError` if a partition is missing: unknown is not zero."""
    missing = sorted(set(partitions) - set(values))
    if missing:
        raise TransientError(f"the {what} of {missing[0]} cannot be read now ({len(missing)} partition(s))")
    return values


def visible_counts(
    source: KafkaCluster, ranges: Iterable[OffsetRange], isolation: IsolationLevel
) -> dict[OffsetRange, int | None]:
    """Return the number of visible records of every range; `None` if one of them cannot be read.

    Raises `TransientError` when a range cannot be read now.
    """
    counts: dict[OffsetRange, int | None] = {}
    for round_ in _rounds(ranges, lambda range_: range_.partition):
        start = {partition: range_.start for partition, range_ in round_.items()}
        end = {partition: range_.end for partition, range_ in round_.items()}
        found = source.count_visible(start, end, isolation)
        counts |= {range_: found.get(partition) for partition, range_ in round_.items()}
    return counts


def record_prints(cluster: KafkaCluster, positions: Iterable[Position], isolation: IsolationLevel, side: str) -> Prints:
    """Return the first visible record at or after every position; `TransientError` when one cannot be read."""
    prints: dict[Position, RecordPrint | None] = {}
    for round_ in _rounds(sorted(positions), lambda position: position.partition):
        found = cluster.records_at({partition: position.offset for partition, position in round_.items()}, isolation)
        missing = sorted(set(round_) - set(found))
        if missing:
            raise TransientError(
                f"the record at {side} offset {round_[missing[0]].offset:,} of {missing[0]} cannot be read now "
                f"({len(missing)} partition(s))"
            )
        prints |= {position: found[partition] for partition, position in round_.items()}
    return prints


def _rounds(items: Iterable[T], partition_of: Callable[[T], TopicPartition]) -> Iterator[Mapping[TopicPartition, T]]:
    """Yield the items in as few rounds as possible, each with at most one item per partition.

    A reader reads a partition from one offset at a time, but groups have different committed offsets.
    """
    waiting: dict[TopicPartition, list[T]] = {}
    for item in items:
        waiting.setdefault(partition_of(item), []).append(item)
    for number in range(max(map(len, waiting.values()), default=0)):
        yield {partition: mine[number] for partition, mine in waiting.items() if number < len(mine)}


_COMPACTED, _TIMED = "cleanup.policy", "message.timestamp.type"


@dataclass(frozen=True, slots=True)
class ComparedTopics:
    """The topics of one side that the cluster compacts, and those to which it assigns its own timestamps."""

    compacted: tuple[str, ...]
    untimed: tuple[str, ...]


def compared_topics(cluster: KafkaCluster, migration: Migration, topics: Collection[str]) -> ComparedTopics:
    """Read the topics' settings on one side; what the migration file says comes first."""
    ruled = {topic: migration.settings_of(topic) for topic in topics}
    said_compacted = {topic: each.compacted for topic, each in ruled.items() if each.compacted is not None}
    said_timed = {topic: each.timestamps for topic, each in ruled.items() if each.timestamps is not None}
    found = cluster.effective_configs(topics, _COMPACTED, _TIMED) if topics else {}
    compacted = {topic: "compact" in each[_COMPACTED] for topic, each in found.items() if _COMPACTED in each}
    timed = {topic: each[_TIMED] != "LogAppendTime" for topic, each in found.items() if _TIMED in each}
    return ComparedTopics(
        _those(topics, {**compacted, **said_compacted}, are=True),
        _those(topics, {**timed, **said_timed}, are=False),
    )


def _those(topics: Collection[str], found: Mapping[str, bool], *, are: bool) -> tuple[str, ...]:
    return tuple(sorted(topic for topic in topics if found.get(topic) is are))
