"""`approve` of the rollback: a person looks at the plan and says yes or no."""

from __future__ import annotations

from kafka_migration.core.evidence import Kind
from kafka_migration.core.way_back import RollbackPlan
from kafka_migration.orchestration.operators.approve import ApproveOperator, Question
from kafka_migration.orchestration.run import MigrationRun


class ApproveRollbackOperator(ApproveOperator):
    """Ask for the approval of the newest plan of a rollback, as `ApproveOperator` asks for that of a cutover.

    :param migration: name of the migration. (templated)

    The same people may answer, within the same time, bound to the plan's digest in the same way. A plan that puts no
    group back because all of them are left as they are is not asked about.
    """

    def question(self, run: MigrationRun) -> Question:
        """Return what is asked."""
        document = run.evidence.require(Kind.ROLLBACK_PLAN)
        plan = RollbackPlan.from_document(document["plan"])
        stuck = () if plan.changed else tuple(f for group in plan.left_out for f in group.refusals)
        return Question(plan.digest, document["markdown"], stuck)
