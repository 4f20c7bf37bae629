"""Common subsequences of two sequences of record hashes. numpy only."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

# With more pairs of identical records than this, the n-th is paired with the n-th instead of the best one.
_MAX_PAIRS = 2_000_000

Hashes = NDArray[np.int64]


def common_subsequence(source: Hashes, target: Hashes) -> tuple[Hashes, Hashes]:
    """Return the places of a longest common subsequence in both; equal beginnings and ends cost almost nothing."""
    shorter = min(len(source), len(target))
    head = _alike_length(source[:shorter], target[:shorter])
    rest = shorter - head
    tail = _alike_length(source[::-1][:rest], target[::-1][:rest])
    middle = _hunt(source[head : len(source) - tail], target[head : len(target) - tail])
    return tuple(
        np.concatenate((np.arange(head), head + places, np.arange(length - tail, length)))
        for places, length in zip(middle, (len(source), len(target)))
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

    If the target holds all of the source with additional records, that is the longest. Otherwise the n-th identical
    record is paired with the n-th as long as the order is kept.
    """
    held = common_beginning(source, target)
    if len(held) == len(source):
        return np.arange(len(source)), held
    seen: Counter[int] = Counter()
    pairs: list[tuple[int, int]] = []
    for theirs, record in enumerate(target.tolist()):
        same = places.get(record, ())
        if seen[record] < len(same) and (not pairs or same[seen[record]] > pairs[-1][0]):
            pairs.append((same[seen[record]], theirs))
        seen[record] += 1
    return np.array([ours for ours, _ in pairs], np.int64), np.array([theirs for _, theirs in pairs], np.int64)


def common_beginning(wanted: Hashes, of: Hashes) -> Hashes:
    """Return the places in another sequence of as many first records of a sequence as it holds in order."""
    rest = iter(enumerate(of.tolist()))
    found = (next((at for at, one in rest if one == record), -1) for record in wanted.tolist())
    return np.array(list(takewhile(lambda at: at >= 0, found)), np.int64)


def _places(link: object) -> tuple[Hashes, Hashes]:
    ours: list[int] = []
    theirs: list[int] = []
    while isinstance(link, tuple):
        one, other, link = link
        ours.append(one)
        theirs.append(other)
    return np.array(ours[::-1], np.int64), np.array(theirs[::-1], np.int64)


def left_between(*sides: tuple[NDArray[np.bool_], NDArray[np.bool_]]) -> dict[int, tuple[list[int], list[int]]]:
    """Return the remaining records of both sides by the number of aligned records before them."""
    found: defaultdict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, (left, aligned) in enumerate(sides):
        before = np.cumsum(aligned)
        for place in np.flatnonzero(left).tolist():
            found[int(before[place])][side].append(place)
    return found
