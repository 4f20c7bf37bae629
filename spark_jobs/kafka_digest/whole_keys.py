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
    kept: Columns | None = None
    for batch in batches:
        if not batch.num_rows:
            continue
        columns = [batch[name].to_numpy(zero_copy_only=False) for name in names]
        if kept is not None:
            columns = [np.concatenate(parts) for parts in zip(kept, columns, strict=True)]
        begins = key_begins(columns)
        last = int(begins[-1]) if len(begins) else 0
        if last:
            yield [column[:last] for column in columns]
        # The next batch may go on with this key.
        kept = [column[last:][:most] for column in columns]
    if kept is not None:
        yield kept


def key_begins(columns: Columns) -> NDArray[np.int64]:
    """Return the places where a key begins, but for the first."""
    units, keys = columns[:2]
    return np.flatnonzero((units[1:] != units[:-1]) | (keys[1:] != keys[:-1])) + 1
