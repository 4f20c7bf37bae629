"""The Arrow batches of Python tasks: their schemas, and rows regrouped so that no key is split. No Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Columns = list[NDArray[Any]]
_TYPES = {
    "int": pa.int32(),
    "bigint": pa.int64(),
    "boolean": pa.bool_(),
    "string": pa.string(),
    "array<string>": pa.list_(pa.string()),
}


def schema_of(columns: str) -> pa.Schema:
    """Return the schema of columns like `unit int, key bigint`, as Spark names them.

    Raises `KeyError` for a type that no task uses.
    """
    return pa.schema([(name, _TYPES[kind]) for name, kind in (column.split() for column in columns.split(", "))])


def whole_keys(
    batches: Iterable[pa.RecordBatch], names: Sequence[str], *, most: int | None = None
) -> Iterator[Columns]:
    """Yield the columns of rows of complete keys, many keys at a time, regardless of the input batches.

    :param names: the wanted columns; the first two are the unit and the key, by which the rows are sorted
    :param most: the maximum number of rows of the last key that are carried over to the next batch
    """
    kept: list[Columns] = []
    for batch in batches:
        if not batch.num_rows:
            continue
        columns = [batch[name].to_numpy(zero_copy_only=False) for name in names]
        begins = key_begins(columns)
        last = int(begins[-1]) if len(begins) else 0
        if last or (kept and not _goes_on(kept[0], columns)):
            yield _joined([*kept, [column[:last] for column in columns]])
            kept = []
        # The next batch may continue this key.
        room = None if most is None else max(0, most - sum(len(part[0]) for part in kept))
        kept.append([column[last:][:room] for column in columns])
    if kept:
        yield _joined(kept)


def _goes_on(earlier: Columns, later: Columns) -> bool:
    """Whether rows begin with the key that others end with."""
    return all(before[-1] == after[0] for before, after in zip(earlier[:2], later[:2]))


def _joined(parts: Sequence[Columns]) -> Columns:
    return [np.concatenate(pieces) for pieces in zip(*parts)]


def key_begins(columns: Columns) -> NDArray[np.int64]:
    """Return the places where a key begins, except the first."""
    units, keys = columns[:2]
    return np.flatnonzero((units[1:] != units[:-1]) | (keys[1:] != keys[:-1])) + 1
