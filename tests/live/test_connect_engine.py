"""The engine on Kafka Connect keeps the contract of engines, on a real Connect cluster between two real brokers."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from kafka_migration.adapters.connect.connect_process import ConnectProcess
from kafka_migration.core.connect.connect_config import ConnectLaunch
from kafka_migration.core.migration.settings import ConnectSettings, TopicNames
from kafka_migration.core.mirror.connect_reply import ConnectReply
from sandbox.sandbox import Sandbox
from tests.contract.engine_contract import CopyContract, EngineWorld, GenerationsContract
from tests.contract.process_contract import GRACE_S, ME
from tests.live.connect_cluster import ConnectCluster, connect_cluster
from tests.live.engine_world import LiveWorld

pytestmark = pytest.mark.live

EXACTLY_ONCE = {"exactly.once.source.support": "enabled"}


@pytest.fixture(scope="module")
def cluster(brokers: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectCluster]:
    """Two workers for all tests of this file."""
    group = f"engine-{uuid4().hex[:6]}"
    with connect_cluster(brokers, tmp_path_factory.mktemp("connect"), group=group, settings=EXACTLY_ONCE) as running:
        yield running


class ConnectMirror:
    """One generation on the Connect cluster."""

    def __init__(
        self, cluster: ConnectCluster, process: ConnectProcess, generation: int, launch: ConnectLaunch
    ) -> None:
        process.reserve(ME)
        self._cluster, self._process, self._generation = cluster, process, generation
        self._end: ConnectReply | None = None
        process.start(ME, generation, launch)

    def reply(self) -> ConnectReply:
        """Return how it is, or how it ended."""
        return self._end or self._process.status()

    def stop(self) -> None:
        """Stop it, once."""
        self._end = self._end or self._process.stop(ME, self._generation, GRACE_S)

    def kill(self) -> None:
        """Kill the workers that run a task of it, start them again, and stop it."""
        workers = {life.worker for life in self._process._present().history.unproved}
        for worker in workers:
            self._cluster.part(worker).kill(signal.SIGKILL)
        for worker in workers:
            self._cluster.revive(worker)
        self.stop()


class ConnectWorld(LiveWorld):
    """The sandbox's clusters, and a Connect cluster on the target."""

    def __init__(self, brokers: Sandbox, folder: Path, cluster: ConnectCluster) -> None:
        super().__init__(brokers, folder)
        self._cluster = cluster
        self._generations: dict[str, int] = {}

    def start(self, launch: Any) -> ConnectMirror:  # type: ignore[override]
        """Start the next generation of the migration whose alias the launch has."""
        name = launch.config["source.cluster.alias"].removesuffix("-source")
        self._generations[name] = self._generations.get(name, 0) + 1
        return ConnectMirror(self._cluster, self._cluster.process(name), self._generations[name], launch)


class ConnectWorlds:
    """Both suites run in this world."""

    @pytest.fixture
    def world(self, brokers: Sandbox, tmp_path: Path, cluster: ConnectCluster) -> Iterator[EngineWorld]:
        """A world on the sandbox's clusters; nothing of it runs on."""
        world = ConnectWorld(brokers, tmp_path, cluster)
        yield world
        for name in world._generations:
            cluster.process(name).stop(ME, None, GRACE_S)


SETTINGS = {"engine": "connect", "connect": ConnectSettings("engine-status")}


class TestKafkaConnect(ConnectWorlds, CopyContract, **SETTINGS):
    """Kafka Connect."""


@pytest.mark.campaign
class TestKafkaConnectPrefixed(ConnectWorlds, CopyContract, topic_names=TopicNames("prefixed"), **SETTINGS):
    """Kafka Connect with the source's alias before the names."""


@pytest.mark.campaign
class TestKafkaConnectExactlyOnce(ConnectWorlds, CopyContract, exactly_once=True, **SETTINGS):
    """Kafka Connect in transactions."""


@pytest.mark.campaign
class TestKafkaConnectGenerations(ConnectWorlds, GenerationsContract, **SETTINGS):
    """Kafka Connect, several generations; a refused batch shows itself only as a copy that stalls."""


@pytest.mark.campaign
class TestKafkaConnectExactlyOnceGenerations(ConnectWorlds, GenerationsContract, exactly_once=True, **SETTINGS):
    """Kafka Connect in transactions, several generations."""
