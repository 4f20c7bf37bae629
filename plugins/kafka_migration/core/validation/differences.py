"""Differences between source and target, as the Spark job reports them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.migration.settings import Tolerance
from kafka_migration.core.validation.difference_kinds import DifferenceKind


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
        return self.source_offset is None and self.kind.may_be_tail


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
        return frozenset(kind for kind, count in self.counts.items() if count and kind.is_damage)

    @property
    def unexplained(self) -> frozenset[DifferenceKind]:
        """The damage that compaction does not explain."""
        return frozenset(kind for kind in self.damage if not kind.is_compacted)

    @property
    def is_unproved(self) -> bool:
        """Whether a difference may have an explanation that can no longer be read."""
        return any(kind.is_unproved for kind in self.damage)

    @property
    def known(self) -> Differences:
        """The differences without those about records that can no longer be read."""
        counts = {kind: count for kind, count in self.counts.items() if not kind.is_unknown}
        return Differences(counts, tuple(difference for difference in self.first if not difference.kind.is_unknown))


def merged(parts: Iterable[Differences], shown: int = 20) -> Differences:
    """Merge the differences of several comparisons, and keep the first `shown`."""
    counts: Counter[DifferenceKind] = Counter()
    first: list[Difference] = []
    for part in parts:
        counts.update(part.counts)
        first += part.first
    return Differences(dict(counts), tuple(first[:shown]))


def tolerated(tolerance: Tolerance, found: Differences | None, *, replayed: bool) -> tuple[Verdict, Code] | None:
    """Return a good verdict and its code if everything that was found is explained; else `None`.

    :param replayed: whether a generation that was killed was followed by another, which sent records again
    """
    if found is None or not found.counts:
        return None
    rest = found.unexplained
    if not rest:
        return Verdict.PASS, Code.RECORDS_COMPACTED if found.damage else Code.KEYS_IN_SEVERAL_PARTITIONS
    if any(found.counts[kind] > kind.tolerated(tolerance, replayed) for kind in rest):
        return None
    return Verdict.WARN, next(kind.tolerated_as for kind in DifferenceKind if kind in rest and kind.tolerated_as)
