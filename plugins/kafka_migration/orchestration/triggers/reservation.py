"""The trigger of `reserve`: waits until another attempt to reserve makes sense."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from datetime import datetime
from typing import Any

from airflow.triggers.base import TriggerEvent
from asgiref.sync import sync_to_async

from kafka_migration.core.findings.errors import FindingsError, TransientError
from kafka_migration.core.mirror.mirror_process import AnyProcess
from kafka_migration.orchestration.task.context import run_from
from kafka_migration.orchestration.triggers.patient import PatientTrigger
from kafka_migration.steps.run.migration_run import MigrationRun

# Only the task can ask Airflow whether the holder's run is over, so it is resumed at this interval.
LOOK_AGAIN_S = 60.0


class ReservationTrigger(PatientTrigger):
    """Wait until the reservation is free, has another holder, or the task must check the holder's run.

    `holder` is the run that holds the reservation. The event is `{"holder": str | None}`: empty if it is free, `None`
    if the host did not answer until the deadline. If the host does not answer, the holder is unknown, not free, and the
    wait continues. The trigger only reads.
    """

    def __init__(self, *, run: dict[str, Any], holder: str, deadline: str) -> None:
        super().__init__(run=run, holder=holder, deadline=deadline)
        self.run_arguments = run
        self.holder = holder
        self.deadline = deadline

    async def events(self) -> AsyncGenerator[TriggerEvent]:
        """Poll until there is something to look at; yield the one event."""
        run = run_from(self.run_arguments)
        try:
            # Airflow's connections can only be read through its bridge between threads and the event loop.
            process, poll_interval_s = await sync_to_async(_prepared)(run)
            look_again_s = run.clock.monotonic_s() + LOOK_AGAIN_S
            while True:
                holder = await asyncio.to_thread(_holder, process)
                self.log.info("The reservation: %s", "unknown" if holder is None else holder or "free")
                is_time = holder is not None and run.clock.monotonic_s() >= look_again_s
                is_over = run.clock.now() >= datetime.fromisoformat(self.deadline)
                if is_time or is_over or holder not in {None, self.holder}:
                    yield TriggerEvent({"holder": holder})
                    return
                await asyncio.sleep(poll_interval_s)
        finally:
            run.close()


def _prepared(run: MigrationRun) -> tuple[AnyProcess, float]:
    return run.process, run.migration.watch.poll_interval_s


def _holder(process: AnyProcess) -> str | None:
    """Return the holder of the reservation, empty if it is free; `None` if it is unknown."""
    try:
        return process.status().holder
    except TransientError:
        return None
    except FindingsError as error:
        # The task gets the same refusal and reports it.
        return str(error)
