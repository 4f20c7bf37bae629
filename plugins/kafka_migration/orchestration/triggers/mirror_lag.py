"""The trigger behind `watch_lag`: polls positions, health and the process; renews the host's lease."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent
from asgiref.sync import sync_to_async

from kafka_migration.core.migration import Mode, RunIdentity
from kafka_migration.orchestration.cutover_guide import CutoverGuide
from kafka_migration.orchestration.run import MigrationRun
from kafka_migration.orchestration.watcher import MirrorWatcher, PlanGuide


class MirrorLagTrigger(BaseTrigger):
    """Watch one generation of one migration until it is drained, has failed, or the deadline is over.

    In a cutover the same trigger tells the producers to stop once the copy is near, and awaits the fence, while it
    goes on to renew the lease.

    Holds only ids: the migration is read from the run's evidence, secrets from Airflow's connections. The
    deadline is absolute, so that a restarted triggerer does not start the time anew. Leaving (a triggerer
    restart, a cleared task) stops nothing: MirrorMaker is stopped by the teardown, or by its lease.
    """

    def __init__(
        self,
        *,
        migration: str,
        dag_id: str,
        run_id: str,
        attempt: int,
        params: dict[str, Any],
        generation: int,
        deadline: str,
    ) -> None:
        super().__init__()
        self.migration = migration
        self.dag_id = dag_id
        self.run_id = run_id
        self.attempt = attempt
        self.params = params
        self.generation = generation
        self.deadline = deadline

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return class path and arguments."""
        return (
            f"{type(self).__module__}.{type(self).__qualname__}",
            {
                "migration": self.migration,
                "dag_id": self.dag_id,
                "run_id": self.run_id,
                "attempt": self.attempt,
                "params": self.params,
                "generation": self.generation,
                "deadline": self.deadline,
            },
        )

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Poll until the watch is over; yield its one event."""
        identity = RunIdentity(self.dag_id, self.run_id, self.attempt)
        run = MigrationRun(self.migration, identity, self.params)
        try:
            # Airflow's connections are readable only through its bridge between threads and the event loop.
            watcher = await sync_to_async(self._watcher)(run)
            while True:
                result = await asyncio.to_thread(watcher.poll)
                self.log.info("%s", watcher.progress)
                for notice in watcher.take_notices():
                    self.log.warning("%s", notice)
                if result is not None:
                    yield TriggerEvent({**result.to_document(), "generation": self.generation})
                    return
                await asyncio.sleep(run.migration.watch.poll_interval_s)
        finally:
            run.close()

    def _watcher(self, run: MigrationRun) -> MirrorWatcher:
        return MirrorWatcher(
            migration=run.migration,
            holder=run.identity.holder,
            generation=self.generation,
            plan=run.plan_offsets(),
            source=run.source,
            target=run.target,
            host=run.host,
            clock=run.clock,
            deadline=datetime.fromisoformat(self.deadline),
            guide=CutoverGuide(run, self.generation) if run.request.mode is Mode.CUTOVER else PlanGuide(),
        )
