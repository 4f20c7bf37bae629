"""Examines the first differing block of partitions: reads it again and finds its first differing record.

The record hashes of both sides near the block are cached in Spark. Three small queries return the first differing rank,
the records from there on, and other places of the two records at that rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain

from pyspark.sql import Column, DataFrame, functions

from kafka_digest.position.blocks import DrillRange
from kafka_digest.position.classify import Difference, Elsewhere, Record, classify_first_difference
from kafka_digest.position.position_digest import record_hashes

# The number of records per side, from the first difference on, that are sent to the driver. The alignment costs at most
# its square: 65,536 steps per partition.
LOOK_AHEAD_RECORDS = 256


@dataclass(frozen=True)
class DrillCase:
    """One differing window: its number, and the ranges and lengths of both sides.

    :param has_untimed: whether the source has no timestamp of some records
    """

    number: int
    source_place: tuple[str, int]
    target_place: tuple[str, int]
    source_range: DrillRange | None
    target_range: DrillRange | None
    source_records: int
    target_records: int
    has_untimed: bool = False


Rows = dict[tuple[int, str], list[Record]]


def first_differences(
    source: DataFrame | None, target: DataFrame | None, cases: Sequence[DrillCase]
) -> dict[int, Difference]:
    """Return the first difference per case number; a case is missing if the second reading was equal."""
    hashes = _of_both_sides(source, target, cases).persist()
    try:
        firsts = first_differing_ranks(hashes)
        if not firsts:
            return {}
        labelled = without_times_of_copies(hashes) if any(case.has_untimed for case in cases) else hashes
        near = _rows(records_from(labelled, firsts, LOOK_AHEAD_RECORDS))
        others = _rows(same_records_elsewhere(labelled, firsts, near, LOOK_AHEAD_RECORDS))
    finally:
        hashes.unpersist()
    return dict(_classified(cases, firsts, near, others))


def differing_blocks(
    source: DataFrame | None, target: DataFrame | None, cases: Sequence[DrillCase], block_records: int
) -> dict[int, set[int]]:
    """Return the numbers of the blocks per case in which the sides do not hold the same records."""
    found: dict[int, set[int]] = {}
    places = _places(_of_both_sides(source, target, cases)).where("not same")
    for row in places.selectExpr("number", f"rank div {block_records} as block").distinct().collect():
        found.setdefault(row["number"], set()).add(row["block"])
    return found


def _of_both_sides(source: DataFrame | None, target: DataFrame | None, cases: Sequence[DrillCase]) -> DataFrame:
    frames = {"source": source, "target": target}
    sides = [numbered_hashes(frame, side, cases) for side, frame in frames.items() if frame is not None]
    return reduce(lambda one, other: one.unionByName(other), sides)


def without_times_of_copies(hashes: DataFrame) -> DataFrame:
    """Return the hashes without the timestamps of all records with the content of a source record that has none.

    This finds where such records are on the target. It says more of them to be equal than are.
    """
    untimed = hashes.where("side = 'source' and record = content").select("number", "content").distinct()
    marked = hashes.join(untimed.withColumn("is_untimed", functions.lit(True)), ["number", "content"], "left")
    return marked.withColumn("record", functions.expr("if(is_untimed, content, record)")).select(hashes.columns)


def numbered_hashes(frame: DataFrame, side: str, cases: Sequence[DrillCase]) -> DataFrame:
    """Return the record hashes of one side with the case's number and the rank in the whole window."""
    places = [
        (place, case.number, piece.start_rank)
        for case in cases
        for place, piece in [
            (case.source_place, case.source_range) if side == "source" else (case.target_place, case.target_range)
        ]
        if piece is not None
    ]
    place = functions.concat_ws("/", functions.col("topic"), functions.col("partition").cast("string"))
    number = _constants({f"{topic}/{p}": n for (topic, p), n, _ in places})[place]
    start_rank = _constants({f"{topic}/{p}": start for (topic, p), _, start in places})[place]
    hashes = record_hashes(frame, side)
    return hashes.withColumns({"number": number, "rank": functions.col("rank") + start_rank}).drop("topic", "partition")


def _constants(values: Mapping[int, int] | Mapping[str, int]) -> Column:
    return functions.create_map(
        *chain.from_iterable((functions.lit(k), functions.lit(v).cast("bigint")) for k, v in values.items())
    )


def first_differing_ranks(hashes: DataFrame) -> dict[int, int]:
    """Return the lowest rank per case at which the sides do not hold the same record."""
    rows = _places(hashes).where("not same").groupBy("number").agg(functions.min("rank").alias("rank")).collect()
    return {row["number"]: row["rank"] for row in rows}


def _places(hashes: DataFrame) -> DataFrame:
    """Return, for each case and rank, whether both sides hold the same record; see `reading.hashing`."""
    is_copy = "min(content) = max(content) and bool_or(side = 'source' and record = content)"
    same = functions.expr(f"count(*) = 2 and (min(record) = max(record) or {is_copy}) as same")
    return hashes.groupBy("number", "rank").agg(same)


def records_from(hashes: DataFrame, firsts: Mapping[int, int], count: int) -> DataFrame:
    """Return the records of each case from its first differing rank on, `count` per side."""
    first = _constants(firsts)[functions.col("number").cast("int")]
    return hashes.where((functions.col("rank") >= first) & (functions.col("rank") < first + count))


def same_records_elsewhere(hashes: DataFrame, firsts: Mapping[int, int], near: Rows, count: int) -> DataFrame:
    """Return the nearest records before the first difference, and after the `count` records from it on,
    that equal one of the two at the first difference: at most one of each kind per case and side.
    """
    first = _constants(firsts)[functions.col("number").cast("int")]
    wanted = [
        (functions.col("number") == number) & functions.col("record").isin([rows[0].record for rows in sides if rows])
        for number in firsts
        for sides in [(near.get((number, "source"), []), near.get((number, "target"), []))]
    ]
    outside = (functions.col("rank") < first) | (functions.col("rank") >= first + count)
    rows = hashes.where(outside & reduce(lambda one, other: one | other, wanted))
    keyed = rows.withColumn("distance", functions.abs(functions.col("rank") - first)).withColumn(
        "before", functions.col("rank") < first
    )
    names = [name for name in hashes.columns if name not in {"number", "side", "record"}]
    nearest = functions.min_by(functions.struct(*names), functions.col("distance")).alias("nearest")
    grouped = keyed.groupBy("number", "side", "record", "before").agg(nearest)
    return grouped.select("number", "side", "record", "nearest.*")


def _rows(frame: DataFrame) -> Rows:
    rows: Rows = {}
    for row in frame.select("number", "side", *Record._fields).collect():
        rows.setdefault((row[0], row[1]), []).append(Record(*row[2:]))
    for records in rows.values():
        records.sort()
    return rows


def _classified(
    cases: Sequence[DrillCase], firsts: Mapping[int, int], near: Rows, others: Rows
) -> Iterator[tuple[int, Difference]]:
    for case in cases:
        if case.number not in firsts:
            continue
        end = firsts[case.number] + LOOK_AHEAD_RECORDS
        difference = classify_first_difference(
            near.get((case.number, "source"), []),
            near.get((case.number, "target"), []),
            elsewhere=Elsewhere(others.get((case.number, "source"), ()), others.get((case.number, "target"), ())),
            source_ended=case.source_records <= end,
            target_ended=case.target_records <= end,
        )
        if difference is not None:
            yield case.number, difference
