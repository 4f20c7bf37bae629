"""Finds where a reader must resume on the target so that all unread records follow in order, and as few others as
possible: it matches the copies of source records from the right. numpy only; no Spark.

The input are records of complete keys on both sides, each side from an offset before which nothing is unread. For a key
in one source partition and one target partition, the copies of its records are those of the *rightmost
order-preserving one-to-one embedding*: the copy of the last record is the last equal target record, and the copy of
each earlier record is the last equal one before that. No embedding begins further to the right. The copy of a record
does not depend on the reader's position, so one computation serves all readers.

For any other key (in several partitions of a side, or without an order, with each record by itself) there is no
rightmost place for all partitions at once. Then the first copy in each target partition counts: nothing is skipped, but
more records than necessary may be read again. If there is only one copy, it is the only and therefore the best place.
If records have fewer copies than the source has of them, all of them count as missing, even for a reader that has read
some; if compaction may have removed the others, the ones that are left count. Order is checked within each source
partition, but not if the target has the key in several partitions.

MirrorMaker gives a record without a timestamp the time of the copy, so its copy is any record with the same content.

The definition is tested against trying all places (`tests/unit/jobs/test_rightmost.py`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]
Hashes = NDArray[np.int64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True)
class Log:
    """Records of complete keys on one side, sorted by key, partition and offset.

    :param records: the hashes of the records; those of records without a timestamp are their `contents`
    :param contents: the hashes of the records without their timestamps
    """

    keys: Hashes
    partitions: NDArray[np.int32]
    offsets: Places
    records: Hashes
    contents: Hashes

    def may_be_copy_of(self, at: int, record: int) -> bool:
        """Whether the record at a place is a copy of a source record with this hash."""
        return record in (int(self.records[at]), int(self.contents[at]))

    def __len__(self) -> int:
        return len(self.keys)


class Copy(NamedTuple):
    """A copy of the source record at a place; `is_only_choice` states whether no place further right would suffice.

    `is_own` is false if compaction has removed the copy, so that a reader gets this one, of a later record, instead.
    """

    source: int
    target: int
    is_only_choice: bool
    is_own: bool = True


@dataclass(frozen=True)
class Copies:
    """Copies of source records as places on both sides, for complete keys, and `missing` records."""

    source: Places
    target: Places
    is_only_choice: Truths
    is_own: Truths
    missing: Places


@dataclass(frozen=True)
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
        """The number of source records of each key."""
        return self.source_end - self.source_start


def rightmost(source: Log, target: Log, *, is_compacted: bool = False, takes_last: bool = False) -> Copies:
    """Return the places of the copies of all source records.

    A record may have copies in several target partitions: one row for each. A `missing` record has no copy, and earlier
    records of its key do not count.

    :param is_compacted: whether the target is compacted: a newer record of the key is read instead, so a deleted record
        is only missing if no record of its key follows
    :param takes_last: whether, if there is no rightmost place, the last copy in each target partition counts, and all
        records without a copy are returned instead of only the last of each key
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
    at, to, only, own = (np.array(column) for column in zip(*rows)) if rows else ((), (), (), ())
    certain = np.ones(len(ordered), np.bool_)
    return Copies(
        np.concatenate((ordered, np.asarray(at, np.int64))),
        np.concatenate((_at_end(keys)[ordered], np.asarray(to, np.int64))),
        np.concatenate((certain, np.asarray(only, np.bool_))),
        np.concatenate((certain, np.asarray(own, np.bool_))),
        np.array(missing, np.int64),
    )


def _at_end(keys: _Keys) -> Places:
    """Return, for every source record, the target record at the same distance from the end of its key."""
    shift = np.repeat(keys.target_end - keys.source_end, keys.lengths)
    return np.arange(len(shift), dtype=np.int64) + shift


def _in_tail(source: Log, target: Log, keys: _Keys) -> Truths:
    """Return the keys whose source records are, in order, the last records of the key on the target.

    These are nearly all keys: normally a key is copied from one partition to one other partition.
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
    ours, theirs = source.records[places], _at_end(keys)[places]
    same[places] = (ours == target.records[theirs]) | (ours == target.contents[theirs])
    whole: Truths = np.logical_and.reduceat(same, keys.source_start)
    return whole


def _copies_of_key(
    source: Log, target: Log, ours: range, theirs: range, *, is_compacted: bool, takes_last: bool
) -> Iterator[Copy | int]:
    """Yield the copies of one key's records and the places of missing records; the last record first."""
    copies: dict[int, list[int]] = {}
    wanted = set(source.records[ours].tolist())
    for place in theirs:
        # As the copy of a record with a timestamp, and of one without.
        for record in wanted & {int(target.records[place]), int(target.contents[place])}:
            copies.setdefault(record, []).append(place)
    if not _is_in_one(target, theirs):
        may_be_replaced = is_compacted and _is_in_one(source, ours)
        yield from _any_copies(
            source, target, ours, theirs, copies, may_be_replaced=may_be_replaced, takes_last=takes_last
        )
    elif not _is_in_one(source, ours):
        yield from _any_copies(source, target, ours, theirs, copies, may_be_replaced=False, takes_last=takes_last)
        yield from _out_of_order(source, ours, copies, theirs.stop, tells_all=takes_last)
    elif is_compacted and not (theirs and target.may_be_copy_of(theirs[-1], int(source.records[ours[-1]]))):
        # Compaction always keeps the newest record.
        yield from ours if takes_last else ours[-1:]
    else:
        replaced = is_compacted
        yield from _from_the_right(source, ours, copies, theirs.stop, may_be_replaced=replaced, tells_all=takes_last)


def _out_of_order(
    source: Log, ours: range, copies: Mapping[int, Sequence[int]], end: int, *, tells_all: bool
) -> Iterator[int]:
    """Yield records without a copy before the copy of the next record in their source partition."""
    cuts = [n for n in ours[1:] if source.partitions[n] != source.partitions[n - 1]]
    for first, stop in zip((ours.start, *cuts), (*cuts, ours.stop)):
        part = range(first, stop)
        found = _from_the_right(source, part, copies, end, may_be_replaced=False, tells_all=tells_all)
        yield from (place for place in found if not isinstance(place, Copy))


def _is_in_one(log: Log, places: range) -> bool:
    return not places or bool(log.partitions[places[0]] == log.partitions[places[-1]])


def _has_equal(source: Log, ours: range) -> bool:
    """Whether two of these source records may have the same copy; one without a timestamp may have that of another."""
    records, contents = source.records[ours], source.contents[ours]
    return len(np.unique(contents if (records == contents).any() else records)) < len(ours)


def _from_the_right(
    source: Log,
    ours: range,
    copies: Mapping[int, Sequence[int]],
    end: int,
    *,
    may_be_replaced: bool,
    tells_all: bool,
) -> Iterator[Copy | int]:
    """Assign each record the last of its copies before that of the next record; stop if there is none.

    If the source has equal records of a key, and compaction has removed some, it is unknown which ones are left.

    :param tells_all: whether all earlier records are returned as missing too
    """
    before, is_followed, in_doubt = end, False, False
    is_doubtful = may_be_replaced and not tells_all and _has_equal(source, ours)
    for place in reversed(ours):
        mine = copies.get(int(source.records[place]), ())
        number = bisect_left(mine, before) - 1
        if number >= 0:
            before, is_followed = mine[number], True
            yield Copy(place, before, not in_doubt)
        elif not (may_be_replaced and is_followed):
            yield from range(place, ours.start - 1, -1) if tells_all else (place,)
            return
        elif is_doubtful:
            # The copies of earlier records may be those of records that were read.
            in_doubt = True
            yield Copy(place, before, False, is_own=False)


def _any_copies(
    source: Log,
    target: Log,
    ours: range,
    theirs: range,
    copies: Mapping[int, Sequence[int]],
    *,
    may_be_replaced: bool,
    takes_last: bool,
) -> Iterator[Copy | int]:
    """Assign each record its first or last copy in every target partition; too few copies count as none.

    If compaction may have removed copies, too few are left: then these count.
    """
    # A copy of a record without a timestamp may also be that of another record with the same content.
    wanted = Counter(source.contents[ours].tolist()) | Counter(source.records[ours].tolist())
    chosen = {
        record: {int(target.partitions[place]): place for place in (places if takes_last else reversed(places))}
        for record, places in copies.items()
    }
    is_followed = False
    met: Counter[tuple[str, int]] = Counter()
    for place in reversed(ours):
        record, content = int(source.records[place]), int(source.contents[place])
        mine = copies.get(record, ())
        are_enough = len(mine) >= wanted[record]
        if not are_enough and not (may_be_replaced and is_followed):
            yield place
            continue
        is_followed = True
        is_own = met["record", record] < len(mine) and met["content", content] < len(copies.get(content, theirs))
        met.update({("record", record): is_own, ("content", content): is_own})
        is_only = are_enough and len(mine) == 1
        yield from (Copy(place, copy, is_only, is_own) for copy in chosen.get(record, {}).values())
