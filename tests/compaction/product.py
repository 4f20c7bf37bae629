"""The verdict of the real comparison on a history, key by key and without Spark: rows in memory instead of frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kafka_digest.keys.align_tasks import (
    HASHED,
    SOURCE,
    SOURCE_BEFORE,
    SOURCE_BEHIND,
    TARGET,
    TARGET_BEFORE,
    TARGET_BEHIND,
    Circumstances,
    differences,
)
from kafka_digest.keys.alignment import COMPACTED
from kafka_digest.keys.compaction import EXPLAINED, Share, too_many
from kafka_digest.position import classify
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.migration.settings import Tolerance
from kafka_migration.core.validation.difference_kinds import DifferenceKind
from kafka_migration.core.validation.differences import Differences, FirstDifference
from kafka_migration.core.validation.judging import judge_partition
from kafka_migration.core.validation.judging_by_key import GenerationEvents, judge_topic_by_key
from kafka_migration.core.validation.validation_contract import PartitionResult, SideCount, TopicResult
from tests.compaction.cleaner import Record
from tests.compaction.histories import History, Side

MANY = Tolerance(duplicates=1_000, aborted=0)
_TYPES = {
    "unit": pa.int32(),
    "side": pa.int32(),
    "partition": pa.int32(),
    "tombstone": pa.bool_(),
    "keyless": pa.bool_(),
}
_SCHEMA = pa.schema([(name, _TYPES.get(name, pa.int64())) for name in HASHED])
_NULL_KEY = 99
Placed = tuple[int, int, Record]  # partition, offset


@dataclass(frozen=True)
class Seen:
    """What is read of one side: in its windows, before and after them."""

    within: list[Placed]
    before: list[Placed]
    after: list[Placed]
    holes: int
    goes_on: bool

    @classmethod
    def of(cls, side: Side) -> Seen:
        spans = list(zip(range(len(side.logs)), side.logs, side.windows, strict=True))

        def read(low: int, high: int, log: Any, number: int) -> list[Placed]:
            return [(number, offset, record) for offset, record in log.read(low, high)]

        within = [row for n, log, (start, end) in spans for row in read(start, end, log, n)]
        return cls(
            within,
            [row for n, log, (start, _) in spans for row in read(0, start, log, n)],
            [row for n, log, (_, end) in spans for row in read(end, log.end, log, n)],
            sum(end - start for _, _, (start, end) in spans) - len(within),
            any(log.end > end for _, log, (_, end) in spans),
        )


def verdict_on(history: History) -> tuple[Verdict, dict[str, int]]:
    """Return the verdict on a history and the differences by label."""
    sides = Seen.of(history.source), Seen.of(history.target)
    compacts = [
        side.logs[0].compacts and seen.holes > 0
        for side, seen in zip((history.source, history.target), sides, strict=True)
    ]
    circumstances = Circumstances(
        compacted=_pair(compacts),
        goes_on=_pair([seen.goes_on for seen in sides]),
        tails=frozenset({0} if history.last in history.killed else ()),
    )
    found = [row for rows in differences(_batches(history, sides), circumstances) for row in rows.to_pylist()]
    counts = _counts(found, {(0, side): seen.holes for side, seen in enumerate(sides)})
    events = GenerationEvents(killed=history.killed)
    if history.by_key:
        return _by_key(history, sides, counts, events), dict(counts)
    return _by_position(history, sides, counts, found, events), dict(counts)


def _pair(flags: Sequence[bool]) -> tuple[frozenset[int], frozenset[int]]:
    source, target = (frozenset({0}) if flag else frozenset() for flag in flags)
    return source, target


def _counts(found: Sequence[dict[str, Any]], holes: dict[tuple[int, int], int]) -> Counter[str]:
    shares = Counter(
        Share(0, 0 if row["source_offset"] is None else 1, row["label"], row["otherwise"])
        for row in found
        if row["label"] in EXPLAINED
    )
    counts = Counter(row["label"] for row in found)
    for share, count in too_many(shares, holes).items():
        counts[share.label] -= count
        counts[share.otherwise] += count
    return +counts


def _batches(history: History, sides: tuple[Seen, Seen]) -> Iterator[pa.RecordBatch]:
    rows: list[dict[str, Any]] = []
    numbers = ((SOURCE, SOURCE_BEFORE, SOURCE_BEHIND), (TARGET, TARGET_BEFORE, TARGET_BEHIND))
    for seen, (within, before, behind) in zip(sides, numbers, strict=True):
        rows += [_row(history, within, *placed) for placed in seen.within]
        for number, beside in ((before, seen.before), (behind, seen.after)):
            rows += _newest([_row(history, number, *placed) for placed in beside])
    rows.sort(key=lambda row: [row[name] for name in ("unit", "key", "side", "partition", "offset")])
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema=_SCHEMA)


def _newest(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: row["offset"]):
        deleted = row["tombstone"] or found.get(row["key"], row)["tombstone"]
        found[row["key"]] = {**row, "tombstone": deleted}
    return list(found.values())


def _row(history: History, side: int, partition: int, offset: int, record: Record) -> dict[str, Any]:
    keyless = history.by_key and record.key is None
    payload = hash((record.value, record.timestamp))
    key = payload if keyless else _NULL_KEY if record.key is None else record.key
    return {
        "unit": 0,
        "key": key,
        "side": side,
        "partition": partition,
        "offset": offset,
        "record": payload,
        "value": hash(record.value),
        "headers": 0,
        "timestamp": record.timestamp,
        "tombstone": record.value is None or record.key is None,
        "keyless": keyless,
    }


def _differences(counts: Counter[str]) -> Differences | None:
    return Differences({DifferenceKind(label): n for label, n in counts.items()}, ()) if counts else None


def _by_key(history: History, sides: tuple[Seen, Seen], counts: Counter[str], events: GenerationEvents) -> Verdict:
    source, target = (len(seen.within) for seen in sides)
    told = _differences(counts)
    result = TopicResult(history.last, "orders", "orders", not counts, len(counts), source, target, "", "", told)
    return judge_topic_by_key(result, [], events=events, tolerance=MANY)[0]


def _by_position(
    history: History,
    sides: tuple[Seen, Seen],
    counts: Counter[str],
    found: Sequence[dict[str, Any]],
    events: GenerationEvents,
) -> Verdict:
    window = Window(history.last, "orders", "orders", 0, *history.source.windows[0], *history.target.windows[0])
    first = _first(*(seen.within for seen in sides))
    rest_in_order: bool | None = None
    if first is not None and counts.keys() <= {COMPACTED} and any(seen.holes for seen in sides):
        rest = [
            [row for row in seen.within if row[1] not in {d[f"{name}_offset"] for d in found}]
            for name, seen in zip(("source", "target"), sides, strict=True)
        ]
        of_rest = _first(*rest)
        rest_in_order = True if of_rest is None else False if of_rest.kind is DifferenceKind.REORDERED else None
        first = of_rest if rest_in_order is False else first
    source, target = (SideCount(len(seen.within), 0, None, None) for seen in sides)
    result = PartitionResult(
        window,
        source,
        target,
        equal=first is None,
        blocks=1,
        differing_blocks=int(first is not None),
        first_difference=first,
        differences=_differences(counts),
        rest_in_order=rest_in_order,
    )
    return judge_partition(result, events=events, tolerance=MANY)[0]


def _first(source: Sequence[Placed], target: Sequence[Placed]) -> FirstDifference | None:
    rows = [
        [
            classify.Record(n, offset, hash(record), hash(record.key), hash(record.value), 0, record.timestamp)
            for n, (_, offset, record) in enumerate(side)
        ]
        for side in (source, target)
    ]
    found = classify.classify_first_difference(rows[0], rows[1])
    return None if found is None else FirstDifference.from_document(found.to_document())
