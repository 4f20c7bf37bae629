"""MirrorMaker 2 with this package's profile and with its defaults, compared from its start to the last record.

Both copy equal topics with twelve partitions, in turn: the profile with identity names, the defaults with their prefix.
The total time is compared, including the start of the process. Each copy has its own names for its topic, its clusters
and its internal topics, so that no copy finds or deletes data of another.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from confluent_kafka import Producer

from bench.results import Row
from kafka_migration.adapters.kafka import ConfluentCluster
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.mirror.engine import LaunchFacts
from kafka_migration.core.mirror.host import MirrorLaunch
from kafka_migration.engines.mirrormaker2 import PROPERTIES_FILE, MirrorMaker2
from kafka_migration.migration_file.loading import load_migration
from sandbox.sandbox import Sandbox
from tests.live.real_mirror import RealMirror

PARTITIONS, RECORDS, VALUE_BYTES = 12, 600_000, 100
RUNS = 3
TIMEOUT_S = 600
_FILE = """\
version: 1
name: {name}
source:
  connection: bench_source
target:
  connection: bench_target
  replication_factor: 1
topics: [{name}]
mirror:
  connection: bench_host
  tasks: 4
validation:
  spark_connection: bench_spark
"""
# A simple default configuration of MirrorMaker 2, with replication factors for one broker.
_DEFAULTS = """\
clusters = {name}-old, {name}-new
{name}-old.bootstrap.servers = {source}
{name}-new.bootstrap.servers = {target}
{name}-old->{name}-new.enabled = true
{name}-old->{name}-new.topics = {name}
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
    """Let both copy in turn, return the figure."""
    seconds: dict[str, list[float]] = {"profile": [], "defaults": []}
    with (
        tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder,
        Sandbox(Path(folder) / "sandbox", airflow=False, java_options=()) as sandbox,
    ):
        sides = (sandbox.state.source_bootstrap, sandbox.state.target_bootstrap)
        for number in range(RUNS):
            for arm, values in seconds.items():
                name = f"bench-{arm}-{number}"
                work = Path(folder) / name
                work.mkdir()
                values.append(_copy(work, name, arm == "profile", sides, sandbox.state.environment))
    medians = {arm: statistics.median(values) for arm, values in seconds.items()}
    name = f"MirrorMaker 2, our profile ÷ its defaults, {PARTITIONS} partitions"
    return [Row(name, medians["profile"] / medians["defaults"], None, None)]


def _copy(work: Path, name: str, is_profile: bool, sides: tuple[str, str], environment: Mapping[str, str]) -> float:
    """Fill a topic of this name and copy it with one of the two; return the seconds."""
    clusters = [ConfluentCluster("bench", {"bootstrap.servers": at}) for at in sides]
    _fill(sides[0], clusters[0], name)
    launch = _profile(name, sides, clusters)
    if is_profile:
        return _timed(work, launch, environment, clusters[1], name)
    return _timed(work, _defaults(name, sides, launch), environment, clusters[1], f"{name}-old.{name}")


def _profile(name: str, sides: tuple[str, str], clusters: list[ConfluentCluster]) -> MirrorLaunch:
    engine = MirrorMaker2(load_migration(_FILE.format(name=name), where="bench"), clusters[0], clusters[1])
    source, target = ({"bootstrap.servers": at} for at in sides)
    return engine.launch(1, LaunchFacts(source, target, 1_048_588))


def _defaults(name: str, sides: tuple[str, str], profile: MirrorLaunch) -> MirrorLaunch:
    properties = _DEFAULTS.format(name=name, source=sides[0], target=sides[1])
    return replace(profile, files={**profile.files, PROPERTIES_FILE: properties}, arguments=profile.arguments[:1])


def _fill(bootstrap: str, source: ConfluentCluster, topic: str) -> None:
    source.create_topics([NewTopic(topic, PARTITIONS, 1, {})])
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50, "queue.buffering.max.messages": RECORDS})
    for number in range(RECORDS):
        producer.produce(topic, b"%0*d" % (VALUE_BYTES, number), partition=number % PARTITIONS)
    assert producer.flush(TIMEOUT_S) == 0


def _timed(
    work: Path, launch: MirrorLaunch, environment: Mapping[str, str], target: ConfluentCluster, topic: str
) -> float:
    """Return the seconds from the start of a MirrorMaker until every record is on the target."""
    began, partitions = time.perf_counter(), [TopicPartition(topic, number) for number in range(PARTITIONS)]
    mirror = RealMirror(work, launch, environment)
    try:
        while _arrived(target, partitions) < RECORDS:
            assert mirror.is_alive, mirror.log()[-2000:]
            if time.perf_counter() - began > TIMEOUT_S:
                raise TimeoutError(f"{_arrived(target, partitions):,} of {RECORDS:,} records: {mirror.log()[-2000:]}")
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
