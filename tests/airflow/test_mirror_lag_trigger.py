"""Rules of the trigger of `watch_lag`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from airflow.triggers.base import BaseTrigger

from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.watching.watch import WatchResult
from kafka_migration.orchestration.triggers.mirror_lag import MirrorLagTrigger
from kafka_migration.steps.mirror.watcher import MirrorWatcher
from kafka_migration.steps.run.migration_run import MigrationRun
from tests.airflow.driving import event_of, next_event, revived
from tests.airflow.world import World
from tests.steps.watching import codes
from tests.steps.world import P0
from tests.waiting import wait_until


@pytest.fixture
def started(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A run whose MirrorMaker has two records to copy, with polls without pauses."""
    world.source.produce("orders", 0, (b"a", b"1"), (b"b", b"2"))
    world.start()
    at_once = asyncio.sleep
    monkeypatch.setattr("kafka_migration.orchestration.triggers.mirror_lag.asyncio.sleep", lambda seconds: at_once(0))
    return world


def trigger_of(world: World, left: timedelta = timedelta(minutes=5)) -> BaseTrigger:
    deadline = (datetime.now(UTC) + left).isoformat()
    return revived(MirrorLagTrigger(run=world.run.to_arguments(), generation=1, deadline=deadline))


def test_trigger_ends_drained_once_everything_is_copied(started: World) -> None:
    """If every position is at its goal in two polls in a row, the event says drained and names the generation."""
    started.mirror({P0: 2})

    event = event_of(trigger_of(started))

    assert ("drained", 1, []) == (event["outcome"], event["generation"], event["findings"])
    assert "Copy: 2/2 100.0%" in event["progress"]
    assert started.host.processes[1].renewals >= 2


def test_trigger_waits_while_the_host_does_not_answer(started: World) -> None:
    """While the host does not answer, MirrorMaker is not taken for dead, and the watch continues."""
    started.mirror({P0: 2})
    started.host.errors += [TransientError("no route to host")] * 3

    assert event_of(trigger_of(started))["outcome"] == "drained"


def test_trigger_ends_at_its_deadline(started: World) -> None:
    """A watch that does not reach its goals by the deadline fails with its progress."""
    started.mirror({P0: 1})

    event = event_of(trigger_of(started, left=timedelta(0)))

    assert ["MIRROR_TIMEOUT"] == codes(event)
    assert "Copy: 1/2" in event["findings"][0]["found"]


def test_leaving_the_trigger_stops_nothing(started: World) -> None:
    """A trigger that is cancelled by a restart or a clear does not stop MirrorMaker."""

    async def cancelled() -> None:
        task = asyncio.create_task(next_event(trigger_of(started)))
        await asyncio.wait([task], timeout=1)
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(cancelled())

    assert started.host.status().is_running
    assert "stop" not in started.host.calls


class HeldPoll:
    """Holds the polls of the first watcher until they may end, and records what happened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_under_way, self.may_end = threading.Event(), threading.Event()
        self.happened: list[str] = []
        self._first: MirrorWatcher | None = None
        real_poll, real_close = MirrorWatcher.poll, MigrationRun.close
        monkeypatch.setattr(MirrorWatcher, "poll", lambda watcher: self._poll(watcher, real_poll))

        def close(run: MigrationRun) -> None:
            real_close(run)
            self.happened.append("closed")

        monkeypatch.setattr(MigrationRun, "close", close)

    def _poll(self, watcher: MirrorWatcher, real: Any) -> WatchResult | None:
        self._first = self._first or watcher
        if watcher is self._first:
            self.is_under_way.set()
            assert self.may_end.wait(60)
            self.happened.append("left" if watcher.reviver.run.has_left.is_set() else "there")
        result: WatchResult | None = real(watcher)
        return result


async def cancelled_during_its_poll(held: HeldPoll, trigger: BaseTrigger, other: Awaitable[Any] | None = None) -> Any:
    """Cancel the trigger during its first poll, after awaiting something else; return its result."""
    task = asyncio.create_task(next_event(trigger))
    assert await asyncio.to_thread(held.is_under_way.wait, 60)
    result = await other if other is not None else None
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    return result


def test_poll_under_way_learns_that_the_trigger_left(started: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cancelled trigger ends at once; its poll learns of that, and keeps its connections until it ends."""
    held = HeldPoll(monkeypatch)

    asyncio.run(cancelled_during_its_poll(held, trigger_of(started)))
    assert [] == held.happened

    held.may_end.set()
    wait_until(lambda: len(held.happened) == 2)
    assert ["left", "closed"] == held.happened


def test_slow_poll_of_one_migration_does_not_hold_up_another(started: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each trigger polls in a thread of its own, so a slow poll does not delay another migration."""
    started.mirror({P0: 2})
    held = HeldPoll(monkeypatch)

    async def both() -> Any:
        with ThreadPoolExecutor(1) as shared:
            asyncio.get_running_loop().set_default_executor(shared)
            other = anext(aiter(trigger_of(started).run()))
            return await cancelled_during_its_poll(held, trigger_of(started), asyncio.wait_for(other, 60))

    event = asyncio.run(both())
    assert "drained" == event.payload["outcome"]
    held.may_end.set()
    wait_until(lambda: "left" in held.happened)


def test_run_closes_the_clusters_that_it_made(started: World) -> None:
    """A run closes only the clusters that it has opened."""
    before = (started.source.closings, started.target.closings)
    run = started.run
    run.describe("source")
    run.close()

    assert (before[0] + 1, before[1]) == (started.source.closings, started.target.closings)
