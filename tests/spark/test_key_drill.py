"""Rules of the look into differing buckets: every difference is found and labelled, with both offsets.

All cases are topics of one comparison, because each comparison takes several Spark jobs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest
from pyspark.sql import SparkSession

from kafka_digest.keys.align_tasks import SOURCE_BEHIND, TARGET_BEFORE, TARGET_BEHIND, UNCOMMITTED, Circumstances
from kafka_digest.keys.frames import KeyedSide, compared_rows
from kafka_digest.keys.key_tasks import DIFFERING
from kafka_digest.keys.locate_key_differences import Suspects, aligned_keys, reconciled
from tests.spark.conftest import FramesMaker, KafkaRecord, Place

# pyspark leaves its sockets to the garbage collector
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::ResourceWarning")]

Records = Sequence[KafkaRecord]
Found = list[tuple[str, list[str], int | None, int | None]]  # label, fields, source offset, target offset
KEYS = 5
SOURCE = [KafkaRecord(b"k%d" % (n % KEYS), b"v%d" % n, [("h", b"%d" % n)], n) for n in range(40)]
KEYED = SOURCE[0::KEYS]
KEYLESS = [KafkaRecord(None, b"v%d" % n, (), n) for n in range(20)]
OTHER = KafkaRecord(b"k0", b"other", (), 99)
DELETED = replace(SOURCE[0], value=None)
NEWER = [SOURCE[0], SOURCE[5]]


@dataclass(frozen=True)
class Case:
    """Both sides of a topic by partition, and what else is known.

    :param beside: records of the first partition that explain differences, by their origin
    :param compacted: whether the target's cleaner may have removed records
    :param expired: whether retention may have removed the beginning of the source
    :param is_one_unit: whether all partitions are compared as a whole, or each by itself
    """

    source: Sequence[Records]
    target: Sequence[Records]
    beside: Mapping[int, Records] = field(default_factory=dict)
    compacted: bool = False
    expired: bool = False
    is_one_unit: bool = True

    def partitions(self, origin: int) -> Sequence[Records]:
        """Return the records of an origin by partition."""
        return (self.source, self.target)[origin] if origin < 2 else [self.beside.get(origin, ())]


def replaced(records: Records, place: int, **fields: object) -> list[KafkaRecord]:
    """Return records of which one has other fields."""
    return [*records[:place], replace(records[place], **fields), *records[place + 1 :]]  # type: ignore[arg-type]


# Each kind of damage: the records of both sides, and what is found.
DAMAGES: dict[str, tuple[Records, Records, Found]] = {
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
CASES = {
    **{name: Case([source], [target]) for name, (source, target, _) in DAMAGES.items()},
    "moved": Case(
        [SOURCE[:20], SOURCE[20:]], [SOURCE[:5] + SOURCE[6:20], [*SOURCE[20:], SOURCE[5]]], is_one_unit=False
    ),
    "interleaved": Case(
        [SOURCE[:20], SOURCE[20:]], [[r for pair in zip(SOURCE[:20], SOURCE[20:], strict=True) for r in pair]]
    ),
    "aborted": Case([KEYED], [[*KEYED, OTHER]], {UNCOMMITTED: [*KEYED, OTHER]}),
    "keyless aborted": Case([KEYLESS], [[*KEYLESS, KEYLESS[0]]], {UNCOMMITTED: [*KEYLESS, KEYLESS[0]]}),
    "newer after both": Case([KEYED[:1]], [[SOURCE[1]]], {SOURCE_BEHIND: NEWER, TARGET_BEHIND: NEWER}, compacted=True),
    "deleted": Case([[DELETED]], [[SOURCE[1]]], compacted=True),
    "older before": Case([[DELETED]], [[SOURCE[1]]], {TARGET_BEFORE: NEWER}, compacted=True),
    "expired": Case([KEYED[3:]], [KEYED], expired=True),
}


@pytest.fixture(scope="module")
def found(spark: SparkSession, kafka_frames: FramesMaker) -> dict[str, Found]:
    """Compare all cases at once, each a topic, and return the differences of each."""
    cases = list(enumerate(CASES.values()))
    places = [(number, case, p) for number, case in cases for p in range(max(len(case.source), len(case.target)))]
    units = {
        f"t{number}/{p}": (number if case.is_one_unit else len(CASES) + place)
        for place, (number, case, p) in enumerate(places)
    }
    topics = {units[f"t{number}/{p}"]: number for number, _, p in places}

    def side(origin: int) -> KeyedSide:
        logs: dict[Place, Records] = {
            (f"t{number}", p): records for number, case in cases for p, records in enumerate(case.partitions(origin))
        }
        return KeyedSide(origin, kafka_frames(logs), units)

    sides = [side(0), side(1)]
    rows = compared_rows(sides, null_keys_have_order=False, tasks=1).collect()
    buckets = {row["bucket"] for row in rows if row["kind"] == DIFFERING}
    circumstances = Circumstances(
        compacted=(frozenset(), frozenset(number for number, case in cases if case.compacted)),
        expired=(frozenset(number for number, case in cases if case.expired), frozenset()),
    )
    sides += [side(origin) for origin in (UNCOMMITTED, TARGET_BEFORE, SOURCE_BEHIND, TARGET_BEHIND)]
    suspects = Suspects(buckets, topics, circumstances)
    aligned = aligned_keys(spark, sides, suspects, null_keys_have_order=False, tasks=1).persist()
    differences = reconciled(aligned).collect()
    aligned.unpersist()
    rows = sorted(differences, key=lambda row: (row["source_offset"] or -1, row["target_offset"] or -1))
    return {
        name: [
            (row["label"], row["fields"], row["source_offset"], row["target_offset"])
            for row in rows
            if row["topic"] == number
        ]
        for number, name in enumerate(CASES)
    }


@pytest.mark.parametrize("name", DAMAGES)
def test_every_damage_is_labelled_at_its_place(found: dict[str, Found], name: str) -> None:
    """Each kind of damage in a unit of its own: one difference, its fields, and its offsets on both sides."""
    assert DAMAGES[name][2] == found[name]


def test_record_in_another_partition_is_moved(found: dict[str, Found]) -> None:
    """One unit per partition, one topic: what is missing here and extra there is one record that moved."""
    assert [("moved", [], 5, 20)] == found["moved"]


def test_key_in_several_source_partitions_may_interleave(found: dict[str, Found]) -> None:
    """A key that two source partitions hold is no damage where each of them keeps its order on the target."""
    assert [("interleaved", [])] * KEYS == [row[:2] for row in found["interleaved"]]


def test_aborted_records_explain_a_difference(found: dict[str, Found]) -> None:
    """A target record that the source holds in an aborted transaction is aborted, with a key or without."""
    assert [("aborted", [], None, 8)] == found["aborted"]
    assert [("aborted", [], None, 20)] == found["keyless aborted"]


def test_newer_records_after_the_ranges_explain_a_difference(found: dict[str, Found]) -> None:
    """The target's cleaner removed a record of which both logs hold a newer one after the ranges."""
    assert ("compacted", [], 0, None) in found["newer after both"]


def test_tombstone_explains_a_difference_unless_the_log_has_older_records(found: dict[str, Found]) -> None:
    """A key that ends with a tombstone may be gone, unless the target still holds older records before its range."""
    assert {"compacted", "extra"} == {label for label, *_ in found["deleted"]}
    assert {"missing", "extra"} == {label for label, *_ in found["older before"]}


def test_retention_explains_the_beginning(found: dict[str, Found]) -> None:
    """Records that only the target has at the beginning expired on the source."""
    assert [("expired", [], None, n) for n in range(3)] == found["expired"]
