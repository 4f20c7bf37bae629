"""The world of the engines' contract with real brokers, and with the real MirrorMaker of a Kafka version."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as ClientPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.mirror.engine import LaunchFacts
from sandbox.environment import base_environment
from sandbox.jars import KAFKA_VERSION, fetched_kafka
from sandbox.sandbox import Sandbox
from tests.contract.engine_contract import PARTITIONS, EngineWorld, Values
from tests.live.real_mirror import RealMirror
from tests.waiting import wait_until

# MirrorMaker 2 needs up to 20 s to start, a killed exactly-once one holds its transactions for 40 s more.
PATIENCE_S = 150


class LiveWorld(EngineWorld):
    """The sandbox's clusters; every MirrorMaker is a process of this test."""

    def __init__(self, brokers: Sandbox, folder: Path, kafka: str = KAFKA_VERSION) -> None:
        self._source = {"bootstrap.servers": brokers.state.source_bootstrap}
        self._target = {"bootstrap.servers": brokers.state.target_bootstrap}
        self._environment = base_environment(brokers.sandbox_id)
        self._folder = folder
        self._kafka = kafka
        self._numbers = count(1)
        self._mirrors: list[RealMirror] = []
        self.source = ConfluentCluster("source", self._source)
        self.target = ConfluentCluster("target", self._target)

    def start(self, launch: Any) -> RealMirror:
        """Start a generation."""
        folder = self._folder / str(next(self._numbers))
        self._mirrors.append(RealMirror(folder, launch, self._environment, self._kafka))
        return self._mirrors[-1]

    def wait(self, condition: Callable[[], object], what: str) -> None:
        """Wait; topics that MirrorMaker is just making do not answer yet."""
        try:
            wait_until(lambda: _answer(condition), PATIENCE_S, what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self._mirrors[-1].log()[-3000:] if self._mirrors else ''}") from error

    def facts(self, max_message_bytes: int) -> LaunchFacts:
        """Return the brokers' addresses."""
        return LaunchFacts(self._source, self._target, max_message_bytes, PARTITIONS)

    def produce(self, topic: str, partition: int, *values: bytes) -> None:
        """Append records to the source."""
        self._send(Producer({**self._source, "linger.ms": 100}), topic, partition, values)

    def end_transaction(self, topic: str, partition: int, *values: bytes) -> None:
        """Append records in a transaction."""
        producer = Producer({**self._source, "transactional.id": f"engines-{topic}"})
        producer.init_transactions(30)
        producer.begin_transaction()
        self._send(producer, topic, partition, values)
        producer.commit_transaction(30)
        end = {TopicPartition(topic, partition): len(values) + 1}
        self.wait(lambda: self.source.log_end_offsets(list(end), "read_committed") == end, "the marker")

    def values(self, topic: str) -> Values:
        """Return all committed values of the target."""
        ends = self.target.log_end_offsets([TopicPartition(topic, n) for n in range(PARTITIONS)], "read_committed")
        settings = {"group.id": "engines", "enable.auto.commit": False, "enable.partition.eof": True}
        found: dict[int, list[bytes]] = {number: [] for number in range(PARTITIONS)}
        consumer = Consumer({**self._target, **settings, "isolation.level": "read_committed"})
        consumer.assign([ClientPartition(p.topic, p.partition, 0) for p in ends])
        unread = set(found)
        while unread:
            message = consumer.poll(PATIENCE_S)
            assert message is not None, f"{topic} cannot be read to its end"
            if message.error():
                unread.discard(message.partition())
            else:
                found[message.partition()].append(message.value())
        consumer.close()
        return found

    def limit_records(self, topic: str, max_message_bytes: int) -> None:
        """Set the topic's configuration."""
        limit = ConfigEntry("max.message.bytes", str(max_message_bytes), incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[limit])
        admin = AdminClient(self._target)
        for future in admin.incremental_alter_configs([resource]).values():
            future.result(60)

    def close(self) -> None:
        """Leave no MirrorMaker behind."""
        for mirror in self._mirrors:
            mirror.kill()

    @staticmethod
    def _send(producer: Producer, topic: str, partition: int, values: tuple[bytes, ...]) -> None:
        for value in values:
            producer.produce(topic, key=value, value=value, partition=partition)
        assert producer.flush(60) == 0


def _answer(condition: Callable[[], object]) -> object:
    try:
        return condition()
    except TransientError:
        return False


class LiveWorlds:
    """Both suites run in this world, with MirrorMaker of the version `kafka`."""

    kafka: ClassVar[str] = KAFKA_VERSION

    @pytest.fixture
    def world(self, brokers: Sandbox, tmp_path: Path) -> Iterator[EngineWorld]:
        """A world on the sandbox's clusters."""
        fetched_kafka(self.kafka)
        world = LiveWorld(brokers, tmp_path, self.kafka)
        yield world
        world.close()
