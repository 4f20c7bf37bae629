"""Partitions and offsets.

An offset always means *the next record to read*; its name says which one (`source_end_offset`,
`mirror_position`, …). A partition missing from a mapping means "not known", never zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kafka_migration.core.documents.codec import read, written

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


def to_document(offsets: Offsets) -> OffsetsDocument:
    """Return `{topic: {"0": offset}}`, sorted, as JSON (and Spark's Kafka source) wants it."""
    document: OffsetsDocument = written(offsets)
    return document


def from_document(document: Mapping[str, Mapping[str, int]]) -> Offsets:
    """Read back what `to_document` wrote."""
    offsets: Offsets = read(Offsets, document)
    return offsets
