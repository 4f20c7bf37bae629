"""The level-1 digest against a bare scan of the same records.

Two real local clusters hold the same records. Both arms read both sides with the same reader options, in turn,
after one warm-up of each; the figure is the ratio of their medians.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import DataFrame, SparkSession

from bench.results import Row
from sandbox import jars
from sandbox.sandbox import Sandbox
from sandbox.spark import local_session

sys.path.insert(0, str(Path(__file__).parents[1] / "spark_jobs"))

from kafka_digest.digest import block_rows
from kafka_digest.kafka_source import read_ranges
from kafka_digest.windows import SideRange

TOPIC, PARTITIONS, KEYS, VALUE_BYTES = "bench", 4, 10_000, 100
BLOCK_RECORDS = 65_536
RUNS = 5


def rows(records: int) -> list[Row]:
    """Fill two clusters, time both arms."""
    with (
        tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder,
        Sandbox(Path(folder), airflow=False) as sandbox,
    ):
        sides = {"source": sandbox.state.source_bootstrap, "target": sandbox.state.target_bootstrap}
        # The same on both sides, and of today: the broker purges what is older than its retention.
        timestamp_ms = int(time.time() * 1000)
        for bootstrap in sides.values():
            _fill(bootstrap, records, timestamp_ms)
        return [_level_1_against_scan(_session(), sides, records)]


def _fill(bootstrap: str, records: int, timestamp_ms: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)]).values():
        future.result(30)
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50, "queue.buffering.max.messages": 500_000})
    for number in range(records):
        value = b"%0*d" % (VALUE_BYTES, number)
        while True:
            try:
                producer.produce(TOPIC, value, b"key-%d" % (number % KEYS), number % PARTITIONS, timestamp=timestamp_ms)
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush()


def _session() -> SparkSession:
    jar_list = ",".join(str(jar) for jar in jars.spark_jars())
    return local_session(2, {"spark.jars": jar_list, "spark.driver.memory": "4g"})


def _level_1_against_scan(session: SparkSession, sides: dict[str, str], records: int) -> Row:
    ranges = [SideRange(TOPIC, number, 0, records // PARTITIONS) for number in range(PARTITIONS)]

    def frame(side: str) -> DataFrame:
        read = read_ranges(session, {"kafka.bootstrap.servers": sides[side]}, ranges, "read_committed")
        assert read is not None
        return read

    def scan() -> None:
        for side in sides:
            frame(side).write.format("noop").mode("overwrite").save()

    def level_1() -> None:
        source, target = (block_rows(frame(side), side, BLOCK_RECORDS) for side in sides)
        source.union(target).collect()

    timed = _interleaved({"scan": scan, "level 1": level_1})
    session.stop()
    return Row(f"level 1, clean copy of {records:,} records ÷ scan", timed["level 1"] / timed["scan"], 1.3, 1.0)


def _interleaved(arms: dict[str, Callable[[], None]]) -> dict[str, float]:
    """Return the median seconds of each arm, run in turn after a warm-up, so that drift hits all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in arms}
    for run in range(RUNS + 1):
        for name, arm in arms.items():
            began = time.perf_counter()
            arm()
            if run > 0:
                seconds[name].append(time.perf_counter() - began)
    return {name: statistics.median(values) for name, values in seconds.items()}
