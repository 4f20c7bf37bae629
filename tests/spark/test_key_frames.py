"""Rules of the per-key digest in Spark, on frames of several partitions; each case is a topic of one comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pytest
from pyspark.sql import Row, SparkSession

from kafka_digest.keys.frames import KeyedSide, compared_rows
from kafka_digest.keys.key_digest import NULL_BUCKET
from kafka_digest.keys.key_tasks import DIFFERING, PLACE, TOTAL
from tests.spark.conftest import FramesMaker, KafkaRecord

# pyspark leaves its sockets to the garbage collector
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::ResourceWarning")]

Compared = Callable[..., list[Row]]
Partitions = Mapping[int, Sequence[KafkaRecord]]
RECORDS = [KafkaRecord(key=b"%d" % (n % 7), value=b"v%d" % n, timestamp_ms=n) for n in range(60)]
KEYLESS = [KafkaRecord(key=None, value=b"%d" % n, timestamp_ms=n) for n in range(6)]
SHUFFLED = KEYLESS[3:] + KEYLESS[:3]


def placed(records: Sequence[KafkaRecord], partitions: int) -> dict[int, list[KafkaRecord]]:
    """Return records by partition, each key in one of them."""
    found: dict[int, list[KafkaRecord]] = {number: [] for number in range(partitions)}
    for record in records:
        found[sum(record.key or b"") % partitions].append(record)
    return found


# Each case: both sides' partitions, and in how many buckets they differ.
CASES: dict[str, tuple[Partitions, Partitions, int]] = {
    "equal": (placed(RECORDS, 2), placed(RECORDS, 5), 0),
    "missing": (placed(RECORDS, 2), placed(RECORDS[:30] + RECORDS[31:], 5), 1),
    "sent again": (placed(RECORDS, 2), placed([*RECORDS, RECORDS[3]], 5), 1),
    "exchanged": (
        placed(RECORDS, 2),
        placed([*RECORDS[:-8], RECORDS[-1], *RECORDS[-7:-1], RECORDS[-8]], 5),
        1,
    ),
    "altered": (placed(RECORDS, 2), placed([replace(RECORDS[0], value=b"other"), *RECORDS[1:]], 5), 1),
    "null keys in another order": ({0: KEYLESS}, {0: SHUFFLED[:2], 1: SHUFFLED[2:]}, 0),
    "null key sent again": ({0: KEYLESS}, {0: SHUFFLED, 1: SHUFFLED[:1]}, 1),
    "nothing on the target": ({0: RECORDS[:1]}, {}, 1),
    "nothing on the source": ({}, {0: RECORDS[:1]}, 1),
}


@pytest.fixture(scope="module")
def compared(kafka_frames: FramesMaker) -> Compared:
    """Compare cases, each a unit of its own, and return the rows."""

    def side(number: int, sides: Sequence[Partitions]) -> KeyedSide:
        filled = {(unit, p): records for unit, parts in enumerate(sides) for p, records in parts.items() if records}
        frame = kafka_frames({(f"t{unit}", p): records for (unit, p), records in filled.items()})
        return KeyedSide(number, frame, {f"t{unit}/{p}": unit for unit, p in filled})

    def compare(*cases: tuple[Partitions, Partitions], ordered_nulls: bool = False, **options: int) -> list[Row]:
        sides = [side(number, [case[number] for case in cases]) for number in (0, 1)]
        rows: list[Row] = compared_rows(sides, null_keys_have_order=ordered_nulls, **{"tasks": 1, **options}).collect()
        return rows

    return compare


def of_kind(rows: Sequence[Row], kind: int, unit: int | None = None) -> list[Row]:
    """Return rows of a kind, of one unit or of all."""
    return [row for row in rows if row["kind"] == kind and unit in (None, row["unit"])]


@pytest.mark.parametrize(
    ("tasks", "max_keys"), [(1, 1_000), (2, 3), (2, 0)], ids=["room", "room for some keys", "room for none"]
)
def test_one_damaged_key_makes_its_bucket_differ_and_nothing_else_does(
    compared: Compared, tasks: int, max_keys: int
) -> None:
    """However partitions are cut and read together, and whether a task had room for a key or not."""
    rows = compared(*(case[:2] for case in CASES.values()), tasks=tasks, max_keys=max_keys)
    differing = {name: len(of_kind(rows, DIFFERING, unit)) for unit, name in enumerate(CASES)}
    totals = [[r for r in of_kind(rows, TOTAL, 0) if r["side"] == side] for side in (0, 1)]

    assert {name: case[2] for name, case in CASES.items()} == differing
    assert [60, 60] == [sum(row["records"] for row in side) for side in totals]
    assert 1 == len({sum(row["digest"] for row in side) % (1 << 64) for side in totals})
    (again,) = of_kind(rows, DIFFERING, list(CASES).index("null key sent again"))
    assert NULL_BUCKET == again["bucket"]


def test_null_keys_have_order_where_that_is_asked_for(compared: Compared) -> None:
    """In a partition of their own records without a key have a place."""
    rows = compared(({0: KEYLESS}, {0: SHUFFLED}), ({0: KEYLESS}, {0: KEYLESS}), ordered_nulls=True)

    assert [0] == [row["unit"] for row in of_kind(rows, DIFFERING)]


def test_each_range_says_what_was_read_of_it(compared: Compared) -> None:
    """Records, bytes, first and last offset per partition and side, of partitions that one task reads in turn."""
    source, target = placed(RECORDS, 3), placed(RECORDS, 2)
    rows = of_kind(compared((source, target), max_keys=2), PLACE)
    columns = ("side", "partition", "records", "key_value_bytes", "first_offset", "last_offset")

    assert sorted(
        (side, number, len(records), sum(len(r.key or b"") + len(r.value or b"") for r in records), 0, len(records) - 1)
        for side, partitions in enumerate((source, target))
        for number, records in partitions.items()
        if records
    ) == sorted(tuple(row[name] for name in columns) for row in rows)


@contextmanager
def batches_of(spark: SparkSession, records: int) -> Iterator[None]:
    """Let Spark cut the records of a task into small batches."""
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(name)
    spark.conf.set(name, records)
    yield
    spark.conf.set(name, before)


def test_batches_do_not_end_runs(compared: Compared, spark: SparkSession) -> None:
    """Where Spark cuts the records of a task into batches makes no difference."""
    with batches_of(spark, 7):
        rows = compared((placed(RECORDS, 2), placed(RECORDS, 5)), max_keys=3)

    assert [] == of_kind(rows, DIFFERING)
