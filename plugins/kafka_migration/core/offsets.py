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
