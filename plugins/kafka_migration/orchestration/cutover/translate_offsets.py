"""`translate_offsets`: one Spark application finds where groups resume if the copy changed partitions or offsets."""

from __future__ import annotations

from airflow.sdk import Context

from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.translation.translation_contract import TranslationRequest, nothing_to_translate
from kafka_migration.orchestration.operators.operator_base import reporting
from kafka_migration.orchestration.operators.spark_job import SparkJobOperator, result_of
from kafka_migration.orchestration.task.context import run_of
from kafka_migration.steps.groups.plan_groups import translation_request
from kafka_migration.steps.run.guards import require_proved_copy
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import Summary, skip_unless_planning

APPLICATION = "translate_offsets.py"


class TranslatingOperator(SparkJobOperator):
    """Submit `translate_offsets.py` with a request, unless the request is empty."""

    def translate(self, context: Context, run: MigrationRun, request: TranslationRequest) -> Summary:
        """Write the request, run Spark, check that the result is there."""
        request_path = run.evidence.write(Stored.TRANSLATION_REQUEST, request)
        if request.topics:
            result_path = run.evidence.announced_path(Stored.TRANSLATION_RESULT)
            self.submit(context, run, APPLICATION, request.client_id, request_path, str(result_path))
            result = result_of(run, self.task_id, Stored.TRANSLATION_RESULT, result_path)
        else:
            self.log.info("No topic needs translation by its records.")
            result = nothing_to_translate(request)
            run.evidence.write(Stored.TRANSLATION_RESULT, result)
        return {"topics": len(result.topics), "vectors": sum(len(each.translations) for each in result.topics)}


class TranslateOffsetsOperator(TranslatingOperator):
    """Find the copies of all records that the consumer groups have not read, in one Spark application.

    :param migration: name of the migration. (templated)

    Only needed if the copy did not keep partitions (MirrorMaker 1) or has offsets without records (exactly-once). Other
    offsets follow from the ledger, and Spark is not started. Requires a proved copy. Neither cluster is changed. The
    result is valid for the groups' committed offsets at the start of this task.
    """

    def execute(self, context: Context) -> Summary:
        """Write the request, run Spark, check that the result is there."""
        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            skip_unless_planning(run)
            unproved = require_proved_copy(run)
            return self.translate(context, run, translation_request(run, unproved))
