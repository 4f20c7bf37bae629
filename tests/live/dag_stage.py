"""A stage whose tasks are those of the migration's DAG, each tried as Airflow tries it, with a triggerer to lose."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.standard.operators import hitl
from airflow.sdk import DAG
from airflow.sdk.exceptions import AirflowSkipException, DownstreamTasksSkipped
from airflow.sdk.execution_time.context import OutletEventAccessors
from airflow.triggers.base import BaseTrigger

from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.run.task_steps import SKIPPED, SUCCESS
from kafka_migration.orchestration.dag.building import built_dags
from sandbox.environment import search_path
from sandbox.sandbox import Sandbox
from tests.airflow.cutover import Waits, answer_event
from tests.airflow.driving import deferred_by, revived
from tests.live.stage import START_TIMEOUT_S, WATCH_TIMEOUT_S, Stage, set_the_stage
from tests.waiting import wait_until


class Watching:
    """A triggerer that runs one trigger, until its event or until the triggerer is lost."""

    def __init__(self, trigger: BaseTrigger) -> None:
        self._trigger = trigger
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._event = asyncio.run_coroutine_threadsafe(self._first(revived(trigger)), self._loop)

    @staticmethod
    async def _first(trigger: BaseTrigger) -> dict[str, Any]:
        return dict((await anext(aiter(trigger.run()))).payload)

    def lose(self) -> None:
        """Lose the triggerer: nothing is polled any more."""
        self._event.cancel()
        self._end()

    def again(self) -> Watching:
        """Run the trigger again, as another triggerer makes it from Airflow's database."""
        return Watching(self._trigger)

    def event(self) -> dict[str, Any]:
        """Wait for the trigger's event."""
        try:
            event: dict[str, Any] = json.loads(json.dumps(self._event.result(WATCH_TIMEOUT_S)))
            return event
        finally:
            self._end()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._stop)
        self._thread.join()
        self._loop.close()

    def _stop(self) -> None:
        """Stop once every task has ended."""
        if asyncio.all_tasks(self._loop):
            self._loop.call_later(0.05, self._stop)
        else:
            self._loop.stop()


def set_the_stage_of_dags(sandbox: Sandbox, root: Path, patch: pytest.MonkeyPatch) -> None:
    """Set the stage for all tasks of a DAG: with the sandbox's Spark, and questions that Airflow's database lacks."""
    set_the_stage(sandbox, root, patch)
    patch.setenv("PATH", search_path())
    patch.setattr(hitl, "upsert_hitl_detail", lambda **detail: None)
    for name, value in sandbox.state.environment.items():
        if "SPARK" in name:
            patch.setenv(name, value)


class DagStage(Stage):
    """One migration on the sandbox's clusters, whose tasks come from the DAG of its file."""

    @property
    def dag_id(self) -> str:
        """The migration's manual DAG."""
        return f"kafka_migration__{self.name}"

    @property
    def states(self) -> dict[str, str | None]:
        """The states of the run's tasks."""
        return self.task_instance.task_states

    def next_run(self) -> None:
        """Begin another run; the present one has ended, and freed the reservation."""
        self.task_instance.run_states[f"manual__{self.runs}"] = "success"
        self.task_instance.task_states = {}
        self.runs += 1

    def attempt(self, *task_ids: str) -> None:
        """Try tasks in order, each for the first time or again."""
        for task_id in task_ids:
            self._context()
            self.task_instance.begin(task_id)
            self._call(task_id, lambda task, context: task.execute(context))

    def attempt_until_settled(self, task_id: str) -> None:
        """Try a task again as long as it fails for now, as Airflow does."""

        def has_ended() -> bool:
            try:
                self.attempt(task_id)
            except TransientError:
                return False
            return True

        wait_until(has_ended, START_TIMEOUT_S, task_id)

    def waiting(self, task_id: str) -> Watching:
        """Try a task that defers, and run its trigger."""
        self._context()
        self.task_instance.begin(task_id)
        context = self._context()
        return Watching(deferred_by(context["dag"].get_task(task_id), context).trigger)

    def resume(self, task_id: str, event: Any, method: str = "execute_complete") -> None:
        """Resume a task that waited, with an event."""
        self.task_instance.task_id = task_id
        self._call(task_id, lambda task, context: getattr(task, method)(context, event))

    def approve(self) -> None:
        """Answer the question of `approve`."""
        with pytest.raises(Waits):
            self.attempt("approve")
        self.resume("approve", answer_event())

    def _call(self, task_id: str, call: Callable[[Any, Any], object]) -> None:
        context = self._context()
        self.states[task_id] = "failed"
        try:
            call(context["dag"].get_task(task_id), context)
        except AirflowSkipException:
            self.states[task_id] = SKIPPED
            return
        except DownstreamTasksSkipped as skipped:
            self.states.update({str(task): SKIPPED for task in skipped.tasks})
        self.states[task_id] = SUCCESS

    def _dag(self) -> DAG:
        return built_dags(self.folder / "migrations")[self.dag_id]

    def _context(self) -> Any:
        own = {"dag": self._dag(), "task_instance": self.task_instance, "outlet_events": OutletEventAccessors()}
        return {**super()._context(), **own}
