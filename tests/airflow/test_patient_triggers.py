"""Rules of triggers that delay their event until Airflow has deferred the task (apache/airflow#72716)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from airflow.triggers.base import BaseTrigger, TriggerEvent

from kafka_migration.orchestration import triggers
from kafka_migration.orchestration.triggers import patient
from kafka_migration.orchestration.triggers.announcement import AnnouncementTrigger
from kafka_migration.orchestration.triggers.group_lag_trigger import ConsumerGroupLagTrigger
from kafka_migration.orchestration.triggers.mirror_lag import MirrorLagTrigger
from kafka_migration.orchestration.triggers.patient import PatientTrigger
from kafka_migration.orchestration.triggers.reservation import ReservationTrigger


class Ready(PatientTrigger):
    """Has its event at once; `closed` says whether it could clean up."""

    closed = False

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return nothing that is used."""
        return "", {}

    async def events(self) -> AsyncGenerator[TriggerEvent]:
        """Yield the event, and clean up."""
        try:
            yield TriggerEvent(self.arguments.get("payload", "done"))
        finally:
            self.closed = True


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The sleeps of triggers, which take no time; the clock stands still."""
    times: list[float] = []

    async def sleep(seconds: float) -> None:
        times.append(seconds)

    monkeypatch.setattr(patient, "SETTLED_AFTER_S", 10.0)
    monkeypatch.setattr(patient, "sleep", sleep)
    monkeypatch.setattr(patient, "monotonic", lambda: 100.0)
    return times


async def payloads(trigger: PatientTrigger) -> list[Any]:
    return [event.payload async for event in trigger.run()]


def test_event_can_be_sent_and_stored(slept: list[float]) -> None:
    """A zero byte or half a character in an event, which would end the process of all triggers, is replaced."""
    trigger = Ready(payload={"found\x00": ["a\ud800b", 5, None]})

    assert [{"found\ufffd": ["a\ufffdb", 5, None]}] == asyncio.run(payloads(trigger))


def test_event_waits_until_airflow_has_settled(slept: list[float]) -> None:
    """An event that is known at once is given after the process that deferred the task has had time to end."""
    trigger = Ready()

    assert ["done"] == asyncio.run(payloads(trigger))
    assert ([10.0], True) == (slept, trigger.closed)


def test_late_event_is_given_at_once(slept: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """An event that takes longer is not delayed."""
    moments = iter([100.0, 111.0])
    monkeypatch.setattr(patient, "monotonic", lambda: next(moments))

    assert ["done"] == asyncio.run(payloads(Ready()))
    assert [0.0] == slept


def test_cancelled_trigger_cleans_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trigger that is cancelled while it delays its event cleans up."""
    monkeypatch.setattr(patient, "SETTLED_AFTER_S", 3600.0)
    trigger = Ready()

    async def cancelled() -> None:
        task = asyncio.ensure_future(payloads(trigger))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert trigger.closed


def test_every_trigger_is_patient() -> None:
    """Every trigger of the package delays its event."""
    ours = {kind for kind in all_kinds(BaseTrigger) if kind.__module__.startswith(triggers.__name__)}

    assert {PatientTrigger, AnnouncementTrigger, ConsumerGroupLagTrigger, MirrorLagTrigger, ReservationTrigger} == ours
    assert all(
        issubclass(kind, PatientTrigger) and (kind is PatientTrigger or "run" not in vars(kind)) for kind in ours
    )


def all_kinds(kind: type[object]) -> set[type[object]]:
    """Return all subclasses of a class."""
    return {each for below in kind.__subclasses__() for each in (below, *all_kinds(below))}
