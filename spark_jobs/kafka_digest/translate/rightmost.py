"""Where on the target a reader must go on so that all it has not read still follows, in order, and as little else as
possible: the copies of source records from the right. numpy only; no Spark.

Input are records of whole keys on both sides, each side's from a place on that nothing unread lies before. Of a key
that one source partition and one target partition hold, the copies of its records are those of the *rightmost
order-preserving one-to-one embedding*: the last record's copy is the last on the target that equals it, the copy of
each before it is the last one before that. This begins as far to the right as any embedding does, and what it gives a
record does not depend on where the reader stands, so one look serves readers at any place.

Of any other key (in several partitions of either side, or without an order, each record by itself) there is no
rightmost place for all partitions at once. Then the first copy in each target partition counts: nothing is passed over,
but more may be read again than must. It is the only place, hence also the best, where there is one copy only. Where
records have fewer copies than the source has of them, all of these count as missing, also for a reader that has read
some. Order is looked at within each source partition, and not where the target has the key in several.

The definition is tested against trying all places (`tests/unit/test_rightmost.py`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]
Hashes = NDArray[np.int64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Log:
    """Records of whole keys on one side, sorted by key, partition and offset; `records` are hashes of all they hold."""

    keys: Hashes
    partitions: NDArray[np.int32]
    offsets: Places
    records: Hashes

    def __len__(self) -> int:
        return len(self.keys)


class Copy(NamedTuple):
    """A copy of the source record at a place; `is_only_choice` tells whether none further right would do as well."""

    source: int
    target: int
    is_only_choice: bool


@dataclass(frozen=True, slots=True)
class Copies:
    """Copies of source records, as places on both sides: those of whole keys at once, and `missing` records."""

    source: Places
    target: Places
    is_only_choice: Truths
    missing: Places


@dataclass(frozen=True, slots=True)
class _Keys:
    """The keys of the source, with the bounds of their records on both sides."""

    source_start: Places
    source_end: Places
    target_start: Places
    target_end: Places

    @classmethod
    def of(cls, source: Log, target: Log) -> _Keys:
        keys, start = np.unique(source.keys, return_index=True)
        end = np.append(start[1:], len(source)).astype(np.int64)
        left, right = (np.searchsorted(target.keys, keys, side) for side in ("left", "right"))
        return cls(start, end, left, right)

    @property
    def lengths(self) -> Places:
        """How many source records each key has."""
        return self.source_end - self.source_start


def rightmost(source: Log, target: Log, *, is_compacted: bool = False, takes_last: bool = False) -> Copies:
    """Return where the copies of all source records are.

    A record may have copies in several target partitions: one row for each. `missing` has no copy, nor do the records
    of its key before it count.

    :param is_compacted: whether the target deletes records that have a newer one of their key: such a one is read
        instead, so that a record that is gone is missing only if none of its key comes after it
    :param takes_last: whether, where no place is the rightmost, the last copy in each target partition counts, and all
        records are told that have none, not the last of each key only
    """
    keys = _Keys.of(source, target)
    in_tail = _in_tail(source, target, keys)
    ordered = np.flatnonzero(np.repeat(in_tail, keys.lengths))
    rows: list[Copy] = []
    missing: list[int] = []
    for number in np.flatnonzero(~in_tail).tolist():
        theirs = range(keys.target_start[number], keys.target_end[number])
        ours = range(keys.source_start[number], keys.source_end[number])
        for found in _copies_of_key(source, target, ours, theirs, is_compacted=is_compacted, takes_last=takes_last):
            if isinstance(found, Copy):
                rows.append(found)
            else:
                missing.append(found)
    at, to, only = (np.array(column) for column in zip(*rows, strict=True)) if rows else ((), (), ())
    return Copies(
        np.concatenate((ordered, np.asarray(at, np.int64))),
        np.concatenate((_at_end(keys)[ordered], np.asarray(to, np.int64))),
        np.concatenate((np.ones(len(ordered), np.bool_), np.asarray(only, np.bool_))),
        np.array(missing, np.int64),
    )


def _at_end(keys: _Keys) -> Places:
    """Return for every source record the target record that is as far from the end of their key."""
    shift = np.repeat(keys.target_end - keys.source_end, keys.lengths)
    return np.arange(len(shift), dtype=np.int64) + shift


def _in_tail(source: Log, target: Log, keys: _Keys) -> Truths:
    """Return of which keys the records are, in their order, the last of the key on the target.

    Those are nearly all: a key is copied from the one partition that holds it to another, and that was all.
    """
    if not len(source) or not len(target):
        return np.zeros(len(keys.lengths), np.bool_)
    last = np.clip(keys.target_end - 1, 0, None)
    first = np.minimum(keys.target_start, last)
    fits = keys.target_end - keys.target_start >= keys.lengths
    fits &= source.partitions[keys.source_start] == source.partitions[keys.source_end - 1]
    fits &= target.partitions[first] == target.partitions[last]
    same = np.repeat(fits, keys.lengths)
    places = np.flatnonzero(same)
    same[places] = source.records[places] == target.records[_at_end(keys)[places]]
    whole: Truths = np.logical_and.reduceat(same, keys.source_start)
    return whole


def _copies_of_key(
    source: Log, target: Log, ours: range, theirs: range, *, is_compacted: bool, takes_last: bool
) -> Iterator[Copy | int]:
    """Yield the copies of one key's records, and the places of those that are missing; the last record first."""
    copies: dict[int, list[int]] = {}
    for place in theirs:
        copies.setdefault(int(target.records[place]), []).append(place)
    if not _is_in_one(target, theirs):
        may_be_replaced = is_compacted and _is_in_one(source, ours)
        yield from _any_copies(source, target, ours, copies, may_be_replaced=may_be_replaced, takes_last=takes_last)
    elif not _is_in_one(source, ours):
        yield from _any_copies(source, target, ours, copies, may_be_replaced=False, takes_last=takes_last)
        yield from _out_of_order(source, ours, copies, theirs.stop, tells_all=takes_last)
    elif is_compacted and (not theirs or target.records[theirs[-1]] != source.records[ours[-1]]):
        # Whatever compaction leaves, it ends with the newest record.
        yield from ours if takes_last else ours[-1:]
    else:
        replaced = is_compacted
        yield from _from_the_right(source, ours, copies, theirs.stop, may_be_replaced=replaced, tells_all=takes_last)


def _out_of_order(
    source: Log, ours: range, copies: Mapping[int, Sequence[int]], end: int, *, tells_all: bool
) -> Iterator[int]:
    """Yield records of which no copy comes before that of the next in their source partition."""
    cuts = [n for n in ours[1:] if source.partitions[n] != source.partitions[n - 1]]
    for first, stop in pairwise((ours.start, *cuts, ours.stop)):
        part = range(first, stop)
        found = _from_the_right(source, part, copies, end, may_be_replaced=False, tells_all=tells_all)
        yield from (place for place in found if not isinstance(place, Copy))


def _is_in_one(log: Log, places: range) -> bool:
    return not places or bool(log.partitions[places[0]] == log.partitions[places[-1]])


def _from_the_right(
    source: Log,
    ours: range,
    copies: Mapping[int, Sequence[int]],
    end: int,
    *,
    may_be_replaced: bool,
    tells_all: bool,
) -> Iterator[Copy | int]:
    """Give each record the last of its copies before that of the next record; stop where there is none.

    :param tells_all: whether all records before that are told to be missing as well
    """
    before, is_followed = end, False
    for place in reversed(ours):
        mine = copies.get(int(source.records[place]), ())
        number = bisect_left(mine, before) - 1
        if number >= 0:
            before, is_followed = mine[number], True
            yield Copy(place, before, True)
        elif not (may_be_replaced and is_followed):
            yield from range(place, ours.start - 1, -1) if tells_all else (place,)
            return


def _any_copies(
    source: Log,
    target: Log,
    ours: range,
    copies: Mapping[int, Sequence[int]],
    *,
    may_be_replaced: bool,
    takes_last: bool,
) -> Iterator[Copy | int]:
    """Give each record the first of its copies in every target partition, or the last; too few count as none."""
    wanted = Counter(int(source.records[place]) for place in ours)
    chosen = {
        record: {int(target.partitions[place]): place for place in (places if takes_last else reversed(places))}
        for record, places in copies.items()
        if record in wanted
    }
    is_followed = False
    for place in reversed(ours):
        mine = copies.get(record := int(source.records[place]), ())
        if len(mine) >= wanted[record]:
            is_followed = True
            yield from (Copy(place, copy, len(mine) == 1) for copy in chosen[record].values())
        elif not (may_be_replaced and is_followed):
            yield place
