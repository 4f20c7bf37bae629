"""The Python part of Spark's tasks that translate offsets: sorted record hashes in, a few rows per committed offset
out. No Spark.

Groups commit offsets on one side and resume on the other. The *steps* of a partition lie between the distinct offsets
that groups committed on it, numbered from 0: step n begins at the n-th offset and ends at the next one; the last step
ends at the end of the copy. A group has not read the step of its offset and all later steps. So one row per step is
enough for any number of groups.

There are two kinds of rows, `STEPS`. `READ` has the number of a step's records with a copy, and the last one without a
copy (earlier records of its key do not count). `COPY` is the first offset of the copies of a step's records in one
partition of the other side.

On the way back groups have committed on the copy and resume on the originals. A record is unread if its last copy lies
after a group's offset and the group has not read the original. So the steps of both sides decide; those of the
originals begin at the offsets before which groups have read everything there. A record without a copy lies after all
groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_digest.keys.arrow_rows import Columns, schema_of, whole_keys
from kafka_digest.translate.rightmost import Log, Places, rightmost

READ, COPY = 0, 1
Steps = Mapping[int, tuple[int, ...]]
"""The offsets at which steps begin, by partition, ascending."""
COMMITTED, OTHER = 0, 1
# Rows of one key are adjacent, sorted by side, partition and offset.
HASHED = "unit int, key bigint, side int, partition int, offset bigint, record bigint, content bigint"
STEPS = (
    "kind int, unit int, from_partition int, step int, to_partition int, to_step int, offset bigint, "
    "is_only_choice boolean, records bigint, last_missing bigint"
)
# The place of a record on the target, and the number of records in a step between two offsets.
PLACED = "unit int, partition int, offset bigint"
COUNTS = "unit int, partition int, step int, records bigint"
_HASHED, _STEPS, _PLACED, _COUNTS = (schema_of(columns) for columns in (HASHED, STEPS, PLACED, COUNTS))


@dataclass(frozen=True)
class Unit:
    """One topic: the distinct committed offsets by source partition, ascending, and whether the target is compacted.

    On the way back there is also `read`: the distinct offsets before which groups have read everything, by partition of
    the side to which they return, ascending.
    """

    commits: Mapping[int, tuple[int, ...]]
    is_compacted: bool = False
    read: Mapping[int, tuple[int, ...]] | None = None


def steps(batches: Iterable[pa.RecordBatch], units: Mapping[int, Unit]) -> Iterator[pa.RecordBatch]:
    """Find the copies of the source's records; `HASHED` rows in, `STEPS` out, possibly several per step."""
    for columns in whole_keys(batches, _HASHED.names):
        numbers, starts = np.unique(columns[0], return_index=True)
        ends = np.append(starts[1:], len(columns[0]))
        for number, start, end in zip(numbers.tolist(), starts.tolist(), ends.tolist()):
            rows = list(_rows_of(units[number], [column[start:end] for column in columns]))
            yield pa.RecordBatch.from_pylist([{"unit": number, **row} for row in rows], schema=_STEPS)


def _rows_of(unit: Unit, columns: Columns) -> Iterator[dict[str, Any]]:
    source, target = _log(columns, COMMITTED), _log(columns, OTHER)
    if unit.read is None:
        return _rows(unit, source, target)
    return _rows_back(unit, unit.read, source, target)


def _rows(unit: Unit, source: Log, target: Log) -> Iterator[dict[str, Any]]:
    copies, step_of = rightmost(source, target, is_compacted=unit.is_compacted), _step_of(source, unit.commits)
    for chosen in _groups(source.partitions, step_of):
        lost = source.offsets[np.intersect1d(chosen, copies.missing)]
        yield {
            "kind": READ,
            **_step(source, step_of, chosen[0]),
            "records": int(np.isin(chosen, copies.source[copies.is_own]).sum()),
            "last_missing": int(lost.max()) if len(lost) else None,
        }
    for chosen in _groups(source.partitions[copies.source], step_of[copies.source], target.partitions[copies.target]):
        offsets = target.offsets[copies.target[chosen]]
        first = chosen[np.argmin(offsets)]
        yield {
            **_step(source, step_of, copies.source[first]),
            **_place(target, copies.target[first]),
            "is_only_choice": bool(copies.is_only_choice[chosen[offsets == offsets.min()]].all()),
        }


def _rows_back(unit: Unit, read: Steps, copy: Log, original: Log) -> Iterator[dict[str, Any]]:
    """Return with which steps of the copy and of the read offsets each original record becomes unread."""
    copies = rightmost(original, copy, is_compacted=unit.is_compacted, takes_last=True)
    step_of, to_step_of, ours = _step_of(copy, unit.commits), _step_of(original, read), copies.source
    # A record with copies in several partitions is reported by each of them, and counts once.
    uncounted = np.ones(len(original), np.bool_)
    places = copy.partitions[copies.target], step_of[copies.target]
    for chosen in _groups(*places, original.partitions[ours], to_step_of[ours]):
        first = chosen[np.argmin(original.offsets[ours[chosen]])]
        new = np.unique(ours[chosen])
        new = new[uncounted[new]]
        uncounted[new] = False
        yield {
            **_step(copy, step_of, copies.target[first]),
            **_place(original, ours[first]),
            "to_step": int(to_step_of[ours[first]]),
            "is_only_choice": bool(copies.is_only_choice[chosen].all()),
            "records": len(new),
        }
    yield from _without_copy(unit, original, to_step_of, copies.missing)


def _without_copy(unit: Unit, original: Log, to_step_of: Places, missing: Places) -> Iterator[dict[str, Any]]:
    """Put records without a copy into a step after all groups."""
    partition, offsets = min(unit.commits.items())
    for chosen in _groups(original.partitions[missing], to_step_of[missing]):
        first = missing[chosen[np.argmin(original.offsets[missing[chosen]])]]
        yield {
            "from_partition": partition,
            "step": len(offsets) - 1,
            **_place(original, first),
            "to_step": int(to_step_of[first]),
            "is_only_choice": False,
            "records": len(chosen),
        }


def _place(log: Log, place: np.int64) -> dict[str, int]:
    return {"kind": COPY, "to_partition": int(log.partitions[place]), "offset": int(log.offsets[place])}


def _step(source: Log, step_of: Places, place: np.int64) -> dict[str, int]:
    return {"from_partition": int(source.partitions[place]), "step": int(step_of[place])}


def _log(columns: Columns, side: int) -> Log:
    _, keys, sides, *others = columns
    of_side = sides == side
    return Log(keys[of_side], *(column[of_side] for column in others))


def _step_of(log: Log, begins: Steps) -> Places:
    """Return the step of every record; -1 for a record before the first step."""
    found = np.empty(len(log), np.int64)
    for number in np.unique(log.partitions).tolist():
        of_partition = log.partitions == number
        found[of_partition] = np.searchsorted(begins[number], log.offsets[of_partition], "right") - 1
    return found


def _groups(*columns: NDArray[Any]) -> Iterator[Places]:
    """Yield the places at which all columns have the same values."""
    if not len(columns[0]):
        return
    order = np.lexsort(columns)
    changes = np.any([np.diff(column[order]) != 0 for column in columns], axis=0)
    yield from np.split(order, np.flatnonzero(changes) + 1)


def counts(
    batches: Iterable[pa.RecordBatch], places: Mapping[tuple[int, int], Sequence[int]]
) -> Iterator[pa.RecordBatch]:
    """Count the records from each of these offsets to the next; `PLACED` rows in, `COUNTS` out.

    :param places: the offsets by unit and partition, ascending, at or before the first record
    """
    for batch in batches:
        units, partitions, offsets = (batch[name].to_numpy(zero_copy_only=False) for name in _PLACED.names)
        for chosen in _groups(units, partitions):
            unit, partition = int(units[chosen[0]]), int(partitions[chosen[0]])
            step_of = np.searchsorted(places[unit, partition], offsets[chosen], "right") - 1
            found, records = np.unique(step_of, return_counts=True)
            rows = [
                {"unit": unit, "partition": partition, "step": step, "records": number}
                for step, number in zip(found.tolist(), records.tolist())
            ]
            yield pa.RecordBatch.from_pylist(rows, schema=_COUNTS)
