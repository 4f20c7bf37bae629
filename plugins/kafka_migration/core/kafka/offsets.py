"""Partitions and offsets, spans of offsets, the lag, and the committed offsets of groups, also as CSV for Kafka's tool.

An offset always means *the next record to read*; its name says which one (`source_end_offset`,
`mirror_position`, …). A partition missing from a mapping means "not known", never zero.
The lag is the number of offsets still to copy. An unknown lag is not zero either, and cannot be summed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
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


class CommittedOffset(NamedTuple):
    """The offset of the next record that a group will read, with the consumer's metadata."""

    offset: int
    metadata: str = ""


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


Commits = Mapping[TopicPartition, CommittedOffset]
"""Committed offsets of one group; a missing partition has none."""
GroupsCommits = Mapping[str, Commits]
"""Committed offsets of several groups, by name."""


def offsets_of(commits: Commits) -> dict[TopicPartition, int]:
    """Return the offsets without their metadata."""
    return {partition: commit.offset for partition, commit in commits.items()}


def topics_of(commits: Commits) -> set[str]:
    """Return the topics on which a group committed."""
    return {partition.topic for partition in commits}


def commits_on(commits: Commits, topics: Collection[str]) -> dict[TopicPartition, CommittedOffset]:
    """Return a group's committed offsets on these topics."""
    return {partition: commit for partition, commit in commits.items() if partition.topic in topics}


def reset_offsets_csv(groups: GroupsCommits, names: Mapping[str, str] | None = None) -> str:
    """Return lines `"group",topic,partition,offset` for `kafka-consumer-groups --reset-offsets --from-file`.

    `names` are the names of the topics on that cluster, if they differ.
    """
    real = names or {}
    lines = [
        f"{_quoted(group)},{real.get(partition.topic, partition.topic)},{partition.partition},{commit.offset}\n"
        for group in sorted(groups)
        for partition, commit in sorted(groups[group].items())
    ]
    return "".join(lines)


def _quoted(group: str) -> str:
    # The tool reads CSV without an escape character: a quote within quotes is doubled.
    doubled = group.replace('"', '""')
    return f'"{doubled}"'
