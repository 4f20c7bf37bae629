"""The verdict required by the definition in docs/concepts/validation.md, found by trying, without rules of the product.

A key is explained if there is a log of it of which the model's cleaner makes what the source holds, and another with
the same records in its window of which it makes what the target holds. All cleanings of both are tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from tests.compaction.cleaner import Log, Record
from tests.compaction.histories import History, Side

Run = tuple[Record, ...]


class Truth(IntEnum):
    """From best to worst."""

    EXPLAINED = 0
    UNPROVED = 1
    REFUTED = 2


class Seen(NamedTuple):
    """What one side shows of a key: before, in and after its windows, and whether its logs go on after them."""

    before: Run
    within: Run
    after: Run
    goes_on: bool


def truth_of(history: History) -> Truth:
    """Return what the comparison of a history can know."""
    source, target = history.source, history.target
    keys = {r.key for side in (source, target) for log in side.logs for _, r in log.read()}
    found = [Truth.EXPLAINED]
    missing = [0, 0]
    for key in sorted(keys, key=str):
        if key is None and history.by_key:
            truth, lacks = _without_key(source, target)
        else:
            truth, lacks = _of_key(_seen(source, key), _seen(target, key), source, target)
        found.append(truth)
        missing = [total + lack for total, lack in zip(missing, lacks, strict=True)]
    if any(lack > _holes(side) for lack, side in zip(missing, (source, target), strict=True)):
        return Truth.REFUTED
    if not history.by_key and max(found) is not Truth.REFUTED and not _same_order(source, target):
        return Truth.REFUTED
    return max(found)


def _holes(side: Side) -> int:
    pairs = list(zip(side.logs, side.windows, strict=True))
    return sum(end - start for _, (start, end) in pairs) - sum(len(list(log.read(*window))) for log, window in pairs)


def _of(side: Side, key: int | None, place: int) -> Run:
    """Return the records of a key before (0), in (1) or after (2) the windows."""
    ranges = [((0, start), (start, end), (end, log.end))[place] for log, (start, end) in _windows(side)]
    logs = zip(side.logs, ranges, strict=True)
    return tuple(record for log, span in logs for _, record in log.read(*span) if record.key == key)


def _windows(side: Side) -> Iterator[tuple[Log, tuple[int, int]]]:
    return zip(side.logs, side.windows, strict=True)


def _seen(side: Side, key: int | None) -> Seen:
    goes_on = any(log.end > end for log, (_, end) in _windows(side))
    return Seen(_of(side, key, 0), _of(side, key, 1), _of(side, key, 2), goes_on)


def _without_key(source: Side, target: Side) -> tuple[Truth, tuple[int, int]]:
    ours, theirs = Counter(_of(source, None, 1)), Counter(_of(target, None, 1))
    lacks = (theirs - ours).total(), (ours - theirs).total()
    cannot = any(lack and not side.logs[0].compacts for lack, side in zip(lacks, (source, target), strict=True))
    return (Truth.REFUTED if cannot else Truth.EXPLAINED), lacks


def _of_key(ours: Seen, theirs: Seen, source: Side, target: Side) -> tuple[Truth, tuple[int, int]]:
    copied = max(ours.within, theirs.within, key=len)
    lacks = len(copied) - len(ours.within), len(copied) - len(theirs.within)
    if any(run and copied[-len(run) :] != run for run in (ours.within, theirs.within)):
        return Truth.REFUTED, (0, 0)
    if theirs.after and ours.within and not theirs.within and not ours.after:
        return Truth.REFUTED, lacks
    truths = [Truth.EXPLAINED]
    if lacks[0]:
        is_told = any(record.value is None for record in theirs.after)
        may_hide = ours.goes_on and not ours.after
        hidden = None if not may_hide else Truth.EXPLAINED if is_told else Truth.UNPROVED
        truths.append(_by_cleaning(ours, copied, hidden, compacts=source.logs[0].compacts))
    if lacks[1]:
        may_hide = theirs.goes_on and any(record.value is None for record in ours.after)
        hidden = Truth.UNPROVED if may_hide else None
        truths.append(_by_cleaning(theirs, copied, hidden, compacts=target.logs[0].compacts))
    return max(truths), lacks


def _by_cleaning(seen: Seen, copied: Run, hidden: Truth | None, *, compacts: bool) -> Truth:
    """Clean a log of the key in every way, and tell whether what is seen comes of it.

    :param hidden: what it is worth if it takes a tombstone after the window that is not there any more
    """
    if not compacts:
        return Truth.REFUTED
    if _is_result(seen, (seen.before, copied, seen.after)):
        return Truth.EXPLAINED
    tombstone = Record(copied[0].key, None, 0)
    if hidden is not None and _is_result(seen, (seen.before, copied, (tombstone,)), is_hidden=True):
        return hidden
    return Truth.REFUTED


def _is_result(seen: Seen, parts: Sequence[Run], *, is_hidden: bool = False) -> bool:
    edges = [len(parts[0]), len(parts[0]) + len(parts[1])]
    wanted = (seen.before, seen.within, () if is_hidden else seen.after)
    for upto in range(sum(map(len, parts)) + 1):
        for rounds in (1, 2):
            log = Log(delete_retention=-1)
            for record in (record for part in parts for record in part):
                log.append(record)
            log.roll()
            for _ in range(rounds):
                log.clean(0, upto)
            left = [(offset, record) for offset, record in log.read()]
            cut = tuple(
                tuple(record for offset, record in left if low <= offset < high)
                for low, high in ((0, edges[0]), (edges[0], edges[1]), (edges[1], log.end))
            )
            if cut == wanted:
                return True
    return False


def _same_order(source: Side, target: Side) -> bool:
    """Whether both sides of a partition are the same without what one of them lacks of each key."""
    runs = [[record for _, record in side.logs[0].read(*side.windows[0])] for side in (source, target)]
    kept = []
    for run, other in (runs, runs[::-1]):
        left = Counter(record.key for record in other)
        rest = []
        for record in reversed(run):
            if left[record.key]:
                left[record.key] -= 1
                rest.append(record)
        kept.append(rest)
    return kept[0] == kept[1]
