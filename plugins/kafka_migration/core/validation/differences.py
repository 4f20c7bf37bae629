"""Differences between source and target, as the Spark job reports them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from kafka_migration.core.documents.codec import Document


class DifferenceKind(StrEnum):
    """What a difference between source and target is; docs/concepts/validation.md defines each."""

    MISSING = "missing"
    EXTRA = "extra"
    DUPLICATE = "duplicate"
    REORDERED = "reordered"
    ALTERED = "altered"
    MOVED = "moved"
    STALE = "stale"
    ABORTED = "aborted"
    COMPACTED = "compacted"
    EXPIRED = "expired"
    UNPROVED = "unproved"
    INTERLEAVED = "interleaved"
    UNCLASSIFIED = "unclassified"


_UNKNOWN = frozenset({DifferenceKind.EXPIRED, DifferenceKind.UNPROVED})


@dataclass(frozen=True, slots=True)
class FirstDifference(Document):
    """The first place where source and target differ.

    `source_offset` and `target_offset` are the records at that place; `None` means that this side has no further
    record. `fields` are those that differ in an altered record.
    """

    kind: DifferenceKind
    source_offset: int | None
    target_offset: int | None
    fields: tuple[str, ...]
    detail: str

    @property
    def is_target_tail(self) -> bool:
        """Whether the target only has more records at its end, and equals the source before them."""
        return self.source_offset is None and self.kind in {DifferenceKind.EXTRA, DifferenceKind.DUPLICATE}


@dataclass(frozen=True, slots=True)
class Difference(Document):
    """One difference, with the partition and offset of its record on either side; `None` if a side has none.

    `fields` are those of an altered record that differ: key, value, headers, timestamp.
    """

    kind: DifferenceKind
    fields: tuple[str, ...]
    source_partition: int | None
    source_offset: int | None
    target_partition: int | None
    target_offset: int | None


@dataclass(frozen=True, slots=True)
class Differences(Document):
    """The number of differences of each kind, and the first of them; the run's Parquet file has all."""

    counts: Mapping[DifferenceKind, int]
    first: tuple[Difference, ...]

    @property
    def damage(self) -> frozenset[DifferenceKind]:
        """The kinds that occur; a key in several source partitions is no damage."""
        return frozenset(kind for kind, count in self.counts.items() if count) - {DifferenceKind.INTERLEAVED}

    @property
    def unexplained(self) -> frozenset[DifferenceKind]:
        """The damage that compaction does not explain."""
        return self.damage - {DifferenceKind.COMPACTED}

    @property
    def is_unproved(self) -> bool:
        """Whether a difference may have an explanation that can no longer be read."""
        return DifferenceKind.UNPROVED in self.damage

    @property
    def known(self) -> Differences:
        """The differences without those about records that can no longer be read."""
        counts = {kind: count for kind, count in self.counts.items() if kind not in _UNKNOWN}
        return Differences(counts, tuple(difference for difference in self.first if difference.kind not in _UNKNOWN))


def merged(parts: Iterable[Differences], shown: int = 20) -> Differences:
    """Merge the differences of several comparisons, and keep the first `shown`."""
    counts: Counter[DifferenceKind] = Counter()
    first: list[Difference] = []
    for part in parts:
        counts.update(part.counts)
        first += part.first
    return Differences(dict(counts), tuple(first[:shown]))
