"""How each partition was copied when partitions are kept: the generations' windows, and what is proved about them.

A killed MirrorMaker has sent records that the next one sends again, and markers, aborted or compacted records leave
offsets without a record. So the lengths of the ranges on both sides do not show how many records were sent twice. The
records show it: the unread source records up to the last place of such copies are compared with the target's, from the
right. The place of each record is the last equal one before the place of the next record. That is the *rightmost
order-preserving one-to-one embedding*: no unread record lies before it, and no place further right has all of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.kafka.records import RecordPrint
from kafka_migration.core.ledger.generations import Comparison, ReadOffsets, Window
from kafka_migration.core.ledger.ledger import Ledger


class ResentRange(NamedTuple):
    """The source offsets whose records are compared, and the target offsets among which their copies are."""

    partition: TopicPartition
    source_start: int
    source_end: int
    target_start: int
    target_end: int


@dataclass(frozen=True, slots=True)
class Resent:
    """Where the records of a range are on the target.

    :param offsets: the source offsets of the visible records, ascending
    :param places: the target offsets of the last of them, ascending; earlier ones have no copy in order
    """

    range: ResentRange
    offsets: tuple[int, ...]
    places: tuple[int, ...]

    def place_of(self, offset: int) -> int | None:
        """Return the target offset of the first record at or after a source offset.

        It is the range's target end if no record follows, and `None` for an offset outside of the range, or if a record
        from there on has no copy in order.
        """
        if not self.range.source_start <= offset <= self.range.source_end:
            return None
        unread = self.unread_from(offset)
        if unread == 0:
            return self.range.target_end
        return self.places[-unread] if unread <= len(self.places) else None

    def unread_from(self, offset: int) -> int:
        """Return the number of records at or after a source offset of the range."""
        return len(self.offsets) - bisect_left(self.offsets, offset)


NOTHING_RESENT: Mapping[TopicPartition, Resent] = {}


@dataclass
class FromTheRight:
    """Finds the places of a range's source records while the target's records are read backwards in blocks."""

    range: ResentRange
    records: Sequence[RecordPrint]
    timestamps: bool = True
    _places: list[int] = field(default_factory=list)

    @property
    def is_done(self) -> bool:
        """Whether every record has its place."""
        return len(self._places) == len(self.records)

    def take(self, block: Sequence[RecordPrint]) -> None:
        """Match a block of target records, ascending; each block ends where the previous one began."""
        for copy in reversed(block):
            if self.is_done:
                return
            if self.records[-len(self._places) - 1].same_as(copy, timestamps=self.timestamps):
                self._places.append(copy.offset)

    def found(self) -> Resent:
        """Return the places that were found."""
        return Resent(self.range, tuple(each.offset for each in self.records), tuple(reversed(self._places)))


NOTHING_KNOWN: Offsets = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PartitionCopy:
    """How a partition was copied: its windows, oldest first (at least one), and the current log start and end.

    The windows end at MirrorMaker's certified positions.

    :param dense: the generations in whose window the validation read a record at every offset, each once
    :param doubtful: the generations whose target range may hold a record more than once
    :param is_compacted: whether a side deletes records that have a newer one of their key
    """

    windows: tuple[Window, ...]
    source_log_start: int
    source_end: int
    target_log_start: int = 0
    dense: frozenset[int] = frozenset()
    doubtful: frozenset[int] = frozenset()
    is_compacted: bool = False

    @property
    def mirror_position(self) -> int:
        """The source offset at which the copy ends."""
        return self.windows[-1].source_end

    @property
    def target_end(self) -> int:
        """The target end at the stop; later records are not part of the copy."""
        return self.windows[-1].target_end

    def window_of(self, offset: int) -> Window:
        """Return the last window that begins at or before the offset, or at the start of the copy."""
        at = self.within(offset)
        return [window for window in self.windows if window.source_start <= at][-1]

    def within(self, offset: int) -> int:
        """Return the offset, or the start of the copy for an offset before it: nothing before it was copied."""
        return max(offset, self.windows[0].source_start)

    def is_dense(self, window: Window) -> bool:
        """Whether every offset of the window is a record, on both sides, and none was sent twice."""
        return window.generation in self.dense

    def is_doubtful(self, window: Window) -> bool:
        """Whether the target range of the window may hold a record more than once."""
        return window.generation in self.doubtful

    @property
    def doubt_ends(self) -> tuple[int, int] | None:
        """The source and target offset from which on every record was copied once; `None` if there is no doubt."""
        doubtful = [n for n, window in enumerate(self.windows) if self.is_doubtful(window)] if self.doubtful else ()
        if not doubtful:
            return None
        last, later = self.windows[doubtful[-1]], self.windows[doubtful[-1] + 1 :]
        return (later[0].source_start if later else last.source_end), last.target_end

    def is_before_doubt_ends(self, offset: int) -> bool:
        """Whether records from this source offset on may be on the target more than once."""
        return self.doubt_ends is not None and self.within(offset) < self.doubt_ends[0]

    def sent_twice_from(self, target_offset: int) -> int:
        """Return the largest number of records that can be on the target twice from a target offset on."""
        doubtful = (window for window in self.windows if self.is_doubtful(window)) if self.doubtful else ()
        return sum(max(0, window.target_end - max(window.target_start, target_offset)) for window in doubtful)


def copies_of(
    ledger: Ledger,
    source_log_start: Offsets,
    source_end_offsets: Offsets,
    target_end_offsets: Offsets,
    target_log_start: Offsets = NOTHING_KNOWN,
    compacted: Collection[str] = (),
) -> dict[TopicPartition, PartitionCopy]:
    """Return the copy of every partition of `source_end_offsets`, from the stopped generations of the ledger.

    Nothing was copied of a partition without a generation: it gets an empty window at its log start.
    """
    windows: dict[TopicPartition, list[Window]] = {}
    killed = {g.number for g in ledger.generations if g.was_killed}
    for generation in ledger.generations:
        for partition in generation.stop.mirror_positions if generation.stop else ():
            windows.setdefault(partition, []).append(generation.window(partition))
    equal = _equal_readings(ledger)
    copies = {}
    for partition, end in sorted(source_end_offsets.items()):
        nothing = [_nothing_copied(partition, source_log_start, target_end_offsets)]
        mine, is_compacted = tuple(windows.get(partition, nothing)), partition.topic in compacted
        proved = {w.generation for w in mine if _is_equal(w, equal.get(partition, ()))} - killed
        copies[partition] = PartitionCopy(
            windows=mine,
            source_log_start=source_log_start[partition],
            source_end=end,
            target_log_start=target_log_start.get(partition, 0),
            dense=frozenset(w.generation for w in mine if w.generation in proved and _lengths_are_equal(w)),
            # A log cleaner makes the sides of a compacted topic differ, so there only a kill is a reason for doubt.
            doubtful=frozenset(killed if is_compacted else {w.generation for w in mine} - proved),
            is_compacted=is_compacted,
        )
    return copies


def _nothing_copied(partition: TopicPartition, source_log_start: Offsets, target_end_offsets: Offsets) -> Window:
    start, end = source_log_start[partition], target_end_offsets.get(partition, 0)
    return Window(0, partition.topic, partition.topic, partition.partition, start, start, end, end)


def _equal_readings(ledger: Ledger) -> Mapping[TopicPartition, tuple[ReadOffsets, ...]]:
    """Return the offset ranges in which a comparison found the same records on both sides, each once."""
    found: dict[TopicPartition, list[ReadOffsets]] = {}
    for judgement in ledger.judgements:
        for topic, comparisons in judgement.comparisons.items():
            for window in (w for each in comparisons if _is_same(each) for w in each.windows):
                found.setdefault(TopicPartition(topic, window.partition), []).append(window)
    return {partition: tuple(windows) for partition, windows in found.items()}


def _is_same(comparison: Comparison) -> bool:
    """Whether all records were equal: both digests are the same, and they cover the same number of records."""
    is_same_digest = comparison.source_digest is not None and comparison.source_digest == comparison.target_digest
    is_same_number = comparison.source_records == comparison.target_records
    return comparison.verdict.is_good and is_same_digest and is_same_number and not comparison.unreadable


def _is_equal(window: Window, equal: Iterable[ReadOffsets]) -> bool:
    """Whether the records of a window are on the target once: it is empty, or a part of equal ranges."""
    return window.is_empty or any(
        read.source_start <= window.source_start
        and window.source_end <= read.source_end
        and read.target_start <= window.target_start
        and window.target_end <= read.target_end
        for read in equal
    )


def _lengths_are_equal(window: Window) -> bool:
    """Whether every offset is a record; only in a window whose records are on the target once."""
    return window.source_end - window.source_start == window.target_end - window.target_start
