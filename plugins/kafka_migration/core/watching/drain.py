"""The drain test: is everything below the frozen goal copied, proved per partition?

The order of the tests matters (verified on Kafka 3.9.1). A gap fails first, even if nothing is left to copy. Then the
stored position is compared, then the log may be empty. A probe comes last: between a position below the goal and the
goal there may be only transaction markers or compaction holes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Probe
from kafka_migration.core.kafka.offsets import Known, Lag, Offsets, Ranges, TopicPartition, Unknown, total
from kafka_migration.core.target.target_topics import COPY_ELSEWHERE
from kafka_migration.core.text.terminal_text import duration


class Drain(StrEnum):
    """The state of one partition."""

    DRAINED = "drained"
    COPYING = "copying"
    GAP = "gap"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PartitionReading:
    """One poll of one partition; `None` means that the value could not be read.

    `expected_next` is the highest offset before which copying is proved: MirrorMaker's stored position, the
    goal proved by an earlier run, or the position at this generation's start.
    """

    goal: int
    source_log_start: int | None
    expected_next: int | None
    probe: Probe | None = None


def drain_of(reading: PartitionReading) -> Drain:
    """Judge one reading, in the order of the module docstring."""
    if reading.source_log_start is None or reading.expected_next is None:
        return Drain.UNKNOWN
    if reading.expected_next < reading.source_log_start:
        return Drain.GAP
    if reading.expected_next >= reading.goal or reading.source_log_start == reading.goal:
        return Drain.DRAINED
    if reading.probe is not None and reading.probe.proves(reading.goal):
        return Drain.DRAINED
    return Drain.COPYING


def lag_of(reading: PartitionReading) -> Lag:
    """Return the offsets still to copy: 0 only if the partition is proved to be drained."""
    drain = drain_of(reading)
    if drain is Drain.DRAINED:
        return Known(0)
    if reading.expected_next is None or reading.source_log_start is None:
        return Unknown("the position or log start could not be read")
    return Known(max(0, reading.goal - reading.expected_next))


# Each poll writes them, so their number has a limit.
MOST_TOPICS_BEHIND = 20


@dataclass(frozen=True, slots=True)
class EarlierLag(Document):
    """The lag of a topic at an earlier poll, and how many seconds before."""

    lag: int
    ago_s: int


@dataclass(frozen=True, slots=True)
class TopicLag(Document):
    """The number of offsets of a topic that are not copied yet, and an earlier number; `None`: unknown."""

    OMITTED: ClassVar[frozenset[str]] = frozenset({"earlier"})

    topic: str
    lag: int | None
    earlier: EarlierLag | None = None

    @property
    def trend(self) -> str:
        """How the lag has changed since the earlier number."""
        if self.lag is None or self.earlier is None:
            return "unknown"
        more, time = self.lag - self.earlier.lag, duration(self.earlier.ago_s)
        if not more:
            return f"the same as {time} ago"
        return f"{abs(more):,} {'more' if more > 0 else 'fewer'} in {time}"


def topics_behind(readings: Mapping[TopicPartition, PartitionReading]) -> tuple[TopicLag, ...]:
    """Return the topics that are not copied to their goals, at most 20: unknown lags first, then the largest ones."""
    lags: dict[str, list[Lag]] = {}
    for partition, reading in readings.items():
        lags.setdefault(partition.topic, []).append(lag_of(reading))
    behind = [TopicLag(topic, lag.offsets if isinstance(lag, Known) else None) for topic, lag in _totals(lags)]
    worst_first = sorted(behind, key=lambda each: (each.lag is not None, -(each.lag or 0), each.topic))
    return tuple(worst_first[:MOST_TOPICS_BEHIND])


def _totals(lags: Mapping[str, Collection[Lag]]) -> Iterator[tuple[str, Lag]]:
    """Yield the lag of each topic that has one."""
    for topic, each in lags.items():
        if (lag := total(each)) != Known(0):
            yield topic, lag


def gap_findings(gaps: Ranges, code: Code = Code.GAP) -> tuple[Finding, ...]:
    """Name every range that the source deleted before it was copied."""
    return tuple(
        Finding(
            code,
            str(partition),
            f"source log start {log_start:,}",
            f"at most {position:,}, the next offset to copy",
            f"Raise the retention of the topic on the source now. Do not delete the target topic. {COPY_ELSEWHERE}",
            happened=f"The source deleted offsets {position:,}–{log_start - 1:,} of {partition} before they were "
            "copied.",
            matters="These records are on neither cluster. The target may hold the only copy of earlier records, and "
            "this migration can no longer copy the topic completely.",
        )
        for partition, (position, log_start) in sorted(gaps.items())
    )


def deletion_findings(gaps: Ranges) -> tuple[Finding, ...]:
    """Name every partition whose source deleted records after MirrorMaker's position while it runs.

    The position may be old. What the target does not hold is known, and said, when MirrorMaker is stopped.
    """
    return tuple(
        Finding(
            Code.GAP_DURING_RUN,
            str(partition),
            f"source log start {log_start:,}",
            f"at most {position:,}, the position that MirrorMaker has stored",
            "Raise the retention of the topic on the source now. Do not delete the target topic. The task stop_mirror "
            "names the offsets that the target does not hold.",
            happened=f"The source has deleted records of {partition} up to offset {log_start - 1:,}, but the position "
            f"that MirrorMaker stored last is {position:,}.",
            matters="MirrorMaker may not have copied the records in between; the source no longer has them.",
        )
        for partition, (position, log_start) in sorted(gaps.items())
    )


def without_copied(gaps: Ranges, reached: Offsets) -> dict[TopicPartition, tuple[int, int]]:
    """Return the gaps without the offsets before those that are known to be reached."""
    left = {p: (max(start, reached.get(p, start)), end) for p, (start, end) in gaps.items()}
    return {p: (start, end) for p, (start, end) in left.items() if start < end}


def gaps_of(expected_next: Offsets, source_log_start: Offsets) -> dict[TopicPartition, tuple[int, int]]:
    """Return every range [expected_next, log start) that the source deleted before it was copied."""
    return {
        partition: (position, source_log_start[partition])
        for partition, position in sorted(expected_next.items())
        if partition in source_log_start and position < source_log_start[partition]
    }


def beyond_end_findings(
    mirror_positions: Offsets, source_end_offsets: Offsets, explained: Collection[str] = ()
) -> tuple[Finding, ...]:
    """Name every position beyond the source's end: the source topic is not the one that was copied, or lost records.

    `explained` are the subjects of findings (topics or partitions) that already say why.
    """
    return tuple(
        Finding(
            Code.POSITION_BEYOND_END,
            str(partition),
            f"position {position:,}",
            f"at most {source_end_offsets[partition]:,}, the end of the source partition",
            f"Do not delete the target topic. {COPY_ELSEWHERE}",
            happened=f"MirrorMaker's position {position:,} is after the end {source_end_offsets[partition]:,} of "
            f"{partition} on the source: the topic was deleted and created again, or lost records.",
            matters="MirrorMaker would skip new records until the end reaches its position. The target may hold the "
            "only copy of the lost records.",
        )
        for partition, position in sorted(mirror_positions.items())
        if position > source_end_offsets.get(partition, position)
        and not {str(partition), f"topic {partition.topic}"}.intersection(explained)
    )


def expected_next(
    partitions: Mapping[TopicPartition, int], stored: Offsets, proved: Offsets
) -> dict[TopicPartition, int]:
    """Return per partition the highest of: position at the start, MirrorMaker's stored position, proved end."""
    return {
        partition: max(start, stored.get(partition, start), proved.get(partition, start))
        for partition, start in partitions.items()
    }
