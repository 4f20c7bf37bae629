"""Differences between source and target, as the Spark job reports them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.migration.settings import Tolerance
from kafka_migration.core.text.row_enum import RowEnum


class _KindRow(NamedTuple):
    """What `DifferenceKind` says of a label, for its table."""

    meaning: str
    is_damage: bool = True
    is_compacted: bool = False
    is_unknown: bool = False
    is_unproved: bool = False
    may_be_tail: bool = False
    is_foreign: bool = False
    is_order: bool = False
    changes_with_partitions: bool = False
    tolerated: Callable[[Tolerance, bool], int] = lambda _tolerance, _replayed: 0
    tolerated_as: Code | None = None


class DifferenceKind(RowEnum):
    """What a difference between source and target is; docs/concepts/validation.md shows the meanings.

    All but one are damage: `is_damage`. Compaction explains one that `is_compacted`. One that `is_unknown` is about
    records that can no longer be read, and for one that `is_unproved` an explanation may be gone. One that
    `may_be_tail` can be at the end of the target after a kill, because the next generation sends records again. An
    `is_foreign` record is on the target only. `is_order`: only the order differs. `changes_with_partitions`: a key gets
    it if its topic gets partitions during the copy.

    `tolerated` returns how many of them a run may tolerate, from its tolerance and from whether a killed generation was
    followed by another one; `tolerated_as` is the code of the warning. The first of several warnings counts.
    """

    meaning: str
    is_damage: bool
    is_compacted: bool
    is_unknown: bool
    is_unproved: bool
    may_be_tail: bool
    is_foreign: bool
    is_order: bool
    changes_with_partitions: bool
    tolerated: Callable[[Tolerance, bool], int]
    tolerated_as: Code | None

    @classmethod
    def text_of(cls, name: str) -> str:
        """Return the label of the kind with a name."""
        return name.lower()

    MISSING = _KindRow("only the source has the record")
    EXTRA = _KindRow("only the target has the record", may_be_tail=True, is_foreign=True)
    DUPLICATE = _KindRow(
        "the target holds the record more often than the source, as after a replay; first occurrences are in the "
        "source's order",
        may_be_tail=True,
        tolerated=lambda tolerance, replayed: tolerance.duplicates if replayed else 0,
        tolerated_as=Code.RECORDS_REPLAYED,
    )
    REORDERED = _KindRow(
        "the record is on both sides, but at another place among the records of its key",
        is_order=True,
        changes_with_partitions=True,
    )
    ALTERED = _KindRow(
        "source and target differ at the same place of a key; `fields` names `key`, `value`, `headers`, `timestamp`",
    )
    MOVED = _KindRow(
        "the record is in another target partition than the rest of its key (by position: than on the source)",
        changes_with_partitions=True,
    )
    STALE = _KindRow(
        "the target repeats an older record after the last record of its key; consumers that keep the latest value "
        "have an old one",
        may_be_tail=True,
    )
    ABORTED = _KindRow(
        "the target holds a record of an aborted source transaction",
        tolerated=lambda tolerance, _: tolerance.aborted,
        tolerated_as=Code.ABORTED_RECORDS_COPIED,
    )
    COMPACTED = _KindRow("compaction explains what a side lacks", is_compacted=True)
    EXPIRED = _KindRow(
        "one side has the first records of a key, and the log of the other begins after them",
        is_unknown=True,
    )
    UNPROVED = _KindRow(
        "as `compacted`, but the tombstone that would explain it can no longer be read; or the key is in several "
        "source partitions of a compacted topic",
        is_unknown=True,
        is_unproved=True,
    )
    INTERLEAVED = _KindRow("no damage: several source partitions hold the key", is_damage=False)
    UNCLASSIFIED = _KindRow(
        "the digests differ, and nothing more is known: the data could not be read again or changed between the "
        "readings, both sides together have more than a million records of the key, or (by position) both sides have "
        "little in common",
    )


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
