"""The trigger behind `stop_producers`: waits until the watch tells that the producers are to stop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent
from asgiref.sync import sync_to_async

from kafka_migration.core.evidence import Kind
from kafka_migration.orchestration.cutover_guide import Stage
from kafka_migration.orchestration.run import MigrationRun

log = logging.getLogger(__name__)


class AnnouncementTrigger(BaseTrigger):
    """Wait until this attempt's watch has announced that the producers are to stop, or can do so no more.

    :param run: the waiting run, as `MigrationRun.to_arguments` describes it.
    :param deadline: ISO 8601; absolute, so that a restarted triggerer does not start the time anew.

    The event is `{"announced": bool}`. It only reads, and only the evidence; while that cannot be read it waits on.
    """

    def __init__(self, *, run: dict[str, Any], deadline: str) -> None:
        super().__init__()
        self.run_arguments = run
        self.deadline = deadline

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return class path and arguments."""
        return (
            f"{type(self).__module__}.{type(self).__qualname__}",
            {"run": self.run_arguments, "deadline": self.deadline},
        )

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Poll the evidence until there is something to tell; yield the one event."""
        run = MigrationRun.from_arguments(self.run_arguments)
        poll_interval_s = await sync_to_async(lambda: run.migration.watch.poll_interval_s)()
        while True:
            is_over = run.clock.now() >= datetime.fromisoformat(self.deadline)
            announced = await asyncio.to_thread(was_announced, run)
            if announced is not None or is_over:
                yield TriggerEvent({"announced": bool(announced)})
                return
            await asyncio.sleep(poll_interval_s)


def was_announced(run: MigrationRun) -> bool | None:
    """Return whether the attempt's watch told the producers to stop; `None` while it may still do so."""
    try:
        watch = run.evidence.of_attempt(Kind.WATCH)
        if any(document.get("stage") == Stage.ANNOUNCED for document in watch):
            return True
        # Either tells that the watch is over: that of a MirrorMaker which was dead already leaves no stop.
        has_ended = any("outcome" in document for document in watch) or run.evidence.of_attempt(Kind.STOP)
        return False if has_ended else None
    except Exception:
        # Whatever a store raises: not to know it is no reason to give up.
        log.warning("The evidence cannot be read now.", exc_info=True)
        return None
