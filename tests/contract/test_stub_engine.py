"""An engine without a host inherits the contracts of engines and of processes, and keeps them."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.core.migration.settings import Migration, TopicNames
from kafka_migration.core.mirror.engine import AnyEngine
from tests.contract.engine_contract import CopyContract, EngineWorld, TellingGenerationsContract
from tests.contract.process_contract import KillingContract
from tests.contract.stub_engine import StubEngine, StubLaunch, StubMirror, StubPlace, StubProcess
from tests.contract.test_fake_mirrormaker import FakeWorld

pytestmark = pytest.mark.unit


class StubWorld(FakeWorld):
    """Two fake clusters, and a place where the stub runs."""

    def __init__(self) -> None:
        super().__init__()
        self.place = StubPlace()

    def engine_of(self, migration: Migration, target: KafkaCluster) -> AnyEngine:
        """Return the stub engine."""
        return StubEngine(migration, self.place)

    def start(self, launch: Any) -> StubMirror:
        """Start a generation."""
        self._mirrors.append(mirror := StubMirror(launch, self.place, self.source, self.target))
        return mirror


class StubSuite(CopyContract, TellingGenerationsContract):
    """The suites of every engine; those of a host do not apply."""

    @pytest.fixture
    def world(self) -> EngineWorld:
        """A world without records."""
        return StubWorld()


class TestStubEngine(StubSuite):
    """With the names of the source."""


class TestStubEnginePrefixed(StubSuite, topic_names=TopicNames("prefixed")):
    """With the source's alias before the names."""


class TestStubProcess(KillingContract):
    """The suite of every process; there is no host to ask."""

    def setup_method(self) -> None:
        """Begin with a place that knows nothing."""
        self.process = self.stub = StubProcess()

    def launch(self, behaviour: str = "serve") -> StubLaunch:
        """Tell the stub what its next process does."""
        self.stub.ignores_term = behaviour == "ignore-term"
        self.stub.dies_at_start = behaviour == "exit"
        return StubLaunch({}, 1)

    def kill_process(self) -> None:
        """End the process."""
        self.stub.die(137)

    def test_generation_has_no_log(self) -> None:
        """A generation without a log says so; an empty text would be a log without lines."""
        self.started()

        assert self.process.logs(1, 10).log is None
