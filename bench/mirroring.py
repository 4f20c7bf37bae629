"""MirrorMaker 2 with this package's profile, with its defaults, and tuned by hand: how fast each copies.

All copy the same topic in turn, each to a name of its own. The time from the first record on the target to the last one
counts; the start of the process does not. One cluster is reached through a relay that makes the round trip: the source,
as where MirrorMaker runs beside the target, or the target.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, groupby
from pathlib import Path
from typing import NamedTuple

from bench.copies import Topic, cost_of_copy, on_target
from bench.figures import FIGURES
from bench.measuring import Cost, median_of, ratio
from bench.opponents import MIRROR_CONSUMER, MIRROR_FLOW, MIRROR_PRODUCER, MIRROR_TASKS
from bench.relay import Relay, RelayedCluster, relayed_cluster
from bench.results import Row
from bench.sizes import Mirroring as Size
from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.mirror.engine import DEFAULT_MAX_MESSAGE_BYTES, LaunchFacts
from kafka_migration.core.mirror.host import MirrorLaunch
from kafka_migration.engines.mirrormaker2 import PROPERTIES_FILE, MirrorMaker2
from kafka_migration.migration_file.loading import load_migration
from sandbox.environment import base_environment
from sandbox.kafka import ONE_REPLICA
from sandbox.parts import HOST
from tests.live.real_mirror import RealMirror

LARGE_BYTES = 20_000
_FILE = """\
version: 1
name: {name}
source:
  connection: bench_source
  alias: {name}-old
target:
  connection: bench_target
  replication_factor: 1
topics: [{topic}]
mirror:
  connection: bench_host
  topic_names:
    naming: prefixed
validation:
  spark_connection: bench_spark
"""
# A simple default configuration of MirrorMaker 2, with replication factors for one broker.
_DEFAULTS = (
    ONE_REPLICA
    + """\
clusters = {name}-old, {name}-target
{name}-old.bootstrap.servers = {source}
{name}-target.bootstrap.servers = {target}
{name}-old->{name}-target.enabled = true
{name}-old->{name}-target.topics = {topic}
"""
)


class Compared(NamedTuple):
    """A figure: MirrorMaker's other configuration, the copied topic, and which side has which round trip."""

    name: str
    arm: str
    topic: str
    side: str
    round_trip_ms: int


# Those of the same topic, side and round trip stand together, because they are measured together.
_COMPARED = (
    Compared(
        "MirrorMaker 2, rate with its defaults ÷ our profile, 12 partitions, 0 ms", "defaults", "small", "source", 0
    ),
    Compared("MirrorMaker 2, rate tuned by hand ÷ our profile, 12 partitions, 0 ms", "tuned", "small", "source", 0),
    Compared(
        "MirrorMaker 2, rate with its defaults ÷ our profile, 12 partitions, 10 ms", "defaults", "small", "source", 10
    ),
    Compared("MirrorMaker 2, rate tuned by hand ÷ our profile, 12 partitions, 10 ms", "tuned", "small", "source", 10),
    Compared(
        "MirrorMaker 2, rate with its defaults ÷ our profile, 12 partitions, 50 ms", "defaults", "small", "source", 50
    ),
    Compared("MirrorMaker 2, rate tuned by hand ÷ our profile, 12 partitions, 50 ms", "tuned", "small", "source", 50),
    Compared("MirrorMaker 2, rate tuned by hand ÷ our profile, 1 partition, 0 ms", "tuned", "one", "source", 0),
    Compared("MirrorMaker 2, rate tuned by hand ÷ our profile, 1 partition, 50 ms", "tuned", "one", "source", 50),
    Compared("MirrorMaker 2, rate tuned by hand ÷ our profile, large records, 0 ms", "tuned", "large", "source", 0),
    Compared("MirrorMaker 2, rate tuned by hand ÷ our profile, large records, 50 ms", "tuned", "large", "source", 50),
    Compared("MirrorMaker 2, rate tuned by hand ÷ our profile, compressed, 0 ms", "tuned", "compressed", "source", 0),
    Compared("MirrorMaker 2, rate tuned by hand ÷ our profile, compressed, 50 ms", "tuned", "compressed", "source", 50),
    Compared(
        "MirrorMaker 2, rate tuned by hand ÷ our profile, 12 partitions, 50 ms to the target",
        "tuned",
        "small",
        "target",
        50,
    ),
)


@contextmanager
def _world(size: Size) -> Iterator[World]:
    """Start the clusters, and fill the topics of the source."""
    topics = (
        Topic("small", 12, size.records),
        Topic("one", 1, size.records),
        Topic("large", 12, size.large_records, LARGE_BYTES),
        Topic("compressed", 12, size.records, codec="zstd"),
    )
    with tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder, ExitStack() as stack:
        source, target = (stack.enter_context(_cluster(Path(folder) / side)) for side in ("source", "target"))
        for topic in topics:
            topic.fill(source.bootstrap)
        yield World(Path(folder), source, target, {topic.name: topic for topic in topics})


def rows(size: Size) -> Iterator[Row]:
    """Let all copy in turn; yield the figures."""
    with _world(size) as world:
        with world.far("source", 0):
            # The first copy warms up the brokers.
            world.cost(world.topics["small"], "defaults", 0)
        for _, group in groupby(_COMPARED, key=lambda each: each[2:]):
            yield from _together(world, tuple(group), size.runs)


def _together(world: World, group: Sequence[Compared], runs: int) -> Iterator[Row]:
    """Measure figures of the same topic, side and round trip; those that are not judged have one run."""
    topic, side, round_trip_ms = world.topics[group[0].topic], group[0].side, group[0].round_trip_ms
    is_judged = any(FIGURES[each.name].must for each in group)
    with world.far(side, round_trip_ms):
        costs = world.costs(topic, ("profile", *(each.arm for each in group)), round_trip_ms, runs if is_judged else 1)
    for each in group:
        row = ratio(each.name, costs, "profile", each.arm, (topic.count, topic.count))
        # Waiting for a round trip takes no processor time.
        yield replace(row, ratio=row.wall or row.ratio) if round_trip_ms else row


@dataclass
class World:
    """Two clusters, the topics of the source, and how MirrorMaker reaches both."""

    folder: Path
    source: RelayedCluster
    target: RelayedCluster
    topics: Mapping[str, Topic]
    _addresses: dict[str, str] = field(default_factory=dict)
    _copies: Iterator[int] = field(default_factory=count)

    @contextmanager
    def far(self, side: str, round_trip_ms: int) -> Iterator[None]:
        """Let MirrorMaker reach a side with this round trip."""
        self._addresses = {"source": self.source.bootstrap, "target": self.target.bootstrap}
        if not round_trip_ms:
            yield
            return
        cluster = self.source if side == "source" else self.target
        with Relay(cluster.relay_port, cluster.relayed_port, round_trip_ms / 2000):
            self._addresses[side] = f"{HOST}:{cluster.relay_port}"
            yield

    def costs(self, topic: Topic, arms: Sequence[str], round_trip_ms: int, runs: int) -> dict[str, Cost]:
        """Return the median cost of each arm. The arms run in turn, so that drift affects all."""
        found = defaultdict[str, list[Cost]](list)
        for _ in range(runs):
            for arm in arms:
                found[arm].append(self.cost(topic, arm, round_trip_ms))
        return {arm: median_of(costs) for arm, costs in found.items()}

    def cost(self, topic: Topic, arm: str, round_trip_ms: int) -> Cost:
        """Copy a topic with one of the configurations; return the cost of the copy."""
        name = f"bench-{next(self._copies)}"
        work, copied = self.folder / name, f"{name}-old.{topic.name}"
        work.mkdir()
        target = ConfluentCluster("bench", {"bootstrap.servers": self.target.bootstrap})
        partitions = [TopicPartition(copied, number) for number in range(topic.partitions)]
        mirror = RealMirror(work, self._launch(name, topic, arm, round_trip_ms), base_environment("bench"))
        try:
            return cost_of_copy(topic.count, partial(on_target, target, partitions), partial(_fault, mirror))
        finally:
            mirror.stop()
            target.delete_topics([copied])

    def _launch(self, name: str, topic: Topic, arm: str, round_trip_ms: int) -> MirrorLaunch:
        source, target = ({"bootstrap.servers": self._addresses[side]} for side in ("source", "target"))
        migration = load_migration(_FILE.format(name=name, topic=topic.name), where="bench")
        engine = MirrorMaker2(migration, ConfluentCluster("bench", source), ConfluentCluster("bench", target))
        launch = engine.launch(1, LaunchFacts(source, target, DEFAULT_MAX_MESSAGE_BYTES, topic.partitions))
        if arm == "profile":
            return launch
        properties = _DEFAULTS.format(name=name, topic=topic.name, **self._addresses)
        properties += _tuning(name, MIRROR_TASKS[round_trip_ms]) if arm == "tuned" else "tasks.max = 4\n"
        # Like the profile, the tuned one starts no worker that writes to the source cluster.
        arguments = launch.arguments[:1] if arm == "defaults" else launch.arguments
        return replace(launch, files={**launch.files, PROPERTIES_FILE: properties}, arguments=arguments)


def _tuning(name: str, tasks: int) -> str:
    """Return the properties that the opponent adds to the defaults."""
    flow = {f"{name}-old->{name}-target.{key}": value for key, value in MIRROR_FLOW.items()}
    consumer = {f"{name}-old.consumer.{key}": value for key, value in MIRROR_CONSUMER.items()}
    producer = {f"{name}-target.producer.{key}": value for key, value in MIRROR_PRODUCER.items()}
    tuning = {"tasks.max": str(tasks), **flow, **consumer, **producer}
    return "".join(f"{key} = {value}\n" for key, value in tuning.items())


def _fault(mirror: RealMirror) -> str:
    """Return the end of the log of a MirrorMaker that has ended; empty while it runs."""
    return "" if mirror.is_alive else mirror.log()[-2000:]


def _cluster(folder: Path) -> AbstractContextManager[RelayedCluster]:
    folder.mkdir()
    return relayed_cluster(folder)
