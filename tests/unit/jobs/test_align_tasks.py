"""Rules of the tasks that look for differences: which rows are one key, and which key is too long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_digest.keys import align_tasks
from kafka_digest.keys.align_tasks import HASHED, differences

Row = tuple[int, int, int, int]


def batch(
    rows: Sequence[Row], keyless: bool = False, contents: Mapping[int, int] = MappingProxyType({})
) -> pa.RecordBatch:
    """Return rows of unit, key, side and record as Spark sends them; a record's offset is its place.

    :param contents: the contents of records that differ from those of all others
    """
    named = [
        {
            **dict(zip(("unit", "key", "side", "record"), row, strict=True)),
            "partition": 0,
            "offset": n,
            "content": contents.get(row[3], -row[3]),
            "value": row[3],
            "headers": 0,
            "timestamp": row[3],
            "tombstone": False,
            "keyless": keyless,
        }
        for n, row in enumerate(rows)
    ]
    types = {"unit": pa.int32(), "side": pa.int32(), "partition": pa.int32()}
    types |= dict.fromkeys(("tombstone", "keyless"), pa.bool_())
    schema = pa.schema([(name, types.get(name, pa.int64())) for name in HASHED])
    return pa.RecordBatch.from_pylist(named, schema=schema)


def found(*batches: pa.RecordBatch) -> list[tuple[int, int, str]]:
    """Return unit, key and label of all differences."""
    rows = [row for result in differences(batches) for row in result.to_pylist()]
    return [(row["unit"], row["key"], row["label"]) for row in rows]


# Key 5 of unit 0 lacks a record on the target, key 5 of unit 1 has one more, the others are equal.
ROWS: list[Row] = [
    *((0, 4, side, record) for side in (0, 1) for record in (1, 2)),
    *((0, 5, 0, record) for record in (1, 2)),
    (0, 5, 1, 2),
    *((1, 5, side, record) for side in (0, 1) for record in (1, 2)),
    (1, 5, 1, 3),
    *((1, 6, side, record) for side in (0, 1) for record in (1, 2)),
]


@given(cuts=st.lists(st.integers(0, len(ROWS)), max_size=5))
def test_batches_do_not_end_keys(cuts: list[int]) -> None:
    """The batches that Spark makes of the rows, also empty ones, make no difference."""
    edges = [0, *sorted(cuts), len(ROWS)]
    batches = [batch(ROWS[start:end]) for start, end in pairwise(edges)]

    assert [(0, 5, "missing"), (1, 5, "extra")] == found(*batches)


def test_records_without_a_key_are_counted() -> None:
    """Identical records without a key differ by their number only."""
    rows = [(0, 9, 0, 1), (0, 9, 0, 1), (0, 9, 1, 1), (0, 9, 1, 1), (0, 9, 1, 1)]

    assert [(0, 9, "duplicate")] == found(batch(rows, keyless=True))


def test_key_that_is_too_long_is_said_to_differ_and_not_aligned(monkeypatch: pytest.MonkeyPatch) -> None:
    """One difference that says so, whatever more comes of the key; the keys around it are looked into."""
    monkeypatch.setattr(align_tasks, "MAX_RECORDS", 6)
    long = [(0, 4, side, record) for side in (0, 1) for record in range(20)]
    batches = [batch(long[:15]), batch(long[15:30]), batch([*long[30:], *ROWS[4:7]])]

    assert [(0, 4, "unclassified"), (0, 5, "missing")] == found(*batches)


# The hash of a record without a timestamp is that of its content. Records 8 and 9 have that content and a timestamp.
UNTIMED, OLDER, NEWER = 7, 8, 9
SAME = dict.fromkeys((UNTIMED, OLDER, NEWER), UNTIMED)


@pytest.mark.parametrize(
    ("source", "target", "labels"),
    [
        ([UNTIMED, 1], [NEWER, 1], []),
        ([UNTIMED, OLDER, 1], [NEWER, OLDER, 1], []),
        ([UNTIMED, UNTIMED], [OLDER, NEWER], []),
        ([UNTIMED, 1], [NEWER, 1, OLDER, 1], ["duplicate", "duplicate"]),
        ([UNTIMED, 1], [1, NEWER], ["reordered"]),
        ([UNTIMED, 1], [1], ["missing"]),
        ([OLDER, 1], [NEWER, 1], ["altered"]),
        ([OLDER, UNTIMED], [NEWER, NEWER], ["missing", "duplicate"]),
    ],
)
@pytest.mark.parametrize("keyless", [False, True])
def test_record_without_a_timestamp_has_a_copy_with_any(
    source: list[int], target: list[int], labels: list[str], keyless: bool
) -> None:
    """A target record with its content is its copy, unless it is that of a record with the same timestamp."""
    rows = [(0, 5, side, record) for side, records in enumerate((source, target)) for record in records]
    told = [label for _, _, label in found(batch(rows, keyless, SAME))]

    if not keyless:
        assert sorted(labels) == sorted(told)
    else:
        assert bool({"missing", "altered", "duplicate"} & set(labels)) == bool(told)
