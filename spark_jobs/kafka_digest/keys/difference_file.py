"""All differences of a validation as one Parquet file, and its summary: the count of each kind and the first ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession, Window, functions

from kafka_digest.keys.align_tasks import PLACES
from kafka_digest.keys.alignment import ABORTED, COMPACTED, EXPIRED, INTERLEAVED
from kafka_digest.runtime.job_errors import naming
from kafka_digest.runtime.session import small_table

FIRST_SHOWN = 20
_PLACED = "unit int, source_partition int, source_offset bigint, target_partition int, target_offset bigint"
_NAMED = ("generation", "topic", "target_topic")


@dataclass
class DifferenceFile:
    """Collects the differences of each round; the file does not exist before the first round.

    Spark's executors write it, so they must have access to its path; otherwise differences stay unclassified.
    """

    session: SparkSession
    location: str
    _is_begun: bool = False
    _counted: dict[tuple[int, str], int] = field(default_factory=dict)

    def add(self, found: DataFrame, windows: Mapping[int, Mapping[str, Any]]) -> None:
        """Write differences, each with the names from a window of its unit."""
        names = [(number, *(window[name] for name in _NAMED)) for number, window in windows.items()]
        named = small_table(self.session, names, "unit int, generation int, topic string, target_topic string")
        columns = ("unit", *_NAMED, "label", "fields", *PLACES)
        rows = found.drop("topic").join(functions.broadcast(named), "unit").select(*columns)
        rows.write.mode("append" if self._is_begun else "overwrite").parquet(self.location)
        # If executors wrote it to a path that the driver cannot read, the differences are unknown.
        self.session.read.parquet(self.location)
        self._is_begun = True

    def add_counts(self, label: str, counts: Mapping[int, int]) -> None:
        """Count, under a label, buckets of units that differ without a known difference."""
        self._counted.update({(unit, label): count for unit, count in counts.items() if count})

    def named(self, units: Collection[int]) -> DataFrame:
        """Return the differences of these units that were written."""
        if not self._is_begun:
            return self.session.createDataFrame([], _PLACED)
        return self.session.read.parquet(self.location).where(functions.col("unit").isin(*units))

    def summaries(self) -> dict[int, dict[str, Any]]:
        """Return, per unit, the counts by kind and the first differences, in log order.

        Raises `JobError` if the written file cannot be read.
        """
        with naming(f"reading the differences {self.location}"):
            found = self._read() if self._is_begun else {}
        for (unit, label), count in self._counted.items():
            counts = found.setdefault(unit, {"counts": {}, "first": []})["counts"]
            counts[label] = counts.get(label, 0) + count
        return found

    def _read(self) -> dict[int, dict[str, Any]]:
        rows = self.session.read.parquet(self.location)
        summaries: dict[int, dict[str, Any]] = {}
        for row in rows.groupBy("unit", "label").count().orderBy("unit", "label").collect():
            summary = summaries.setdefault(row["unit"], {"counts": {}, "first": []})
            summary["counts"][row["label"]] = row["count"]
        for row in _first(rows).collect():
            place = {name: row[name] for name in PLACES}
            summaries[row["unit"]]["first"].append({"kind": row["label"], "fields": row["fields"], **place})
        return summaries


def _first(rows: DataFrame) -> DataFrame:
    # Damage first, because there may be very many explained differences.
    order = (functions.col("label").isin(ABORTED, COMPACTED, EXPIRED, INTERLEAVED), "partition", "offset", *PLACES)
    placed = rows.withColumns(
        {name: functions.coalesce(f"source_{name}", f"target_{name}") for name in ("partition", "offset")}
    )
    number = functions.row_number().over(Window.partitionBy("unit").orderBy(*order))
    return placed.withColumn("number", number).where(f"number <= {FIRST_SHOWN}").orderBy("unit", "number")
