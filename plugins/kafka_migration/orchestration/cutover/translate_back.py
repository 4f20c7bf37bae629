"""`translate_back`: one Spark application finds where groups that read on the target resume on the source."""

from __future__ import annotations

from airflow.sdk import Context

from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.groups.unproved import unproved_copies
from kafka_migration.core.migration.settings import Mode
from kafka_migration.orchestration.cutover.translate_offsets import TranslatingOperator
from kafka_migration.orchestration.operators.operator_base import Summary, reporting
from kafka_migration.orchestration.task.context import run_of
from kafka_migration.steps.rollback.plan_back import translation_back_request


class TranslateBackOperator(TranslatingOperator):
    """Find how far groups that read on the target have read the copied records, in one Spark application.

    :param migration: name of the migration. (templated)

    Spark is only started for topics where counting is not enough, and for groups that have not read the whole copy.
    Requires a proved copy. Neither cluster is changed. Mode `restore` translates nothing.
    """

    def execute(self, context: Context) -> Summary:
        """Write the request, run Spark, check that the result is there."""
        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            if run.request.mode is not Mode.FAIL_BACK:
                self.log.info("Mode %s translates nothing.", run.request.mode)
                return {"topics": 0, "vectors": 0}
            if unproved := unproved_copies(run.ledger.known(), sorted(run.moved_topics)):
                raise Refused(unproved.values())
            return self.translate(context, run, translation_back_request(run))
