"""MirrorMaker 2 with this package's profile against MirrorMaker 2 with its defaults, from its start to the last record.

Both copy the same twelve partitions, in turn, each into a target topic of its own name: the profile with its identity
names, the defaults with their prefix. What is compared is the whole time, the start of the process included.
"""

from __future__ import annotations

import itertools
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from confluent_kafka import Producer

from bench.results import Row
from kafka_migration.adapters.kafka import ConfluentCluster
from kafka_migration.core.cluster import NewTopic
from kafka_migration.core.engine import LaunchFacts
from kafka_migration.core.errors import TransientError
from kafka_migration.core.host import MirrorLaunch
from kafka_migration.core.offsets import TopicPartition
from kafka_migration.engines.mirrormaker2 import MirrorMaker2
from kafka_migration.spec.loading import load_migration
from sandbox.sandbox import Sandbox
from tests.live.real_mirror import RealMirror

TOPIC, PARTITIONS, RECORDS, VALUE_BYTES = "bench", 12, 600_000, 100
RUNS = 3
TIMEOUT_S = 600
_FILE = """\
version: 1
name: bench
source:
  connection: bench_source
target:
  connection: bench_target
  replication_factor: 1
topics: [bench]
mirror:
  connection: bench_host
  tasks: 4
validation:
  spark_connection: bench_spark
"""
# What a first try with MirrorMaker 2 looks like; replication factors are those that one broker can give.
_DEFAULTS = """\
clusters = old, new
old.bootstrap.servers = {source}
new.bootstrap.servers = {target}
old->new.enabled = true
old->new.topics = bench
tasks.max = 4
replication.factor = 1
checkpoints.topic.replication.factor = 1
heartbeats.topic.replication.factor = 1
offset-syncs.topic.replication.factor = 1
offset.storage.replication.factor = 1
status.storage.replication.factor = 1
config.storage.replication.factor = 1
"""


def rows() -> list[Row]:
    """Fill the source, let both copy it in turn, return the figure."""
    with (
        tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder,
        Sandbox(Path(folder) / "sandbox", airflow=False) as sandbox,
    ):
        source, target = sandbox.state.source_bootstrap, sandbox.state.target_bootstrap
        clusters = [ConfluentCluster(side, {"bootstrap.servers": at}) for side, at in (("s", source), ("t", target))]
        _fill(source, clusters[0])
        ours = MirrorMaker2(load_migration(_FILE, where="bench"), *clusters).launch(
            1, LaunchFacts({"bootstrap.servers": source}, {"bootstrap.servers": target}, 1_048_588)
        )
        defaults = replace(
            ours,
            files={**ours.files, "mm2.properties": _DEFAULTS.format(source=source, target=target)},
            arguments=ours.arguments[:1],
        )
        arms = {"profile": (ours, TOPIC), "defaults": (defaults, f"old.{TOPIC}")}
        seconds: dict[str, list[float]] = {name: [] for name in arms}
        for number, (name, (launch, topic)) in itertools.product(range(RUNS), arms.items()):
            work = Path(folder) / f"{name}-{number}"
            work.mkdir()
            seconds[name].append(_copy(work, launch, sandbox.state.environment, clusters[1], topic))
            _forget(clusters)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    name = f"MirrorMaker 2, our profile ÷ its defaults, {PARTITIONS} partitions"
    return [Row(name, medians["profile"] / medians["defaults"], None, None)]


def _fill(bootstrap: str, source: ConfluentCluster) -> None:
    source.create_topics([NewTopic(TOPIC, PARTITIONS, 1, {})])
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50, "queue.buffering.max.messages": RECORDS})
    for number in range(RECORDS):
        producer.produce(TOPIC, b"%0*d" % (VALUE_BYTES, number), partition=number % PARTITIONS)
    assert producer.flush(TIMEOUT_S) == 0


def _copy(work: Path, launch: MirrorLaunch, environment: dict[str, str], target: ConfluentCluster, topic: str) -> float:
    """Return the seconds from the start of a MirrorMaker until every record is on the target."""
    began, partitions = time.perf_counter(), [TopicPartition(topic, number) for number in range(PARTITIONS)]
    mirror = RealMirror(work, launch, environment)
    try:
        while _arrived(target, partitions) < RECORDS:
            assert mirror.is_alive, mirror.log()[-2000:]
            assert time.perf_counter() - began < TIMEOUT_S, "MirrorMaker does not get through"
            time.sleep(0.2)
        return time.perf_counter() - began
    finally:
        mirror.stop()


def _arrived(target: ConfluentCluster, partitions: list[TopicPartition]) -> int:
    try:
        return sum(target.log_end_offsets(partitions, "read_uncommitted").values())
    except TransientError:
        # MirrorMaker is creating the topic.
        return 0


def _forget(clusters: list[ConfluentCluster]) -> None:
    """Remove all that a MirrorMaker made, so that the next one begins anew."""
    for cluster in clusters:
        cluster.delete_topics([t for t in cluster.topic_names() if t != TOPIC and not t.startswith("__")])
    clusters[1].delete_topics([TOPIC])
