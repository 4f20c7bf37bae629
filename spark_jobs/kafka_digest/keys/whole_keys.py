"""Rows of Arrow batches put together so that no key is cut in two. numpy only; no Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Columns = list[NDArray[Any]]


def whole_keys(
    batches: Iterable[pa.RecordBatch], names: Sequence[str], *, most: int | None = None
) -> Iterator[Columns]:
    """Yield the columns of rows of whole keys, many keys at a time, whatever batches they came in.

    :param names: the columns wanted; the first two are the unit and the key, by which the rows are sorted
    :param most: of the last key so far no more rows are carried on than so many
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
        # The next batch may go on with this key.
        room = None if most is None else max(0, most - sum(len(part[0]) for part in kept))
        kept.append([column[last:][:room] for column in columns])
    if kept:
        yield _joined(kept)


def _goes_on(earlier: Columns, later: Columns) -> bool:
    """Whether rows begin with the key that others end with."""
    return all(before[-1] == after[0] for before, after in zip(earlier[:2], later[:2], strict=True))


def _joined(parts: Sequence[Columns]) -> Columns:
    return [np.concatenate(pieces) for pieces in zip(*parts, strict=True)]


def key_begins(columns: Columns) -> NDArray[np.int64]:
    """Return the places where a key begins, but for the first."""
    units, keys = columns[:2]
    return np.flatnonzero((units[1:] != units[:-1]) | (keys[1:] != keys[:-1])) + 1
