"""The Python part of Spark's tasks that find the differences of keys: sorted record hashes in, differences out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_digest.keys.alignment import FIELDS, UNCLASSIFIED, Difference, Known, Records, align, surplus
from kafka_digest.keys.arrow_rows import Columns, key_begins, schema_of, whole_keys
from kafka_digest.keys.subsequences import Hashes
from kafka_digest.reading.hashing import NOTHING

# The origin of a row: the compared ranges; the source's ranges read with aborted transactions; the logs before and
# after the ranges, with only the newest record of each key, as a tombstone if any of them is one.
SOURCE, TARGET, UNCOMMITTED, SOURCE_BEFORE, TARGET_BEFORE, SOURCE_BEHIND, TARGET_BEHIND = range(7)
# Rows of one key are adjacent, sorted by side, partition and offset.
HASHED = ("unit", "key", "side", "partition", "offset", "record", "content", *FIELDS, "tombstone", "keyless")
# The hashes belong to the difference's record, to the source's record if both sides have one.
DIFFERENCES = (
    "unit int, key bigint, record bigint, value bigint, headers bigint, timestamp bigint, keyless boolean, "
    "label string, otherwise string, fields array<string>, "
    "source_partition int, source_offset bigint, target_partition int, target_offset bigint"
)
PLACES = ("source_partition", "source_offset", "target_partition", "target_offset")
_SCHEMA = schema_of(DIFFERENCES)

# A key with more records than this on both sides together is not aligned: it would need more than half a gigabyte.
MAX_RECORDS = 1_000_000


@dataclass(frozen=True)
class Circumstances:
    """What is known about units; each pair is source and target.

    :param compacted: units whose topic the side compacts, and whose ranges have lost records
    :param expired: units of which the side has deleted the beginning
    :param goes_on: units whose logs have records after the ranges; only read for compacted topics
    :param tails: units whose target ranges may hold records from after the source's ranges
    """

    compacted: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
    expired: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
    goes_on: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
    tails: frozenset[int] = frozenset()


NO_CIRCUMSTANCES = Circumstances()


def differences(
    batches: Iterable[pa.RecordBatch], circumstances: Circumstances = NO_CIRCUMSTANCES
) -> Iterator[pa.RecordBatch]:
    """Align the keys of these rows; `HASHED` rows in, `DIFFERENCES` out."""
    for columns in _keys(batches):
        unit, keyless = int(columns[0][0]), bool(columns[-1][0])
        source, target = (_records(columns, side) for side in (SOURCE, TARGET))
        target = _without_times_of_copies(source, target, *(columns[6][_rows_of(columns, n)] for n in (SOURCE, TARGET)))
        known = _known(columns, unit, circumstances)
        if found := _found(source, target, known, keyless=keyless):
            shared = {"unit": unit, "key": int(columns[1][0]), "keyless": keyless}
            rows = [{**shared, **_row(source, target, difference)} for difference in found]
            yield pa.RecordBatch.from_pylist(rows, schema=_SCHEMA)


def _without_times_of_copies(
    source: Records, target: Records, source_contents: Hashes, target_contents: Hashes
) -> Records:
    """Return a key's target records; those that are copies of source records without a timestamp have none either.

    MirrorMaker gives such a copy the time of the copy. A target record counts as a copy if it has the content of such a
    source record, unless it is the copy of a source record with the same content and its timestamp.
    """
    is_untimed = source.records == source_contents
    if not is_untimed.any():
        return target
    timed = Counter(source.records[~is_untimed].tolist())
    *contents, times = (field.copy() for field in target.fields)
    records = target.records.copy()
    for place in np.flatnonzero(np.isin(target_contents, source_contents[is_untimed])).tolist():
        record = int(records[place])
        if timed[record]:
            timed[record] -= 1
        else:
            records[place], times[place] = target_contents[place], NOTHING
    return replace(target, records=records, fields=[*contents, times])


def _known(columns: Columns, unit: int, circumstances: Circumstances) -> Known:
    beside = slice(int(np.searchsorted(columns[2], SOURCE_BEFORE)), None)
    tombstones = dict(zip(columns[2][beside].tolist(), columns[-2][beside].tolist()))
    return Known(
        compacted=_is_in(unit, circumstances.compacted),
        expired=_is_in(unit, circumstances.expired),
        goes_on=_is_in(unit, circumstances.goes_on),
        has_tail=unit in circumstances.tails,
        before=(_is_before(columns, SOURCE, SOURCE_BEFORE), _is_before(columns, TARGET, TARGET_BEFORE)),
        behind=(SOURCE_BEHIND in tombstones, TARGET_BEHIND in tombstones),
        deleted_behind=(tombstones.get(SOURCE_BEHIND, False), tombstones.get(TARGET_BEHIND, False)),
        aborted=_aborted(columns),
    )


def _is_in(unit: int, sides: tuple[frozenset[int], frozenset[int]]) -> tuple[bool, bool]:
    return unit in sides[0], unit in sides[1]


def _is_before(columns: Columns, side: int, beside: int) -> bool:
    """Whether a side holds the key before its ranges, in the key's present partition if it still has records."""
    ours, before = (set(columns[3][_rows_of(columns, number)].tolist()) for number in (side, beside))
    return bool(before & ours if ours else before)


def _aborted(columns: Columns) -> tuple[int, ...]:
    """Return the hashes of the source's records that a `read_committed` consumer does not see."""
    every, committed = (_records(columns, side) for side in (UNCOMMITTED, SOURCE))
    if not len(every):
        return ()
    seen = set(zip(committed.partitions.tolist(), committed.offsets.tolist()))
    places = zip(every.partitions.tolist(), every.offsets.tolist())
    return tuple(record for record, place in zip(every.records.tolist(), places) if place not in seen)


def _found(source: Records, target: Records, known: Known, *, keyless: bool) -> list[Difference]:
    if len(source) + len(target) > MAX_RECORDS:
        return [Difference(UNCLASSIFIED, 0 if len(source) else None, 0 if len(target) else None)]
    return list(_surpluses(source, target, known)) if keyless else align(source, target, known)


def _surpluses(source: Records, target: Records, known: Known) -> Iterator[Difference]:
    """Yield the differences between records without a key and with the same content; their timestamps may differ."""
    for record in np.union1d(source.records, target.records).tolist():
        ours, theirs = (np.flatnonzero(side.records == record) for side in (source, target))
        mine = replace(known, aborted=tuple(each for each in known.aborted if each == record))
        for found in surplus(len(ours), len(theirs), mine):
            yield found._replace(
                source=None if found.source is None else int(ours[found.source]),
                target=None if found.target is None else int(theirs[found.target]),
            )


def _keys(batches: Iterable[pa.RecordBatch]) -> Iterator[Columns]:
    """Return the rows of each key; a key with too many records is cut just above the limit."""
    for columns in whole_keys(batches, HASHED, most=MAX_RECORDS + 1):
        edges = [0, *key_begins(columns).tolist(), len(columns[0])]
        for start, end in zip(edges, edges[1:]):
            yield [column[start:end] for column in columns]


def _rows_of(columns: Columns, side: int) -> slice:
    return slice(*np.searchsorted(columns[2], (side, side + 1)).tolist())


def _records(columns: Columns, side: int) -> Records:
    rows = _rows_of(columns, side)
    _, _, _, partitions, offsets, records, _, *fields, tombstones, _ = (column[rows] for column in columns)
    return Records(partitions, offsets, records, fields, tombstones)


def _row(source: Records, target: Records, found: Difference) -> dict[str, Any]:
    side, at = (target, found.target) if found.source is None else (source, found.source)
    assert at is not None
    return {
        "record": int(side.records[at]),
        **{name: int(hashes[at]) for name, hashes in zip(FIELDS, side.fields)},
        "label": found.label,
        "otherwise": found.otherwise,
        "fields": list(found.fields),
        **_place("source", source, found.source),
        **_place("target", target, found.target),
    }


def _place(side: str, records: Records, at: int | None) -> dict[str, int | None]:
    place = (None, None) if at is None else (int(records.partitions[at]), int(records.offsets[at]))
    return dict(zip((f"{side}_partition", f"{side}_offset"), place))
