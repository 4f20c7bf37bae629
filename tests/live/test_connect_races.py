"""Two runs that act at the same moment, each over another worker of a real Kafka Connect cluster: one of them acts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from uuid import uuid4

import pytest

from kafka_migration.adapters.connect.connect_process import ConnectProcess
from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.connect.connect_config import HOLDER, copier_name, reservation_name
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import FindingsError, OutcomeUnknown, TransientError
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.mirror.connect_reply import ConnectReply
from sandbox.sandbox import Sandbox
from tests.live.connect_cluster import ConnectCluster, connect_cluster, one_topic

pytestmark = [pytest.mark.live, pytest.mark.campaign]

RACES = 200
STARTS = 20
# Races of so many migrations go on at once, so that the workers are as busy as those that many teams use.
LANES = 4
# What a task of Airflow does after an error that says so: it asks again.
TRIES = 4
LOST = {Code.RESERVED_BY, Code.NOT_RESERVED, Code.ALREADY_RUNNING, Code.GENERATION_UNEXPECTED, Code.GENERATION_STOPPED}


@pytest.fixture(scope="module")
def cluster(brokers: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectCluster]:
    """Two workers for all races."""
    with connect_cluster(brokers, tmp_path_factory.mktemp("connect"), group=f"races-{uuid4().hex[:6]}") as running:
        yield running


@pytest.fixture(scope="module")
def topic(brokers: Sandbox) -> str:
    """A topic of two partitions on both clusters, without records."""
    name = f"races-{uuid4().hex[:8]}"
    for bootstrap in brokers.bootstraps.values():
        ConfluentCluster("", {"bootstrap.servers": bootstrap}).create_topics([NewTopic(name, 2, 1, {})])
    return name


@dataclass
class Racers:
    """Two runs of one migration, one over each worker."""

    cluster: ConnectCluster
    name: str = field(default_factory=lambda: f"race-{uuid4().hex[:8]}")
    asked_again: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.processes = [self.cluster.process(self.name, number) for number in range(2)]

    def holders(self) -> list[str]:
        """Return new names of the two runs."""
        return [f"run-{number}-{uuid4().hex[:6]}" for number in range(2)]

    def race(self, act: Callable[[ConnectProcess, str], ConnectReply], holders: list[str]) -> list[str]:
        """Let both runs act at the same moment; return those whose request was not refused."""
        line = threading.Barrier(2)

        def run(process: ConnectProcess, holder: str) -> list[str]:
            line.wait()
            return [holder] if self._acts(process, holder, act) else []

        with ThreadPoolExecutor(2) as runs:
            return [each for found in runs.map(run, self.processes, holders) for each in found]

    def held_by(self) -> set[str]:
        """Return the holder of the reservation, as each worker says."""
        found = set()
        for number in range(2):
            with closing(self.cluster.rest(number)) as rest:
                found.add((rest.config(reservation_name(self.name)) or {}).get(HOLDER, ""))
        return found

    def clear(self) -> None:
        """Remove what is there of the migration."""
        with closing(self.cluster.rest()) as rest:
            for name in (copier_name(self.name), reservation_name(self.name)):
                rest.delete(name)

    def close(self) -> None:
        """Remove what is there of the migration, and close all connections."""
        self.clear()
        for process in self.processes:
            process.close()

    def _acts(self, process: ConnectProcess, holder: str, act: Callable[[ConnectProcess, str], ConnectReply]) -> bool:
        for _ in range(TRIES):
            try:
                act(process, holder)
            except FindingsError as error:
                if {finding.code for finding in error.findings} <= LOST:
                    return False
                raise
            except (TransientError, OutcomeUnknown) as error:
                self.asked_again.append(f"{type(error).__name__}: {error}")
            else:
                return True
        raise AssertionError(f"no answer after {TRIES} tries: {self.asked_again}")


def in_lanes(cluster: ConnectCluster, count: int, race: Callable[[Racers, int], None]) -> None:
    """Do so many races in all, those of each lane one after the other."""

    def lane(_: int) -> None:
        with closing(Racers(cluster)) as racers:
            for number in range(count // LANES):
                race(racers, number)

    with ThreadPoolExecutor(LANES) as lanes:
        list(lanes.map(lane, range(LANES)))


def test_one_of_two_runs_reserves(cluster: ConnectCluster) -> None:
    """Of two runs that reserve at the same moment exactly one holds the reservation, each of 200 times."""

    def race(racers: Racers, number: int) -> None:
        won = racers.race(lambda process, holder: process.reserve(holder), racers.holders())
        assert (1, set(won)) == (len(won), racers.held_by()), f"race {number}: {won}, {racers.asked_again}"
        racers.processes[number % 2].release(won[0])
        assert {""} == racers.held_by()

    in_lanes(cluster, RACES, race)


def test_one_of_two_runs_takes_over(cluster: ConnectCluster) -> None:
    """Of two runs that take the reservation of a dead run over at the same moment exactly one holds it, 200 times."""
    dead: dict[str, str] = {}

    def race(racers: Racers, number: int) -> None:
        before = dead.get(racers.name) or racers.processes[0].reserve("dead").holder
        won = racers.race(lambda process, holder: process.reserve(holder, take_over_from=before), racers.holders())
        assert (1, set(won)) == (len(won), racers.held_by()), f"race {number}: {won}, {racers.asked_again}"
        dead[racers.name] = won[0]

    in_lanes(cluster, RACES, race)


def test_one_of_two_runs_starts_after_a_take_over(cluster: ConnectCluster, topic: str) -> None:
    """Two runs that take over and start at the same moment start one generation, of the run that holds it."""
    launch = one_topic(cluster, topic)

    def race(racers: Racers, number: int) -> None:
        racers.clear()
        racers.processes[number % 2].reserve("dead")

        def take_over_and_start(process: ConnectProcess, holder: str) -> ConnectReply:
            process.reserve(holder, take_over_from="dead")
            return process.start(holder, 1, launch(racers.name))

        won = racers.race(take_over_and_start, racers.holders())
        assert (1, set(won)) == (len(won), racers.held_by()), f"race {number}: {won}, {racers.asked_again}"
        with closing(cluster.rest(number % 2)) as rest:
            assert won[0] == (rest.config(copier_name(racers.name)) or {}).get(HOLDER)

    in_lanes(cluster, STARTS, race)
