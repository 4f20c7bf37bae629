"""`approve` of the rollback: a person looks at the plan and says yes or no."""

from __future__ import annotations

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.rollback.plan import RollbackPlan
from kafka_migration.orchestration.operators.approve import ApproveOperator, Question
from kafka_migration.steps.run import MigrationRun


class ApproveRollbackOperator(ApproveOperator):
    """Ask for the approval of the newest plan of a rollback, as `ApproveOperator` asks for that of a cutover.

    :param migration: name of the migration. (templated)

    The same people may answer, within the same time, bound to the plan's digest in the same way. A plan that puts no
    group back because all of them are left as they are is not asked about.
    """

    SUBJECT = "Take the cutover of {migration} back"
    APPROVE_DOES = "saves the present offsets and writes those below, on the cluster that the plan names."

    def question(self, run: MigrationRun) -> Question:
        """Return what is asked."""
        document = run.evidence.require(Kind.ROLLBACK_PLAN)
        plan = RollbackPlan.from_document(document["plan"])
        left = (finding for group in plan.left_out for finding in group.refusals)
        stuck = () if plan.changed else tuple(f for f in left if f.code is not Code.OFFSET_NEVER_COMMITTED)
        return Question(plan.digest, document["markdown"], stuck)
