"""A started run whose watch runs on fakes and a fake clock."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.errors import FindingsError
from kafka_migration.core.report.alerts import Alert
from kafka_migration.core.watching.watch import WatchResult
from kafka_migration.steps.mirror.watcher import MirrorWatcher
from kafka_migration.steps.mirror.watching import limits_of, poll_once, watcher_of
from kafka_migration.steps.run.migration_run import MigrationRun
from tests.steps.clock import FakeClock
from tests.steps.tasks import WaitingForWatch
from tests.steps.world import RECORD, World

CUTOVER = "cutover:\n  near: 5\n  fence_quiet: 60s\n  fence_wait: 10m\n"
SLOWER = (
    ("poll_interval: 1s", "poll_interval: 15s"),
    ("stall_after: 60s", "stall_after: 3m\n  unreachable_after: 20m"),
    ("10m", "1h"),
)
EVERYTHING = 1_000_000
A_DAY_S = 24 * 3600


class Restart(BaseException):
    """What polls is gone."""


@dataclass
class Scene:
    """A started run; `script` is called between two polls."""

    world: World
    clock: FakeClock
    infos: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    alerts: list[Alert] = field(default_factory=list)
    script: Callable[[Scene], None] = lambda scene: None

    def produce(self, records: int = 1, partition: int = 0) -> None:
        """Write records to the source."""
        self.world.source.produce("orders", partition, *[RECORD] * records)

    def copy(self) -> None:
        """Let MirrorMaker copy everything and store its positions."""
        running = self.world.assign()
        for partition in running.partitions():
            running.copy(partition, EVERYTHING)
        running.flush()

    def stages(self) -> list[str]:
        """Return the stages that were recorded, oldest first."""
        return [d["stage"] for d in self.world.run.evidence.of_attempt(Kind.WATCH) if "stage" in d]

    @property
    def states(self) -> list[str]:
        """Return the states of the progress lines, each once."""
        states = (re.split("; ETA|; Copy", line.partition("State: ")[2])[0] for line in self.infos)
        return list(dict.fromkeys(states))


@dataclass
class Watching:
    """A watch as its trigger knows it: the generation to begin with, and the deadline."""

    generation: int
    deadline: datetime | None


def started(world: World, params: dict[str, Any], records: int = 0) -> Scene:
    """Run the world's tasks until the watch; `records` are on the source before the plan."""
    scene = Scene(world, FakeClock())
    world.deployed["clock"] = scene.clock
    for old, new in SLOWER:
        world.edit_file(old, new)
    world.extend_file(CUTOVER)
    world.params = params
    scene.produce(records)
    world.start()
    world.assign()
    return scene


def a_watch(world: World) -> Watching:
    """Begin the watch of a run."""
    with pytest.raises(WaitingForWatch) as waiting:
        world.do("watch_lag")
    return Watching(waiting.value.generation, limits_of(world.run).deadline)


def codes(event: Mapping[str, Any]) -> list[str]:
    """Return the codes of an event's findings."""
    return [finding["code"] for finding in event["findings"]]


def found(event: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return codes and subjects of an event's findings."""
    return [(finding["code"], finding["subject"]) for finding in event["findings"]]


def watch(scene: Scene, begun: Watching | None = None) -> dict[str, Any]:
    """Watch to the end, on the clock of the scene; return the event with which the watch ends."""
    begun = begun or a_watch(scene.world)
    run = scene.world.run
    try:
        watcher = watcher_of(run, begun.generation, begun.deadline)
    except FindingsError as error:
        return {"outcome": "failed", "findings": [finding.to_document() for finding in error.findings]}
    try:
        result = _polled_to_the_end(scene, run, watcher)
    finally:
        run.has_left.set()
        run.close()
    told = {"generation": watcher.generation, "holder": run.identity.holder}
    event: dict[str, Any] = json.loads(json.dumps({**result.to_document(), **told}))
    return event


def _polled_to_the_end(scene: Scene, run: MigrationRun, watcher: MirrorWatcher) -> WatchResult:
    end_s = scene.clock.elapsed_s + A_DAY_S
    while True:
        polled = poll_once(run, watcher)
        scene.infos.append(watcher.progress)
        scene.warnings += polled.notices
        scene.alerts += polled.alerts
        if polled.result is not None:
            return polled.result
        scene.clock.elapsed_s += run.migration.watch.poll_interval_s
        assert scene.clock.elapsed_s < end_s, "the watch does not end"
        scene.script(scene)
