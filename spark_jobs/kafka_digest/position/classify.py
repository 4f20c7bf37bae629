"""Classifies the first difference between two partitions. Pure: record hashes in, one difference out.

The two runs of records are aligned by their longest common subsequence, which explains them with the fewest lost or
added records. If a comparison place by place explains as much, the records at the same place belong together. The first
place where the aligned runs differ decides, in this order:

1. **reordered**: the source's record is at another place in the target, or vice versa;
2. **missing**, **extra**: only one side has records there; an extra record that the target also holds elsewhere is a
   **duplicate**;
3. **altered**: both sides have equal numbers of records there and are equal afterwards, or the two records have the
   same value, or the same key and timestamp;
4. **unclassified**: everything else.

If records are identical in every field, several explanations are equally good; one of them is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from kafka_digest.keys.subsequences import common_subsequence
from kafka_digest.reading.hashing import NOTHING, RECORD


class Record(NamedTuple):
    """The hashes of a record: of all fields together, and of each field. `rank` counts from the window's start."""

    rank: int
    offset: int
    record: int
    key: int
    value: int
    headers: int
    timestamp: int


@dataclass(frozen=True)
class Difference:
    """The first difference, as in the result document."""

    kind: str
    source_offset: int | None
    target_offset: int | None
    fields: tuple[str, ...]
    detail: str

    def to_document(self) -> dict[str, Any]:
        """Return the difference as plain JSON values."""
        return {**asdict(self), "fields": list(self.fields)}


@dataclass(frozen=True)
class Elsewhere:
    """Records outside the runs that equal one of the two records at the first difference, by side."""

    source: Sequence[Record] = ()
    target: Sequence[Record] = ()


NOWHERE = Elsewhere()


class Hunk(NamedTuple):
    """A place where aligned runs differ: the range `[source_start, source_end)` and that of the target."""

    source_start: int
    source_end: int
    target_start: int
    target_end: int


def classify_first_difference(
    source_rows: Sequence[Record],
    target_rows: Sequence[Record],
    *,
    elsewhere: Elsewhere = NOWHERE,
    source_ended: bool = True,
    target_ended: bool = True,
) -> Difference | None:
    """Return the first difference of two runs of consecutive records that begin at the same rank.

    `source_ended` and `target_ended` state whether the run reaches the end of its window or was cut.
    `None` if the runs are equal.
    """
    first = _first_differing(source_rows, target_rows)
    if first is None:
        return None
    others = Elsewhere((*source_rows[:first], *elsewhere.source), (*target_rows[:first], *elsewhere.target))
    case = _Case(source_rows[first:], target_rows[first:], others, whole=source_ended and target_ended)
    return case.classify()


def _first_differing(source: Sequence[Record], target: Sequence[Record]) -> int | None:
    for place, (ours, theirs) in enumerate(zip(source, target)):
        if ours.record != theirs.record:
            return place
    return None if len(source) == len(target) else min(len(source), len(target))


@dataclass(frozen=True)
class _Case:
    """Two runs that differ in their first record, or one of which is empty."""

    source: Sequence[Record]
    target: Sequence[Record]
    elsewhere: Elsewhere
    whole: bool

    def classify(self) -> Difference:
        if not self.source:
            return self._extra("the source window ends here and the target continues")
        if not self.target:
            return self._missing("the target window ends here and the source continues")
        hunks = align([r.record for r in self.source], [r.record for r in self.target])
        hunk = hunks[0]
        if self._is_last(hunk):
            far = self._far_shift()
            if far is not None:
                return far
        return self._reordered(hunks) or self._by_shape(hunk)

    def _by_shape(self, hunk: Hunk) -> Difference:
        if hunk.target_end == 0:
            return self._missing(
                f"{_count(hunk.source_end, 'source record')} left out, then the target continues with source "
                f"offset {self.source[hunk.source_end].offset}"
                if hunk.source_end < len(self.source)
                else f"the target lacks the last {_count(hunk.source_end, 'source record')}"
            )
        if hunk.source_end == 0:
            return self._extra(
                f"{_count(hunk.target_end, 'target record')} more, then the target continues like the source"
            )
        return self._replaced(hunk)

    def _replaced(self, hunk: Hunk) -> Difference:
        ours, theirs = self.source[0], self.target[0]
        goes_on_alike = hunk.source_end < len(self.source) or (self.whole and len(self.source) == len(self.target))
        same_length = hunk.source_end == hunk.target_end
        if (same_length and goes_on_alike) or _are_alike(ours, theirs):
            differing = tuple(name for name in _compared(ours) if getattr(ours, name) != getattr(theirs, name))
            detail = f"the record at this place differs in {', '.join(differing)}"
            return Difference("altered", ours.offset, theirs.offset, differing, f"{detail}.")
        detail = (
            f"{_count(hunk.source_end, 'source record')} stand against {_count(hunk.target_end, 'target record')} "
            "that have little in common"
        )
        return Difference("unclassified", ours.offset, theirs.offset, (), f"{detail}.")

    def _reordered(self, hunks: Sequence[Hunk]) -> Difference | None:
        ours, theirs = self.source[0], self.target[0]
        hunk, counted = hunks[0], self._real(hunks)
        removed = {self.source[i].record for h in counted for i in range(h.source_start, h.source_end)}
        added = {self.target[j].record for h in counted for j in range(h.target_start, h.target_end)}
        late = hunk.source_end > 0 and (
            ours.record in added or self._is_only_later(ours, self.elsewhere.target, self.elsewhere.source)
        )
        early = hunk.target_end > 0 and (
            theirs.record in removed or self._is_only_later(theirs, self.elsewhere.source, self.elsewhere.target)
        )
        return self._moved() if late or early else None

    def _real(self, hunks: Sequence[Hunk]) -> Sequence[Hunk]:
        """Leave out a last hunk that only exists because the runs were cut."""
        return hunks if self.whole or len(hunks) == 1 or not self._is_last(hunks[-1]) else hunks[:-1]

    def _is_last(self, hunk: Hunk) -> bool:
        return (hunk.source_end, hunk.target_end) == (len(self.source), len(self.target))

    def _is_only_later(self, record: Record, here: Sequence[Record], not_here: Sequence[Record]) -> bool:
        return _later(record, here) is not None and _later(record, not_here) is None

    def _far_shift(self) -> Difference | None:
        """Explain runs without common records by the places of their first records beyond the runs."""
        ours, theirs = self.source[0], self.target[0]
        in_source, in_target = _later(theirs, self.elsewhere.source), _later(ours, self.elsewhere.target)
        if in_source is not None and in_target is not None:
            return self._moved()
        if in_source is not None:
            return self._missing(f"the target continues with the record of source offset {in_source.offset}")
        if in_target is not None:
            return self._extra(f"the source's record only comes at target offset {in_target.offset}")
        return None

    def _moved(self) -> Difference:
        detail = "both sides hold the same records in another order."
        return Difference("reordered", self.source[0].offset, self.target[0].offset, (), detail)

    def _missing(self, detail: str) -> Difference:
        theirs = self.target[0].offset if self.target else None
        return Difference("missing", self.source[0].offset, theirs, (), f"{detail}.")

    def _extra(self, detail: str) -> Difference:
        record = self.target[0]
        again = [r for r in (*self.elsewhere.target, *self.target[1:]) if r.record == record.record]
        ours = self.source[0].offset if self.source else None
        if again:
            detail = f"the record is also at target offset {again[-1].offset}; {detail}"
        return Difference("duplicate" if again else "extra", ours, record.offset, (), f"{detail}.")


def _later(record: Record, rows: Sequence[Record]) -> Record | None:
    return next((row for row in rows if row.record == record.record and row.rank > record.rank), None)


def _are_alike(ours: Record, theirs: Record) -> bool:
    return ours.value == theirs.value or (ours.key, ours.timestamp) == (theirs.key, theirs.timestamp)


def _compared(ours: Record) -> Sequence[str]:
    """Return the fields of a source record that its copy must have: a missing timestamp is not compared."""
    return RECORD[:-1] if ours.timestamp == NOTHING else RECORD


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def align(source: Sequence[int], target: Sequence[int]) -> list[Hunk]:
    """Return where two sequences differ, aligned with the fewest lost or added elements.

    A place-by-place alignment wins a tie: a changed element costs as much as one lost and one added.
    """
    # From the end, so that of two explanations the one counts in which records are missing at first.
    places = common_subsequence(*(np.array(side[::-1], np.int64) for side in (source, target)))
    ours, theirs = (len(side) - 1 - found[::-1] for side, found in zip((source, target), places))
    aligned = list(zip(ours.tolist(), theirs.tolist()))
    if len(source) == len(target):
        by_place = [(i, i) for i in range(len(source)) if source[i] == target[i]]
        aligned = by_place if len(by_place) >= len(aligned) else aligned
    return _hunks(aligned, len(source), len(target))


def _hunks(pairs: Sequence[tuple[int, int]], source_length: int, target_length: int) -> list[Hunk]:
    hunks = []
    i = j = 0
    for next_i, next_j in (*pairs, (source_length, target_length)):
        if (next_i, next_j) != (i, j):
            hunks.append(Hunk(i, next_i, j, next_j))
        i, j = next_i + 1, next_j + 1
    return hunks
