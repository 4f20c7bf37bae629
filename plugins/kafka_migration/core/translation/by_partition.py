"""Exact translation of committed offsets for same-partition copies.

Generation g of MirrorMaker copied source [P, P') of a partition to target [E, E'), record by record and in order; the
judgement of its window proves this. A committed offset c in it becomes E + rank(c). The rank is the number of records
in [P, c) that are visible at MirrorMaker's isolation level. It is c − P if the validation read a record at every
offset. Otherwise records are counted, from the nearer end of the window.

A killed generation also sent records that the next one sends again. An offset before the last of them is found by
comparing records (`core.translation.copies`). If that is not possible, the place is the earliest possible one: it is
lossless, but not minimal. The lengths of two ranges never show whether an offset holds a record.

The clusters are read between these steps: `resent_ranges`, `counts_needed`, `translate`, `source_probes`,
`target_probes`. Their results become the groups' plans in `core.groups.group_rules`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.kafka.records import RecordPrint
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.translation.copies import NOTHING_RESENT, PartitionCopy, Resent, ResentRange

# Limit for counting from the start of a window with resent records; beyond it the start of the window is taken.
MAX_COUNTED = 2_000_000
# Limit of source offsets whose records are compared per partition.
MAX_COMPARED = 500_000


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
class Translation:
    """A committed offset and its translation.

    `delivered_again` counts the records at and after `target_offset` that the group has read or that exist twice; a
    count that cannot be exact is an upper bound. The proof compares the first record at or after `source_probe` with
    the one at or after `target_probe`. The probes differ from the offsets if the source has deleted records that the
    group has not read.

    :param is_minimal: whether no later offset would be lossless
    :param by_records: whether the unread records themselves were compared
    :param by_ledger: whether only the ledger shows that no unread record lies before it; its record is not compared
    """

    source_offset: int
    target_offset: int
    delivered_again: int
    source_probe: int
    target_probe: int
    is_minimal: bool = True
    by_records: bool = False
    by_ledger: bool = False


def resent_ranges(
    copies: Mapping[TopicPartition, PartitionCopy], positions: Iterable[Position]
) -> tuple[ResentRange, ...]:
    """Return the ranges whose records must be compared, at most one per partition, sorted.

    A range begins at the first position before which the source has deleted nothing unread and that is within
    `MAX_COMPARED` offsets.
    """
    first: dict[TopicPartition, int] = {}
    for partition, offset in positions:
        copy = copies.get(partition)
        if copy is not None and _can_be_compared(copy, start := copy.within(offset)):
            first[partition] = min(start, first.get(partition, start))
    return tuple(_resent_range(copies[partition], partition, start) for partition, start in sorted(first.items()))


def _can_be_compared(copy: PartitionCopy, start: int) -> bool:
    if copy.doubt_ends is None or not copy.is_before_doubt_ends(start):
        return False
    return start >= copy.source_log_start and copy.doubt_ends[0] - start <= MAX_COMPARED


def _resent_range(copy: PartitionCopy, partition: TopicPartition, start: int) -> ResentRange:
    assert copy.doubt_ends is not None
    return ResentRange(partition, start, copy.doubt_ends[0], copy.window_of(start).target_start, copy.doubt_ends[1])


def counts_needed(
    copies: Mapping[TopicPartition, PartitionCopy],
    positions: Iterable[Position],
    resent: Mapping[TopicPartition, Resent] = NOTHING_RESENT,
) -> tuple[OffsetRange, ...]:
    """Return the ranges whose visible records must be counted; they do not overlap, so no record is read twice."""
    wanted: dict[TopicPartition, set[OffsetRange]] = {}
    for partition, offset in positions:
        copy = copies.get(partition)
        if copy is None or offset > copy.mirror_position or _by_records(copy, partition, offset, resent) is not None:
            continue
        if range_ := _uncounted(copy, partition, offset):
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
    counts: Mapping[OffsetRange, int | None],
    resent: Mapping[TopicPartition, Resent] = NOTHING_RESENT,
) -> dict[Position, Translation]:
    """Translate every position within the copy by the results of `counts_needed` and `resent_ranges` for them.

    A count is `None` for a range with an unreadable record.
    """
    pieces: dict[TopicPartition, list[tuple[OffsetRange, int | None]]] = {}
    for piece, count in counts.items():
        pieces.setdefault(piece.partition, []).append((piece, count))
    return {
        position: _by_records(copies[position.partition], *position, resent)
        or _by_rank(copies[position.partition], position, pieces.get(position.partition, []))
        for position in positions
        if position.partition in copies and position.offset <= copies[position.partition].mirror_position
    }


def _by_records(
    copy: PartitionCopy, partition: TopicPartition, offset: int, resent: Mapping[TopicPartition, Resent]
) -> Translation | None:
    """Return the translation of an offset whose unread records were compared; `None` if that gave no place."""
    found = resent.get(partition)
    if found is None or not copy.is_before_doubt_ends(offset):
        return None
    start = copy.within(offset)
    place = found.place_of(start)
    if place is None:
        return None
    again = found.range.target_end - place - found.unread_from(start)
    return Translation(offset, place, again, start, place, by_records=True)


def _by_rank(copy: PartitionCopy, position: Position, pieces: list[tuple[OffsetRange, int | None]]) -> Translation:
    window, at = _place(copy, position.offset)
    held_in, held = _place(copy, _first_held(copy, at))
    copied_to = _copied_to(copy, held_in, held, _uncounted(copy, position.partition, position.offset), pieces)
    if copied_to is None:
        start = _earliest(copy, window, at, window.target_end, window.source_end)
        again = _delivered_again(copy, window, start, window.target_end)
        return Translation(position.offset, start, again, held, start, is_minimal=False, by_ledger=True)
    earliest = _earliest(copy, window, at, copied_to if held_in is window else window.target_end, held)
    # Records that the target has deleted too cannot be read any more, so do not go before its log start.
    target = max(earliest, min(copy.target_log_start, copied_to))
    is_certain = copy.is_dense(window) or (target == copied_to and not copy.is_compacted)
    is_minimal = is_certain and not copy.is_before_doubt_ends(position.offset)
    # Compaction has removed records that were copied, so counting may give too few of them.
    latest = window.target_start + at - window.source_start if copy.is_compacted else copied_to
    again = _delivered_again(copy, window, target, latest)
    return Translation(position.offset, target, again, held, copied_to, is_minimal)


def _delivered_again(copy: PartitionCopy, window: Window, target: int, latest: int) -> int:
    """Return the largest number of records that a group reads twice from a target offset on.

    They are records before its own place in the window, which is at most `latest`, and records that were sent twice.
    """
    is_place_known = copy.is_dense(window) or copy.is_doubtful(window)
    before = 0 if is_place_known else max(0, min(latest, window.target_end) - target)
    return before + copy.sent_twice_from(target)


def _earliest(copy: PartitionCopy, window: Window, at: int, copied_to: int, held: int) -> int:
    """Return a target offset before which no record from `at` on lies, if the source has deleted [at, held).

    In a dense window each of these offsets was one record, otherwise at most one. If records may have been sent twice,
    only the start of the window is certain.

    :param copied_to: the target offset of the first record from `held` on, or the end of the window
    """
    if held == at:
        return copied_to
    if copy.is_doubtful(window):
        return window.target_start
    return max(window.target_start, copied_to - (min(held, window.source_end) - at))


def _place(copy: PartitionCopy, offset: int) -> tuple[Window, int]:
    """Return the window of an offset, and the offset limited to its bounds."""
    window = copy.window_of(offset)
    return window, min(max(offset, window.source_start), window.source_end)


def _first_held(copy: PartitionCopy, offset: int) -> int:
    """Return the first offset from this one on that the source has not deleted, within the copy."""
    return min(max(offset, copy.source_log_start), copy.mirror_position)


def _is_rank_lost(copy: PartitionCopy, window: Window, at: int) -> bool:
    """Whether the rank of an offset can no longer be counted, or only at too high a cost.

    If the target range may hold records twice, only counting from its start is lossless.
    """
    if not copy.is_doubtful(window) or at == window.source_end:
        return False
    return window.source_start < copy.source_log_start or at - window.source_start > MAX_COUNTED


def _uncounted(copy: PartitionCopy, partition: TopicPartition, offset: int) -> OffsetRange | None:
    """Return the range to count for a committed offset, from the nearer end of its window; `None` if none is needed."""
    window, held = _place(copy, _first_held(copy, offset))
    if copy.is_dense(window) or _is_rank_lost(copy, window, held) or held in {window.source_start, window.source_end}:
        return None
    if copy.is_doubtful(window):
        return OffsetRange(partition, window.source_start, held)
    is_begin_held = window.source_start >= copy.source_log_start
    if is_begin_held and held - window.source_start < window.source_end - held:
        return OffsetRange(partition, window.source_start, held)
    return OffsetRange(partition, held, window.source_end)


def _copied_to(
    copy: PartitionCopy,
    window: Window,
    held: int,
    uncounted: OffsetRange | None,
    pieces: list[tuple[OffsetRange, int | None]],
) -> int | None:
    """Return the target offset of the first record at or after an offset of the window; `None` without its rank."""
    if copy.is_dense(window):
        return window.target_start + held - window.source_start
    if _is_rank_lost(copy, window, held):
        return None
    if uncounted is None:
        return window.target_start if held == window.source_start else window.target_end
    records = _sum(pieces, uncounted)
    if records is None:
        return None
    return window.target_start + records if uncounted.end == held else window.target_end - records


def _sum(pieces: list[tuple[OffsetRange, int | None]], wanted: OffsetRange) -> int | None:
    """Return the number of records in a range; `None` if a part of it could not be read."""
    counted = [(r, n) for r, n in pieces if wanted.start <= r.start and r.end <= wanted.end]
    if sum(r.end - r.start for r, _ in counted) != wanted.end - wanted.start:
        raise ValueError(f"the counts do not cover {wanted}")
    numbers = [n for _, n in counted if n is not None]
    return sum(numbers) if len(numbers) == len(counted) else None


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

    In a dense window this follows from the record's own offset, so records that were compacted on the source after the
    copy make no difference.
    """
    return {
        position: Position(position.partition, _target_probe(copies[position.partition], t, position, source_prints))
        for position, t in translations.items()
        if t.source_probe < copies[position.partition].mirror_position and not t.by_ledger
    }


def _target_probe(copy: PartitionCopy, translation: Translation, position: Position, source_prints: Prints) -> int:
    found = source_prints[Position(position.partition, translation.source_probe)]
    if translation.by_records or found is None or found.offset >= copy.mirror_position:
        return translation.target_probe
    window = copy.window_of(found.offset)
    if not copy.is_dense(window):
        return translation.target_probe
    return window.target_start + found.offset - window.source_start


def within(found: RecordPrint | None, end: int) -> RecordPrint | None:
    """Return the record if it is before the end of the copy."""
    return found if found is not None and found.offset < end else None


def is_same(record: RecordPrint | None, copy: RecordPrint | None, *, timestamps: bool = True) -> bool:
    """Whether a target record is the copy of a source record, or both sides have no further record."""
    if record is None or copy is None:
        return record is copy
    return record.same_as(copy, timestamps=timestamps)
