"""The fake MirrorMakers keep the engines' contract; so do the engines over them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from kafka_migration.core.migration.settings import TopicNames
from kafka_migration.core.mirror.engine import LaunchFacts
from tests.contract.engine_contract import (
    CopyContract,
    EngineWorld,
    HostEngineContract,
    Mirror,
    TellingGenerationsContract,
    Values,
)
from tests.contract.fake_cluster import FakeCluster
from tests.contract.fake_mirrormaker import FakeMirror, fake_mirror

pytestmark = pytest.mark.unit

ADDRESS = {"bootstrap.servers": "fake:9092"}
PATIENCE_STEPS = 2000


class FakeWorld(EngineWorld):
    """Two fake clusters; time passes in steps of the MirrorMakers."""

    def __init__(self) -> None:
        self.source: FakeCluster = FakeCluster("old")
        self.target: FakeCluster = FakeCluster("new")
        self._mirrors: list[FakeMirror] = []

    def start(self, launch: Any) -> Mirror:
        """Start a generation."""
        self._mirrors.append(mirror := fake_mirror(launch, self.source, self.target))
        return mirror

    def wait(self, condition: Callable[[], object], what: str) -> None:
        """Step until the condition is true."""
        for step in count():
            if condition():
                return
            assert step < PATIENCE_STEPS, f"{what} never came true"
            for mirror in self._mirrors:
                mirror.step()

    def facts(self, max_message_bytes: int) -> LaunchFacts:
        """Return an address."""
        return LaunchFacts(ADDRESS, ADDRESS, max_message_bytes, partitions=2)

    def produce(self, topic: str, partition: int, *values: bytes) -> None:
        """Append records to the source."""
        self.source.produce(topic, partition, *((value, value) for value in values))

    def end_transaction(self, topic: str, partition: int, *values: bytes) -> None:
        """Append records and the offset of a marker."""
        self.produce(topic, partition, *values)
        self.source.leave_holes(topic, partition, 1)

    def values(self, topic: str) -> Values:
        """Return the visible values of the target."""
        logs = enumerate(self.target.topics[topic].partitions)
        return {number: [record[1] or b"" for _, record in log.visible(0)] for number, log in logs}

    def limit_records(self, topic: str, max_message_bytes: int) -> None:
        """Set the topic's configuration."""
        self.target.topics[topic].configs["max.message.bytes"] = str(max_message_bytes)


class FakeSuite(CopyContract, TellingGenerationsContract, HostEngineContract):
    """All suites over fakes."""

    @pytest.fixture
    def world(self) -> EngineWorld:
        """A world without records."""
        return FakeWorld()


class TestMirrorMaker2(FakeSuite):
    """As it is unless the file says otherwise."""


class TestMirrorMaker2Prefixed(FakeSuite, topic_names=TopicNames("prefixed")):
    """With the source's alias before the names."""


class TestMirrorMaker2ExactlyOnce(FakeSuite, exactly_once=True):
    """In transactions."""


class TestMirrorMaker1(FakeSuite, engine="mirrormaker1"):
    """The old one."""
