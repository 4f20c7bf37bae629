"""The Python part of Spark's tasks for the per-key digest: Arrow batches in, a few rows per range out. No Spark.

First `roll_up` runs once per task and side, over records in log order. Then `compare` runs over the rows of all tasks
for the buckets of one reducer, both sides together. The table between them, `PARTIAL`, has three kinds of rows:

- `PLACE`: one Kafka partition's range was read: its records and bytes, its first and last offset, and its records
  without a timestamp
- `SUMS`: one bucket of a unit: records and digest
- `RECORD`: one record of a key that exceeded a task's memory limit, its hash in `digest`; the run is digested after the
  shuffle

`compare` returns `COMPARED`: the unchanged `PLACE` rows, a `TOTAL` of records and digest per unit and side (to be
summed over reducers), and a `DIFFERING` row per bucket that differs between the sides. Sides are 0 and 1.

A *unit* is compared as a whole: all partitions of a re-partitioned topic, or one partition of another topic.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_digest.keys.arrow_rows import schema_of
from kafka_digest.keys.key_digest import NULL_KEY, BucketSums, Hashes, KeyRuns, buckets_of

PLACE, SUMS, RECORD = 0, 1, 2
TOTAL, DIFFERING = 3, 4

# Columns of the records as Spark sends them; `place` is `topic/partition` on the first record of a range, else null.
RECORDS = "key bigint, record bigint, offset bigint, bytes int, place string, untimed boolean"
PARTIAL = (
    "kind int, unit int, bucket int, partition int, key bigint, first_offset bigint, last_offset bigint, "
    "records bigint, key_value_bytes bigint, digest bigint, untimed bigint"
)
COMPARED = (
    "kind int, unit int, side int, bucket int, partition int, first_offset bigint, last_offset bigint, "
    "records bigint, key_value_bytes bigint, digest bigint, untimed bigint"
)
# A task keeps the sums of this many units, one MiB each, before it sends them.
_UNITS_KEPT = 32


def _rows(schema: pa.Schema, length: int, **columns: Any) -> pa.RecordBatch:
    """Return a batch of `length` rows; a column is an array, one value for all rows, or null if left out.

    Others than the schema's columns are ignored.
    """
    arrays = []
    for kind in schema:
        value = columns.get(kind.name)
        if isinstance(value, np.ndarray):
            signed = value.view(np.int64) if value.dtype == np.uint64 else value
            arrays.append(pa.array(signed).cast(kind.type))
        else:
            arrays.append(pa.repeat(pa.scalar(value, kind.type), length))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


_PARTIAL, _COMPARED = schema_of(PARTIAL), schema_of(COMPARED)


@dataclass
class _Range:
    """The range of one Kafka partition while a task reads it; the fields have the names of columns."""

    unit: int
    partition: int
    runs: KeyRuns
    records: int = 0
    key_value_bytes: int = 0
    untimed: int = 0
    first_offset: int = -1
    last_offset: int = -1

    def row(self) -> pa.RecordBatch:
        return _rows(_PARTIAL, 1, kind=PLACE, **vars(self))


@dataclass
class _Task:
    """One task's work on one side; it reads any number of complete ranges, one after the other."""

    units: Mapping[str, int]
    max_keys: int
    current: _Range | None = None
    sums: dict[int, BucketSums] = field(default_factory=dict)

    def batch(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take the next records."""
        places = batch.column(4)
        begins = np.flatnonzero(places.is_valid().to_numpy(zero_copy_only=False))
        edges = np.unique(np.concatenate(([0], begins, [batch.num_rows]))).tolist()
        begin = set(begins.tolist())
        for start, end in zip(edges, edges[1:]):
            if start in begin:
                yield from self.end_range()
                self._begin_range(places[start].as_py())
            yield from self._records(batch.slice(start, end - start))

    def _begin_range(self, place: str) -> None:
        partition = int(place.rpartition("/")[2])
        self.current = _Range(self.units[place], partition, KeyRuns(self.max_keys))

    def _records(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        at = self.current
        if at is None:
            raise ValueError("the first record of a task has no topic and partition")
        keys, records, offsets, sizes = (column.to_numpy() for column in batch.columns[:4])
        at.records += len(keys)
        at.key_value_bytes += int(sizes.sum(dtype=np.int64))
        at.untimed += batch.column(5).true_count
        at.first_offset = int(offsets[0]) if at.first_offset < 0 else at.first_offset
        at.last_offset = int(offsets[-1])
        yield from self._digested(at, keys.view(np.uint64), records.view(np.uint64), offsets)

    def _digested(
        self, at: _Range, keys: Hashes, records: Hashes, offsets: NDArray[np.int64]
    ) -> Iterator[pa.RecordBatch]:
        keyless = keys == np.uint64(NULL_KEY)
        if keyless.any():
            self._sums_of(at.unit).add_without_order(records[keyless])
            keys, records, offsets = keys[~keyless], records[~keyless], offsets[~keyless]
        left_out = at.runs.add(keys, records)
        if len(left_out):
            keys = keys[left_out]
            yield _rows(
                _PARTIAL,
                len(keys),
                kind=RECORD,
                unit=at.unit,
                bucket=buckets_of(keys),
                partition=at.partition,
                key=keys,
                first_offset=offsets[left_out],
                digest=records[left_out],
            )

    def _sums_of(self, unit: int) -> BucketSums:
        return self.sums.setdefault(unit, BucketSums())

    def end_range(self) -> Iterator[pa.RecordBatch]:
        """Send the row of the range that ends here, and the sums if there are too many to keep."""
        if self.current is None:
            return
        self.current.runs.roll_up(self._sums_of(self.current.unit))
        yield self.current.row()
        self.current = None
        if len(self.sums) >= _UNITS_KEPT:
            yield from self.end()

    def end(self) -> Iterator[pa.RecordBatch]:
        """Send the sums."""
        for unit, sums in self.sums.items():
            filled = sums.filled
            columns = {"bucket": filled, "records": sums.records[filled], "digest": sums.digests[filled]}
            yield _rows(_PARTIAL, len(filled), kind=SUMS, unit=unit, **columns)
        self.sums.clear()


def roll_up(batches: Iterable[pa.RecordBatch], units: Mapping[str, int], max_keys: int) -> Iterator[pa.RecordBatch]:
    """Digest all ranges that one task reads on one side; rows of `RECORDS` in log order in, `PARTIAL` out.

    :param units: the unit of every `topic/partition` of this side
    :param max_keys: the maximum number of keys of one range in memory
    """
    task = _Task(units, max_keys)
    for batch in batches:
        if batch.num_rows:
            yield from task.batch(batch)
    yield from task.end_range()
    yield from task.end()


@dataclass
class _Reducer:
    """The sums of both sides for the present unit."""

    unit: int | None = None
    sides: tuple[BucketSums, BucketSums] = field(default_factory=lambda: (BucketSums(), BucketSums()))
    runs: KeyRuns = field(default_factory=lambda: KeyRuns(sys.maxsize))
    runs_of: tuple[int, int] | None = None

    def batch(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take the next rows."""
        for rows in _pieces(batch, "unit"):
            unit = rows["unit"][0].as_py()
            if unit != self.unit:
                yield from self.end()
                self.unit = unit
            for piece in _pieces(rows, "kind"):
                yield from self._of_one_kind(piece["kind"][0].as_py(), piece)

    def _of_one_kind(self, kind: int, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        if kind == PLACE:
            # One schema for all output of a task, even if an input column is never null.
            yield pa.RecordBatch.from_arrays([rows[name] for name in _COMPARED.names], schema=_COMPARED)
        elif kind == SUMS:
            self._add_sums(rows)
        else:
            for piece in _pieces(rows, "side", "partition"):
                self._add_records(piece)

    def _add_sums(self, rows: pa.RecordBatch) -> None:
        for piece in _pieces(rows, "side"):
            records, digests = _hashes(piece, "records"), _hashes(piece, "digest")
            self.sides[piece["side"][0].as_py()].add_sums(piece["bucket"].to_numpy(), records, digests)

    def _add_records(self, rows: pa.RecordBatch) -> None:
        """Digest runs whose keys ascend, so that all but the last are whole."""
        runs_of = rows["side"][0].as_py(), rows["partition"][0].as_py()
        if runs_of != self.runs_of:
            self._end_runs()
            self.runs_of = runs_of
        keys = _hashes(rows, "key")
        self.runs.add(keys, _hashes(rows, "digest"))
        self.runs.roll_up(self.sides[runs_of[0]], but=keys[-1])

    def _end_runs(self) -> None:
        if self.runs_of is not None:
            self.runs.roll_up(self.sides[self.runs_of[0]])
        self.runs_of = None

    def end(self) -> Iterator[pa.RecordBatch]:
        """Send the comparison of this unit's sides, and drop its sums."""
        if self.unit is None:
            return
        self._end_runs()
        source, target = self.sides
        for side, sums in enumerate(self.sides):
            records, digest = sums.total
            yield _rows(_COMPARED, 1, kind=TOTAL, unit=self.unit, side=side, records=records, digest=_signed(digest))
        differing = source.differing(target)
        yield _rows(_COMPARED, len(differing), kind=DIFFERING, unit=self.unit, bucket=differing)
        self.sides = BucketSums(), BucketSums()


def _pieces(rows: pa.RecordBatch, *columns: str) -> Iterator[pa.RecordBatch]:
    """Cut rows where the value of one of these columns changes."""
    changes = [np.flatnonzero(np.diff(rows[name].to_numpy(zero_copy_only=False))) + 1 for name in columns]
    edges = np.unique(np.concatenate(([0], *changes, [rows.num_rows]))).astype(int).tolist()
    for start, end in zip(edges, edges[1:]):
        yield rows.slice(start, end - start)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _hashes(rows: pa.RecordBatch, column: str) -> Hashes:
    values: Hashes = rows[column].to_numpy(zero_copy_only=False).view(np.uint64)
    return values


def compare(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Compare both sides' buckets; `PARTIAL` rows with their side in, `COMPARED` out.

    The rows are those of whole buckets, sorted by unit, kind, side, partition, key and first offset.
    """
    reducer = _Reducer()
    for batch in batches:
        if batch.num_rows:
            yield from reducer.batch(batch)
    yield from reducer.end()
