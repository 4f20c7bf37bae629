"""A started run whose watch runs on fakes and a fake clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from airflow.triggers.base import BaseTrigger

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.orchestration.triggers import mirror_lag as trigger_module
from kafka_migration.orchestration.triggers.mirror_lag import MirrorLagTrigger
from tests.airflow.driving import TriggerLog, deferred_by, event_of, let_time_pass, revived
from tests.airflow.world import World
from tests.steps.clock import FakeClock
from tests.steps.world import RECORD

CUTOVER = "cutover:\n  near: 5\n  fence_quiet: 60s\n  fence_wait: 10m\n"
SLOWER = (
    ("poll_interval: 1s", "poll_interval: 15s"),
    ("stall_after: 60s", "stall_after: 3m\n  unreachable_after: 20m"),
    ("10m", "1h"),
)
EVERYTHING = 1_000_000


class Restart(BaseException):
    """The triggerer is gone."""


@dataclass
class Scene:
    """A started run; `script` is called between two polls."""

    world: World
    clock: FakeClock
    log: TriggerLog
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


def started(world: World, monkeypatch: pytest.MonkeyPatch, params: dict[str, Any], records: int = 0) -> Scene:
    """Run the world's tasks until the watch; `records` are on the source before the plan."""
    scene = Scene(world, FakeClock(), TriggerLog())
    world.deployed["clock"] = scene.clock
    for old, new in SLOWER:
        world.edit_file(old, new)
    world.extend_file(CUTOVER)
    world.params = params
    scene.produce(records)
    world.start()
    world.assign()
    let_time_pass(monkeypatch, trigger_module, scene.clock, lambda: scene.script(scene))
    monkeypatch.setattr(MirrorLagTrigger, "log", scene.log)
    return scene


def a_trigger(scene: Scene) -> BaseTrigger:
    """Return the trigger that the run's watch defers with."""
    return revived(deferred_by(scene.world.task("watch_lag"), scene.world.context()).trigger)


def codes(event: Mapping[str, Any]) -> list[str]:
    """Return the codes of an event's findings."""
    return [finding["code"] for finding in event["findings"]]


def found(event: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return codes and subjects of an event's findings."""
    return [(finding["code"], finding["subject"]) for finding in event["findings"]]


def watch(scene: Scene, trigger: BaseTrigger | None = None) -> dict[str, Any]:
    """Watch to the end; return the event's payload."""
    return event_of(trigger or a_trigger(scene))
