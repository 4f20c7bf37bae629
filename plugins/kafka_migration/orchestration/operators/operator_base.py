"""The base of all operators of a migration: runs the step, publishes its result, translates errors."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from airflow.sdk import BaseOperator, Context
from airflow.sdk.bases.xcom import BaseXCom
from airflow.sdk.exceptions import AirflowSkipException, DownstreamTasksSkipped

from kafka_migration.adapters.store.document_files import unreadable
from kafka_migration.core.documents.codec import DoesNotFit
from kafka_migration.core.findings.by_cause import by_cause
from kafka_migration.core.findings.errors import Finding, FindingsError, OutcomeUnknown, Refused, StoreFailed
from kafka_migration.core.migration.settings import HookName, Mode
from kafka_migration.core.run.task_steps import NOT_IN_ALL_MODES, expected_skips
from kafka_migration.orchestration.task.context import run_of
from kafka_migration.orchestration.task.failures import FailedForGood, FailedForNow, log_findings, never_again
from kafka_migration.steps.run.migration_run import MigrationRun

log = logging.getLogger(__name__)

# A short, JSON-safe summary. Documents are passed through the evidence store, not through XCom.
Summary = dict[str, Any]


class MigrationOperator(BaseOperator):
    """One step of a migration's run.

    :param migration: name of the migration. (templated)

    Refusals and failures that must not be retried automatically become `FailedForGood`. Their findings are logged and
    recorded in the run's evidence. A `TransientError` is left to Airflow's retries.
    """

    template_fields: Sequence[str] = ("migration",)
    # Whether the run holds the reservation in this step; if not, another run may be active and must stay visible.
    tells_step = True
    # Whether modified evidence fails the task; a task that must always run ignores the modified documents.
    needs_evidence = True

    def __init__(self, *, migration: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.migration = migration
        never_again(self)

    def execute(self, context: Context) -> Summary:
        """Run the step and return its summary for XCom; after the mode's last step skip the rest of the DAG."""
        run = run_of(context, self.migration)
        needs, tells = self.needs_evidence, self.tells_step
        with reporting(run, self.task_id, tells_step=tells, needs_evidence=needs):
            summary = self.step(run, context)
            rest = self._rest() if self.ends_mode(run.request.mode) else []
        if rest:
            # The exception replaces the return value.
            context["ti"].xcom_push(key=BaseXCom.XCOM_RETURN_KEY, value=summary)
            raise DownstreamTasksSkipped(tasks=rest)
        return summary

    def ends_mode(self, mode: Mode) -> bool:
        """Return whether only `finish` follows this step in this mode."""
        return False

    def _rest(self) -> list[str]:
        """Return the ids of all downstream tasks except teardowns.

        Airflow would skip them too, but only one level per scheduler loop.
        """
        return sorted(task.task_id for task in self.get_flat_relatives(upstream=False) if not task.is_teardown)

    @abstractmethod
    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Do the work of the task; return a short summary."""


@contextmanager
def reporting(
    run: MigrationRun, task_id: str, *, tells_step: bool = True, needs_evidence: bool = True
) -> Iterator[None]:
    """Publish the current step and check the evidence; close the run's connections at the end.

    Expected errors and modified evidence (`EVIDENCE_CHANGED`) are translated.
    """
    with translating(run, task_id):
        changes = changes_of(run, needs_evidence=needs_evidence)
        if changes and needs_evidence:
            raise Refused(changes)
        run.evidence.leaves_out_changed = run.evidence.leaves_out_changed or bool(changes)
        log_findings(changes)
        if tells_step and not _skips_itself(run, task_id):
            run.news.tell_step(run.identity.holder, task_id, run.now())
        yield


def _skips_itself(run: MigrationRun, task_id: str) -> bool:
    """Return whether the task has nothing to do in the run's mode, so that it is no step of the run."""
    if task_id not in NOT_IN_ALL_MODES:
        return False
    # Without the ledger: an abort must work also if it cannot be read.
    hooks = run.filed_migration.cutover.hooks if task_id == HookName.AFTER_CUTOVER else ()
    return task_id in expected_skips(run.request.mode, hooks=hooks)


@contextmanager
def translating(run: MigrationRun, task_id: str) -> Iterator[None]:
    """Record expected errors and translate them to Airflow's; close the run's connections at the end.

    So are documents that another version of the package wrote (`EVIDENCE_UNREADABLE`). After a failure of the evidence
    store Airflow may retry the task.
    """
    try:
        yield
    except StoreFailed as error:
        run.refused(task_id, error)
        log_findings(error.findings)
        raise FailedForNow(str(error)) from None
    except (FindingsError, DoesNotFit) as error:
        refused = unreadable(run.evidence.folder, str(error)) if isinstance(error, DoesNotFit) else error
        run.refused(task_id, refused)
        log_findings(refused.findings)
        raise FailedForGood("\n".join(map(str, by_cause(refused.findings)))) from None
    except OutcomeUnknown as error:
        why = f"OUTCOME UNKNOWN: {error} Check the actual state before you retry."
        log.error("%s", why)
        raise FailedForGood(why) from None
    finally:
        run.close()


def changes_of(run: MigrationRun, *, needs_evidence: bool) -> tuple[Finding, ...]:
    """Return the findings about modified evidence.

    A task that does not need the evidence, such as `stop_mirror`, continues if the evidence cannot be read.
    """
    try:
        return run.evidence.changes()
    except Exception as error:
        if needs_evidence:
            raise
        run.evidence.leaves_out_changed = True
        log.error("The evidence cannot be read: %s: %s", type(error).__name__, error)
        return ()


def skip_unless_planning(run: MigrationRun) -> None:
    """Skip the task in a mode that plans no groups; `finish` knows which skips a mode expects."""
    if not run.request.mode.plans_groups:
        raise AirflowSkipException(f"Mode {run.request.mode} plans no consumer groups.")


def skip_unless_moving(run: MigrationRun) -> None:
    """Skip the task in a mode that moves no groups; `finish` knows which skips a mode expects."""
    if not run.request.mode.moves_groups:
        raise AirflowSkipException(f"Mode {run.request.mode} moves no consumer groups.")
