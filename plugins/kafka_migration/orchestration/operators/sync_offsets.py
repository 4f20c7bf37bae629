"""`sync_offsets`: writes the approved offsets of the consumer groups on the target."""

from __future__ import annotations

from airflow.sdk import Context

from kafka_migration.adapters.many import of_each
from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.groups.approval import not_final, plan_changes
from kafka_migration.core.groups.plan import OffsetsPlan
from kafka_migration.core.groups.writing import CUTOVER, OffsetsResult
from kafka_migration.core.text.shown import shown
from kafka_migration.orchestration.context import triggered_by
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary, skip_unless_moving
from kafka_migration.steps.groups.planning import make_offsets_plan
from kafka_migration.steps.groups.writing import move_group, require_moved, saved_before
from kafka_migration.steps.guards import hold_reservation, require_approved, require_unchanged
from kafka_migration.steps.run import MigrationRun


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
        plan = _approved_plan(run, triggered_by(context))
        groups = [group.group for group in plan.groups]
        before = saved_before(run, plan.digest, groups, run.topics_of_groups)["target"]
        proposed = {group.group: group.proposed for group in plan.planned}
        moves = of_each(
            proposed, lambda name: move_group(run.target, CUTOVER, name, proposed[name], before.get(name, {}))
        ).values()
        result = OffsetsResult(plan.digest, tuple(moves), plan.left_out)
        run.evidence.write(Kind.OFFSETS_RESULT, {"at": run.now(), **result.to_document()})
        for move in moves:
            self.log.info("%-40s %s", shown(move.group), move.outcome)
        require_moved(result, CUTOVER)
        return {"moved": list(result.moved), "partly": result.is_partly}


def _approved_plan(run: MigrationRun, triggered_by: str | None) -> OffsetsPlan:
    """Return the plan that was approved and that the clusters still give."""
    approved = OffsetsPlan.from_document(run.evidence.require(Kind.OFFSETS_PLAN)["plan"])
    if findings := not_final(approved):
        raise Refused(findings)
    require_approved(run, approved.digest, triggered_by)
    live = make_offsets_plan(run, final=True)
    require_unchanged(run, approved.digest, live.digest, plan_changes(approved, live))
    return approved
