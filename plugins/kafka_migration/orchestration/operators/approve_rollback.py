"""`approve` of the rollback: a user reviews the rollback plan and approves or rejects it."""

from __future__ import annotations

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.rollback.plan import RollbackPlan
from kafka_migration.orchestration.operators.approve import ApproveOperator, Question
from kafka_migration.steps.run import MigrationRun


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
        document = run.evidence.require(Kind.ROLLBACK_PLAN)
        plan = RollbackPlan.from_document(document["plan"])
        left = (finding for group in plan.left_out for finding in group.refusals)
        stuck = () if plan.changed else tuple(f for f in left if f.code is not Code.OFFSET_NEVER_COMMITTED)
        return Question(plan.digest, document["markdown"], stuck)
