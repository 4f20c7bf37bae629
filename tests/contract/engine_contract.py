"""What every engine keeps, whatever copies; run by fakes and by the real ones. A new engine inherits these suites.

What is about launches of Java on a host is in `HostEngineContract`.
"""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import pytest

from kafka_migration.adapters.kafka.renamed_topics import renamed_topics
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.kafka.cluster import KafkaCluster, NewTopic, Probe
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.mirror.engine import AnyEngine, LaunchFacts, MirrorHealth
from kafka_migration.core.mirror.host import MirrorLaunch
from kafka_migration.core.mirror.mirror_process import HowEnded, ProcessEnding, ProcessReply, ProcessState
from kafka_migration.core.mirror.mirrorctl_protocol import launch_variables
from kafka_migration.engines.engines import engine_of
from tests.contract.logging_mirror import ended

PARTITIONS = 2
Values = Mapping[int, Sequence[bytes]]


class Mirror(Protocol):
    """A started generation."""

    def reply(self) -> ProcessReply:
        """Return what its process answers now: whether it is alive, and the evidence of its end."""

    def stop(self) -> None:
        """Ask it to end, and wait."""

    def kill(self) -> None:
        """End it the hard way."""


class EngineWorld(ABC):
    """Two clusters and a place to run what copies."""

    source: KafkaCluster
    target: KafkaCluster

    def engine_of(self, migration: Migration, target: KafkaCluster) -> AnyEngine:
        """Return the engine of a migration."""
        return engine_of(migration, self.source, target)

    @abstractmethod
    def start(self, launch: Any) -> Mirror:
        """Start a generation with what the engine made."""

    @abstractmethod
    def wait(self, condition: Callable[[], object], what: str) -> None:
        """Let time pass until the condition is true; `AssertionError` when it never is."""

    @abstractmethod
    def facts(self, max_message_bytes: int) -> LaunchFacts:
        """Return how MirrorMaker reaches the clusters."""

    @abstractmethod
    def produce(self, topic: str, partition: int, *values: bytes) -> None:
        """Append records to the source, each value being its key too."""

    @abstractmethod
    def end_transaction(self, topic: str, partition: int, *values: bytes) -> None:
        """Append records to the source in a transaction, which leaves a marker behind them."""

    @abstractmethod
    def values(self, topic: str) -> Values:
        """Return the values of a topic on the target, committed ones, in order, by partition."""

    @abstractmethod
    def limit_records(self, topic: str, max_message_bytes: int) -> None:
        """Set what a topic on the target takes."""

    def settle(self, partitions: Sequence[TopicPartition]) -> None:
        """Wait until no transaction of a dead MirrorMaker is open on the target."""
        ends = self.target.log_end_offsets
        self.wait(
            lambda: ends(partitions, "read_committed") == ends(partitions, "read_uncommitted"),
            "the end of all transactions",
        )


@dataclass
class Scene:
    """One migration of the topics `orders` and `bills`, both of two partitions, and beside it a topic `decoy`."""

    world: EngineWorld
    migration: Migration
    generation: int = 0

    @cached_property
    def orders(self) -> str:
        """A topic whose name is an expression that also matches the decoy."""
        return self.migration.topics[0]

    @cached_property
    def bills(self) -> str:
        """Another topic."""
        return self.migration.topics[1]

    @property
    def decoy(self) -> str:
        """A topic that no file names."""
        return self.orders.replace(".", "x")

    @property
    def engine(self) -> AnyEngine:
        """The engine, which sees the target by the names of the source."""
        names = {topic: self.migration.target_topic(topic) for topic in self.migration.topics}
        return self.world.engine_of(self.migration, renamed_topics(self.world.target, names))

    def prepare(self) -> None:
        """Create all topics on both clusters."""
        topics = (self.orders, self.bills, self.decoy)
        self.world.source.create_topics([NewTopic(topic, PARTITIONS, 1, {}) for topic in topics])
        names = [self.migration.target_topic(topic) for topic in topics]
        self.world.target.create_topics([NewTopic(name, PARTITIONS, 1, {}) for name in names])

    def start(self, max_message_bytes: int = 1_000_000) -> Mirror:
        """Start the next generation."""
        self.generation += 1
        return self.world.start(self.engine.launch(self.generation, self.world.facts(max_message_bytes)))

    def produce(self, topic: str, partition: int, count: int, first: int = 0) -> list[bytes]:
        """Write so many records and return their values, no two of which are the same."""
        values = [f"{topic}/{partition}/{number}".encode() for number in range(first, first + count)]
        self.world.produce(topic, partition, *values)
        return values

    def copied(self, topic: str) -> Values:
        """Return what is on the target of a topic of the source."""
        return self.world.values(self.migration.target_topic(topic))

    def positions(self) -> Offsets:
        """Return the stored positions."""
        return self.engine.stored_positions(self.migration.topics)

    def ends(self) -> Offsets:
        """Return the source's ends of all partitions that are not empty."""
        partitions = [TopicPartition(topic, n) for topic in self.migration.topics for n in range(PARTITIONS)]
        ends = self.world.source.log_end_offsets(partitions, "read_committed")
        return {partition: end for partition, end in ends.items() if end}

    def wait_copied(self) -> None:
        """Wait until the stored positions are the ends."""
        self.world.wait(lambda: self.positions() == self.ends(), "positions at the source's ends")

    def ending(self, mirror: Mirror) -> ProcessEnding:
        """Return how it ended, as the engine judges what its process answers."""
        return self.engine.ending(mirror.reply())

    def health(self, mirror: Mirror) -> MirrorHealth:
        """Return what it reports about itself."""
        return self.engine.health(self.generation, mirror.reply())

    def is_in_trouble(self, mirror: Mirror) -> bool:
        """Whether it reports a problem itself, a task has failed, or the process is dead."""
        reply = mirror.reply()
        return bool(reply.alarm) or not reply.is_running or bool(self.engine.health(self.generation, reply).failed)


def flat(values: Values) -> Counter[bytes]:
    """Return how often each value is there, in whatever partition."""
    return Counter(value for partition in values.values() for value in partition)


class EngineWorlds:
    """What both suites need: the settings of a subclass's MirrorMaker; its world is a fixture of the subclass."""

    settings: Mapping[str, Any]

    def __init_subclass__(cls, **settings: Any) -> None:
        """Take the settings of `MirrorSettings` that are not the defaults."""
        super().__init_subclass__()
        cls.settings = settings

    @pytest.fixture
    def scene(self, world: EngineWorld, migration: Migration) -> Scene:
        """A migration that no test had before, its topics empty on both sides."""
        name = f"m{uuid.uuid4().hex[:10]}"
        made = replace(
            migration,
            name=name,
            source=replace(migration.source, alias=f"{name}-source"),
            target=replace(migration.target, alias=f"{name}-target"),
            topics=(f"{name}.orders", f"{name}-bills"),
            mirror=replace(migration.mirror, **self.settings),
        )
        scene = Scene(world, made)
        scene.prepare()
        return scene


class CopyContract(EngineWorlds):
    """One generation copies what it must, says so, and ends in order."""

    def test_copies_the_named_topics_and_stops_in_order(self, scene: Scene) -> None:
        """Every record of the named topics arrives once, every partition is assigned, the end is graceful."""
        produced = {n: scene.produce(scene.orders, n, 10) for n in range(PARTITIONS)}
        bills = scene.produce(scene.bills, 1, 3)
        scene.produce(scene.decoy, 0, 5)
        every = {TopicPartition(topic, n) for topic in scene.migration.topics for n in range(PARTITIONS)}
        mirror = scene.start()
        try:
            scene.wait_copied()
            scene.world.wait(lambda: every <= (scene.health(mirror).assigned or set()), "every partition assigned")
            health = scene.health(mirror)
        finally:
            mirror.stop()

        # MirrorMaker 2 takes the heartbeats of other MirrorMakers along wherever it finds them.
        assert {"heartbeats"} >= {p.topic.rpartition(".")[2] for p in (health.assigned or set()) - every}
        assert ((), ()) == (health.failed, health.differences)
        assert not mirror.reply().is_running
        assert scene.ending(mirror).is_clean
        assert scene.ends() == scene.positions()
        assert Counter(bills) == flat(scene.copied(scene.bills))
        assert not flat(scene.copied(scene.decoy))
        if scene.migration.keeps_partitions:
            assert produced == scene.copied(scene.orders)
        assert Counter(produced[0] + produced[1]) == flat(scene.copied(scene.orders))


class GenerationsContract(EngineWorlds):
    """Several generations, and generations that end badly."""

    def test_next_generation_goes_on_where_a_graceful_stop_left_off(self, scene: Scene) -> None:
        """Nothing is copied twice, and a topic that is taken out of the list gets no further record."""
        first = scene.produce(scene.orders, 0, 10)
        bills = scene.produce(scene.bills, 0, 4)
        mirror = scene.start()
        scene.wait_copied()
        mirror.stop()
        second = scene.produce(scene.orders, 0, 10, first=10)
        scene.produce(scene.bills, 0, 4, first=4)
        taken_out = scene.bills
        scene.migration = replace(scene.migration, topics=(scene.orders,))

        mirror = scene.start()
        scene.wait_copied()
        mirror.stop()

        assert Counter(first + second) == flat(scene.copied(scene.orders))
        assert Counter(bills) == flat(scene.copied(taken_out))

    def test_killed_generation_costs_duplicates_at_most(self, scene: Scene) -> None:
        """It is not graceful; the next one loses nothing and repeats only what lies behind the stored position."""
        values = scene.produce(scene.orders, 0, 3000)
        mirror = scene.start()
        scene.world.wait(lambda: flat(scene.copied(scene.orders)), "a first copied record")
        mirror.kill()
        scene.world.settle([TopicPartition(scene.migration.target_topic(scene.orders), n) for n in range(PARTITIONS)])
        stored = scene.positions().get(TopicPartition(scene.orders, 0), 0)

        assert scene.ending(mirror).how is not HowEnded.ORDERLY
        mirror = scene.start()
        scene.wait_copied()
        mirror.stop()

        copied = flat(scene.copied(scene.orders))
        repeated = {value for value, times in copied.items() if times > 1}
        assert set(values) == set(copied)
        assert repeated <= set(values[stored:])
        if scene.migration.mirror.exactly_once:
            assert not repeated

    def test_position_is_never_beyond_the_end(self, scene: Scene) -> None:
        """Behind the last record only a transaction marker follows: the position stays, and no record is left."""
        partition = TopicPartition(scene.orders, 1)
        scene.world.end_transaction(scene.orders, 1, b"1", b"2")
        mirror = scene.start()
        scene.world.wait(lambda: partition in scene.positions(), "a stored position")
        mirror.stop()

        end = scene.ends()[partition]
        position = scene.positions()[partition]
        assert (2, 3) == (position, end)
        assert {partition: Probe(end, True)} == scene.world.source.probe({partition: position}, "read_committed")
        assert Counter([b"1", b"2"]) == flat(scene.copied(scene.orders))

    def test_record_that_the_producer_refuses_is_seen(self, scene: Scene) -> None:
        """A record larger than any request fails the task or ends MirrorMaker, and the position stays before it."""
        scene.migration = replace(scene.migration, mirror=replace(scene.migration.mirror, tasks=8))
        scene.world.produce(scene.orders, 0, b"small", b"L" * 6000, b"last")
        mirror = scene.start(max_message_bytes=4000)
        scene.world.wait(lambda: scene.is_in_trouble(mirror), "a failed task or the end")
        failed = scene.health(mirror).failed
        mirror.stop()

        assert failed or not scene.ending(mirror).is_clean
        assert scene.positions().get(TopicPartition(scene.orders, 0), 0) <= 1
        assert b"last" not in flat(scene.copied(scene.orders))


class TellingGenerationsContract(GenerationsContract):
    """Several generations of a MirrorMaker that tells of a batch which a broker refuses again and again."""

    def test_batch_that_the_broker_refuses_is_seen_and_nothing_is_lost(self, scene: Scene) -> None:
        """A record too large for its topic, in a batch with others, raises an alarm; set back, all arrives later."""
        # One member: brokers up to 2.4.1 keep a second one that is killed while it joins (KAFKA-9752).
        scene.migration = replace(scene.migration, mirror=replace(scene.migration.mirror, tasks=1))
        large = b"L" * 6000
        begin = {TopicPartition(scene.orders, 0): 0}
        scene.world.produce(scene.orders, 0, *(b"small-%d" % n for n in range(5)), large, b"last")
        scene.world.limit_records(scene.migration.target_topic(scene.orders), 4000)
        mirror = scene.start(max_message_bytes=100_000)
        scene.world.wait(lambda: scene.is_in_trouble(mirror), "an alarm")
        mirror.kill()
        if scene.ending(mirror).distrusts_positions:
            scene.world.wait(lambda: rewound(scene.engine, begin), "a group that takes offsets")

        scene.world.limit_records(scene.migration.target_topic(scene.orders), 100_000)
        scene.world.settle([TopicPartition(scene.migration.target_topic(scene.orders), n) for n in range(PARTITIONS)])
        mirror = scene.start(max_message_bytes=100_000)
        scene.wait_copied()
        mirror.stop()

        assert {large, b"last", *(b"small-%d" % n for n in range(5))} == set(flat(scene.copied(scene.orders)))


class HostEngineContract(EngineWorlds):
    """An engine whose process is Java on a host: what it is started with, and what its log proves."""

    @pytest.fixture
    def launch(self, scene: Scene) -> MirrorLaunch:
        """The launch of the first generation."""
        launch = scene.engine.launch(1, scene.world.facts(1_000_000))
        assert isinstance(launch, MirrorLaunch)
        return launch

    def test_launch_is_one_that_a_host_takes(self, launch: MirrorLaunch) -> None:
        """It has a main class, its lease, and alarms of one line each; a request can carry it."""
        assert launch_variables(launch)["MAIN_CLASS"]
        assert launch.lease_s > 0
        assert launch.alarms
        assert [] == [alarm for alarm in launch.alarms if len(alarm.splitlines()) != 1]

    @pytest.mark.parametrize("log", ["", "INFO something\n"])
    def test_end_without_its_last_line_is_not_orderly(self, scene: Scene, log: str) -> None:
        """Without the line of an orderly end, the end is unknown; after KILL it is a kill."""
        endings = [
            scene.engine.ending(ended(log)).how,
            scene.engine.ending(ended(log, exit_code=143)).how,
            scene.engine.ending(ended(log, exit_code=137)).how,
            scene.engine.ending(ended(log, killed=True)).how,
        ]

        assert [HowEnded.UNKNOWN, HowEnded.UNKNOWN, HowEnded.KILLED, HowEnded.KILLED] == endings

    def test_end_of_a_living_process_is_unknown(self, scene: Scene) -> None:
        """As long as it runs, its log does not prove an end, whatever lines it has."""
        mirror = scene.start()
        mirror.stop()
        alive = replace(mirror.reply(), state=ProcessState.RUNNING)

        assert (HowEnded.ORDERLY, HowEnded.UNKNOWN) == (scene.ending(mirror).how, scene.engine.ending(alive).how)


def rewound(engine: AnyEngine, positions: Offsets) -> bool:
    """Set the positions back; False while the dead MirrorMaker still counts as alive."""
    try:
        engine.rewind(positions)
    except Refused:
        return False
    return True
