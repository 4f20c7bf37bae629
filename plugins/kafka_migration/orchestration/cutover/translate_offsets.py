"""`translate_offsets`: one Spark application finds where groups resume if the copy changed partitions or offsets."""

from __future__ import annotations

from airflow.sdk import Context

from kafka_migration.orchestration.operators.operator_base import reporting
from kafka_migration.orchestration.operators.spark_job import SparkJobOperator
from kafka_migration.orchestration.task.context import run_of
from kafka_migration.steps.groups.plan_groups import translate_offsets
from kafka_migration.steps.run.task_frame import Summary


class TranslateOffsetsOperator(SparkJobOperator):
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
            return translate_offsets(run, self.jobs(context))
