"""`approve` of the rollback: a user reviews the rollback plan and approves or rejects it."""

from __future__ import annotations

from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.orchestration.cutover.approve import ApproveOperator, Question, question_of
from kafka_migration.steps.run.migration_run import MigrationRun


class ApproveRollbackOperator(ApproveOperator):
    """Ask for the approval of the newest rollback plan, as `ApproveOperator` does for a cutover.

    :param migration: name of the migration. (templated)

    The approvers, the time limit and the binding to the plan's digest are the same. If the plan leaves all groups as
    they are, the task refuses instead of asking.
    """

    SUBJECT = "Roll back the cutover of {migration}"
    APPROVE_DOES = "saves the present offsets and writes the offsets below on the cluster that the plan names."

    def question(self, run: MigrationRun) -> Question:
        """Return the question."""
        return question_of(run, Stored.ROLLBACK_PLAN)
