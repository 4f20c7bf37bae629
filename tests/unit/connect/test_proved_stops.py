"""What a Connect cluster calls stopped counts as stopped once no worker may still run a task; connectors in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from kafka_migration.adapters.connect import connect_process, task_watch
from kafka_migration.adapters.connect.connect_process import ConnectProcess
from kafka_migration.adapters.connect.connect_rest import ConnectRest
from kafka_migration.adapters.connect.task_watch import TaskWatch
from kafka_migration.adapters.connect.worker_address import WorkerAnswer
from kafka_migration.core.connect.connect_config import ConnectLaunch
from kafka_migration.core.connect.task_history import LifeState, TaskHistory, TaskLife
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import MirrorFailed, Refused
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.mirror.mirror_process import ProcessState

pytestmark = pytest.mark.unit
ME, FIRST, SECOND = "run-1", "worker-1:8083", "worker-2:8083"
SETTINGS = HttpSettings("connect", "http://worker-1:8083")


class RestInMemory(ConnectRest):
    """Connectors by name, each with its configuration and state."""

    def __init__(self) -> None:
        self.connectors: dict[str, tuple[dict[str, str], str]] = {}

    def config(self, name: str) -> dict[str, str] | None:
        return self.connectors[name][0] if name in self.connectors else None

    def status(self, name: str) -> Mapping[str, Any] | None:
        return {"connector": {"state": self.connectors[name][1]}} if name in self.connectors else None

    def tasks(self, name: str) -> list[Mapping[str, Any]] | None:
        return []

    def create(self, name: str, config: Mapping[str, str], *, is_running: bool) -> bool:
        self.connectors.setdefault(name, (dict(config), "RUNNING" if is_running else "STOPPED"))
        return True

    def stop(self, name: str) -> bool:
        self.connectors[name] = (self.connectors[name][0], "STOPPED")
        return True

    def delete(self, name: str, present: Mapping[str, str] | None = None) -> None:
        if name in self.connectors and (present is None or self.connectors[name][0] == present):
            del self.connectors[name]

    def wait(self, condition: Callable[[], bool], what: str, limit_s: float = 0) -> None:
        condition()


class WatchInMemory(TaskWatch):
    """The lives of the tasks of the newest generation; every worker was reached before."""

    lives: tuple[TaskLife, ...] = ()

    def ends(self) -> Offsets:
        return {TopicPartition(self.status_topic, 0): 0}

    def history(self, connector: str, start: Offsets | None) -> TaskHistory:
        return TaskHistory(self.lives)

    def reached(self) -> list[str]:
        return [FIRST, SECOND]


@dataclass
class Scene:
    """A migration on a Connect cluster of two workers, whose answers are `answers`."""

    answers: dict[str, WorkerAnswer] = field(default_factory=lambda: dict.fromkeys((FIRST, SECOND), WorkerAnswer.FREE))
    watch: WatchInMemory = field(default_factory=lambda: WatchInMemory(None, "status", SETTINGS))  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        self.process = ConnectProcess("shop", RestInMemory(), self.watch)

    def run(self, generation: int) -> None:
        """Start a generation with one task on each worker."""
        self.process.reserve(ME)
        self.watch.lives = ()
        self.process.start(ME, generation, ConnectLaunch({"topics": "orders"}))
        self.watch.lives = tuple(TaskLife(n, each, LifeState.RUNNING) for n, each in enumerate((FIRST, SECOND)))

    def end(self, worker: str) -> None:
        """Let the task of a worker end in order."""
        ended = (
            TaskLife(life.task, life.worker, LifeState.ENDED) for life in self.watch.lives if life.worker == worker
        )
        self.watch.lives = (*ended, *(life for life in self.watch.lives if life.worker != worker))


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A scene in which nothing waits."""
    made = Scene()
    monkeypatch.setattr(task_watch, "ask_worker", lambda _, worker, __: made.answers[worker])
    monkeypatch.setattr(task_watch, "SETTLED_S", 0)
    for name in ("CONFIRM_S", "STOP_S", "PAUSE_S"):
        monkeypatch.setattr(connect_process, name, 0)
    return made


@pytest.mark.parametrize("answer", [WorkerAnswer.SILENT, WorkerAnswer.HAS_TASKS])
def test_stop_that_a_worker_does_not_prove_leaves_the_generation_running(scene: Scene, answer: WorkerAnswer) -> None:
    """Connect calls it stopped, but nothing is freed, started or called stopped as long as a worker may copy."""
    scene.run(1)
    scene.end(FIRST)
    scene.answers[SECOND] = answer

    with pytest.raises(MirrorFailed) as error:
        scene.process.stop(ME, 1, 0)
    with pytest.raises(Refused, match="may still run on worker worker-2:8083") as release:
        scene.process.release(ME)
    with pytest.raises(Refused) as start:
        scene.process.start(ME, 1, ConnectLaunch({}))

    assert [Code.MIRROR_NOT_STOPPED] == [finding.code for finding in error.value.findings]
    assert [Code.ALREADY_RUNNING] * 2 == [f.code for each in (release, start) for f in each.value.findings]
    assert ProcessState.RUNNING is scene.process.status().state


def test_worker_that_answers_again_proves_the_stop(scene: Scene) -> None:
    """A stop that was unknown is certified once the worker has ended its task."""
    scene.run(1)
    scene.end(FIRST)
    scene.answers[SECOND] = WorkerAnswer.SILENT
    with pytest.raises(MirrorFailed):
        scene.process.stop(ME, 1, 0)
    scene.end(SECOND)

    reply = scene.process.stop(ME, 1, 0)

    assert (ProcessState.STOPPED, True) == (reply.state, reply.is_orderly)
    assert "" == scene.process.release(ME).holder


def test_proved_stop_needs_no_worker_later(scene: Scene) -> None:
    """A worker that was gone at the stop may have lost its address since: the next generation starts all the same."""
    scene.run(1)
    scene.end(FIRST)
    scene.answers[SECOND] = WorkerAnswer.GONE
    reply = scene.process.stop(ME, 1, 0)
    scene.answers[SECOND] = WorkerAnswer.SILENT

    again = scene.process.stop(ME, 1, 0)
    scene.process.release(ME)
    scene.run(2)

    assert [(ProcessState.STOPPED, False)] * 2 == [(each.state, each.is_orderly) for each in (reply, again)]
    assert (ProcessState.RUNNING, 2) == (scene.process.status().state, scene.process.status().generation)
