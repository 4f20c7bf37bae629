"""Exact translation of committed offsets for same-partition copies.

Generation g of MirrorMaker copied source [P, P') of a partition to target [E, E'), record by record and in order; the
judgement of its window proves this. A committed offset c in it becomes E + rank(c). The rank is the number of records
in [P, c) that are visible at MirrorMaker's isolation level. If both ranges are equally long there are no holes and the
rank is c − P. Otherwise records are counted, from the nearer end of the window.

The clusters are read between these steps: `counts_needed`, `translate`, `source_probes`, `target_probes`. Their
results become the groups' plans in `core.groups.rules`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from kafka_migration.core.kafka.cluster import RecordPrint
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.ledger.window import Window
from kafka_migration.core.validation.windows import delta_windows

# Limit for counting from the start of a window with resent records; beyond it the nearer end is used.
MAX_COUNTED = 2_000_000
NOTHING_KNOWN: Offsets = MappingProxyType({})


class Position(NamedTuple):
    """An offset of a partition that one or more groups committed."""

    partition: TopicPartition
    offset: int


class OffsetRange(NamedTuple):
    """The source offsets [start, end) of a partition."""

    partition: TopicPartition
    start: int
    end: int


Prints = Mapping[Position, RecordPrint | None]
"""The first visible record at or after a position; `None` at the end of the partition."""


@dataclass(frozen=True, slots=True)
class PartitionCopy:
    """How a partition was copied: its windows, oldest first (at least one), and the current log start and end.

    `with_tails` are the numbers of the windows whose target range may end with records that the next one sends again.
    """

    windows: tuple[Window, ...]
    source_log_start: int
    source_end: int
    target_log_start: int = 0
    with_tails: frozenset[int] = frozenset()

    @property
    def mirror_position(self) -> int:
        """The source offset at which the copy ends."""
        return self.windows[-1].source_end

    @property
    def target_end(self) -> int:
        """The target end at the stop; later records are not part of the copy."""
        return self.windows[-1].target_end

    def window_of(self, offset: int) -> Window:
        """Return the last window that begins at or before the offset; the first for an offset before all."""
        return self.windows[self._number_of(offset)]

    def _number_of(self, offset: int) -> int:
        begun = [number for number, window in enumerate(self.windows) if window.source_start <= offset]
        return begun[-1] if begun else 0

    def sent_again_from(self, offset: int) -> int:
        """Return how many records after an offset were sent again after an ungraceful end.

        If the source's offsets have holes this is an upper bound.
        """
        windows = self.windows[self._number_of(offset) :]
        return sum(max(0, earlier.source_end - later.source_start) for earlier, later in pairwise(windows))


@dataclass(frozen=True, slots=True)
class Translation:
    """A committed offset and its translation.

    `delivered_again` counts the records at and after `target_offset` that the group has read or that exist twice. The
    proof compares the first record at or after `source_probe` with the one at or after `target_probe`. The probes
    differ from the offsets if the source has deleted records that the group has not read.
    """

    source_offset: int
    target_offset: int
    delivered_again: int
    source_probe: int
    target_probe: int


def copies_of(
    ledger: Ledger,
    source_log_start: Offsets,
    source_end_offsets: Offsets,
    target_end_offsets: Offsets,
    target_log_start: Offsets = NOTHING_KNOWN,
) -> dict[TopicPartition, PartitionCopy]:
    """Return the copy of every partition of `source_end_offsets`, from the stopped generations of the ledger.

    Nothing was copied of a partition without a generation: it gets an empty window at its log start.
    """
    windows: dict[TopicPartition, list[Window]] = {}
    with_tails: dict[TopicPartition, set[int]] = {}
    for generation in ledger.generations:
        for window in delta_windows([generation]):
            mine = windows.setdefault(partition := TopicPartition(window.topic, window.partition), [])
            if generation.stop is not None and not generation.stop.graceful:
                with_tails.setdefault(partition, set()).add(len(mine))
            mine.append(window)
    return {
        partition: PartitionCopy(
            tuple(windows.get(partition) or [_nothing_copied(partition, source_log_start, target_end_offsets)]),
            source_log_start[partition],
            end,
            target_log_start.get(partition, 0),
            frozenset(with_tails.get(partition, ())),
        )
        for partition, end in sorted(source_end_offsets.items())
    }


def _nothing_copied(partition: TopicPartition, source_log_start: Offsets, target_end_offsets: Offsets) -> Window:
    start, end = source_log_start[partition], target_end_offsets.get(partition, 0)
    return Window(0, partition.topic, partition.topic, partition.partition, start, start, end, end)


def counts_needed(
    copies: Mapping[TopicPartition, PartitionCopy], positions: Iterable[Position]
) -> tuple[OffsetRange, ...]:
    """Return the ranges whose visible records must be counted; they do not overlap, so no record is read twice."""
    wanted: dict[TopicPartition, set[OffsetRange]] = {}
    for partition, offset in positions:
        copy = copies.get(partition)
        if copy is not None and offset <= copy.mirror_position and (range_ := _uncounted(copy, partition, offset)):
            wanted.setdefault(partition, set()).add(range_)
    return tuple(piece for partition in sorted(wanted) for piece in _without_overlaps(wanted[partition]))


def _without_overlaps(ranges: Collection[OffsetRange]) -> list[OffsetRange]:
    """Cut overlapping ranges of one partition at each other's bounds."""
    cuts = sorted({bound for r in ranges for bound in (r.start, r.end)})
    partition = next(iter(ranges)).partition
    return [
        OffsetRange(partition, start, end)
        for start, end in pairwise(cuts)
        if any(r.start <= start and end <= r.end for r in ranges)
    ]


def translate(
    copies: Mapping[TopicPartition, PartitionCopy],
    positions: Iterable[Position],
    counts: Mapping[OffsetRange, int],
) -> dict[Position, Translation]:
    """Translate every position within the copy; `counts` has the results of `counts_needed` for these positions."""
    pieces: dict[TopicPartition, list[tuple[OffsetRange, int]]] = {}
    for piece, count in counts.items():
        pieces.setdefault(piece.partition, []).append((piece, count))
    return {
        position: _translated(copies[position.partition], position, pieces.get(position.partition, []))
        for position in positions
        if position.partition in copies and position.offset <= copies[position.partition].mirror_position
    }


def _translated(copy: PartitionCopy, position: Position, pieces: list[tuple[OffsetRange, int]]) -> Translation:
    window, at = _place(copy, position.offset)
    held = _first_held(copy, window, at)
    copied_to = _copied_to(window, held, _uncounted(copy, position.partition, position.offset), pieces)
    # The source has deleted [at, held). Without holes each offset was one record; with holes at most one.
    # Records that the target has deleted too cannot be read any more, so do not go before its log start.
    held_on_target = min(copy.target_log_start, copied_to)
    target = max(window.target_start, copied_to - (held - at), held_on_target)
    again = copy.sent_again_from(at) + (0 if window.has_no_holes else copied_to - target)
    return Translation(position.offset, target, again, held, copied_to)


def _place(copy: PartitionCopy, offset: int) -> tuple[Window, int]:
    """Return the window of an offset, and the offset limited to its bounds."""
    window = copy.window_of(offset)
    return window, min(max(offset, window.source_start), window.source_end)


def _first_held(copy: PartitionCopy, window: Window, at: int) -> int:
    """Return the first offset from `at` on that the source has not deleted, within the window."""
    return min(max(at, copy.source_log_start), window.source_end)


def _uncounted(copy: PartitionCopy, partition: TopicPartition, offset: int) -> OffsetRange | None:
    """Return the range to count for a committed offset, from the nearer end of its window; `None` if none is needed.

    If the target range may end with resent records, counting from its end would be wrong.
    """
    window, at = _place(copy, offset)
    held = _first_held(copy, window, at)
    if window.has_no_holes or held in {window.source_start, window.source_end}:
        return None
    is_begin_held = window.source_start >= copy.source_log_start
    before, after = held - window.source_start, window.source_end - held
    has_tail = copy.windows.index(window) in copy.with_tails and before <= MAX_COUNTED
    if is_begin_held and (before < after or has_tail):
        return OffsetRange(partition, window.source_start, held)
    return OffsetRange(partition, held, window.source_end)


def _copied_to(window: Window, held: int, uncounted: OffsetRange | None, pieces: list[tuple[OffsetRange, int]]) -> int:
    """Return the target offset of the first record at or after an offset of the window."""
    if window.has_no_holes:
        return window.target_start + held - window.source_start
    if uncounted is None:
        return window.target_start if held == window.source_start else window.target_end
    counted = [(r, n) for r, n in pieces if uncounted.start <= r.start and r.end <= uncounted.end]
    if sum(r.end - r.start for r, _ in counted) != uncounted.end - uncounted.start:
        raise ValueError(f"the counts do not cover {uncounted}")
    records = sum(n for _, n in counted)
    return window.target_start + records if uncounted.end == held else window.target_end - records


def source_probes(
    copies: Mapping[TopicPartition, PartitionCopy], translations: Mapping[Position, Translation]
) -> frozenset[Position]:
    """Return where to read the next record on the source; nothing for positions at the end of the copy."""
    return frozenset(
        Position(p, t.source_probe) for (p, _), t in translations.items() if t.source_probe < copies[p].mirror_position
    )


def target_probes(
    copies: Mapping[TopicPartition, PartitionCopy],
    translations: Mapping[Position, Translation],
    source_prints: Prints,
) -> dict[Position, Position]:
    """Return per committed position where its next record must be on the target; nothing if all is read.

    In a window without holes this follows from the record's own offset, so records that were compacted on the source
    after the copy make no difference.
    """
    return {
        position: Position(position.partition, _target_probe(copies[position.partition], t, position, source_prints))
        for position, t in translations.items()
        if t.source_probe < copies[position.partition].mirror_position
    }


def _target_probe(copy: PartitionCopy, translation: Translation, position: Position, source_prints: Prints) -> int:
    found = source_prints[Position(position.partition, translation.source_probe)]
    if found is None or found.offset >= copy.mirror_position:
        return translation.target_probe
    window = copy.window_of(found.offset)
    if not window.has_no_holes:
        return translation.target_probe
    return window.target_start + found.offset - window.source_start


def within(found: RecordPrint | None, end: int) -> RecordPrint | None:
    """Return the record if it is before the end of the copy."""
    return found if found is not None and found.offset < end else None
