"""`roll_back`: sets the consumer groups back as approved, and records the source as the source of truth again."""

from __future__ import annotations

from airflow.sdk import Context

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.groups.plan import GroupPlan
from kafka_migration.core.groups.writing import ROLLBACK_ON_SOURCE, ROLLBACK_ON_TARGET, GroupWrite, OffsetsResult
from kafka_migration.core.kafka.commits import Commits
from kafka_migration.core.ledger.cutovers import RolledBack
from kafka_migration.core.rollback.plan import RollbackPlan
from kafka_migration.core.rollback.plan_page import steps_after_rollback
from kafka_migration.core.text.shown import shown
from kafka_migration.orchestration.context import triggered_by
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary
from kafka_migration.steps.groups.writing import move_group, remove_group, require_moved, saved_before
from kafka_migration.steps.guards import hold_reservation, require_approved, require_unchanged
from kafka_migration.steps.rollback.planning import make_rollback_plan
from kafka_migration.steps.run import MigrationRun


class RollBackOperator(MigrationOperator):
    """Write the approved offsets group by group, prove each by reading it back, then write the ledger entry.

    Like `sync_offsets`, it requires an approval of exactly the newest plan, and clusters that still give that plan
    (`EVIDENCE_CHANGED`). The offsets of both sides are saved before the first write. After the ledger entry the topics
    are no longer cut over. A retry finds what was written and writes the rest.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Check the approval, save what stands there, write group by group, record the result."""
        done = run.ledger.known().rollback_of(run.identity)
        if done is None:
            hold_reservation(run)
            plan = _approved_plan(run, triggered_by(context))
            done = _recorded(run, plan, self._written(run, plan))
        for number, text in enumerate(run.evidence.require(Kind.ROLLED_BACK)["next_steps"], start=1):
            self.log.info("%d. %s", number, text)
        return {"topics": list(done.topics), "groups": list(done.groups), "left": list(done.left)}

    def _written(self, run: MigrationRun, plan: RollbackPlan) -> OffsetsResult:
        before = saved_before(run, plan.digest, [group.group for group in plan.groups], plan.topics)[plan.written_side]
        is_on_target = plan.written_side == "target"
        cluster, writing = (run.target, ROLLBACK_ON_TARGET) if is_on_target else (run.source, ROLLBACK_ON_SOURCE)
        moves: list[GroupWrite] = []
        for group in plan.changed:
            name, known = group.group, before.get(group.group, {})
            if group.is_removed:
                moves.append(remove_group(run.bare_target, writing, name, _really_called(run, known)))
            else:
                moves.append(move_group(cluster, writing, name, group.proposed, known))
            self.log.info("%-40s %s", shown(name), moves[-1].outcome)
        left = tuple(GroupPlan(group.group, refusals=group.refusals) for group in plan.left_out)
        result = OffsetsResult(plan.digest, tuple(moves), left)
        run.evidence.write(Kind.OFFSETS_RESULT, {"at": run.now(), **result.to_document()})
        require_moved(result, writing)
        return result


def _really_called(run: MigrationRun, commits: Commits) -> Commits:
    """Return commits of the target with the real names of its topics."""
    return {p._replace(topic=run.migration.target_topic(p.topic)): commit for p, commit in commits.items()}


def _approved_plan(run: MigrationRun, triggered_by: str | None) -> RollbackPlan:
    """Return the plan that was approved and that the clusters still give."""
    approved = RollbackPlan.from_document(run.evidence.require(Kind.ROLLBACK_PLAN)["plan"])
    require_approved(run, approved.digest, triggered_by)
    live = make_rollback_plan(run)
    require_unchanged(run, approved.digest, live.digest, approved.changes_to(live))
    return approved


def _recorded(run: MigrationRun, plan: RollbackPlan, result: OffsetsResult) -> RolledBack:
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
    steps = steps_after_rollback(
        source=run.migration.source.connection,
        target=run.migration.target.connection,
        topics=plan.topics,
        put_back=result.moved,
        left_behind=result.left_behind,
    )
    run.evidence.write(Kind.ROLLED_BACK, {**rolled_back.to_document(), "next_steps": list(steps)})
    run.ledger.append(rolled_back.to_document())
    return rolled_back
