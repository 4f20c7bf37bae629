"""Spark settings that avoid work which the comparison does not need; the cost of the defaults was measured."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from kafka_digest.runtime.job_errors import JobError
from kafka_digest.runtime.version_numbers import MISMATCH, version_problem

# Both sides together use at most the 64 consumers that a Spark executor keeps by default.
FEW_PARTITIONS = 32
_V1_SOURCES = "spark.sql.sources.useV1SourceList"
# Only effective before the session starts. Executors cache the last fetch of each Kafka partition for five minutes, up
# to 20,000 records each, for another read that never comes. Even one second is long enough for the garbage collector to
# move them all. The same applies to unused consumers.
START_OPTIONS = {
    "spark.kafka.consumer.fetchedData.cache.timeout": "50ms",
    "spark.kafka.consumer.fetchedData.cache.evictorThreadRunInterval": "50ms",
    "spark.kafka.consumer.cache.capacity": "8",
    # A record that is too large for Spark's memory fails the task that reads it. By default it would end the process of
    # the task as well, which in local mode is that of the whole job.
    "spark.executor.killOnFatalError.depth": "0",
}
_OPTIONS = {
    # Spark 4's default: an overflow or a wrong cast is an error. Spark 3 would give another number or null instead.
    "spark.sql.ansi.enabled": "true",
    # Each batch looks up its keys among all keys of a task; small batches cost twice as much with many keys.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "200000",
    # Below this maximum, Spark 4 sums up the size of a batch after every record, which is a quarter of the work to send
    # it. Rows have some tens of bytes each, so the row limit is sufficient.
    "spark.sql.execution.arrow.maxBytesPerBatch": str((1 << 31) - 1),
}


def set_up(session: SparkSession) -> SparkSession:
    """Set the session up and return it."""
    for name, value in _OPTIONS.items():
        session.conf.set(name, value)
    return session


def check_versions(session: SparkSession) -> None:
    """Raise `JobError` if Spark, the Kafka connector and Python have versions that do not fit together."""
    conf = session.sparkContext.getConf()
    jars = ",".join(conf.get(name, "") for name in ("spark.jars", "spark.yarn.dist.jars"))
    problem = version_problem(session.version, session._jvm.scala.util.Properties.versionNumberString(), jars)
    if problem:
        raise JobError(problem, MISMATCH)


def choose_kafka_source(session: SparkSession, partitions: int) -> None:
    """Choose the kind of Kafka source for the session's next reads of this many partitions.

    The older kind, Spark's default, converts every record to a Row of objects and back, which is a quarter of the work
    of level 1. The newer kind avoids that, but keeps the consumer of every partition open, with its fetched data, until
    the task ends. For a task with a thousand partitions, six gigabytes are not enough.
    """
    names = {name.strip() for name in (session.conf.get(_V1_SOURCES) or "").split(",")} - {"", "kafka"}
    session.conf.set(_V1_SOURCES, ",".join(sorted(names if partitions <= FEW_PARTITIONS else {*names, "kafka"})))


def small_table(session: SparkSession, rows: Iterable[Sequence[Any]], schema: str) -> DataFrame:
    """Return a table of a few rows, made by the JVM alone; `createDataFrame` would start Python workers.

    :param schema: names and types, separated by `, `
    """
    names = [column.split(" ")[0] for column in schema.split(", ")]
    text = json.dumps([dict(zip(names, row)) for row in rows])
    return session.sql(
        "select inline(from_json(:rows, :schema, map('mode', 'FAILFAST')))",
        {"rows": text, "schema": f"array<struct<{schema}>>"},
    )
