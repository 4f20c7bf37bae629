"""Running a trigger from its first poll to its event, on a fake clock."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest
from airflow.sdk import BaseSensorOperator
from airflow.sdk.exceptions import TaskDeferred
from airflow.triggers.base import BaseTrigger, TriggerEvent

from kafka_migration.orchestration.triggers.group_lag_trigger import ConsumerGroupLagTrigger
from tests.steps.clock import FakeClock

A_DAY_S = 24 * 3600


@dataclass
class TriggerLog:
    """The log of a trigger, whose messages have one argument."""

    infos: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def info(self, form: str, text: str) -> None:
        """Keep a message."""
        self.infos.append(form % text)

    def warning(self, form: str, text: str) -> None:
        """Keep a warning."""
        self.warnings.append(form % text)

    @property
    def states(self) -> list[str]:
        """Return the states of the progress lines, each once."""
        states = (re.split("; ETA|; Copy", line.partition("State: ")[2])[0] for line in self.infos)
        return list(dict.fromkeys(states))


def let_time_pass(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, clock: FakeClock, meanwhile: Callable[[], None]
) -> None:
    """Let the trigger of a module sleep on this clock; `meanwhile` is called before each next poll."""
    end_s = clock.elapsed_s + A_DAY_S

    class Time:
        ensure_future = staticmethod(asyncio.ensure_future)

        @staticmethod
        async def to_thread(call: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
            # Without a thread: hours of polls are thousands of calls, and each new thread waits for the processor.
            return call(*arguments, **more)

        @staticmethod
        async def sleep(seconds: float) -> None:
            clock.elapsed_s += seconds
            assert clock.elapsed_s < end_s, "the trigger does not end"
            meanwhile()

    monkeypatch.setattr(module, "asyncio", Time)


def deferred_by(sensor: BaseSensorOperator, context: Any) -> TaskDeferred:
    """Return what a sensor defers with."""
    with pytest.raises(TaskDeferred) as deferred:
        sensor.execute(context)
    return deferred.value


def revived(trigger: BaseTrigger) -> BaseTrigger:
    """Return the trigger as another triggerer makes it from Airflow's database."""
    path, arguments = trigger.serialize()
    assert path == f"{type(trigger).__module__}.{type(trigger).__qualname__}"
    made = type(trigger)(**json.loads(json.dumps(arguments)))
    assert (path, arguments) == made.serialize()
    return made


def lag_trigger() -> ConsumerGroupLagTrigger:
    """Return a trigger that waits for the group `shop` on the connection `old_kafka`."""
    return ConsumerGroupLagTrigger(
        kafka_conn_id="old_kafka",
        groups={"shop": None},
        limit_offsets=0,
        samples=1,
        freshness_s=60,
        poll_interval_s=1,
        deadline="2030-01-01T00:00:00+00:00",
    )


async def next_event(trigger: BaseTrigger) -> TriggerEvent:
    """Return the trigger's next event as it is."""
    return await anext(aiter(trigger.run()))


def event_of(trigger: BaseTrigger) -> dict[str, Any]:
    """Run the trigger to its one event; return the payload as it comes out of Airflow's database."""

    async def run() -> Any:
        (event,) = [event async for event in trigger.run()]
        return event.payload

    payload: dict[str, Any] = json.loads(json.dumps(asyncio.run(run())))
    return payload
