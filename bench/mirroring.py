"""MirrorMaker 2 with this package's profile, with its defaults, and tuned by hand, from its start to the last record.

All copy equal topics with twelve partitions, in turn: the profile with identity names, the others with their prefix.
The total time is compared, including the start of the process. Each copy has its own names for its topic, its clusters
and its internal topics, so that no copy finds or deletes data of another.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from confluent_kafka import Producer

from bench.opponents import MIRROR_CONSUMER, MIRROR_FLOW, MIRROR_PRODUCER
from bench.results import Arm, Row, compared
from bench.sizes import Mirroring as Size
from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.mirror.engine import LaunchFacts
from kafka_migration.core.mirror.host import MirrorLaunch
from kafka_migration.engines.mirrormaker2 import PROPERTIES_FILE, MirrorMaker2
from kafka_migration.migration_file.loading import load_migration
from sandbox.kafka import ONE_REPLICA
from sandbox.sandbox import Sandbox
from tests.live.real_mirror import RealMirror

PARTITIONS, VALUE_BYTES = 12, 100
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
_DEFAULTS = (
    ONE_REPLICA
    + """\
clusters = {name}-old, {name}-new
{name}-old.bootstrap.servers = {source}
{name}-new.bootstrap.servers = {target}
{name}-old->{name}-new.enabled = true
{name}-old->{name}-new.topics = {name}
tasks.max = 4
"""
)


def rows(size: Size) -> Iterator[Row]:
    """Let all copy in turn; yield the figures."""
    seconds: dict[str, list[float]] = {"profile": [], "defaults": [], "tuned": []}
    with (
        tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder,
        Sandbox(Path(folder) / "sandbox", airflow=False, java_options=()) as sandbox,
    ):
        sides = (sandbox.state.source_bootstrap, sandbox.state.target_bootstrap)
        for number in range(size.runs):
            for arm, values in seconds.items():
                copy = Copy(f"bench-{arm}-{number}", sides, size.records)
                values.append(copy.seconds(Path(folder), arm, sandbox.state.environment))
    arms = {arm: Arm(arm, statistics.median(values), records=size.records) for arm, values in seconds.items()}
    yield compared("MirrorMaker 2, our profile ÷ its defaults, 12 partitions", arms["profile"], arms["defaults"])
    yield compared("MirrorMaker 2, our profile ÷ tuned by hand, 12 partitions", arms["profile"], arms["tuned"])


@dataclass(frozen=True)
class Copy:
    """A topic of this name, and a MirrorMaker that copies it."""

    name: str
    sides: tuple[str, str]
    records: int

    def seconds(self, folder: Path, arm: str, environment: Mapping[str, str]) -> float:
        """Fill the topic and copy it with one of the configurations; return the seconds of the copy."""
        source, target = (ConfluentCluster("bench", {"bootstrap.servers": at}) for at in self.sides)
        self._fill(source)
        profile, properties = self._profile(source, target), _other_properties(arm, self.name, self.sides)
        if not properties:
            return self._timed(folder, profile, environment, target, self.name)
        # Like the profile, the tuned one starts no worker that writes to the source cluster.
        arguments = profile.arguments[:1] if arm == "defaults" else (*profile.arguments[:2], f"{self.name}-new")
        launch = replace(profile, files={**profile.files, PROPERTIES_FILE: properties}, arguments=arguments)
        return self._timed(folder, launch, environment, target, f"{self.name}-old.{self.name}")

    def _profile(self, source: ConfluentCluster, target: ConfluentCluster) -> MirrorLaunch:
        engine = MirrorMaker2(load_migration(_FILE.format(name=self.name), where="bench"), source, target)
        old, new = ({"bootstrap.servers": at} for at in self.sides)
        return engine.launch(1, LaunchFacts(old, new, 1_048_588))

    def _fill(self, source: ConfluentCluster) -> None:
        source.create_topics([NewTopic(self.name, PARTITIONS, 1, {})])
        settings = {"linger.ms": 50, "queue.buffering.max.messages": self.records}
        producer = Producer({"bootstrap.servers": self.sides[0], **settings})
        for number in range(self.records):
            producer.produce(self.name, b"%0*d" % (VALUE_BYTES, number), partition=number % PARTITIONS)
        assert producer.flush(TIMEOUT_S) == 0

    def _timed(
        self, folder: Path, launch: MirrorLaunch, environment: Mapping[str, str], target: ConfluentCluster, topic: str
    ) -> float:
        """Return the seconds from the start of a MirrorMaker until every record is on the target."""
        work, partitions = folder / self.name, [TopicPartition(topic, number) for number in range(PARTITIONS)]
        work.mkdir()
        began, mirror = time.perf_counter(), RealMirror(work, launch, environment)
        try:
            while (arrived := _arrived(target, partitions)) < self.records:
                assert mirror.is_alive, mirror.log()[-2000:]
                if time.perf_counter() - began > TIMEOUT_S:
                    raise TimeoutError(f"{arrived:,} of {self.records:,} records: {mirror.log()[-2000:]}")
                time.sleep(0.2)
            return time.perf_counter() - began
        finally:
            mirror.stop()


def _other_properties(arm: str, name: str, sides: tuple[str, str]) -> str:
    """Return MirrorMaker's properties of an opponent; nothing for the profile."""
    defaults = _DEFAULTS.format(name=name, source=sides[0], target=sides[1])
    flow = {f"{name}-old->{name}-new.{key}": value for key, value in MIRROR_FLOW.items()}
    consumer = {f"{name}-old.consumer.{key}": value for key, value in MIRROR_CONSUMER.items()}
    producer = {f"{name}-new.producer.{key}": value for key, value in MIRROR_PRODUCER.items()}
    tuned = "".join(f"{key} = {value}\n" for key, value in {**flow, **consumer, **producer}.items())
    return {"profile": "", "defaults": defaults, "tuned": defaults + tuned}[arm]


def _arrived(target: ConfluentCluster, partitions: list[TopicPartition]) -> int:
    try:
        return sum(target.log_end_offsets(partitions, "read_uncommitted").values())
    except TransientError:
        # MirrorMaker is creating the topic.
        return 0
