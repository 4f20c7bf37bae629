"""One fault of a Kafka Connect cluster in the middle of a run: drives the run and checks it against the invariants."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from bench.relay import Relay
from kafka_migration.core.connect.connect_config import copier_name, reservation_name
from kafka_migration.core.ledger.generations import Generation
from sandbox.airflow_api import DagRun
from sandbox.parts import free_ports
from tests.live.connect_invariants import copier_events, require_never_two
from tests.live.connect_world import ConnectWorld
from tests.live.faults import Faults
from tests.live.invariants import Copy, require_complete_copy, require_true_verdict
from tests.live.migrations import LiveMigration
from tests.live.reliability_table import ON_CONNECT
from tests.live.scenarios import Scenario, running
from tests.waiting import wait_until

# A lost worker is seen by the others after its session, and its tasks wait some seconds more.
NEXT_S = 400.0


class ConnectScenario(Scenario):
    """What one test of a fault needs. The Airflow connection leads to the first worker."""

    suffix = ON_CONNECT
    moves = True

    def __init__(self, test: str, world: ConnectWorld, migration: LiveMigration) -> None:
        super().__init__(test, migration, world.live.api, Faults(world.live.sandbox, migration))
        self.world = world
        self._frozen: set[str] = set()
        self._killed: list[tuple[float, str]] = []

    # ---------------------------------------------------------------- workers

    def victim(self) -> str:
        """Return a worker that runs a task, and to which the connection does not lead."""
        wait_until(self._others, 240, "a task on another worker")
        return min(self._others())

    def _others(self) -> set[str]:
        return self.world.workers_of(self.migration) - {self.world.cluster.workers[0].worker_id}

    def kill(self, worker: str) -> None:
        """Kill a worker with SIGKILL."""
        self.world.cluster.part(worker).kill()
        self._killed.append((time.time(), worker))

    def lose_mirror(self) -> None:
        """Kill a worker that runs a task and wait until the next generation copies; one that was killed comes back."""
        for worker in self._dead():
            next_one = len(self.generations) + 1
            self.world.cluster.revive(worker)
            self.wait_for_generation(next_one)
        next_one = len(self.generations) + 1
        self.kill(self.victim())
        self.wait_for_generation(next_one)

    def freeze(self, worker: str) -> None:
        """Pause the process of a worker."""
        self.world.cluster.part(worker).kill(signal.SIGSTOP)
        self._frozen.add(worker)

    def thaw(self, worker: str) -> None:
        """Let a paused worker go on."""
        self.world.cluster.part(worker).kill(signal.SIGCONT)
        self._frozen.discard(worker)

    def mend(self) -> None:
        """Let every part and all workers run and answer again."""
        super().mend()
        for worker in tuple(self._frozen):
            self.thaw(worker)
        for worker in self._dead():
            self.world.cluster.revive(worker)

    def _dead(self) -> list[str]:
        cluster = self.world.cluster
        return [each.worker_id for each in cluster.workers if cluster.part(each.worker_id).has_ended()]

    # ---------------------------------------------------------------- connectors

    def ask(self, method: str, path: str, body: Any = None) -> None:
        """Ask the REST interface for a change of the copying connector, as a person does; the answer must be good."""
        with closing(self.world.cluster.rest()) as rest:
            answer = rest._service.request(method, f"/connectors/{copier_name(self.migration.name)}{path}", body)
            assert answer.status < 300, answer

    def config(self) -> dict[str, str] | None:
        """Return the configuration of the copying connector, `None` if there is none."""
        with closing(self.world.cluster.rest()) as rest:
            return rest.config(copier_name(self.migration.name))

    def state(self) -> str:
        """Return the state of the copying connector, empty if there is none."""
        with closing(self.world.cluster.rest()) as rest:
            status = rest.status(copier_name(self.migration.name)) or {}
        return str(status.get("connector", {}).get("state", ""))

    @property
    def holder(self) -> str:
        """The run that holds the reservation on the Connect cluster, empty if it is free."""
        with closing(self.world.cluster.rest()) as rest:
            config = rest.config(reservation_name(self.migration.name)) or {}
        return config.get("kafka.migration.holder", "")

    # ---------------------------------------------------------------- what came of it

    @property
    def generations(self) -> tuple[Generation, ...]:
        """The generations in the ledger."""
        return tuple(self.migration.ledger.generations)

    def wait_for_generation(self, number: int) -> None:
        """Return once a generation copies."""
        wait_until(lambda: len(self.generations) >= number, NEXT_S, f"generation {number}")
        self.wait_for_more_copied()

    def is_starting(self) -> bool:
        """Whether there is a connector that copies."""
        return self.config() is not None

    def is_alive(self) -> bool:
        """Whether the connector is not stopped, or has a task."""
        return self.state() not in ("", "STOPPED") or bool(self.world.workers_of(self.migration))

    def require_never_two(self) -> int:
        """I5: no generation began while a task of the one before ran; return how many began."""
        return require_never_two(copier_events(self.world.cluster, self.migration.name), self._killed)

    def require_quiet(self) -> None:
        """The reservation is free, and the copier runs nowhere."""
        assert ("", "STOPPED") == (self.holder, self.state())

    def require_end_without_airflow(self, within_s: float) -> None:
        """There is no lease: what Airflow leaves alone copies on."""
        self.wait_for_more_copied()

    def concluded(self, run: DagRun, outcome: str, *codes: str) -> Copy:
        """Hold what is there against the invariants, the outcome and the codes of findings; return how the copy is."""
        found = self._outcome(run, jvms=self.require_never_two())
        assert (outcome, codes) == found, self.migration.document(run.run_id, self.attempt)["findings"]
        copy = require_complete_copy(self.migration)
        require_true_verdict(self.migration, copy)
        return copy


@contextmanager
def connect_scenario(test: str, world: ConnectWorld, **settings: str) -> Iterator[ConnectScenario]:
    """Give a scenario of a migration of its own; no part of it runs after the block."""
    name = f"connect-{test.removeprefix('test_')}".replace("_", "-")[:40].rstrip("-")
    migration = world.migration(name, **settings)
    scenario = ConnectScenario(test, world, migration)
    with running(scenario):
        yield scenario


class Way:
    """The way from Airflow to the first worker, which can be cut: then nothing listens at its end."""

    def __init__(self, world: ConnectWorld) -> None:
        (self.port,) = free_ports(1)
        self._to = world.cluster.workers[0].port
        self._relay: Relay | None = None

    def open(self) -> None:
        """Let requests through."""
        self._relay = Relay(self.port, self._to, 0).__enter__()

    def cut(self) -> None:
        """Let nothing through."""
        if self._relay:
            self._relay.__exit__(None, None, None)
        self._relay = None
