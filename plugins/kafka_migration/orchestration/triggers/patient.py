"""A trigger whose events Airflow can take: not before the task is registered as deferred, and with storable texts."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from asyncio import sleep
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from time import monotonic
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent
from asgiref.sync import sync_to_async

from kafka_migration.core.report.alerts import Alert
from kafka_migration.core.text.terminal_text import storable_document
from kafka_migration.orchestration.task.alerting import send
from kafka_migration.steps.run.migration_run import MigrationRun

# Airflow 3.3 fails a task that resumes before the scheduler has seen the end of the process that deferred it
# (apache/airflow#72716). On a busy machine that process needs some seconds to end.
SETTLED_AFTER_S = 10.0


class PatientTrigger(BaseTrigger):
    """Delay events until some seconds after the trigger's start; the watch itself begins at once.

    Texts that Airflow cannot send or store are replaced, because they would end the process with all triggers.

    The arguments are those of the subclass's constructor, as JSON values: the triggerer makes the trigger from them.
    `run` is the waiting run, as `MigrationRun.to_arguments` describes it. `deadline` is ISO 8601 and absolute, so that
    a restarted triggerer does not restart the time limit.
    """

    def __init__(self, **arguments: Any) -> None:
        super().__init__()
        self.arguments = arguments

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return class path and arguments."""
        return f"{type(self).__module__}.{type(self).__qualname__}", self.arguments

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Yield the events of `events`, none before the delay is over."""
        begun_s = monotonic()
        async with aclosing(self.events()) as events:
            async for event in events:
                await sleep(max(0.0, begun_s + SETTLED_AFTER_S - monotonic()))
                yield TriggerEvent(storable_document(event.payload))

    @abstractmethod
    def events(self) -> AsyncGenerator[TriggerEvent]:
        """Yield each event as soon as it is known."""


# Keeps references, because the event loop alone does not keep a future alive.
_telling: set[asyncio.Future[None]] = set()


def tell(run: MigrationRun, alert: Alert) -> None:
    """Send an alert in parallel with the polls: a notifier that hangs must not block the lease renewal."""
    telling = asyncio.ensure_future(sync_to_async(send, thread_sensitive=False)(run, alert))
    _telling.add(telling)
    telling.add_done_callback(_telling.discard)
