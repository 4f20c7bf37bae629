"""What Spark is told so that it does no more than the comparison needs; what its defaults cost was measured."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_V1_SOURCES = "spark.sql.sources.useV1SourceList"
_OPTIONS = {
    # Each batch looks up its keys among all that a task knows; small batches cost twice as much with many keys.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "200000",
    # Below this largest value Spark 4 adds up the size of a batch after every record, a quarter of the work to
    # send it. Rows of a batch are some tens of bytes each, so their number limits it well enough.
    "spark.sql.execution.arrow.maxBytesPerBatch": str((1 << 31) - 1),
}


def set_up(session: SparkSession) -> SparkSession:
    """Set the session up and return it.

    Kafka is read by Spark's newer kind of source, as a stream would be. The older kind, which is what `load()` gives by
    default, makes a Row of objects of every record and Spark's own form of that again: a quarter of level 1.
    """
    for name, value in _OPTIONS.items():
        session.conf.set(name, value)
    older = (session.conf.get(_V1_SOURCES) or "").split(",")
    session.conf.set(_V1_SOURCES, ",".join(name for name in older if name.strip().lower() != "kafka"))
    return session


def small_table(session: SparkSession, rows: Iterable[Sequence[Any]], schema: str) -> DataFrame:
    """Return a table of a few rows, made by the JVM alone; `createDataFrame` starts Python workers to read its own.

    :param schema: names and types, separated by `, `
    """
    names = [column.split(" ")[0] for column in schema.split(", ")]
    text = json.dumps([dict(zip(names, row, strict=True)) for row in rows])
    return session.sql("select inline(from_json(:rows, :schema))", {"rows": text, "schema": f"array<struct<{schema}>>"})
