"""Reads a remote cluster at a round trip of 10 ms: our reader options, Spark's defaults, and options tuned by hand."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from bench.measuring import interleaved
from bench.opponents import SPARK_READER
from bench.relay import Relay, relayed_cluster
from bench.results import Arm, Row, compared
from bench.sizes import Reading as Size
from bench.validation.data import Topic, fill, keyed
from kafka_digest.reading import kafka_source
from kafka_digest.reading.read_windows import SideRange
from sandbox import jars
from sandbox.parts import HOST
from sandbox.spark import local_session

CORES, ROUND_TRIP_S = 2, 0.010


def rows(size: Size) -> Iterator[Row]:
    """Time a scan of one side through a relay, with each set of options."""
    options = {
        "ours": kafka_source.DEFAULT_OPTIONS,
        "defaults": {},
        "tuned": {**SPARK_READER, "minPartitions": str(CORES)},
    }
    with tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as root, relayed_cluster(Path(root)) as cluster:
        topic = keyed("far", size.records, 100, 2)
        fill({"source": cluster.bootstrap}, [topic])
        session = local_session(CORES, {"spark.jars": ",".join(str(jar) for jar in jars.spark_jars())})
        far = f"{HOST}:{cluster.relay_port}"
        with Relay(cluster.relay_port, cluster.relayed_port, ROUND_TRIP_S / 2):
            arms = {name: partial(_scan, session, far, topic, chosen) for name, chosen in options.items()}
            costs = interleaved(arms, size.runs)
        session.stop()
    # Elapsed time, because the waiting is compared.
    ours, defaults, tuned = (Arm(name, costs[name].wall_s, records=size.records) for name in options)
    yield compared("reader options, ours ÷ Spark's own at 10 ms round trip", ours, defaults)
    yield compared("reader options, ours ÷ tuned by hand at 10 ms round trip", ours, tuned)


def _scan(session: SparkSession, bootstrap: str, topic: Topic, options: Mapping[str, str]) -> None:
    ranges = [SideRange(topic.name, partition, 0, end) for partition, end in topic.sizes["source"].items()]
    wanted = kafka_source.reader_options({"kafka.bootstrap.servers": bootstrap}, ranges, "read_committed")
    ours = {name: value for name, value in wanted.items() if name not in kafka_source.DEFAULT_OPTIONS}
    frame = session.read.format("kafka").options(**ours, **options).load()
    frame.write.format("noop").mode("overwrite").save()
