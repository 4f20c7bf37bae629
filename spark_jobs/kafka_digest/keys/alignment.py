"""Finds the differences in one key's records: two sequences of record hashes in, labelled differences out. numpy only.

The two sequences are aligned by their longest common subsequence, which explains them with the fewest lost or added
records. The other records are labelled, in this order of precedence:

1. **moved**: the record exists, but in another target partition than the rest of its key
2. **reordered**: the record exists on both sides, but at another place in the order
3. **aborted**: an additional target record, which the source holds in an aborted transaction
4. **compacted**, **unproved**, **expired**: only one side has records before the first aligned one, and the other side
   may have deleted them. Compacted: it has newer records of the key, or the key ended with a tombstone and is gone.
   Unproved: only a tombstone that can no longer be read would explain it. Expired: retention deleted them by age
5. **stale**, **duplicate**: an additional target record that the source has and the target already has. It is stale if
   it follows the last record of its key and differs from it, so that the key ends with an old record. If records first
   appear on the target in another order than on the source, that is not a replay, and they are *extra*
6. **altered**: a source and a target record between the same aligned neighbours, with some equal fields; or equal
   numbers of records on both sides
7. **missing**, **extra**: a source record, a target record

Compaction only explains records before the first aligned one: in one partition it keeps at most the newest record of
the cleaned part of a key, and all later records. So it removes a beginning, as retention does. For a key in several
source partitions compaction explains nothing: what it may have removed is unproved.

How many differences compaction can explain is not known per key; `compaction.py` limits it. So each difference that is
explained here also has the label that it would have `otherwise`.

A key in several source partitions is **interleaved**. That is not damage: the order of its records is compared within
each partition. Records that are identical in every field are interchangeable, and one of several equal explanations is
given.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kafka_digest.keys.subsequences import Hashes, common_beginning, common_subsequence, left_between
from kafka_digest.reading.hashing import CONTENT, NOTHING, PAYLOAD

MISSING, EXTRA, DUPLICATE, REORDERED, ALTERED, MOVED = "missing", "extra", "duplicate", "reordered", "altered", "moved"
STALE, INTERLEAVED, UNCLASSIFIED = "stale", "interleaved", "unclassified"
ABORTED, COMPACTED, EXPIRED, UNPROVED = "aborted", "compacted", "expired", "unproved"
LABELS = (
    *(MISSING, EXTRA, ALTERED, MOVED, REORDERED, DUPLICATE, STALE),
    *(ABORTED, COMPACTED, EXPIRED, UNPROVED, INTERLEAVED, UNCLASSIFIED),
)
# The parts of a record, without its key, that are compared separately.
FIELDS = PAYLOAD


@dataclass(frozen=True)
class Records:
    """Records of one key on one side, by partition and then offset: their places and the hashes of their content."""

    partitions: NDArray[np.int32]
    offsets: Hashes
    records: Hashes
    fields: Sequence[Hashes]
    tombstones: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.offsets)

    @property
    def by_partition(self) -> list[NDArray[np.int64]]:
        """The places of each partition's records."""
        return [np.flatnonzero(self.partitions == number) for number in np.unique(self.partitions)]

    @property
    def runs(self) -> Counter[bytes]:
        """The content of each partition, without its number: equal runs have equal digests."""
        return Counter(self.records[places].tobytes() for places in self.by_partition)


@dataclass(frozen=True)
class Known:
    """What is known about a key in addition to its records in the compared ranges; pairs are source and target.

    :param compacted: whether compaction may have deleted records of the key
    :param expired: whether records may have been deleted from the beginning of the ranges
    :param before: whether the key's partition holds the key before the ranges; only read for compacted topics
    :param behind: whether it holds the key after the ranges
    :param deleted_behind: whether a record after the ranges is a tombstone
    :param goes_on: whether the log has records of any key after the ranges
    :param has_tail: whether the target's ranges may end with records from after the source's ranges, as after a kill of
        MirrorMaker
    :param aborted: hashes of the key's records in aborted transactions of the source
    """

    compacted: tuple[bool, bool] = (False, False)
    expired: tuple[bool, bool] = (False, False)
    before: tuple[bool, bool] = (False, False)
    behind: tuple[bool, bool] = (False, False)
    deleted_behind: tuple[bool, bool] = (False, False)
    goes_on: tuple[bool, bool] = (False, False)
    has_tail: bool = False
    aborted: tuple[int, ...] = ()


NOTHING_KNOWN = Known()


class Difference(NamedTuple):
    """One difference of a key: the places of its records within the key, `None` if a side has none.

    `otherwise` is the label of the record if compaction cannot explain it.
    """

    label: str
    source: int | None
    target: int | None
    fields: tuple[str, ...] = ()
    otherwise: str | None = None


def align(source: Records, target: Records, known: Known = NOTHING_KNOWN) -> list[Difference]:
    """Return all differences of one key; none if both sides hold the same runs in any partitions.

    Order is compared within each source partition; records of different source partitions have no order. On the target
    the key's partition is the one with most of its records.
    """
    if source.runs == target.runs:
        return []
    return list(_Key(source, target, known).differences())


def surplus(source: int, target: int, known: Known = NOTHING_KNOWN) -> list[Difference]:
    """Return the differences between these numbers of identical records, which have no order."""
    missing, more = range(target, source), range(source, target)
    absent = EXPIRED if known.expired[1] else MISSING
    again = EXPIRED if known.expired[0] else DUPLICATE if source else EXTRA
    aborted = len(known.aborted)
    return [
        *(Difference(ABORTED, None, place) for place in more[:aborted]),
        *(_keyless(again, DUPLICATE if place else again, known.compacted[0], target=place) for place in more[aborted:]),
        *(_keyless(absent, absent, known.compacted[1], source=place) for place in missing),
    ]


def _keyless(
    label: str, otherwise: str, is_compacted: bool, *, source: int | None = None, target: int | None = None
) -> Difference:
    """Return the difference of a record without a key; a compacted log keeps no such records."""
    if is_compacted:
        return Difference(COMPACTED, source, target, otherwise=otherwise)
    return Difference(label, source, target)


class _Key:
    """The records of a key, and which of them are already explained."""

    def __init__(self, source: Records, target: Records, known: Known) -> None:
        self.source, self.target, self.known = source, target, known
        self.left_source = np.ones(len(source), np.bool_)
        self.left_target = np.ones(len(target), np.bool_)

    def differences(self) -> Iterator[Difference]:
        home = max(self.target.by_partition, key=len, default=np.empty(0, np.int64))
        several = self.source.by_partition
        if len(several) > 1:
            self._match_shared(several, home)
            yield Difference(INTERLEAVED, 0, 0 if len(self.target) else None)
        for places in several:
            ours, theirs = places[self.left_source[places]], home[self.left_target[home]]
            self._match(ours, theirs, *self._aligned(self.source.records[ours], self.target.records[theirs]))
        if self._is_tail_only():
            yield from self._explained(COMPACTED, range(len(self.source)), [])
            yield from (Difference(EXTRA, None, place) for place in range(len(self.target)))
            return
        aligned = ~self.left_source, ~self.left_target
        elsewhere = ~np.isin(np.arange(len(self.target)), home)
        yield from self._identical(MOVED, elsewhere)
        yield from self._identical(REORDERED, ~elsewhere)
        yield from self._aborted()
        yield from self._deleted(*aligned)
        yield from self._duplicates(home)
        yield from self._rest(*aligned)

    def _aligned(self, source: Hashes, target: Hashes) -> tuple[Hashes, Hashes]:
        """Return a longest common subsequence.

        Where a side may have deleted the beginning of a key it prefers the end of the source's records, and the last of
        identical records.
        """
        if not any((*self.known.compacted, *self.known.expired)):
            return common_subsequence(source, target)
        ours, theirs = common_subsequence(source[::-1], target[::-1])
        end = common_beginning(source[::-1], target[::-1])
        if len(end) == len(ours) or (len(end) and self._is_ambiguous()):
            ours, theirs = np.arange(len(end)), end
        return len(source) - 1 - ours[::-1], len(target) - 1 - theirs[::-1]

    def _is_ambiguous(self) -> bool:
        """Whether the source has identical records of the key, and the target only records that the source has.

        Then records may be equal although one is not the copy of the other.
        """
        has_twins = len(np.unique(self.source.records)) < len(self.source)
        return has_twins and (self.known.has_tail or bool(np.isin(self.target.records, self.source.records).all()))

    def _is_tail_only(self) -> bool:
        """Whether all target records come from after the source's range, although some look the same.

        If the target had any record of the range, it would have the newest one.
        """
        known = self.known
        is_possible = known.has_tail and known.compacted[1] and known.behind[0] and not known.before[1]
        return (
            is_possible and len(self.target) > 0 and len(self.source.by_partition) == 1 and bool(self.left_source[-1])
        )

    def _match(self, sources: Hashes, targets: Hashes, ours: Hashes, theirs: Hashes) -> None:
        self.left_source[sources[ours]] = self.left_target[targets[theirs]] = False

    def _match_shared(self, several: Sequence[NDArray[np.int64]], home: Hashes) -> None:
        """Match records that occur in several source partitions by count, because they cannot be distinguished."""
        held = Counter(record for places in several for record in set(self.source.records[places].tolist()))
        for record in (record for record, partitions in held.items() if partitions > 1):
            sources = np.flatnonzero(self.source.records == record)
            targets = home[self.target.records[home] == record]
            number = np.arange(min(len(sources), len(targets)))
            self._match(sources, targets, number, number)

    def _identical(self, label: str, among: NDArray[np.bool_]) -> Iterator[Difference]:
        """Pair the remaining identical records of both sides, first with first."""
        waiting: defaultdict[int, deque[int]] = defaultdict(deque)
        for place in np.flatnonzero(self.left_target & among).tolist():
            waiting[int(self.target.records[place])].append(place)
        for place in np.flatnonzero(self.left_source & ~self._perhaps_compacted()).tolist():
            same = waiting.get(int(self.source.records[place]))
            if same:
                theirs = same.popleft()
                self.left_source[place] = self.left_target[theirs] = False
                yield Difference(label, place, theirs)

    def _perhaps_compacted(self) -> NDArray[np.bool_]:
        """Return the first source records that the source repeats later: the target need not have both."""
        aligned = ~self.left_source
        if not self.known.compacted[1] or not aligned.any():
            return np.zeros(len(self.source), np.bool_)
        is_first = np.arange(len(self.source)) < np.argmax(aligned)
        return is_first & np.isin(self.source.records, self.source.records[aligned])

    def _aborted(self) -> Iterator[Difference]:
        waiting = Counter(self.known.aborted)
        for place in np.flatnonzero(self.left_target).tolist():
            record = int(self.target.records[place])
            if waiting[record]:
                waiting[record] -= 1
                self.left_target[place] = False
                yield Difference(ABORTED, None, place)

    def _deleted(self, aligned_source: NDArray[np.bool_], aligned_target: NDArray[np.bool_]) -> Iterator[Difference]:
        """Label the records that the other side may have deleted after the copy."""
        if len(self.source.by_partition) > 1:
            yield from self._explained(UNPROVED, *self._unproved(aligned_source))
        gaps = left_between((self.left_source, aligned_source), (self.left_target, aligned_target))
        ours, theirs = gaps.get(0, ([], []))
        is_last = not aligned_source.any()
        others = [place for place in theirs if self.target.records[place] not in self.source.records]
        if ours and not others:
            yield from self._explained(self._deletion(by=1, is_last=is_last), ours, [])
        elif theirs and not ours:
            yield from self._explained(self._deletion(by=0, is_last=is_last), [], theirs)

    def _explained(self, label: str | None, ours: Sequence[int], theirs: Sequence[int]) -> Iterator[Difference]:
        """Label records that one side has deleted, with the label that they would have otherwise."""
        if label is None:
            return
        self.left_source[ours] = self.left_target[theirs] = False
        absent, more = (EXPIRED if is_expired else None for is_expired in reversed(self.known.expired))
        again = self._again() if theirs else ()
        for place in ours:
            yield Difference(label, place, None, otherwise=absent or MISSING)
        for place in theirs:
            yield Difference(label, None, place, otherwise=more or (DUPLICATE if again[place] else EXTRA))

    def _again(self) -> NDArray[np.bool_]:
        """Return which target records the source has too, or the target repeats later."""
        records = self.target.records
        lasts = len(records) - 1 - np.unique(records[::-1], return_index=True)[1]
        return np.isin(records, self.source.records) | ~np.isin(np.arange(len(records)), lasts)

    def _deletion(self, *, by: int, is_last: bool) -> str | None:
        """Return why a side may have deleted the first records of the key; `is_last`: it has no other records of it."""
        found = None
        # A cleaner that removed one of these would also have removed all records before the ranges.
        if self.known.compacted[by] and not self.known.before[by] and len(self.source.by_partition) <= 1:
            found = self._compaction(by) if is_last else COMPACTED
        return EXPIRED if self.known.expired[by] and found in {None, UNPROVED} else found

    def _compaction(self, by: int) -> str | None:
        """Return whether compaction removed all records of the key from a side's ranges; `None`: it cannot have."""
        known, other = self.known, 1 - by
        if known.behind[by]:
            # Target records after the ranges come from after the source's ranges, and the source still has them.
            return COMPACTED if by == 0 or known.behind[0] else None
        if (self.source, self.target)[other].tombstones[-1]:
            return COMPACTED
        if by == 0:
            found = COMPACTED if known.deleted_behind[1] else UNPROVED
            return found if known.goes_on[0] else None
        # The source has lost no record that came after one which it still has.
        return UNPROVED if known.deleted_behind[0] and (known.goes_on[1] or known.has_tail) else None

    def _unproved(self, aligned_source: NDArray[np.bool_]) -> tuple[list[int], list[int]]:
        """Return the records that compaction may have removed from a key in several source partitions."""
        sides = (self.source, self.target)
        ours: list[int] = []
        theirs: list[int] = []
        ends = [side.tombstones[places[-1]] for side in sides for places in side.by_partition]
        if self.known.compacted[1] and (len(self.target) or self.known.behind[1] or any(ends)):
            for places in self.source.by_partition:
                first = np.argmax(aligned_source[places]) if aligned_source[places].any() else len(places)
                ours += [place for place in places[:first].tolist() if self.left_source[place]]
        if self.known.compacted[0]:
            foreign = ~np.isin(self.target.records, self.source.records)
            theirs = np.flatnonzero(self.left_target & foreign).tolist()
        return ours, theirs

    def _duplicates(self, home: Hashes) -> Iterator[Difference]:
        again = self.left_target & np.isin(self.target.records, self.source.records)
        if not self._is_replay(home):
            again[:] = False
        stale = self._behind_the_last(again, home)
        self.left_target &= ~again
        for place in np.flatnonzero(again).tolist():
            yield Difference(STALE if place in stale else DUPLICATE, None, place)

    def _is_replay(self, home: Hashes) -> bool:
        """Whether records first appear on the target in the source's order, because a replay only goes back.

        The order is unknown for several source partitions, and the first appearance for a compacted target, and for a
        source that has deleted the beginning.
        """
        if len(self.source.by_partition) > 1 or self.known.compacted[1] or self.known.expired[0]:
            return True
        source, target = _firsts(self.source.records), _firsts(self.target.records[home])
        return np.array_equal(source[np.isin(source, target)], target[np.isin(target, source)])

    def _behind_the_last(self, again: NDArray[np.bool_], home: Hashes) -> frozenset[int]:
        """Return the repeated records at the end of the key on the target, unless the last one also ends the source."""
        lasts = {int(self.source.records[places[-1]]) for places in self.source.by_partition}
        if not len(home) or int(self.target.records[home[-1]]) in lasts:
            return frozenset()
        others = np.flatnonzero(~again[home])
        return frozenset(home[others[-1] + 1 if len(others) else 0 :].tolist())

    def _rest(self, aligned_source: NDArray[np.bool_], aligned_target: NDArray[np.bool_]) -> Iterator[Difference]:
        """Label the records that only one side has, between each two aligned records."""
        if len(self.source.by_partition) > 1:
            # Several source partitions have no common order, so there are no gaps.
            aligned_source, aligned_target = np.zeros_like(aligned_source), np.zeros_like(aligned_target)
        gaps = left_between((self.left_source, aligned_source), (self.left_target, aligned_target))
        for gap in sorted(gaps):
            ours, theirs = gaps[gap]
            altered = self._alike(ours, theirs)
            if not altered and len(ours) == len(theirs):
                altered = dict(zip(ours, theirs))
            yield from (Difference(ALTERED, one, other, self._differing(one, other)) for one, other in altered.items())
            yield from (Difference(MISSING, place, None) for place in ours if place not in altered)
            paired = set(altered.values())
            yield from (Difference(EXTRA, None, place) for place in theirs if place not in paired)

    def _alike(self, ours: Sequence[int], theirs: Sequence[int]) -> dict[int, int]:
        """Pair records of a gap with the same value, then those with the same timestamp, first with first."""
        pairs: dict[int, int] = {}
        for field in ("value", "timestamp"):
            number, taken = FIELDS.index(field), set(pairs.values())
            waiting: defaultdict[int, deque[int]] = defaultdict(deque)
            for place in theirs:
                if place not in taken:
                    waiting[int(self.target.fields[number][place])].append(place)
            for place in ours:
                same = waiting.get(int(self.source.fields[number][place]))
                if place not in pairs and same:
                    pairs[place] = same.popleft()
        return pairs

    def _differing(self, one: int, other: int) -> tuple[str, ...]:
        names = CONTENT if self.source.fields[-1][one] == NOTHING else FIELDS
        columns = zip(names, self.source.fields, self.target.fields)
        return tuple(name for name, ours, theirs in columns if ours[one] != theirs[other])


def _firsts(records: Hashes) -> Hashes:
    """Return each record once, in the order in which they appear."""
    return records[np.sort(np.unique(records, return_index=True)[1])]
