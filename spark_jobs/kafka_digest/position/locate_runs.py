"""Finds on the source the record with which the target continues, for the search in `restarts`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession, functions

from kafka_digest.position.position_digest import record_hashes
from kafka_digest.position.restarts import Continuation
from kafka_digest.reading.isolation import Reader
from kafka_digest.reading.read_windows import rounds_of
from kafka_digest.runtime.job_errors import naming
from kafka_digest.runtime.session import small_table

# Each is up to 64 rows of a small table.
_LOCATED_TOGETHER = 64


def continued(session: SparkSession, read: Reader, asked: Sequence[Continuation]) -> list[int | None]:
    """Return the source offset of each continuation; `None` if the source does not have its first record.

    Raises `JobError`.
    """
    numbers = {id(each): number for number, each in enumerate(asked)}
    found: dict[int, int] = {}
    for together in rounds_of(asked, lambda each: [("source", *each.source.place), ("target", *each.target.place)]):
        for start in range(0, len(together), _LOCATED_TOGETHER):
            some = {numbers[id(each)]: each for each in together[start : start + _LOCATED_TOGETHER]}
            with naming(f"finding where {len(some)} ranges continue on the source"):
                found |= _located(session, read, some)
    return [found.get(number) for number in range(len(asked))]


def _located(session: SparkSession, read: Reader, asked: Mapping[int, Continuation]) -> dict[int, int]:
    target = read("target", [each.target for each in asked.values()])
    source = read("source", [each.source for each in asked.values() if not each.source.is_empty])
    if target is None or source is None:
        return {}
    numbers = {each.target.place: number for number, each in asked.items()}
    # A copy of a record without a timestamp has one: it equals that record by its content.
    rows = record_hashes(target, "target").select("topic", "partition", "rank", "record", "content").collect()
    wanted = sorted({(numbers[row[0], row[1]], row[2], each) for row in rows for each in row[3:]})
    named = [(*asked[n].source.place, n, asked[n].reached, place, record) for n, place, record in wanted]
    schema = "topic string, partition int, number int, reached bigint, place bigint, wanted bigint"
    best = _best_places(record_hashes(source, "source"), small_table(session, named, schema))
    return {row["number"]: row["start"] for row in best.collect()}


def _best_places(hashes: DataFrame, wanted: DataFrame) -> DataFrame:
    """Return, per number, the offset of the place with the most equal records; of equal ones, of the last place."""
    met = hashes.join(
        functions.broadcast(wanted),
        (hashes["topic"] == wanted["topic"])
        & (hashes["partition"] == wanted["partition"])
        & (hashes["record"] == wanted["wanted"]),
    ).selectExpr("number", "rank - place as start_rank", "if(place = 0 and offset <= reached, offset, null) as start")
    begins = met.groupBy("number", "start_rank").agg(
        functions.count("*").alias("alike"), functions.max("start").alias("start")
    )
    return (
        begins.where("start is not null")
        .groupBy("number")
        .agg(functions.expr("max_by(start, struct(alike, start_rank))").alias("start"))
    )
