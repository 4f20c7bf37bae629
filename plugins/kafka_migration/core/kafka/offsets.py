"""Partitions and offsets, spans of offsets, and the lag: the number of offsets still to copy.

An offset always means *the next record to read*; its name says which one (`source_end_offset`,
`mirror_position`, …). A partition missing from a mapping means "not known", never zero.
An unknown lag is not zero either, and cannot be summed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class TopicPartition(NamedTuple):
    """One partition of one topic; sorts by topic, then by number."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}[{self.partition}]"


Offsets = Mapping[TopicPartition, int]
# Offsets [from, to) per partition.
Ranges = Mapping[TopicPartition, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Known:
    """A lag that was read, in offsets (an upper bound of records: markers and holes count too)."""

    offsets: int

    def __str__(self) -> str:
        return f"{self.offsets:,}"


@dataclass(frozen=True, slots=True)
class Unknown:
    """A lag that could not be read, and why."""

    reason: str

    def __str__(self) -> str:
        return f"unknown ({self.reason})"


Lag = Known | Unknown


def total(lags: Iterable[Lag]) -> Lag:
    """Add lags up; one unknown makes the sum unknown (with the first reason)."""
    offsets = 0
    for lag in lags:
        if isinstance(lag, Unknown):
            return lag
        offsets += lag.offsets
    return Known(offsets)


Span = tuple[int, int]


def joined(spans: Iterable[Span]) -> list[Span]:
    """Return the same offsets in as few spans as possible, ascending; empty spans are left out."""
    whole: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if whole and start <= whole[-1][1]:
            whole[-1] = (whole[-1][0], max(end, whole[-1][1]))
        else:
            whole.append((start, end))
    return whole


def without(spans: Iterable[Span], others: Iterable[Span]) -> list[Span]:
    """Return the offsets of the spans that are in none of the others, ascending."""
    left = joined(spans)
    for start, end in joined(others):
        pieces = (piece for low, high in left for piece in ((low, min(high, start)), (max(low, end), high)))
        left = [piece for piece in pieces if piece[0] < piece[1]]
    return left
