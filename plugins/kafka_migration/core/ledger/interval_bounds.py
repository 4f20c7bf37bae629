"""Intervals: the source offsets of a time span, and the result for their records.

The bound b(t) of a partition is the first offset whose record has a timestamp at or after t. If there was no such
record when the source was queried, it is the partition's end. A bound is queried once and kept. The offsets of an
interval are [b(start), b(end)). Because b(end) of one interval is b(start) of the next, every record is in exactly one
interval, regardless of when it arrived and of its timestamp.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.verdict import Verdict, worst
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.ledger.cutovers import LedgerEntry
from kafka_migration.core.run.run_window import Interval


class Bound(NamedTuple):
    """The bound of a partition, with the log start offset of the source at the time of the query."""

    offset: int
    source_log_start: int

    @property
    def is_first_held(self) -> bool:
        """Whether records that were deleted earlier may belong to the time after the bound."""
        return 0 < self.source_log_start >= self.offset


Bounds = Mapping[datetime, Mapping[TopicPartition, Bound]]
"""The known bounds, per time and partition."""


@dataclass(frozen=True, slots=True)
class BoundsResolved(LedgerEntry):
    """The bounds of some times that the source returned in one query."""

    bounds: Mapping[datetime, Offsets]
    source_log_start: Offsets
    kind: Literal["bounds-resolved"] = "bounds-resolved"

    def added_to(self, known: Bounds) -> Bounds:
        """Return all bounds; known bounds are not changed."""
        added = {
            time: {partition: Bound(offset, self.source_log_start[partition]) for partition, offset in offsets.items()}
            for time, offsets in self.bounds.items()
        }
        return {**known, **{time: {**bounds, **known.get(time, {})} for time, bounds in added.items()}}


def lacking_bounds(
    known: Bounds, times: Iterable[datetime], partitions: Collection[TopicPartition]
) -> dict[datetime, tuple[TopicPartition, ...]]:
    """Return per time the partitions whose bound is not known yet; times without any are omitted."""
    lacking = {time: tuple(p for p in partitions if p not in known.get(time, {})) for time in times}
    return {time: partitions for time, partitions in lacking.items() if partitions}


def between_known(known: Bounds, time: datetime, offsets: Offsets) -> dict[TopicPartition, int]:
    """Return the offsets found for a time, limited by the bounds of earlier and later times.

    The log changes between two queries: records arrive late or are deleted. Known bounds are not changed.
    """
    moved = dict(offsets)
    for other, bounds in known.items():
        nearer = max if other < time else min
        moved |= {p: nearer(moved[p], bound.offset) for p, bound in bounds.items() if p in moved and other != time}
    return moved


@dataclass(frozen=True, slots=True)
class IntervalBounds(Document):
    """An interval with its source offsets [start, end) per partition."""

    interval: Interval
    start: Mapping[TopicPartition, Bound]
    end: Mapping[TopicPartition, Bound]

    @classmethod
    def of(cls, bounds: Bounds, interval: Interval, topics: Collection[str]) -> IntervalBounds:
        """Return the interval for those partitions of these topics whose two bounds are known."""
        start, end = bounds.get(interval.start, {}), bounds.get(interval.end, {})
        partitions = [p for p in sorted(start.keys() & end.keys()) if p.topic in topics]
        return cls(interval, {p: start[p] for p in partitions}, {p: end[p] for p in partitions})

    def goals(self, mirror_positions: Offsets, source_end_offsets: Offsets) -> dict[TopicPartition, int]:
        """Return the smallest goals with which a run has copied all records of the interval."""
        return {
            partition: max(position, self._last_needed(partition, source_end_offsets[partition]))
            for partition, position in mirror_positions.items()
        }

    def _last_needed(self, partition: TopicPartition, source_end_offset: int) -> int:
        end = self.end[partition].offset
        return min(end, source_end_offset) if self.start[partition].offset < end else 0


OffsetSpan = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PartitionAnswer(Document):
    """The result for an interval's records in one partition.

    `source` and `target` are the offsets [start, end) on each cluster. `target` and `records` are `None` if unknown:
    not everything is copied, or the records can no longer be counted.
    """

    verdict: Verdict
    source: OffsetSpan
    target: OffsetSpan | None
    records: int | None


@dataclass(frozen=True, slots=True)
class TopicAnswer(Document):
    """The result for an interval's records in one topic; partitions without such records are omitted."""

    partitions: Mapping[int, PartitionAnswer]

    @property
    def verdict(self) -> Verdict | None:
        """The worst verdict of the partitions; `None` if the interval has no records."""
        return worst(p.verdict for p in self.partitions.values()) if self.partitions else None

    @property
    def records(self) -> int | None:
        """The number of records; `None` if that of any partition is unknown."""
        counts = [p.records for p in self.partitions.values()]
        return None if None in counts else sum(count for count in counts if count is not None)


@dataclass(frozen=True, slots=True)
class IntervalAnswer(LedgerEntry):
    """A run's answer for an interval."""

    interval: Interval
    topics: Mapping[str, TopicAnswer]
    kind: Literal["interval-answered"] = "interval-answered"

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of the topics; `PASS` for an interval without records."""
        return worst([Verdict.PASS, *(topic.verdict for topic in self.topics.values() if topic.verdict is not None)])
