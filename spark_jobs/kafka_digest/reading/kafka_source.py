"""Frames over exact offset ranges of one cluster, one task per Kafka partition."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession

from kafka_digest.reading.read_windows import SideRange
from kafka_digest.runtime.job_errors import JobError
from kafka_digest.runtime.session import choose_kafka_source

# Spark sends two requests to the broker after every poll, so polls have to be large. Spark's default receive buffer of
# 64 KiB would limit one connection to 1.3 MB/s over 50 ms. At the end of a log the broker delays the next fetch for
# fetch.max.wait.ms, and both requests wait for it on the connection: with the default of 500 ms every partition costs a
# second, no matter how few records it has. Every partition has its own consumer, and registering its metrics for two
# unused reporters would cost a third of the work for a small partition.
# The clients file may override these.
DEFAULT_OPTIONS = {
    "kafka.max.poll.records": "20000",
    "kafka.max.partition.fetch.bytes": str(16 << 20),
    "kafka.fetch.max.bytes": str(64 << 20),
    "kafka.fetch.max.wait.ms": "1",
    "kafka.receive.buffer.bytes": "-1",
    "kafka.check.crcs": "true",
    "kafka.enable.metrics.push": "false",
    "kafka.auto.include.jmx.reporter": "false",
    "kafka.metric.reporters": "",
    "kafkaConsumer.pollTimeoutMs": "120000",
}
# These options would split a partition over tasks, or read something other than the window; in lower case.
FORBIDDEN_OPTIONS = {
    "minpartitions",
    "maxrecordsperpartition",
    "subscribe",
    "subscribepattern",
    "startingtimestamp",
    "endingtimestamp",
    "startingoffsetsbytimestamp",
    "endingoffsetsbytimestamp",
}


def reader_options(client: Mapping[str, str], ranges: Sequence[SideRange], isolation_level: str) -> dict[str, str]:
    """Return the options of Spark's Kafka reader for these ranges, none of which may be empty.

    Raises `JobError` for a client option that would break the reading of whole windows.
    """
    forbidden = sorted(name for name in client if name.lower() in FORBIDDEN_OPTIONS)
    if forbidden:
        raise JobError(f"the clients file sets {', '.join(forbidden)}; the job decides what each task reads")
    return {
        **DEFAULT_OPTIONS,
        **client,
        "assign": json.dumps({topic: sorted(offsets) for topic, offsets in _by_topic(ranges, "start").items()}),
        "startingOffsets": json.dumps(_by_topic(ranges, "start")),
        "endingOffsets": json.dumps(_by_topic(ranges, "end")),
        "includeHeaders": "true",
        "failOnDataLoss": "true",
        "kafka.isolation.level": isolation_level,
    }


def _by_topic(ranges: Sequence[SideRange], bound: str) -> dict[str, dict[int, int]]:
    topics: dict[str, dict[int, int]] = {}
    for piece in ranges:
        topics.setdefault(piece.topic, {})[piece.partition] = getattr(piece, bound)
    return topics


def read_ranges(
    session: SparkSession, client: Mapping[str, str], ranges: Sequence[SideRange], isolation_level: str
) -> DataFrame | None:
    """Return one frame over all ranges that are not empty; `None` if all are.

    Raises `JobError` if Spark would not read each Kafka partition in exactly one task.
    """
    wanted = [piece for piece in ranges if not piece.is_empty]
    if not wanted:
        return None
    options = reader_options(client, wanted, isolation_level)
    choose_kafka_source(session, len(wanted))
    frame = session.read.format("kafka").options(**options).load()
    tasks = frame._jdf.queryExecution().toRdd().getNumPartitions()
    if tasks != len(wanted):
        raise JobError(f"Spark planned {tasks} tasks for {len(wanted)} Kafka partitions; ranks would be wrong")
    return frame
