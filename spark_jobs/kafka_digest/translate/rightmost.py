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
from functools import cached_property
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
        for found in _Key(source, target, ours, theirs, is_compacted, takes_last).found():
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


@dataclass(frozen=True)
class _Key:
    """One key's records on both sides as places; the options are those of `rightmost`."""

    source: Log
    target: Log
    ours: range
    theirs: range
    is_compacted: bool
    takes_last: bool

    @cached_property
    def copies(self) -> Mapping[int, Sequence[int]]:
        """The places of the copies by the hash of a source record, ascending."""
        copies: dict[int, list[int]] = {}
        wanted = set(self.source.records[self.ours].tolist())
        for place in self.theirs:
            # As the copy of a record with a timestamp, and of one without.
            for record in wanted & {int(self.target.records[place]), int(self.target.contents[place])}:
                copies.setdefault(record, []).append(place)
        return copies

    def found(self) -> Iterator[Copy | int]:
        """Yield the copies of the records and the places of missing records; the last record first."""
        is_in_one, ours, theirs = _is_in_one(self.source, self.ours), self.ours, self.theirs
        if not _is_in_one(self.target, theirs):
            yield from self._any_copies(may_be_replaced=self.is_compacted and is_in_one)
        elif not is_in_one:
            yield from self._any_copies(may_be_replaced=False)
            yield from self._out_of_order()
        elif self.is_compacted and not (
            theirs and self.target.may_be_copy_of(theirs[-1], int(self.source.records[ours[-1]]))
        ):
            # Compaction always keeps the newest record.
            yield from ours if self.takes_last else ours[-1:]
        else:
            yield from self._from_the_right(ours, may_be_replaced=self.is_compacted)

    def _out_of_order(self) -> Iterator[int]:
        """Yield records without a copy before the copy of the next record in their source partition."""
        ours, partitions = self.ours, self.source.partitions
        cuts = [n for n in ours[1:] if partitions[n] != partitions[n - 1]]
        for first, stop in zip((ours.start, *cuts), (*cuts, ours.stop)):
            found = self._from_the_right(range(first, stop), may_be_replaced=False)
            yield from (place for place in found if not isinstance(place, Copy))

    def _has_equal(self) -> bool:
        """Whether two source records may have the same copy; one without a timestamp may have that of another."""
        records, contents = self.source.records[self.ours], self.source.contents[self.ours]
        return len(np.unique(contents if (records == contents).any() else records)) < len(self.ours)

    def _from_the_right(self, ours: range, *, may_be_replaced: bool) -> Iterator[Copy | int]:
        """Assign each of these records the last of its copies before that of the next record; stop if there is none.

        With `takes_last` all earlier records are missing too. If the source has equal records of a key, and compaction
        has removed some, it is unknown which ones are left.
        """
        before, is_followed, in_doubt = self.theirs.stop, False, False
        is_doubtful = may_be_replaced and not self.takes_last and self._has_equal()
        for place in reversed(ours):
            mine = self.copies.get(int(self.source.records[place]), ())
            number = bisect_left(mine, before) - 1
            if number >= 0:
                before, is_followed = mine[number], True
                yield Copy(place, before, not in_doubt)
            elif not (may_be_replaced and is_followed):
                yield from range(place, ours.start - 1, -1) if self.takes_last else (place,)
                return
            elif is_doubtful:
                # The copies of earlier records may be those of records that were read.
                in_doubt = True
                yield Copy(place, before, False, is_own=False)

    def _any_copies(self, *, may_be_replaced: bool) -> Iterator[Copy | int]:
        """Assign each record its first or last copy in every target partition; too few copies count as none.

        If compaction may have removed copies, too few are left: then these count.
        """
        records, contents = self.source.records, self.source.contents
        # A copy of a record without a timestamp may also be that of another record with the same content.
        wanted = Counter(contents[self.ours].tolist()) | Counter(records[self.ours].tolist())
        chosen = {
            record: {int(self.target.partitions[n]): n for n in (places if self.takes_last else reversed(places))}
            for record, places in self.copies.items()
        }
        is_followed = False
        met: Counter[tuple[str, int]] = Counter()
        for place in reversed(self.ours):
            record, content = int(records[place]), int(contents[place])
            mine = self.copies.get(record, ())
            are_enough = len(mine) >= wanted[record]
            if not are_enough and not (may_be_replaced and is_followed):
                yield place
                continue
            is_followed, of_content = True, self.copies.get(content, self.theirs)
            is_own = met["record", record] < len(mine) and met["content", content] < len(of_content)
            met.update({("record", record): is_own, ("content", content): is_own})
            is_only = are_enough and len(mine) == 1
            yield from (Copy(place, copy, is_only, is_own) for copy in chosen.get(record, {}).values())


def _is_in_one(log: Log, places: range) -> bool:
    return not places or bool(log.partitions[places[0]] == log.partitions[places[-1]])
