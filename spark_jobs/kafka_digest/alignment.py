"""What is different in one key's records: two sequences of record hashes in, labelled differences out. numpy only.

The two sequences are aligned by their longest common subsequence, the explanation with the fewest records lost or
added. What stays outside is labelled, in this order of precedence:

1. **moved**: the record is there, but in another target partition than the rest of its key
2. **reordered**: the record is on both sides, before or after others than it should be
3. **aborted**: a target record more, which the source holds in an aborted transaction
4. **compacted**, **expired**: only one side has records before the first aligned one, and the other may have deleted
   them: because it has newer ones of the key (or the key ended with a tombstone and is gone), or by their age
5. **stale**, **duplicate**: a target record more, which the source has, and the target has it already; stale where it
   stands behind the last record of its key and is not that one, so that the key ends with an old record. If records
   appear on the target for the first time in another order than on the source, that is no replay, and they are *extra*
6. **altered**: a source and a target record between the same aligned neighbours, with some of their fields alike; or
   as many on both sides
7. **missing**, **extra**: a source record, a target record

Why only there: of a key in one partition, compaction leaves at most the newest record of what it has cleaned, and all
that came after, so it takes a beginning, as retention does. Of a key in several source partitions nothing is explained
by compaction.

A key that several source partitions hold is **interleaved**, which is no damage: the order of its records is compared
within each of them. Records that are identical in every field are one as good as the other; then one of several equal
explanations is given.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kafka_digest.hashing import PAYLOAD

MISSING, EXTRA, DUPLICATE, REORDERED, ALTERED, MOVED = "missing", "extra", "duplicate", "reordered", "altered", "moved"
STALE, INTERLEAVED, UNCLASSIFIED = "stale", "interleaved", "unclassified"
ABORTED, COMPACTED, EXPIRED = "aborted", "compacted", "expired"
LABELS = (
    *(MISSING, EXTRA, ALTERED, MOVED, REORDERED, DUPLICATE, STALE),
    *(ABORTED, COMPACTED, EXPIRED, INTERLEAVED, UNCLASSIFIED),
)
# The parts of a record beside its key that are told apart.
FIELDS = PAYLOAD
# More pairs of identical records than this, and each is paired with the one of its number instead of the best.
_MAX_PAIRS = 2_000_000

Hashes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Records:
    """Records of one key on one side, by partition and then offset: where they are, and hashes of what they hold."""

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
        """What each partition holds, without its number: equal runs have equal digests."""
        return Counter(self.records[places].tobytes() for places in self.by_partition)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a key beside its records in the ranges compared; pairs are of source and target.

    :param compacted: whether a side deletes records of the key that have newer ones
    :param expired: whether records may have been deleted from the beginning of the ranges
    :param before: whether the log holds the key before the ranges; asked of compacted topics only
    :param behind: the same behind the ranges
    :param deleted_behind: whether the newest of these is a tombstone
    :param aborted: hashes of the key's records in aborted transactions of the source
    """

    compacted: tuple[bool, bool] = (False, False)
    expired: tuple[bool, bool] = (False, False)
    before: tuple[bool, bool] = (False, False)
    behind: tuple[bool, bool] = (False, False)
    deleted_behind: tuple[bool, bool] = (False, False)
    aborted: tuple[int, ...] = ()


NOTHING_KNOWN = Known()


class Difference(NamedTuple):
    """One difference of a key: the places of its records among the key's, `None` where a side has none."""

    label: str
    source: int | None
    target: int | None
    fields: tuple[str, ...] = ()


def align(source: Records, target: Records, known: Known = NOTHING_KNOWN) -> list[Difference]:
    """Return all differences of one key; none if both sides hold the same runs, in whatever partitions.

    Order is compared within each source partition: between records of several source partitions there is none. On the
    target the key's partition is the one that holds most of it.
    """
    if source.runs == target.runs:
        return []
    return list(_Key(source, target, known).differences())


def surplus(source: int, target: int, known: Known = NOTHING_KNOWN) -> list[Difference]:
    """Return the differences between so many identical records on either side, which have no order."""
    missing, more = range(target, source), range(source, target)
    absent = EXPIRED if known.expired[1] else MISSING
    again = EXPIRED if known.expired[0] else DUPLICATE if source else EXTRA
    labels = [ABORTED] * len(known.aborted) + [again] * len(more)
    return [Difference(label, None, place) for label, place in zip(labels, more, strict=False)] + [
        Difference(absent, place, None) for place in missing
    ]


class _Key:
    """The records of a key with what of them is explained already."""

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
        aligned = ~self.left_source, ~self.left_target
        elsewhere = ~np.isin(np.arange(len(self.target)), home)
        yield from self._identical(MOVED, elsewhere)
        yield from self._identical(REORDERED, ~elsewhere)
        yield from self._aborted()
        yield from self._deleted(*aligned)
        yield from self._duplicates(home)
        yield from self._rest(*aligned)

    def _aligned(self, source: Hashes, target: Hashes) -> tuple[Hashes, Hashes]:
        """Return a longest common subsequence; of identical records that of a compacted key has the last ones."""
        if not any(self.known.compacted):
            return common_subsequence(source, target)
        ours, theirs = common_subsequence(source[::-1], target[::-1])
        return len(source) - 1 - ours[::-1], len(target) - 1 - theirs[::-1]

    def _match(self, sources: Hashes, targets: Hashes, ours: Hashes, theirs: Hashes) -> None:
        self.left_source[sources[ours]] = self.left_target[targets[theirs]] = False

    def _match_shared(self, several: Sequence[NDArray[np.int64]], home: Hashes) -> None:
        """Match records that several source partitions hold by their number: which is which, nobody can tell."""
        held = Counter(record for places in several for record in set(self.source.records[places].tolist()))
        for record in (record for record, partitions in held.items() if partitions > 1):
            sources = np.flatnonzero(self.source.records == record)
            targets = home[self.target.records[home] == record]
            number = np.arange(min(len(sources), len(targets)))
            self._match(sources, targets, number, number)

    def _identical(self, label: str, among: NDArray[np.bool_]) -> Iterator[Difference]:
        """Pair what is left of both sides by being identical, first with first."""
        waiting: defaultdict[int, deque[int]] = defaultdict(deque)
        for place in np.flatnonzero(self.left_target & among).tolist():
            waiting[int(self.target.records[place])].append(place)
        for place in np.flatnonzero(self.left_source).tolist():
            same = waiting.get(int(self.source.records[place]))
            if same:
                theirs = same.popleft()
                self.left_source[place] = self.left_target[theirs] = False
                yield Difference(label, place, theirs)

    def _aborted(self) -> Iterator[Difference]:
        waiting = Counter(self.known.aborted)
        for place in np.flatnonzero(self.left_target).tolist():
            record = int(self.target.records[place])
            if waiting[record]:
                waiting[record] -= 1
                self.left_target[place] = False
                yield Difference(ABORTED, None, place)

    def _deleted(self, aligned_source: NDArray[np.bool_], aligned_target: NDArray[np.bool_]) -> Iterator[Difference]:
        """Label what the other side may have deleted since it was copied."""
        gaps = _gaps((self.left_source, aligned_source), (self.left_target, aligned_target))
        ours, theirs = gaps.get(0, ([], []))
        others = [place for place in theirs if self.target.records[place] not in self.source.records]
        label = None
        if ours and not others:
            label, theirs = self._deletion(by=1, is_last=not aligned_source.any()), []
        elif theirs and not ours:
            label = self._deletion(by=0, is_last=not aligned_source.any())
        if label is not None:
            self.left_source[ours] = self.left_target[theirs] = False
            yield from (Difference(label, place, None) for place in ours)
            yield from (Difference(label, None, place) for place in theirs)

    def _deletion(self, *, by: int, is_last: bool) -> str | None:
        """Return why a side may have deleted the first records of the key; `is_last`: it has nothing else of them."""
        has_newer = not is_last or self.known.behind[by] or self._is_gone(by)
        if self.known.compacted[by] and has_newer and len(self.source.by_partition) <= 1:
            return COMPACTED
        return EXPIRED if self.known.expired[by] else None

    def _is_gone(self, side: int) -> bool:
        """Whether a side has nothing of the key any more, and the other's newest record of it is a tombstone."""
        sides, other = (self.source, self.target), 1 - side
        if len(sides[side]) or self.known.before[side]:
            return False
        return self.known.deleted_behind[other] if self.known.behind[other] else bool(sides[other].tombstones[-1])

    def _duplicates(self, home: Hashes) -> Iterator[Difference]:
        again = self.left_target & np.isin(self.target.records, self.source.records)
        if not self._is_replay(home):
            again[:] = False
        stale = self._behind_the_last(again, home)
        self.left_target &= ~again
        for place in np.flatnonzero(again).tolist():
            yield Difference(STALE if place in stale else DUPLICATE, None, place)

    def _is_replay(self, home: Hashes) -> bool:
        """Whether records appear on the target for the first time in the source's order: a replay only goes back.

        Of several source partitions the order is not known, and of a compacted target not what came first.
        """
        if len(self.source.by_partition) > 1 or self.known.compacted[1]:
            return True
        source, target = _firsts(self.source.records), _firsts(self.target.records[home])
        return np.array_equal(source[np.isin(source, target)], target[np.isin(target, source)])

    def _behind_the_last(self, again: NDArray[np.bool_], home: Hashes) -> frozenset[int]:
        """Return the records again that end the key on the target, unless its last one ends it on the source too."""
        lasts = {int(self.source.records[places[-1]]) for places in self.source.by_partition}
        if not len(home) or int(self.target.records[home[-1]]) in lasts:
            return frozenset()
        others = np.flatnonzero(~again[home])
        return frozenset(home[others[-1] + 1 if len(others) else 0 :].tolist())

    def _rest(self, aligned_source: NDArray[np.bool_], aligned_target: NDArray[np.bool_]) -> Iterator[Difference]:
        """Label what only one side has, between each two aligned records."""
        gaps = _gaps((self.left_source, aligned_source), (self.left_target, aligned_target))
        for gap in sorted(gaps):
            ours, theirs = gaps[gap]
            altered = self._alike(ours, theirs)
            if not altered and len(ours) == len(theirs):
                altered = dict(zip(ours, theirs, strict=True))
            yield from (Difference(ALTERED, one, other, self._differing(one, other)) for one, other in altered.items())
            yield from (Difference(MISSING, place, None) for place in ours if place not in altered)
            paired = set(altered.values())
            yield from (Difference(EXTRA, None, place) for place in theirs if place not in paired)

    def _alike(self, ours: Sequence[int], theirs: Sequence[int]) -> dict[int, int]:
        """Pair records of a gap that share their value, else those that share their timestamp, first with first."""
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
        columns = zip(FIELDS, self.source.fields, self.target.fields, strict=True)
        return tuple(name for name, ours, theirs in columns if ours[one] != theirs[other])


def _firsts(records: Hashes) -> Hashes:
    """Return each record once, in the order in which they appear."""
    return records[np.sort(np.unique(records, return_index=True)[1])]


def _gaps(*sides: tuple[NDArray[np.bool_], NDArray[np.bool_]]) -> dict[int, tuple[list[int], list[int]]]:
    """Return what is left of both sides by how many aligned records come before it."""
    gaps: defaultdict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, (left, aligned) in enumerate(sides):
        before = np.cumsum(aligned)
        for place in np.flatnonzero(left).tolist():
            gaps[int(before[place])][side].append(place)
    return gaps


def common_subsequence(source: Hashes, target: Hashes) -> tuple[Hashes, Hashes]:
    """Return the places of a longest common subsequence in both; what begins and ends alike costs next to nothing."""
    shorter = min(len(source), len(target))
    head = _alike_length(source[:shorter], target[:shorter])
    rest = shorter - head
    tail = _alike_length(source[::-1][:rest], target[::-1][:rest])
    middle = _hunt(source[head : len(source) - tail], target[head : len(target) - tail])
    return tuple(
        np.concatenate((np.arange(head), head + places, np.arange(length - tail, length)))
        for places, length in zip(middle, (len(source), len(target)), strict=True)
    )  # type: ignore[return-value]


def _alike_length(one: Hashes, other: Hashes) -> int:
    differing = np.flatnonzero(one != other)
    return int(differing[0]) if len(differing) else len(one)


def _hunt(source: Hashes, target: Hashes) -> tuple[Hashes, Hashes]:
    """Return the places of a longest common subsequence in both, after Hunt and Szymanski (1977).

    Every target record in turn may follow the shortest possible chain of pairs, so the cost grows with the pairs of
    identical records, and with the logarithm of the length.
    """
    places: defaultdict[int, list[int]] = defaultdict(list)
    for place, record in enumerate(source.tolist()):
        places[record].append(place)
    records = target.tolist()
    if sum(len(places.get(record, ())) for record in records) > _MAX_PAIRS:
        return _by_number(source, target, places)
    ends: list[int] = []
    chains: list[tuple[int, int, object]] = []
    for theirs, record in enumerate(records):
        for ours in reversed(places.get(record, ())):
            at = bisect_left(ends, ours)
            link = (ours, theirs, chains[at - 1] if at else None)
            if at == len(ends):
                ends.append(ours)
                chains.append(link)
            else:
                ends[at], chains[at] = ours, link
    return _places(chains[-1] if chains else None)


def _by_number(source: Hashes, target: Hashes, places: Mapping[int, Sequence[int]]) -> tuple[Hashes, Hashes]:
    """Return a common subsequence of runs with very many identical records, in a time that grows with their length.

    If the target holds all of the source, with more in between, that is the longest; else the n-th of identical records
    is paired with the n-th, as long as the order is kept.
    """
    held = _subsequence(source, target)
    if held is not None:
        return np.arange(len(source)), held
    seen: Counter[int] = Counter()
    pairs: list[tuple[int, int]] = []
    for theirs, record in enumerate(target.tolist()):
        same = places.get(record, ())
        if seen[record] < len(same) and (not pairs or same[seen[record]] > pairs[-1][0]):
            pairs.append((same[seen[record]], theirs))
        seen[record] += 1
    return np.array([ours for ours, _ in pairs], np.int64), np.array([theirs for _, theirs in pairs], np.int64)


def _subsequence(wanted: Hashes, of: Hashes) -> Hashes | None:
    """Return where the records of a sequence are in another that holds them in this order; `None` if it does not."""
    rest = iter(enumerate(of.tolist()))
    found = [next((at for at, one in rest if one == record), -1) for record in wanted.tolist()]
    return None if found and found[-1] < 0 else np.array(found, np.int64)


def _places(link: object) -> tuple[Hashes, Hashes]:
    ours, theirs = [], []
    while link is not None:
        one, other, link = link  # type: ignore[misc]
        ours.append(one)
        theirs.append(other)
    return np.array(ours[::-1], np.int64), np.array(theirs[::-1], np.int64)
