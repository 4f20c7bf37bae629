"""`python -m bench [--records N]`: the level-1 digest against a bare scan of the same records.

Two real local clusters hold the same records. Both arms read both sides with the same reader options, in turn,
after one warm-up of each; the ratio of their medians is written to `bench/results.json`, a row per figure with
name, ratio, must and aim.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import DataFrame, SparkSession

from sandbox import jars
from sandbox.sandbox import Sandbox
from sandbox.spark import local_session

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "spark_jobs"))

from kafka_digest.digest import block_rows  # noqa: E402
from kafka_digest.kafka_source import read_ranges  # noqa: E402
from kafka_digest.windows import SideRange  # noqa: E402

TOPIC, PARTITIONS, KEYS, VALUE_BYTES = "bench", 4, 10_000, 100
BLOCK_RECORDS = 65_536
RUNS = 5


def main() -> None:
    """Fill two clusters, time both arms, write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    records = parser.parse_args().records
    with (
        tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder,
        Sandbox(Path(folder), airflow=False) as sandbox,
    ):
        sides = {"source": sandbox.state.source_bootstrap, "target": sandbox.state.target_bootstrap}
        for bootstrap in sides.values():
            _fill(bootstrap, records)
        rows = [_level_1_against_scan(_session(), sides, records)]
    (HERE / "results.json").write_text(json.dumps(rows, indent=1) + "\n")
    for row in rows:
        print(f"{row['name']}: {row['ratio']:.2f} (must {row['must']}, aim {row['aim']})")


def _fill(bootstrap: str, records: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)]).values():
        future.result(30)
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50, "queue.buffering.max.messages": 500_000})
    for number in range(records):
        value = b"%0*d" % (VALUE_BYTES, number)
        while True:
            try:
                producer.produce(
                    TOPIC, value, b"key-%d" % (number % KEYS), number % PARTITIONS, timestamp=1_700_000_000_000
                )
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush()


def _session() -> SparkSession:
    jar_list = ",".join(str(jar) for jar in jars.spark_jars())
    return local_session(2, {"spark.jars": jar_list, "spark.driver.memory": "4g"})


def _level_1_against_scan(session: SparkSession, sides: dict[str, str], records: int) -> dict[str, Any]:
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
    return {
        "name": "level 1, clean copy ÷ scan",
        "ratio": round(timed["level 1"] / timed["scan"], 3),
        "must": 1.3,
        "aim": 1.0,
        "records": records,
    }


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


if __name__ == "__main__":
    main()
