"""Reads a remote cluster: this package's reader options compared with Spark's defaults, at a round trip of 10 ms."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

from bench.measuring import interleaved
from bench.relay import Relay, relayed_cluster
from bench.results import Row
from bench.validation.data import Topic, fill, keyed
from kafka_digest.reading import kafka_source
from kafka_digest.reading.windows import SideRange
from sandbox import jars
from sandbox.parts import HOST
from sandbox.spark import local_session

RECORDS, ROUND_TRIP_S = 200_000, 0.010


def far_reader_rows() -> list[Row]:
    """Time a scan of one side through a relay, with both sets of options."""
    with tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as root, relayed_cluster(Path(root)) as cluster:
        topic = keyed("far", RECORDS, 100, 2)
        fill({"source": cluster.bootstrap}, [topic])
        session = local_session(2, {"spark.jars": ",".join(str(jar) for jar in jars.spark_jars())})
        far = f"{HOST}:{cluster.relay_port}"
        with Relay(cluster.relay_port, cluster.relayed_port, ROUND_TRIP_S / 2):
            costs = interleaved(
                {
                    "tuned": lambda: _scan(session, far, topic, kafka_source.DEFAULT_OPTIONS),
                    "default": lambda: _scan(session, far, topic, {}),
                },
                runs=3,
            )
        session.stop()
    name = "reader options, ours ÷ Spark's own at 10 ms round trip"
    # Elapsed time, because the waiting is compared.
    return [Row(name, costs["tuned"].wall_s / costs["default"].wall_s, 1 / 5, 1 / 15)]


def _scan(session: SparkSession, bootstrap: str, topic: Topic, options: dict[str, str]) -> None:
    ranges = [SideRange(topic.name, partition, 0, end) for partition, end in topic.sizes["source"].items()]
    wanted = kafka_source.reader_options({"kafka.bootstrap.servers": bootstrap}, ranges, "read_committed")
    ours = {name: value for name, value in wanted.items() if name not in kafka_source.DEFAULT_OPTIONS}
    frame = session.read.format("kafka").options(**ours, **options).load()
    frame.write.format("noop").mode("overwrite").save()
