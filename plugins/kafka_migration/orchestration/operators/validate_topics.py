"""`validate_topics`: one Spark application reads and measures every window of the run."""

from __future__ import annotations

from typing import Any, NoReturn

from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowSkipException

from kafka_migration.adapters.store.document_files import is_there
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.validation.validation_contract import (
    ValidationRequest,
    ValidationResult,
    empty_result,
)
from kafka_migration.core.watching.unfinished_work import PendingValidation
from kafka_migration.orchestration.operators.operator_base import reporting
from kafka_migration.orchestration.operators.spark_job import SparkJobOperator, result_of
from kafka_migration.orchestration.task.context import run_of
from kafka_migration.orchestration.task.time_limit import stopping_after
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import Summary
from kafka_migration.steps.validation.spark_request import request_of

APPLICATION = "validate_topics.py"


class ValidateTopicsOperator(SparkJobOperator):
    """Measure counts, content and order of the run's windows on both sides, in one Spark application.

    :param migration: name of the migration. (templated)

    Mode `sync` reads the windows of all stopped generations that no run has judged yet. Mode `interval` reads the same
    windows except those that an earlier attempt found good. Mode `validate` reads the whole copy again, or only the
    windows of the generations in its parameters. If there is nothing to read, Spark is not started.

    After `RunWindow.validate_until` Spark is not started, or is stopped if it is running. Then the task is skipped
    and leaves its windows to the next run. The limit only applies to the attempt whose preflight set it, not to a task
    that is cleared later.

    This task does not judge. It succeeds when the measurements are written, regardless of their result.
    """

    def execute(self, context: Context) -> Summary:
        """Write the request, run Spark, check that the result is there."""
        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            request = request_of(run)
            request_path = run.evidence.write(Stored.VALIDATION_REQUEST, request)
            if all(window.is_empty for window in request.windows):
                self.log.info("Nothing to read: every window is empty.")
                run.evidence.write(Stored.VALIDATION_RESULT, empty_result(request, run.now()))
                return {"source_records": 0, "target_records": 0}
            result_path = run.evidence.announced_path(Stored.VALIDATION_RESULT)
            if not self._submit_in_time(context, run, request, request_path, result_path):
                _leave_pending(run, request)
            return _summary(result_of(run, self.task_id, Stored.VALIDATION_RESULT, result_path))

    def _submit_in_time(
        self, context: Context, run: MigrationRun, request: ValidationRequest, request_path: str, result_path: Any
    ) -> bool:
        """Run Spark until its time limit; return whether the time was sufficient."""
        left_s = _time_left_s(run)
        if left_s is not None and left_s <= 0:
            return False
        with stopping_after(left_s, self._stop) as is_over:
            try:
                self.submit(context, run, APPLICATION, request.client_id, request_path, str(result_path))
            except Exception:
                # A killed Spark fails in many ways, and may have completed its work before.
                if not is_over.is_set():
                    raise
        return bool(not is_over.is_set() or is_there(result_path))

    def _stop(self) -> None:
        """Stop Spark from another thread than the one that waits for it."""
        self.log.warning("The time for validation is over. Spark is being stopped.")
        self.on_kill()


def _time_left_s(run: MigrationRun) -> float | None:
    """Return the seconds until the time limit for validation that this attempt's preflight set; `None`: no limit."""
    if not run.evidence.of_attempt(Stored.PREFLIGHT) or run.run_window.validate_until is None:
        return None
    return (run.run_window.validate_until - run.clock.now()).total_seconds()


def _leave_pending(run: MigrationRun, request: ValidationRequest) -> NoReturn:
    """Record what is left to validate, and skip the task with its downstream tasks."""
    reason = f"the time for validation ended at {run.run_window.validate_until}"
    run.evidence.write(Stored.PENDING, PendingValidation.of(run.now(), reason, request.windows))
    raise AirflowSkipException(f"{reason}; the next run validates the rest.")


def _summary(result: ValidationResult) -> Summary:
    return {"source_records": result.source_records, "target_records": result.target_records}
