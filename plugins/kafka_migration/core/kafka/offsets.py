"""Partitions and offsets.

An offset always means *the next record to read*; its name says which one (`source_end_offset`,
`mirror_position`, …). A partition missing from a mapping means "not known", never zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

OffsetsDocument = dict[str, dict[str, int]]


class TopicPartition(NamedTuple):
    """One partition of one topic; sorts by topic, then by number."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}[{self.partition}]"


Offsets = Mapping[TopicPartition, int]
# Offsets [from, to) per partition.
Ranges = Mapping[TopicPartition, tuple[int, int]]
RangesDocument = Mapping[str, Mapping[str, Mapping[str, int]]]


def to_document(offsets: Offsets) -> OffsetsDocument:
    """Return `{topic: {"0": offset}}`, sorted, as JSON (and Spark's Kafka source) wants it."""
    document: OffsetsDocument = {}
    for (topic, partition), offset in sorted(offsets.items()):
        document.setdefault(topic, {})[str(partition)] = offset
    return document


def from_document(document: Mapping[str, Mapping[str, int]]) -> dict[TopicPartition, int]:
    """Read back what `to_document` wrote."""
    return {
        TopicPartition(topic, int(partition)): int(offset)
        for topic, partitions in document.items()
        for partition, offset in partitions.items()
    }


def ranges_to_document(ranges: Ranges) -> dict[str, OffsetsDocument]:
    """Return both bounds of the ranges as JSON."""
    return {
        "from": to_document({p: start for p, (start, _) in ranges.items()}),
        "to": to_document({p: end for p, (_, end) in ranges.items()}),
    }


def ranges_from_document(document: RangesDocument) -> dict[TopicPartition, tuple[int, int]]:
    """Read back what `ranges_to_document` wrote; an empty document holds none."""
    ends = from_document(document.get("to", {}))
    return {p: (start, ends[p]) for p, start in from_document(document.get("from", {})).items()}
