"""`roll_back`: sets the consumer groups back as approved, and records the source as the source of truth again."""

from __future__ import annotations

from airflow.sdk import Context

from kafka_migration.core.groups.group_writes import OffsetsResult
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.ledger.cutovers import RolledBack
from kafka_migration.core.report.next_steps import after_rollback
from kafka_migration.core.stored.stored_documents import RolledBackDocument, Stored
from kafka_migration.orchestration.operators.operator_base import MigrationOperator, Summary
from kafka_migration.orchestration.task.context import triggered_by
from kafka_migration.steps.groups.write_groups import approved_plan, write_plan
from kafka_migration.steps.rollback.plan_back import make_rollback_plan
from kafka_migration.steps.run.guards import hold_reservation
from kafka_migration.steps.run.migration_run import MigrationRun


class RollBackOperator(MigrationOperator):
    """Write the approved offsets, prove each group by reading it back, then write the ledger entry.

    Like `sync_offsets`, it requires an approval of exactly the newest plan, and clusters that still give that plan
    (`EVIDENCE_CHANGED`). The offsets of both sides are saved before the first write. After the ledger entry the topics
    are no longer cut over. A retry finds what was written and writes the rest.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Check the approval, save the present offsets, write them, and record the result."""
        done = run.ledger.known().rollback_of(run.identity)
        if done is None:
            hold_reservation(run)
            plan = approved_plan(run, Stored.ROLLBACK_PLAN, triggered_by(context), make_rollback_plan)
            done = _recorded(run, plan, write_plan(run, plan))
        for number, text in enumerate(run.evidence.require(Stored.ROLLED_BACK).next_steps, start=1):
            self.log.info("%d. %s", number, text)
        return {"topics": list(done.topics), "groups": list(done.groups), "left": list(done.left)}


def _recorded(run: MigrationRun, plan: OffsetsPlan, result: OffsetsResult) -> RolledBack:
    """Write the document that a retry reads, then the ledger entry."""
    rolled_back = RolledBack(
        run.identity.holder,
        run.now(),
        str(plan.mode),
        plan.topics,
        result.moved,
        tuple(sorted(result.left_behind)),
        {each.topic: each.records for each in plan.target_only},
    )
    steps = after_rollback(
        source=run.migration.source.connection,
        target=run.migration.target.connection,
        topics=plan.topics,
        put_back=result.moved,
        left_behind=result.left_behind,
    )
    run.evidence.write(Stored.ROLLED_BACK, RolledBackDocument.of(rolled_back, steps))
    run.ledger.append(rolled_back.to_document())
    return rolled_back
