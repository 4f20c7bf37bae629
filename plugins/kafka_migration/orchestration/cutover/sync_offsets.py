"""`sync_offsets`: writes the approved offsets of the consumer groups on the target."""

from __future__ import annotations

from airflow.sdk import Context

from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.orchestration.operators.operator_base import MigrationOperator, Summary, skip_unless_moving
from kafka_migration.orchestration.task.context import triggered_by
from kafka_migration.steps.groups.plan_groups import make_offsets_plan
from kafka_migration.steps.groups.write_groups import approved_plan, write_plan
from kafka_migration.steps.run.guards import hold_reservation, require_proved_copy
from kafka_migration.steps.run.migration_run import MigrationRun


class SyncOffsetsOperator(MigrationOperator):
    """Write the approved offsets, some groups at a time, and prove each group by reading it back.

    Requires an approval of exactly the newest plan (`APPROVAL_STALE`), and clusters that still give that plan
    (`EVIDENCE_CHANGED`). With `cutover.four_eyes` the approver must not be the user who triggered the run. Before the
    first write the offsets of both sides are saved, also in the format of `kafka-consumer-groups --from-file`.

    A group that cannot be written is left out with its reason; the other groups are still written. A retry finds what
    was written and writes the rest.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Check the approval, save the present offsets, write group by group, and record the result."""
        skip_unless_moving(run)
        hold_reservation(run)
        plan = approved_plan(run, Stored.OFFSETS_PLAN, triggered_by(context), _present_plan)
        result = write_plan(run, plan)
        return {"moved": list(result.moved), "partly": result.is_partly}


def _present_plan(run: MigrationRun) -> OffsetsPlan:
    return make_offsets_plan(run, require_proved_copy(run))
