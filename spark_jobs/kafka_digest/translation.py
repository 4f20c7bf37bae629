"""Translates committed offsets to the target: one Spark pass for all groups, whatever the engine, partitions and names.

Each vector of committed offsets is translated to one offset per target partition, from which everything unread follows
in order (`rightmost.py`). Copies that keep partitions have the order of the partition; others that of each key, and
records without a key have none.

A second, shorter pass counts what the target holds from these offsets on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions

from kafka_digest.clusters import SIDES, Clusters
from kafka_digest.errors import naming
from kafka_digest.hashing import RECORD, Hashing
from kafka_digest.session import small_table
from kafka_digest.translate_tasks import COUNTS, STEPS, Unit, counts, steps
from kafka_digest.vectors import TopicCopy, Translated, delivered_from, places_of, sum_of, translated, unread_from
from kafka_digest.windows import SideRange

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class Translation:
    """Translates the groups of several topics at once."""

    clusters: Clusters

    def run(self, copies: Sequence[TopicCopy]) -> list[list[Translated]]:
        """Return where the vectors of each topic go on. Raises `JobError`."""
        numbered = dict(enumerate(copies))
        units = {number: copy.unit for number, copy in numbered.items()}
        with naming(f"translating the offsets of groups on {len(copies)} topics"):
            found = unread_from(self._steps(numbered, units), units)
            results = {number: translated(number, copy, found) for number, copy in numbered.items()}
        with naming("counting what the groups will read"):
            self._count(numbered, results)
        return list(results.values())

    def _steps(self, copies: Mapping[int, TopicCopy], units: Mapping[int, Unit]) -> list[Any]:
        source = self._hashed(copies, "source")
        target = self._hashed(copies, "target")
        if source is None:
            return []
        source = source.persist()
        try:
            rows = source if target is None else source.unionByName(_of_these_keys(target, source))
            in_order = rows.repartition(self.clusters.tasks, "unit", "key").sortWithinPartitions(
                "unit", "key", "side", "partition", "offset"
            )
            return in_order.mapInArrow(partial(steps, units=units), STEPS).collect()
        finally:
            source.unpersist()

    def _hashed(self, copies: Mapping[int, TopicCopy], side: str) -> DataFrame | None:
        """Return the rows `translate_tasks.HASHED` of a side."""
        placed = self._placed(copies, side, {n: copy.ranges[side] for n, copy in copies.items()})
        return None if placed is None else hashed_rows(placed, SIDES.index(side), self.clusters.hashing)

    def _placed(
        self, copies: Mapping[int, TopicCopy], side: str, ranges: Mapping[int, Sequence[SideRange]]
    ) -> DataFrame | None:
        """Return the records of a side with the number of their topic and what its order is."""
        frame = self.clusters.read(side, [piece for pieces in ranges.values() for piece in pieces])
        if frame is None:
            return None
        name = "topic" if side == "source" else "target_topic"
        topics = [(getattr(copy, name), number, copy.by_key) for number, copy in copies.items()]
        table = small_table(self.clusters.session, topics, "topic string, unit int, by_key boolean")
        return frame.join(functions.broadcast(table), "topic")

    def _count(self, copies: Mapping[int, TopicCopy], results: Mapping[int, list[Translated]]) -> None:
        """Put into each result how many records it delivers."""
        places = places_of(results)
        ranges = {
            number: [replace(piece, start=places[number, piece.partition][0]) for piece in copy.ranges["target"]]
            for number, copy in copies.items()
            if results[number]
        }
        placed = self._placed(copies, "target", ranges)
        rows: list[Any] = []
        if placed is not None:
            offsets = placed.select("unit", "partition", "offset").coalesce(self.clusters.tasks)
            rows = offsets.mapInArrow(partial(counts, places=places), COUNTS).collect()
        delivered = delivered_from(rows, places)
        for number, found in results.items():
            found[:] = [replace(one, delivered=sum_of(delivered, number, one.target)) for one in found]


def hashed_rows(placed: DataFrame, side: int, hashing: Hashing) -> DataFrame:
    """Return the rows `translate_tasks.HASHED` of records with their `unit` and whether it is `by_key`."""
    record = hashing.of(*RECORD)
    key = f"if(key is null, {record}, {hashing.of('key')})"
    return placed.selectExpr(
        "unit",
        f"if(by_key, {key}, cast(partition as bigint)) as key",
        f"{side} as side",
        "partition",
        "offset",
        f"{record} as record",
    )


def _of_these_keys(target: DataFrame, source: DataFrame) -> DataFrame:
    """Return the target's records of keys that the source's have; most keys have nothing unread."""
    return target.join(source.select("unit", "key").distinct(), ["unit", "key"], "left_semi").select(target.columns)
