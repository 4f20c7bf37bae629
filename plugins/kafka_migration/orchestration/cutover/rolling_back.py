"""The operators of a rollback: `translate_back`, `plan_rollback`, `approve_rollback`, `roll_back`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.sdk import Context

from kafka_migration.orchestration.cutover.approve import ApproveOperator
from kafka_migration.orchestration.operators.operator_base import MigrationOperator
from kafka_migration.orchestration.operators.spark_job import SparkJobOperator

if TYPE_CHECKING:
    from kafka_migration.core.evidence.evidence_documents import StoredKind
    from kafka_migration.steps.reading.spark_documents import SparkJobs
    from kafka_migration.steps.run.migration_run import MigrationRun
    from kafka_migration.steps.run.task_frame import Summary


class TranslateBackOperator(SparkJobOperator):
    """Find how far groups that read on the target have read the copied records, in one Spark application.

    :param migration: name of the migration. (templated)

    Spark is only started for topics where counting is not enough, and for groups that have not read the whole copy.
    Requires a proved copy. Neither cluster is changed. Mode `restore` translates nothing.
    """

    def work(self, run: MigrationRun, jobs: SparkJobs) -> Summary:
        """Translate the offsets that counting does not give."""
        from kafka_migration.steps.rollback.roll_back import translate_back

        return translate_back(run, jobs)


class PlanRollbackOperator(MigrationOperator):
    """Plan the rollback of everything that was cut over.

    Mode `restore` sets the groups on the target back to their offsets before the cutover. Mode `fail_back` sets the
    groups on the source to their position on the target, with each offset proved. Records that exist only on the
    target are counted, and refuse the run (`TARGET_ONLY_RECORDS`) unless the form's `leave_records_of` names their
    topics. A migration file that copies them back is written next to the evidence. Neither cluster is changed.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Write the rollback plan."""
        from kafka_migration.steps.rollback.roll_back import plan_rollback

        return plan_rollback(run)


class ApproveRollbackOperator(ApproveOperator):
    """Ask for the approval of the newest rollback plan, as `ApproveOperator` does for a cutover.

    :param migration: name of the migration. (templated)

    The approvers, the time limit and the binding to the plan's digest are the same. If the plan leaves all groups as
    they are, the task refuses instead of asking.
    """

    SUBJECT = "Roll back the cutover of {migration}"
    APPROVE_DOES = "saves the present offsets and writes the offsets below on the cluster that the plan names."

    def plan_kind(self) -> StoredKind[Any]:
        """Return the kind of the document that is approved."""
        from kafka_migration.core.stored.stored_documents import Stored

        return Stored.ROLLBACK_PLAN


class RollBackOperator(MigrationOperator):
    """Write the approved offsets, prove each group by reading it back, then write the ledger entry.

    It requires, saves and retries what `SyncOffsetsOperator` does. After the ledger entry the topics are no longer cut
    over.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Check the approval, save the present offsets, write them, and record the result."""
        from kafka_migration.orchestration.task.context import triggered_by
        from kafka_migration.steps.rollback.roll_back import roll_back

        return roll_back(run, triggered_by(context))
