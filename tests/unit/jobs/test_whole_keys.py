"""Rules of putting rows together again that Spark cut into batches."""

from __future__ import annotations

from itertools import groupby, pairwise

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from kafka_digest.keys.arrow_rows import whole_keys

Row = tuple[int, int, int]
ROWS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2)), max_size=30).map(
    lambda keys: [(*key, number) for number, key in enumerate(sorted(keys))]
)


def chunks(rows: list[Row], cuts: list[int], most: int | None = None) -> list[list[Row]]:
    """Return what comes out of rows that are cut into batches at these places."""
    bounds = [0, *sorted(cut for cut in cuts if cut <= len(rows)), len(rows)]
    pieces = [rows[start:end] for start, end in pairwise(bounds)]
    names = ["unit", "key", "n"]
    batches = [
        pa.RecordBatch.from_pylist([dict(zip(names, row, strict=True)) for row in piece]) for piece in pieces if piece
    ]
    found = whole_keys(batches, names, most=most)
    return [list(zip(*(column.tolist() for column in columns), strict=True)) for columns in found]


@given(rows=ROWS, cuts=st.lists(st.integers(0, 30)))
def test_no_key_is_cut_and_no_row_is_lost(rows: list[Row], cuts: list[int]) -> None:
    """Whatever batches the rows come in, they come out in their order, those of a key together."""
    found = chunks(rows, cuts)
    keys = [{row[:2] for row in chunk} for chunk in found]

    assert rows == [row for chunk in found for row in chunk]
    assert sum(map(len, keys)) == len(set().union(*keys))


@given(rows=ROWS, cuts=st.lists(st.integers(0, 30)), most=st.integers(1, 4))
def test_long_keys_are_held_only_so_far(rows: list[Row], cuts: list[int], most: int) -> None:
    """At least the first rows of a key that continues over batches are returned, up to the limit."""
    found = [row for chunk in chunks(rows, cuts, most) for row in chunk]

    for key, group in groupby(rows, key=lambda row: row[:2]):
        whole = list(group)
        mine = [row for row in found if row[:2] == key]
        assert mine[:most] == whole[:most]
