"""Rules of the trigger behind `watch_lag`, driven as a plain object in the small world."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kafka_migration.core.errors import TransientError
from kafka_migration.core.migration import Migration
from kafka_migration.orchestration.operators.start import StartMirrorOperator
from kafka_migration.orchestration.triggers import mirror_lag
from kafka_migration.orchestration.triggers.mirror_lag import MirrorLagTrigger
from tests.airflow.conftest import World
from tests.airflow.test_operators import BEFORE_START, P0, do, mirror

pytestmark = pytest.mark.airflow


@pytest.fixture
def started(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world in which MirrorMaker runs and has two records to copy; polls follow each other at once."""
    world.source.produce("orders", 0, (b"a", b"1"), (b"b", b"2"))
    do(world, *BEFORE_START, StartMirrorOperator)
    at_once = asyncio.sleep
    monkeypatch.setattr(mirror_lag.asyncio, "sleep", lambda seconds: at_once(0))
    return world


def trigger_of(world: World, deadline: datetime | None = None) -> MirrorLagTrigger:
    return MirrorLagTrigger(
        run=world.run.to_arguments(),
        generation=1,
        deadline=(deadline or datetime.now(UTC) + timedelta(minutes=5)).isoformat(),
    )


def event_of(trigger: MirrorLagTrigger) -> dict[str, Any]:
    async def first() -> dict[str, Any]:
        async for event in trigger.run():
            return dict(event.payload)
        raise AssertionError("the trigger ended without an event")

    return asyncio.run(asyncio.wait_for(first(), 60))


def test_trigger_survives_serialization(world: World):
    """A triggerer restart makes the same trigger from class path and arguments."""
    trigger = trigger_of(world)
    path, arguments = trigger.serialize()

    assert path == "kafka_migration.orchestration.triggers.mirror_lag.MirrorLagTrigger"
    assert (path, arguments) == MirrorLagTrigger(**arguments).serialize()


def test_trigger_ends_drained_once_everything_is_copied(started: World):
    """With every position at its goal, twice in a row, the event says drained and names the generation."""
    mirror(started, {P0: 2})

    event = event_of(trigger_of(started))

    assert ("drained", 1, []) == (event["outcome"], event["generation"], event["findings"])
    assert "Copy: 2/2 100.0%" in event["progress"]
    assert started.host.processes[1].renewals >= 2


def test_trigger_waits_while_the_host_does_not_answer(started: World):
    """An unreachable host is unknown, not dead: the watch goes on and ends well when it answers again."""
    mirror(started, {P0: 2})
    started.host.errors += [TransientError("no route to host")] * 3

    assert event_of(trigger_of(started))["outcome"] == "drained"


def test_trigger_ends_at_its_deadline(started: World):
    """What is not reached by the absolute deadline fails with the progress made, also right after a restart."""
    mirror(started, {P0: 1})

    event = event_of(trigger_of(started, deadline=datetime.now(UTC)))

    assert ["MIRROR_TIMEOUT"] == [finding["code"] for finding in event["findings"]]
    assert "Copy: 1/2" in event["findings"][0]["found"]


def test_trigger_fails_when_the_source_overtakes_the_copy(started: World):
    """Records deleted on the source before they were copied fail the watch with the lost range."""
    mirror(started, {P0: 1})
    started.source.produce("orders", 0, (b"c", b"3"))
    started.source.purge("orders", 0, 2)

    event = event_of(trigger_of(started))

    assert ["GAP_DURING_RUN"] == [finding["code"] for finding in event["findings"]]


def test_leaving_the_trigger_stops_nothing(started: World, migration: Migration):
    """A cancelled trigger (restart, clear) closes its connections and leaves MirrorMaker alone."""

    async def cancelled() -> None:
        task = asyncio.create_task(anext(aiter(trigger_of(started).run())))
        await asyncio.wait([task], timeout=1)
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(cancelled())

    assert started.host.status().is_running
    assert "stop" not in started.host.calls
