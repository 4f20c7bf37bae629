"""Exact translation of committed offsets for same-partition copies.

Generation g of MirrorMaker copied source [P, P') of a partition to target [E, E'), record by record and in order, as
its window was judged. A committed offset c in it becomes E + rank(c), where the rank counts the records that
MirrorMaker's isolation level shows in [P, c). Where both spans are equally long there are no holes and the rank is
c − P; else records are counted, from the nearer end of the window.

The steps between which the clusters are read: `counts_needed`, `translate`, `source_probes`, `target_probes`; their
outcome becomes the groups' plans in `core.groups.rules`.
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

# More are not counted where fewer tell the same, but for rare records that were sent again beside equal ones.
MAX_COUNTED = 2_000_000
NOTHING_KNOWN: Offsets = MappingProxyType({})


class Position(NamedTuple):
    """An offset of a partition, as one or several groups committed it."""

    partition: TopicPartition
    offset: int


class OffsetRange(NamedTuple):
    """The source offsets [start, end) of a partition."""

    partition: TopicPartition
    start: int
    end: int


Prints = Mapping[Position, RecordPrint | None]
"""The first visible record at or after a position; `None` where the end was met first."""


@dataclass(frozen=True, slots=True)
class PartitionCopy:
    """How a partition was copied: its windows, oldest first (at least one), and what its source holds now.

    `with_tails` are the numbers of those windows whose target may end with records that the next one sends again.
    """

    windows: tuple[Window, ...]
    source_log_start: int
    source_end: int
    target_log_start: int = 0
    with_tails: frozenset[int] = frozenset()

    @property
    def mirror_position(self) -> int:
        """The source offset that the copy reaches."""
        return self.windows[-1].source_end

    @property
    def target_end(self) -> int:
        """The target end at the stop; what lies behind it is no part of the copy."""
        return self.windows[-1].target_end

    def window_of(self, offset: int) -> Window:
        """Return the last window that begins at or before the offset; the first for an offset before all."""
        return self.windows[self._number_of(offset)]

    def _number_of(self, offset: int) -> int:
        begun = [number for number, window in enumerate(self.windows) if window.source_start <= offset]
        return begun[-1] if begun else 0

    def sent_again_from(self, offset: int) -> int:
        """Return how many records that follow the copy of an offset are sent again behind it, after an ungraceful end.

        Where the source's offsets have holes there are no more than that.
        """
        windows = self.windows[self._number_of(offset) :]
        return sum(max(0, earlier.source_end - later.source_start) for earlier, later in pairwise(windows))


@dataclass(frozen=True, slots=True)
class Translation:
    """A committed offset and its translation.

    `delivered_again` counts the records at and after `target_offset` that are read, or there a second time. The proof
    compares the first record from `source_probe` on with that from `target_probe` on; they differ from the offsets
    themselves where the source has deleted the records that the group has not read.
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

    A partition that no generation knows is one that nothing was copied of: an empty window at its log start.
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
    """Return the ranges whose visible records must be counted: they do not overlap, so nothing is read twice."""
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
    """Translate every position that the copy reaches; `counts` answers `counts_needed` for the same positions."""
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
    # What the target has deleted too is read nowhere any more; an offset before its log start is none.
    held_on_target = min(copy.target_log_start, copied_to)
    target = max(window.target_start, copied_to - (held - at), held_on_target)
    again = copy.sent_again_from(at) + (0 if window.has_no_holes else copied_to - target)
    return Translation(position.offset, target, again, held, copied_to)


def _place(copy: PartitionCopy, offset: int) -> tuple[Window, int]:
    """Return the window that an offset falls into, and the offset within its bounds."""
    window = copy.window_of(offset)
    return window, min(max(offset, window.source_start), window.source_end)


def _first_held(copy: PartitionCopy, window: Window, at: int) -> int:
    """Return the first offset from `at` on that the source has not deleted, within the window."""
    return min(max(at, copy.source_log_start), window.source_end)


def _uncounted(copy: PartitionCopy, partition: TopicPartition, offset: int) -> OffsetRange | None:
    """Return the range to count for a committed offset, from the nearer end of its window; `None` for none.

    Where the target may end with records that were sent again, its end is no place to count from.
    """
    window, at = _place(copy, offset)
    held = _first_held(copy, window, at)
    if window.has_no_holes or held in {window.source_start, window.source_end}:
        return None
    is_begin_held = window.source_start >= copy.source_log_start
    before, behind = held - window.source_start, window.source_end - held
    has_tail = copy.windows.index(window) in copy.with_tails and before <= MAX_COUNTED
    if is_begin_held and (before < behind or has_tail):
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
        raise ValueError(f"the counts leave out a part of {uncounted}")
    records = sum(n for _, n in counted)
    return window.target_start + records if uncounted.end == held else window.target_end - records


def source_probes(
    copies: Mapping[TopicPartition, PartitionCopy], translations: Mapping[Position, Translation]
) -> frozenset[Position]:
    """Return where to look for the next record on the source; where all is read there is nothing to look for."""
    return frozenset(
        Position(p, t.source_probe) for (p, _), t in translations.items() if t.source_probe < copies[p].mirror_position
    )


def target_probes(
    copies: Mapping[TopicPartition, PartitionCopy],
    translations: Mapping[Position, Translation],
    source_prints: Prints,
) -> dict[Position, Position]:
    """Return per committed position where its next record must be on the target; nothing where all is read.

    Where the window has no holes the place follows from the record's own offset, so records that were compacted
    away on the source since they were copied do no harm.
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
    """Return the record if it lies before an end; what lies behind the copy is no part of it."""
    return found if found is not None and found.offset < end else None
