"""`finish`: frees the reservation, assembles the evidence, and sets the state of the run."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from airflow.sdk import Context

from kafka_migration.core.findings.errors import StoreFailed
from kafka_migration.orchestration.operators.operator_base import MigrationOperator
from kafka_migration.orchestration.report_link import ReportLink
from kafka_migration.orchestration.task.alerting import send, tell_of_lost_finish
from kafka_migration.orchestration.task.failures import FailedForGood

if TYPE_CHECKING:
    from kafka_migration.core.report.run_document import RunDocument
    from kafka_migration.steps.finish.finish_run import Finished
    from kafka_migration.steps.run.migration_run import MigrationRun
    from kafka_migration.steps.run.task_frame import Summary


class FinishOperator(MigrationOperator):
    """The last step and only leaf of the DAG: a teardown that decides how the run ends.

    It frees the reservation if this run holds it, and writes `run.json` and the reports. It fails the run unless every
    task succeeded or was skipped as its mode expects. A late run (`BEHIND`, `VALIDATION_PENDING`) fails or warns,
    depending on `nightly.when_late`. A run outside its window, which has nothing to do, succeeds.

    Without this task, a run with a task that a user marked failed would succeed: Airflow skips tasks that have not
    started and counts skipped leaves as success. Finally it sends an alert if the run did not succeed (`alerts`). If
    `finish` itself fails, its callback sends the alert. If the evidence store does not take the report, the run fails,
    and its log, note and alert have what the report would say.
    """

    operator_extra_links = (ReportLink(),)

    def __init__(self, **kwargs: Any) -> None:
        # In addition to the callbacks of a user's own DAG.
        theirs = kwargs.pop("on_failure_callback", None) or ()
        mine = [*theirs, tell_of_lost_finish] if isinstance(theirs, list | tuple) else [theirs, tell_of_lost_finish]
        super().__init__(on_failure_callback=mine, **kwargs)

    def execute(self, context: Context) -> Summary:
        """Finish regardless of what other tasks refused; its own only refusal is modified evidence."""
        from kafka_migration.orchestration.task.context import run_of
        from kafka_migration.steps.finish.finish_run import look_at_evidence
        from kafka_migration.steps.run.one_process import claim_try
        from kafka_migration.steps.run.task_frame import log_findings

        run = run_of(context, self.migration)
        try:
            claim_try(run, self.task_id, needs_store=False)
            look_at_evidence(run)
            return self.step(run, context)
        except StoreFailed as error:
            log_findings(error.findings)
            raise FailedForGood(str(error)) from None
        finally:
            run.close()

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Finish the run, tell people about it, and raise if it failed."""
        from kafka_migration.orchestration.task.context import started_at, triggered_by
        from kafka_migration.steps.finish.finish_run import finish_run
        from kafka_migration.steps.finish.outcome import EndedTasks
        from kafka_migration.steps.run.task_frame import log_findings

        finished = finish_run(run, EndedTasks(self._states(context), triggered_by(context), started_at(context)))
        document, ended = finished.document, finished.ended
        self._leave_note(context, document)
        verdict, path = document.verdict, ended.evidence
        self.log.info("%s, verdict %s. Evidence: %s and the reports next to it", document.outcome, verdict, path)
        self._tell(run, finished)
        if document.has_failed:
            log_findings(ended.findings)
            for reason in finished.reasons:
                self.log.error("%s", reason)
            raise FailedForGood(finished.why) from None
        log_findings(ended.late, logging.WARNING)
        return {"outcome": document.outcome, "evidence": path}

    def _tell(self, run: MigrationRun, finished: Finished) -> None:
        if finished.alert is not None:
            send(run, finished.alert)

    def _leave_note(self, context: Context, document: RunDocument) -> None:
        """Push the run's note for the listener that sets it; a missing note does not fail the run."""
        from kafka_migration.core.report.run_status import run_note
        from kafka_migration.orchestration.task.note_writer import NOTE_KEY

        link = ReportLink().get_link(self, ti_key=document)
        try:
            context["ti"].xcom_push(key=NOTE_KEY, value=run_note(document, link))
        except Exception:
            self.log.warning("The note of the run could not be set.", exc_info=True)

    def _states(self, context: Context) -> dict[str, str | None]:
        """Return the states of the run's other tasks, in the DAG's order."""
        dag_run, task_instance = context["dag_run"], context["ti"]
        states = task_instance.get_task_states(dag_id=dag_run.dag_id, run_ids=[dag_run.run_id])[dag_run.run_id]
        ordered = [task.task_id for task in context["dag"].topological_sort() if task.task_id != self.task_id]
        return {task_id: states.get(task_id) for task_id in ordered}
