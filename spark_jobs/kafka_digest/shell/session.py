"""What Spark is told so that it does no more than the comparison needs; what its defaults cost was measured."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Both sides together no more than the 64 consumers that an executor of Spark's keeps by default.
FEW_PARTITIONS = 32
_V1_SOURCES = "spark.sql.sources.useV1SourceList"
# Only for a session that is still to start. Executors keep what was last fetched of each Kafka partition for five
# minutes, up to 20,000 records of each, for a next reading; no other reading ever comes. A second is still long enough
# for the garbage collector to move them all, and so are consumers that no other reading asks for.
START_OPTIONS = {
    "spark.kafka.consumer.fetchedData.cache.timeout": "50ms",
    "spark.kafka.consumer.fetchedData.cache.evictorThreadRunInterval": "50ms",
    "spark.kafka.consumer.cache.capacity": "8",
}
_OPTIONS = {
    # Each batch looks up its keys among all that a task knows; small batches cost twice as much with many keys.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "200000",
    # Below this largest value Spark 4 adds up the size of a batch after every record, a quarter of the work to
    # send it. Rows of a batch are some tens of bytes each, so their number limits it well enough.
    "spark.sql.execution.arrow.maxBytesPerBatch": str((1 << 31) - 1),
}


def set_up(session: SparkSession) -> SparkSession:
    """Set the session up and return it."""
    for name, value in _OPTIONS.items():
        session.conf.set(name, value)
    return session


def choose_kafka_source(session: SparkSession, partitions: int) -> None:
    """Let the session's next readings of so many Kafka partitions use the kind of source that is best for them.

    The older kind, Spark's default, makes a Row of objects of every record and its own form of that again: a quarter
    of level 1. The newer kind does not, but keeps the consumer of every partition open, with all that it has fetched,
    until the task ends, however many partitions the task reads: with a thousand, six gigabytes are not enough.
    """
    names = {name.strip() for name in (session.conf.get(_V1_SOURCES) or "").split(",")} - {"", "kafka"}
    session.conf.set(_V1_SOURCES, ",".join(sorted(names if partitions <= FEW_PARTITIONS else {*names, "kafka"})))


def small_table(session: SparkSession, rows: Iterable[Sequence[Any]], schema: str) -> DataFrame:
    """Return a table of a few rows, made by the JVM alone; `createDataFrame` starts Python workers to read its own.

    :param schema: names and types, separated by `, `
    """
    names = [column.split(" ")[0] for column in schema.split(", ")]
    text = json.dumps([dict(zip(names, row, strict=True)) for row in rows])
    return session.sql(
        "select inline(from_json(:rows, :schema, map('mode', 'FAILFAST')))",
        {"rows": text, "schema": f"array<struct<{schema}>>"},
    )
