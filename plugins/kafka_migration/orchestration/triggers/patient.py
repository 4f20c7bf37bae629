"""A trigger that does not resume its task before Airflow has registered that the task was deferred."""

from __future__ import annotations

from abc import abstractmethod
from asyncio import sleep
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from time import monotonic

from airflow.triggers.base import BaseTrigger, TriggerEvent

# Airflow 3.3 fails a task that resumes before the scheduler has seen the end of the process that deferred it
# (apache/airflow#72716). On a busy machine that process needs some seconds to end.
SETTLED_AFTER_S = 10.0


class PatientTrigger(BaseTrigger):
    """Delay events until some seconds after the trigger's start; the watch itself begins at once."""

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Yield the events of `events`, none before the delay is over."""
        begun_s = monotonic()
        async with aclosing(self.events()) as events:
            async for event in events:
                await sleep(max(0.0, begun_s + SETTLED_AFTER_S - monotonic()))
                yield event

    @abstractmethod
    def events(self) -> AsyncGenerator[TriggerEvent]:
        """Yield each event as soon as it is known."""
