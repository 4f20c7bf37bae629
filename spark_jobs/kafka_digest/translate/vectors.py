"""Committed offsets as vectors over the partitions of one side, and where the groups resume. No Spark.

A *vector* is what one or several groups committed on a topic: an offset per source partition. It is translated to one
offset per target partition.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kafka_digest.reading.read_windows import SideRange
from kafka_digest.runtime.job_errors import RECORD_UNREADABLE, SPARK_FAILED, JobError
from kafka_digest.translate.translate_tasks import COPY, Steps, Unit

Vector = Mapping[int, int]
Rows = Iterable[Mapping[str, Any]]
Places = Mapping[tuple[int, int], Sequence[int]]
"""Distinct offsets by topic number and partition of the other side, ascending."""


@dataclass(frozen=True)
class TopicCopy:
    """One topic whose groups are translated.

    :param by_key: whether records are ordered by key instead of by partition; always for compacted topics
    :param is_compacted: whether the target is compacted
    :param ranges: the ranges to read: on the source from the first committed offset, on the target from an offset
        before which nothing is unread; both to the end of the copy
    :param vectors: each names all source partitions
    :param read: on the way back, for each vector the source offsets before which the group has read everything; then
        the vectors belong to the target's partitions and are translated to the source's
    """

    topic: str
    target_topic: str
    by_key: bool
    is_compacted: bool
    ranges: Mapping[str, Sequence[SideRange]]
    vectors: Sequence[Vector]
    read: Sequence[Vector] = ()
    is_back: bool = False

    @property
    def committed_on(self) -> str:
        """The side on which the groups committed the vectors."""
        return "target" if self.is_back else "source"

    @property
    def translated_to(self) -> str:
        """The side on which the groups resume."""
        return "source" if self.is_back else "target"

    def __post_init__(self) -> None:
        for side, pieces in self.ranges.items():
            if len({piece.partition for piece in pieces}) < len(pieces):
                raise JobError(f"{side} {self.topic}: a partition is requested twice")
        if self.is_compacted and not self.by_key:
            raise JobError(f"{self.topic}: a compacted topic can only be compared by key")
        for side, pieces in self.ranges.items():
            for piece in pieces:
                if piece.unreadable is not None:
                    self._refuse(side, piece, piece.unreadable)
        self._check_vectors(self.committed_on, self.vectors)
        if self.is_back:
            self._check_vectors("source", self.read)

    def _check_vectors(self, side: str, vectors: Sequence[Vector]) -> None:
        """Raise `JobError` unless all unread records of a partition are within the range."""
        partitions = {piece.partition for piece in self.ranges[side]}
        if len(vectors) != len(self.vectors) or any(vector.keys() != partitions for vector in vectors):
            raise JobError(f"{self.topic}: each group's offsets must name the {side} partitions {sorted(partitions)}")
        for piece in self.ranges[side]:
            # On the way back a group's offset may lie before the range.
            start = 0 if side == "target" else piece.start
            outside = [v[piece.partition] for v in vectors if not start <= v[piece.partition] <= piece.end]
            if outside:
                self._refuse(side, piece, f"offset {outside[0]} is outside [{piece.start}, {piece.end}]")

    def _refuse(self, side: str, piece: SideRange, reason: str) -> NoReturn:
        code = RECORD_UNREADABLE if piece.has_bad_record else SPARK_FAILED
        raise JobError(f"{side} partition {piece.partition}: {reason}", code)

    @property
    def commits(self) -> dict[int, tuple[int, ...]]:
        """The distinct offsets from which each source partition is read, ascending."""
        return self._steps(self.committed_on, self.vectors)

    def _steps(self, side: str, vectors: Sequence[Vector]) -> dict[int, tuple[int, ...]]:
        return {
            piece.partition: tuple(sorted({piece.start, *(vector[piece.partition] for vector in vectors)}))
            for piece in self.ranges[side]
        }

    @property
    def unit(self) -> Unit:
        """The data that a task needs about the topic."""
        return Unit(self.commits, self.is_compacted, self._steps("source", self.read) if self.is_back else None)


@dataclass(frozen=True)
class Unread:
    """The unread records from one place on.

    :param records: how many have a copy
    :param last_missing: the last of them in its source partition without a copy
    :param first: the first copy's offset by target partition, and whether it is the only choice
    """

    records: int = 0
    last_missing: int | None = None
    first: Mapping[int, tuple[int, bool]] = field(default_factory=dict)

    def __add__(self, other: Unread) -> Unread:
        missing = [offset for offset in (self.last_missing, other.last_missing) if offset is not None]
        first = {
            number: min(side.first[number] for side in (self, other) if number in side.first)
            for number in {**self.first, **other.first}
        }
        return Unread(self.records + other.records, max(missing, default=None), first)


@dataclass(frozen=True)
class Translated:
    """Where a vector resumes: a `VectorTranslation` of the package's contract.

    `goes_on_at` is the end of the copy without unread records. `missing` is empty on the way back, where such a record
    is unread for all groups, and `read` are then the source offsets before which everything was read.
    """

    vector: Vector
    goes_on_at: Mapping[int, int]
    unread: int
    missing: Mapping[int, int]
    is_minimal: bool
    delivered: int = 0
    read: Vector = field(default_factory=dict)


Found = Mapping[tuple[int, int], Sequence[Unread]]


def unread_from(rows: Rows, units: Mapping[int, Unit]) -> Found:
    """Return, by unit and source partition, the unread records from each step on.

    :param rows: one per step, and one per step and target partition
    """
    read: dict[tuple[int, int, int], tuple[int, int | None]] = defaultdict(lambda: (0, None))
    first: dict[tuple[int, int, int], dict[int, tuple[int, bool]]] = defaultdict(dict)
    for row in rows:
        step = row["unit"], row["from_partition"], row["step"]
        if row["kind"] == COPY:
            first[step][row["to_partition"]] = tuple(row["first"])
        else:
            read[step] = row["records"], row["last_missing"]
    of_step = {step: Unread(*read[step], first[step]) for step in {*read, *first}}
    return {
        (number, partition): list(
            accumulate(of_step.get((number, partition, step), Unread()) for step in reversed(range(len(offsets))))
        )[::-1]
        for number, unit in units.items()
        for partition, offsets in unit.commits.items()
    }


def translated(number: int, copy: TopicCopy, found: Found) -> list[Translated]:
    """Return where each vector of a topic resumes."""
    commits = copy.commits
    ends = {piece.partition: piece.end for piece in copy.ranges[copy.translated_to]}
    results = []
    for vector in copy.vectors:
        parts = {p: found[number, p][bisect_left(commits[p], offset)] for p, offset in vector.items()}
        unread = sum(parts.values(), start=Unread())
        goes_on_at = ends | {partition: offset for partition, (offset, _) in unread.first.items()}
        missing = {p: part.last_missing for p, part in parts.items() if part.last_missing is not None}
        is_minimal = all(is_only_choice for _, is_only_choice in unread.first.values())
        results.append(Translated(vector, goes_on_at, unread.records, missing, is_minimal))
    return results


def translated_back(number: int, copy: TopicCopy, rows: Rows) -> list[Translated]:
    """Return where each vector of a topic resumes on the way back.

    :param rows: as for `unread_from`, each also with the step on the other side
    """
    mine = [row for row in rows if row["unit"] == number]
    commits, read = copy.commits, copy.unit.read or {}
    columns = ("from_partition", "step", "to_partition", "to_step", "records")
    source, step, target, to_step, records = (np.array([row[name] for row in mine], np.int64) for name in columns)
    offsets, only = (np.array([row["first"][n] for row in mine]) for n in (0, 1))
    results = []
    for vector, floor in zip(copy.vectors, copy.read):
        ahead = step >= _step_at(source, vector, commits)
        ahead &= to_step >= _step_at(target, floor, read)
        goes_on_at = {piece.partition: piece.end for piece in copy.ranges["source"]}
        for partition in np.unique(target[ahead]).tolist():
            goes_on_at[partition] = int(offsets[ahead & (target == partition)].min())
        unread = int(records[ahead].sum())
        results.append(Translated(vector, goes_on_at, unread, {}, bool(only[ahead].all()), read=floor))
    return results


def _step_at(partitions: NDArray[np.int64], vector: Vector, steps: Steps) -> NDArray[np.int64]:
    """Return for each of these partitions the step that begins at a vector's offset."""
    at = {partition: bisect_left(steps[partition], offset) for partition, offset in vector.items()}
    return np.array([at[partition] for partition in partitions.tolist()], np.int64)


def places_of(results: Mapping[int, Iterable[Translated]]) -> Places:
    """Return the distinct offsets by topic number and target partition, ascending."""
    places: dict[tuple[int, int], set[int]] = defaultdict(set)
    for number, found in results.items():
        for one in found:
            for partition, offset in one.goes_on_at.items():
                places[number, partition].add(offset)
    return {place: sorted(offsets) for place, offsets in places.items()}


def delivered_from(rows: Rows, places: Places) -> dict[tuple[int, int, int], int]:
    """Return, by topic number, target partition and offset, the number of records from it on."""
    of_step: dict[tuple[int, int, int], int] = defaultdict(int)
    for row in rows:
        of_step[row["unit"], row["partition"], row["step"]] += row["records"]
    found: dict[tuple[int, int, int], int] = {}
    for place, offsets in places.items():
        from_the_end = accumulate(of_step[(*place, step)] for step in reversed(range(len(offsets))))
        found |= {(*place, offset): records for offset, records in zip(reversed(offsets), from_the_end)}
    return found


def sum_of(delivered: Mapping[tuple[int, int, int], int], number: int, goes_on_at: Mapping[int, int]) -> int:
    """Return the number of records that a vector's translation delivers."""
    return sum(delivered[number, partition, offset] for partition, offset in goes_on_at.items())
