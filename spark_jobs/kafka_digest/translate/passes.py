"""Translates committed offsets to the other side: one Spark pass for all groups, for any engine, partitions and names.

Each vector of committed offsets is translated to one offset per target partition, from which everything unread follows
in order (`rightmost.py`). Copies that keep partitions are ordered by partition. Others are ordered by key, and records
without a key have no order.

A second, shorter pass counts what the target holds from these offsets on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

from pyspark.sql import DataFrame, functions

from kafka_digest.reading.hashing import CONTENT, RECORD, hash_of
from kafka_digest.reading.isolation import Isolation, Search
from kafka_digest.reading.kafka_clusters import SIDES, Clusters, with_null_timestamps
from kafka_digest.reading.read_windows import SideRange
from kafka_digest.runtime.job_errors import RECORD_UNREADABLE, JobError, naming
from kafka_digest.runtime.session import small_table
from kafka_digest.translate.translate_tasks import COMMITTED, COUNTS, OTHER, STEPS, Unit, counts, steps
from kafka_digest.translate.vectors import (
    TopicCopy,
    Translated,
    delivered_from,
    places_of,
    sum_of,
    translated,
    translated_back,
    unread_from,
)

# Hashes of up to this many records are sent to every task, some 100 bytes each during the lookup.
MAX_KNOWN_RECORDS = 2_000_000
# In which records are looked for their copies: the key or the partition, or for a record without a key its content.
_SCOPE = "if(by_key, coalesce(key, content), cast(partition as bigint))"


@dataclass(frozen=True)
class Translation:
    """Translates the groups of several topics at once.

    :param max_known_records: up to this many unread records, target records that equal none of them are dropped before
        sorting
    """

    clusters: Clusters
    max_known_records: int = MAX_KNOWN_RECORDS

    def run(self, copies: Sequence[TopicCopy]) -> list[list[Translated] | JobError]:
        """Return where the vectors of each topic resume, or why its records cannot be read. Raises `JobError`."""
        found: dict[int, list[Translated] | JobError] = {}
        isolation, search = Isolation(), Search(self.clusters.read)

        def translate(some: Sequence[tuple[int, TopicCopy]]) -> None:
            found.update(self._translated(dict(some)))

        def lose(one: tuple[int, TopicCopy], error: JobError) -> None:
            found[one[0]] = _unreadable(search, one[1], error)

        isolation.run(list(enumerate(copies)), translate, lose)
        errors = [each for each in found.values() if isinstance(each, JobError)]
        isolation.require_some(has_bad_record=any(error.code == RECORD_UNREADABLE for error in errors))
        return [found[number] for number in range(len(copies))]

    def _translated(self, numbered: Mapping[int, TopicCopy]) -> dict[int, list[Translated]]:
        units = {number: copy.unit for number, copy in numbered.items()}
        with naming(f"translating the offsets of groups on {len(numbered)} topics"):
            rows = self._steps(numbered, units)
            results = _results(numbered, units, rows)
        with naming("counting what the groups will read"):
            self._count(numbered, results)
        return results

    def _steps(self, copies: Mapping[int, TopicCopy], units: Mapping[int, Unit]) -> list[Any]:
        """Return the rows of both sides' records; on the way back an original record without a copy counts too."""
        source, target = (self._records(copies, side) for side in SIDES)
        is_back = _are_back(copies)
        if source is None:
            return self._found([(target, COMMITTED)], frozenset(), units) if is_back and target is not None else []
        source = source.persist()
        try:
            sides = [(source, OTHER if is_back else COMMITTED)]
            if target is not None:
                sides.append((target, COMMITTED) if is_back else (self._of_interest(target, source, units), OTHER))
            return self._found(sides, _untimed(source), units)
        finally:
            source.unpersist()

    def _found(
        self, sides: Sequence[tuple[DataFrame, int]], untimed: Collection[int], units: Mapping[int, Unit]
    ) -> list[Any]:
        keyed = [self._keyed(records, side, untimed) for records, side in sides]
        rows = reduce(lambda one, other: one.unionByName(other), keyed)
        in_order = rows.repartition(self.clusters.tasks, "unit", "key").sortWithinPartitions(
            "unit", "key", "side", "partition", "offset"
        )
        return list(_summed(in_order.mapInArrow(partial(steps, units=units), STEPS)).collect())

    def _of_interest(self, target: DataFrame, source: DataFrame, units: Mapping[int, Unit]) -> DataFrame:
        """Return the target's records that may be copies of source records.

        These are the records with the content of a source record. If there are too many source records to send them to
        every task, or if a topic is compacted, so that any last record of a key counts, these are all records of the
        source's keys.
        """
        if any(unit.is_compacted for unit in units.values()) or source.count() > self.max_known_records:
            keys = source.selectExpr("unit", f"{_SCOPE} as scope").distinct()
            scoped = target.withColumn("scope", functions.expr(_SCOPE))
            return scoped.join(keys, ["unit", "scope"], "left_semi").select(source.columns)
        known = functions.broadcast(source.select("unit", "content").distinct())
        return target.join(known, ["unit", "content"], "left_semi").select(source.columns)

    def _records(self, copies: Mapping[int, TopicCopy], side: str) -> DataFrame | None:
        """Return the records of a side, each with a hash of all of it and of its content without the timestamp."""
        placed = self._placed(copies, side, {n: copy.ranges[side] for n, copy in copies.items()})
        if placed is None:
            return None
        key = f"if(key is null, null, {hash_of('key')}) as key"
        hashes = f"{hash_of(*RECORD)} as record", f"{hash_of('key', *CONTENT)} as content"
        return with_null_timestamps(placed).selectExpr("unit", "by_key", key, "partition", "offset", *hashes)

    def _keyed(self, records: DataFrame, side: int, untimed: Collection[int]) -> DataFrame:
        """Return the rows `translate_tasks.HASHED`; the key column holds the scope in which records have an order.

        A record without a key is by itself, with those that are identical, or that may be its copies.

        :param untimed: the units of which the source has records without a timestamp
        """
        is_untimed = f"unit in ({', '.join(map(str, untimed)) or 'null'})"
        itself = f"if({is_untimed}, content, record)"
        order = f"if(by_key, coalesce(key, {itself}), cast(partition as bigint)) as key"
        return records.selectExpr("unit", order, f"{side} as side", "partition", "offset", "record", "content")

    def _placed(
        self, copies: Mapping[int, TopicCopy], side: str, ranges: Mapping[int, Sequence[SideRange]]
    ) -> DataFrame | None:
        """Return the records of a side with the number of their topic and whether it is ordered by key."""
        pieces = [piece for pieces in ranges.values() for piece in pieces]
        frame = self.clusters.read(side, pieces)
        if frame is None:
            return None
        name = "topic" if side == "source" else "target_topic"
        topics = [(getattr(copy, name), number, copy.by_key) for number, copy in copies.items()]
        table = small_table(self.clusters.session, topics, "topic string, unit int, by_key boolean")
        return frame.coalesce(self.clusters.tasks).join(functions.broadcast(table), "topic")

    def _count(self, copies: Mapping[int, TopicCopy], results: Mapping[int, list[Translated]]) -> None:
        """Set the number of records that each result delivers."""
        places = places_of(results)
        ranges = {
            number: [replace(p, start=places[number, p.partition][0]) for p in copy.ranges[copy.translated_to]]
            for number, copy in copies.items()
            if results[number]
        }
        placed = self._placed(copies, "source" if _are_back(copies) else "target", ranges)
        rows: list[Any] = []
        if placed is not None:
            offsets = placed.select("unit", "partition", "offset")
            rows = offsets.mapInArrow(partial(counts, places=places), COUNTS).collect()
        delivered = delivered_from(rows, places)
        for number, found in results.items():
            found[:] = [replace(one, delivered=sum_of(delivered, number, one.goes_on_at)) for one in found]


def _unreadable(search: Search, copy: TopicCopy, error: JobError) -> JobError:
    """Return why a topic cannot be translated: reading it alone raised this error."""
    found = search.find(copy.ranges, error)
    code = RECORD_UNREADABLE if found.has_bad_record else error.code
    return JobError(f"{found.side} partition {found.piece.partition}: {found.text}", code)


def _untimed(source: DataFrame) -> frozenset[int]:
    """Return the units of which the source has records without a timestamp, whose hash is that of their content."""
    return frozenset(row["unit"] for row in source.where("record = content").select("unit").distinct().collect())


def _are_back(copies: Mapping[int, TopicCopy]) -> bool:
    """Whether the translation is back to the source; this is the same for all topics of one request."""
    return any(copy.is_back for copy in copies.values())


def _results(
    copies: Mapping[int, TopicCopy], units: Mapping[int, Unit], rows: list[Any]
) -> dict[int, list[Translated]]:
    if _are_back(copies):
        return {number: translated_back(number, copy, rows) for number, copy in copies.items()}
    found = unread_from(rows, units)
    return {number: translated(number, copy, found) for number, copy in copies.items()}


def _summed(told: DataFrame) -> DataFrame:
    """Return one row per step, and per step and target partition, summed over the rows of all tasks."""
    return told.groupBy("kind", "unit", "from_partition", "step", "to_partition", "to_step").agg(
        functions.sum("records").alias("records"),
        functions.max("last_missing").alias("last_missing"),
        functions.min(functions.struct("offset", "is_only_choice")).alias("first"),
    )
