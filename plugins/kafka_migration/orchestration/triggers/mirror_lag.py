"""The trigger of `watch_lag`: polls positions, health and the process; renews the host's lease."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, ParamSpec, TypeVar

from airflow.triggers.base import TriggerEvent
from asgiref.sync import sync_to_async

from kafka_migration.airflow_adapters.airflow_metrics import begin_metrics
from kafka_migration.core.findings.errors import FindingsError, Refused
from kafka_migration.core.watching.watch import Outcome, WatchResult
from kafka_migration.orchestration.task.context import run_from
from kafka_migration.orchestration.triggers.patient import PatientTrigger, tell
from kafka_migration.steps.mirror.start_stop import Reviver, stop_generation
from kafka_migration.steps.mirror.watcher import MirrorWatcher
from kafka_migration.steps.mirror.watching import poll_once, watcher_of
from kafka_migration.steps.run.migration_run import MigrationRun

P = ParamSpec("P")
T = TypeVar("T")

# Each computing thread may delay the event loop by 5 ms (Python's switch interval). There are several places, because a
# poll of a host that does not answer holds its place for up to half a minute.
POLLS_AT_ONCE = 16
_places = threading.BoundedSemaphore(POLLS_AT_ONCE)


class MirrorLagTrigger(PatientTrigger):
    """Watch one migration's MirrorMaker until it is drained, has failed, or the deadline has passed.

    `generation` is the one that `start_mirror` started. A MirrorMaker that dies is restarted as the next generation,
    after a pause and at most `mirror.restarts` times, once the dead generation's stop certificate is written.

    In a cutover the trigger announces that the producers must stop once the copy is near, and waits for the fence while
    it renews the lease. In mode `follow` it continues until the given time or a stop request. Each poll checks for a
    stop request, which `kafka-migration stop` makes.

    The trigger holds only ids: it reads the migration from the run's evidence and secrets from Airflow's connections.
    Without a deadline the watch has no time limit. A triggerer restart stops nothing: the teardown stops MirrorMaker,
    or its lease expires. When a user marks or clears the waiting task, the generation is stopped at once. The host
    refuses this to an attempt that no longer holds the reservation, so a late call never stops a later process.
    """

    def __init__(self, *, run: dict[str, Any], generation: int, deadline: str | None) -> None:
        super().__init__(run=run, generation=generation, deadline=deadline)
        self.run_arguments = run
        self.generation = generation
        self.deadline = deadline

    async def events(self) -> AsyncGenerator[TriggerEvent]:
        """Poll until the watch is over; yield its one event."""
        run = run_from(self.run_arguments)
        # A poll may take minutes. In shared threads, other triggers would miss their leases.
        thread = ThreadPoolExecutor(1, f"watch-{run.name}")
        try:
            try:
                watcher = await sync_to_async(_in_turn(self._watcher), thread_sensitive=False, executor=thread)(run)
            except FindingsError as error:
                # For example modified evidence; the task reports it.
                failed = WatchResult(Outcome.FAILED, "", findings=error.findings).to_document()
                yield TriggerEvent({**failed, "generation": self.generation, "holder": run.identity.holder})
                return
            poll = sync_to_async(_in_turn(poll_once), thread_sensitive=False, executor=thread)
            while True:
                polled = await poll(run, watcher)
                self.log.info("%s", watcher.progress)
                for notice in polled.notices:
                    self.log.warning("%s", notice)
                for alert in polled.alerts:
                    tell(run, alert)
                if polled.result is not None:
                    told = {"generation": watcher.generation, "holder": run.identity.holder}
                    yield TriggerEvent({**polled.result.to_document(), **told})
                    return
                await asyncio.sleep(run.migration.watch.poll_interval_s)
        finally:
            # First, because a running poll cannot be cancelled and must not start anything any more.
            run.has_left.set()
            # Runs after that poll, which still uses the connections. Nothing waits for it.
            thread.submit(run.close)
            thread.shutdown(wait=False)

    async def on_kill(self) -> None:
        """Stop the generation that was watched, if it is still this attempt's."""
        # Airflow allows half a minute; the stop continues on the host afterwards.
        await sync_to_async(self._stop, thread_sensitive=False)()

    def _stop(self) -> None:
        run = run_from(self.run_arguments)
        try:
            stop_generation(run, Reviver(run).newest())
        except Refused as error:
            # Airflow may call this after a cleared task has restarted; then the process belongs to another attempt.
            self.log.info("Not stopped: %s", error)
        finally:
            run.close()

    def _watcher(self, run: MigrationRun) -> MirrorWatcher:
        begin_metrics()
        deadline = None if self.deadline is None else datetime.fromisoformat(self.deadline)
        return watcher_of(run, self.generation, deadline)


def _in_turn(work: Callable[P, T]) -> Callable[P, T]:
    """Return the work as it is done when there is a place among that of all triggers."""

    def done(*args: P.args, **kwargs: P.kwargs) -> T:
        with _places:
            return work(*args, **kwargs)

    return done
