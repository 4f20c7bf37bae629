"""Rules of the look into differing buckets: every difference is found and labelled, with both offsets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_digest.keys.align_tasks import (
    NO_CIRCUMSTANCES,
    SOURCE_BEHIND,
    TARGET_BEFORE,
    TARGET_BEHIND,
    UNCOMMITTED,
    Circumstances,
)
from kafka_digest.keys.drill import Suspects, aligned_keys, reconciled
from kafka_digest.keys.frames import KeyedSide, compared_rows
from kafka_digest.keys.tasks import DIFFERING
from tests.spark.conftest import FrameMaker, KafkaRecord

# pyspark leaves its sockets to the garbage collector
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::ResourceWarning")]

Records = Sequence[KafkaRecord]
KEYS = 5
SOURCE = [KafkaRecord(b"k%d" % (n % KEYS), b"v%d" % n, [("h", b"%d" % n)], n) for n in range(40)]
KEYLESS = [KafkaRecord(None, b"v%d" % n, (), n) for n in range(20)]
OTHER = KafkaRecord(b"k0", b"other", (), 99)


def replaced(records: Records, place: int, **fields: object) -> list[KafkaRecord]:
    """Return records of which one has other fields."""
    return [*records[:place], replace(records[place], **fields), *records[place + 1 :]]  # type: ignore[arg-type]


# Each case: the target's records, and what is found: label, fields, source offset, target offset.
CASES: dict[str, tuple[Records, Records, list[tuple[str, list[str], int | None, int | None]]]] = {
    "equal": (SOURCE, SOURCE, []),
    "missing": (SOURCE, SOURCE[:7] + SOURCE[8:], [("missing", [], 7, None)]),
    "extra": (SOURCE, [*SOURCE[:7], OTHER, *SOURCE[7:]], [("extra", [], None, 7)]),
    "duplicate": (SOURCE, [*SOURCE[:20], SOURCE[3], *SOURCE[20:]], [("duplicate", [], None, 20)]),
    "stale": (SOURCE, [*SOURCE, SOURCE[3]], [("stale", [], None, 40)]),
    "reordered": (
        SOURCE,
        [*SOURCE[:7], SOURCE[12], *SOURCE[8:12], SOURCE[7], *SOURCE[13:]],
        [("reordered", [], 12, 7)],
    ),
    "value": (SOURCE, replaced(SOURCE, 9, value=b"other"), [("altered", ["value"], 9, 9)]),
    "headers": (SOURCE, replaced(SOURCE, 9, headers=[("h", b"other")]), [("altered", ["headers"], 9, 9)]),
    "timestamp": (SOURCE, replaced(SOURCE, 9, timestamp_ms=5_000), [("altered", ["timestamp"], 9, 9)]),
    "key": (SOURCE, replaced(SOURCE, 9, key=b"k1"), [("altered", ["key"], 9, 9)]),
    "new key": (SOURCE, replaced(SOURCE, 9, key=b"new"), [("altered", ["key"], 9, 9)]),
    "key lost": (SOURCE, replaced(SOURCE, 9, key=None), [("altered", ["key"], 9, 9)]),
    "key made up": (KEYLESS, replaced(KEYLESS, 3, key=b""), [("altered", ["key"], 3, 3)]),
    "keyless, other order": (KEYLESS, KEYLESS[10:] + KEYLESS[:10], []),
    "keyless missing": (KEYLESS, KEYLESS[:3] + KEYLESS[4:], [("missing", [], 3, None)]),
    "keyless duplicate": (KEYLESS, [*KEYLESS, KEYLESS[3]], [("duplicate", [], None, 20)]),
    "keyless value": (KEYLESS, replaced(KEYLESS, 3, value=b"other"), [("altered", ["value"], 3, 3)]),
    "keyless timestamp": (KEYLESS, replaced(KEYLESS, 3, timestamp_ms=5_000), [("altered", ["timestamp"], 3, 3)]),
    "keyless headers": (KEYLESS, replaced(KEYLESS, 3, headers=[("h", b"")]), [("altered", ["headers"], 3, 3)]),
    "all missing": (KEYLESS[:2], [], [("missing", [], 0, None), ("missing", [], 1, None)]),
}
Found = dict[int, list[tuple[object, ...]]]


@pytest.fixture(scope="module")
def drilled(spark: SparkSession, kafka_frame: FrameMaker) -> Callable[..., Found]:
    """Compare partitions, each a unit of its own unless told otherwise, and return their differences by topic."""

    def side(side_number: int, pairs: dict[int, Records], units: dict[int, int]) -> KeyedSide:
        frames = [kafka_frame(records, partition=number) for number, records in pairs.items() if records]
        frame = reduce(lambda one, other: one.unionByName(other), frames)
        return KeyedSide(side_number, frame, {f"orders/{number}": unit for number, unit in units.items()})

    def drill(
        source: dict[int, Records],
        target: dict[int, Records],
        units: dict[int, int],
        topics: dict[int, int],
        **options: Any,
    ) -> Found:
        circumstances, explaining = options.pop("circumstances", NO_CIRCUMSTANCES), options.pop("explaining", {})
        options = {"null_keys_have_order": False, "tasks": 1, **options}
        sides = [side(0, source, units), side(1, target, units)]
        buckets = {row["bucket"] for row in compared_rows(sides, **options).collect() if row["kind"] == DIFFERING}
        sides += [side(number, records, units) for number, records in explaining.items()]
        suspects = Suspects(buckets, topics, circumstances)
        rows = reconciled(aligned_keys(spark, sides, suspects, **options)).collect()
        found: Found = {}
        for row in sorted(rows, key=lambda row: (row["source_offset"] or -1, row["target_offset"] or -1)):
            found.setdefault(row["topic"], []).append(
                (row["label"], row["fields"], row["source_offset"], row["target_offset"])
            )
        return found

    return drill


def test_every_damage_is_labelled_at_its_place(drilled: Callable[..., Found]) -> None:
    """Each kind of damage in a unit of its own: one difference, its fields, and its offsets on both sides."""
    units = {number: number for number in range(len(CASES))}
    source, target = ({number: case[side] for number, case in enumerate(CASES.values())} for side in (0, 1))
    found = drilled(source, target, units, units)

    assert {name: case[2] for name, case in CASES.items()} == {
        name: found.get(number, []) for number, name in enumerate(CASES)
    }


def test_record_in_another_partition_is_moved(drilled: Callable[..., Found]) -> None:
    """One unit per partition, one topic: what is missing here and extra there is one record that moved."""
    source = {0: SOURCE[:20], 1: SOURCE[20:]}
    target = {0: SOURCE[:5] + SOURCE[6:20], 1: [*SOURCE[20:], SOURCE[5]]}

    found = drilled(source, target, {0: 0, 1: 1}, {0: 9, 1: 9}, null_keys_have_order=True)

    assert {9: [("moved", [], 5, 20)]} == found


def test_key_in_several_source_partitions_may_interleave(drilled: Callable[..., Found]) -> None:
    """A key that two source partitions hold is no damage where each of them keeps its order on the target."""
    source = {0: SOURCE[:20], 1: SOURCE[20:]}
    target = {0: [record for pair in zip(SOURCE[:20], SOURCE[20:], strict=True) for record in pair]}

    found = drilled(source, target, {0: 4, 1: 4}, {4: 0})[0]

    assert [("interleaved", [])] * KEYS == [row[:2] for row in found]


def test_what_else_the_logs_hold_explains_differences(drilled: Callable[..., Found]) -> None:
    """Aborted records, newer records behind the ranges, older ones before them, and what retention took, per unit."""
    keyed, deleted = SOURCE[0::KEYS], replace(SOURCE[0], value=None)
    source = {0: keyed, 1: keyed[:1], 2: [deleted], 3: [deleted], 4: keyed[3:], 5: KEYLESS}
    target = {0: [*keyed, OTHER], 1: [SOURCE[1]], 2: [SOURCE[1]], 3: [SOURCE[1]], 4: keyed, 5: [*KEYLESS, KEYLESS[0]]}
    units = {number: number for number in source}
    explaining = {
        UNCOMMITTED: {0: [*keyed, OTHER], 5: [*KEYLESS, KEYLESS[0]]},
        TARGET_BEFORE: {3: [SOURCE[0], SOURCE[5]]},
        SOURCE_BEHIND: {1: [SOURCE[0], SOURCE[5]]},
        TARGET_BEHIND: {1: [SOURCE[0], SOURCE[5]]},
    }
    circumstances = Circumstances((frozenset(), frozenset({1, 2, 3})), (frozenset({4}), frozenset()))

    found = drilled(source, target, units, units, explaining=explaining, circumstances=circumstances)

    assert [("aborted", None, 8)] == [(label, *offsets) for label, _, *offsets in found[0]]
    assert ("compacted", 0, None) in [(label, *offsets) for label, _, *offsets in found[1]]
    assert {"compacted", "extra"} == {label for label, *_ in found[2]}
    assert {"missing", "extra"} == {label for label, *_ in found[3]}
    assert [("expired", n) for n in range(3)] == [(row[0], row[3]) for row in found[4]]
    assert [("aborted", 20)] == [(row[0], row[3]) for row in found[5]]
