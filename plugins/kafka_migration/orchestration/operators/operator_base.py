"""The base of all operators and sensors of a migration: calls the use case, translates its errors.

Every process of Airflow that parses a DAG file imports the modules of the operators. So they import what a declaration
needs; each method imports what its work needs (ADR 0059).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator, BaseSensorOperator, Context
from airflow.sdk.bases.xcom import BaseXCom
from airflow.sdk.exceptions import AirflowSkipException, DownstreamTasksSkipped, TaskDeferred

from kafka_migration.airflow_adapters.deployed_airflow import RESUMES_TASKS_WITH_ANSWERS
from kafka_migration.core.migration.settings import Mode
from kafka_migration.orchestration.task.failures import FailedForGood, FailedForNow, never_again

if TYPE_CHECKING:
    from kafka_migration.steps.run.migration_run import MigrationRun
    from kafka_migration.steps.run.task_frame import Summary

log = logging.getLogger(__name__)

# How a task waits; before Airflow 3.3 it is deferred, also if it waits for a person.
_WAITING: tuple[type[BaseException], ...] = (TaskDeferred,)
if RESUMES_TASKS_WITH_ANSWERS:
    from airflow.sdk.exceptions import TaskAwaitingInput

    _WAITING = (TaskDeferred, TaskAwaitingInput)


class MigrationOperator(BaseOperator):
    """One step of a migration's run.

    :param migration: name of the migration. (templated)

    Refusals and failures that must not be retried automatically become `FailedForGood`. Their findings are logged and
    recorded in the run's evidence. A `TransientError` is left to Airflow's retries.
    """

    template_fields: Sequence[str] = ("migration",)
    # See `performing`.
    tells_step = True
    needs_evidence = True
    begins_attempt = False

    def __init__(self, *, migration: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.migration = migration
        never_again(self)

    def execute(self, context: Context) -> Summary:
        """Run the step and return its summary for XCom; skip the tasks that the run does not need, at once."""
        from kafka_migration.orchestration.task.context import run_of

        run = run_of(context, self.migration)
        needs, tells, begins = self.needs_evidence, self.tells_step, self.begins_attempt
        with reporting(run, self.task_id, tells_step=tells, needs_evidence=needs, begins=begins):
            summary = self.step(run, context)
            skipped = self.skips(run.request.mode, summary)
        if skipped:
            # The exception replaces the return value.
            context["ti"].xcom_push(key=BaseXCom.XCOM_RETURN_KEY, value=summary)
            raise DownstreamTasksSkipped(tasks=skipped)
        return summary

    def skips(self, mode: Mode, summary: Summary) -> list[str]:
        """Return the ids of tasks after this step that the run does not need; each would start only to do nothing."""
        return self._rest() if self.ends_mode(mode) else []

    def ends_mode(self, mode: Mode) -> bool:
        """Return whether only `finish` follows this step in this mode."""
        return False

    def _rest(self) -> list[str]:
        """Return the ids of all downstream tasks except teardowns.

        Airflow would skip them too, but only one level per scheduler loop.
        """
        return sorted(task.task_id for task in self.get_flat_relatives(upstream=False) if not task.is_teardown)

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Do the work of the task; return a short summary."""
        raise NotImplementedError


@contextmanager
def reporting(run: MigrationRun, task_id: str, **how: bool) -> Iterator[None]:
    """Surround the work of a task as `performing` does; translate its errors to Airflow's.

    A task that waits must say so within, so that the process that resumes it can act.
    """
    from kafka_migration.steps.run.one_process import leave_try
    from kafka_migration.steps.run.task_frame import performing

    with translating(), performing(run, task_id, **how):
        try:
            yield
        except _WAITING:
            leave_try(run)
            raise


@contextmanager
def translating() -> Iterator[None]:
    """Translate expected errors to Airflow's. After a failure of the evidence store Airflow may retry the task."""
    from kafka_migration.core.findings.by_cause import by_cause
    from kafka_migration.core.findings.errors import FindingsError, OutcomeUnknown, StoreFailed
    from kafka_migration.steps.run.task_frame import NothingToDo

    try:
        yield
    except NothingToDo as reason:
        raise AirflowSkipException(str(reason)) from None
    except StoreFailed as error:
        raise FailedForNow(str(error)) from None
    except FindingsError as error:
        raise FailedForGood("\n".join(map(str, by_cause(error.findings)))) from None
    except OutcomeUnknown as error:
        why = f"OUTCOME UNKNOWN: {error} Check the actual state before you retry."
        log.error("%s", why)
        raise FailedForGood(why) from None


class MigrationSensor(BaseSensorOperator):
    """A sensor of a migration's run, always deferred.

    :param migration: name of the migration. (templated)
    """

    template_fields: Sequence[str] = ("migration",)

    def __init__(self, *, migration: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.migration = migration
        never_again(self)
