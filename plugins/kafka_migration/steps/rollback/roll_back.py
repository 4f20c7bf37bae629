"""Plans the rollback of a cutover, and sets the consumer groups back as approved."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from kafka_migration.core.cutover.plan_page import render_plan
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.groups.group_writes import OffsetsResult
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.ledger.cutovers import RolledBack
from kafka_migration.core.ledger.ledger import phase_findings
from kafka_migration.core.report.next_steps import after_rollback
from kafka_migration.core.rollback.reverse_migration import reverse_migration
from kafka_migration.core.rollback.rollback_planning import target_only_findings
from kafka_migration.core.run.run_conf import unknown_findings
from kafka_migration.core.stored.stored_documents import RollbackPlanDocument, RolledBackDocument, Stored
from kafka_migration.core.text.shortened import some
from kafka_migration.steps.groups.write_groups import approved_plan, write_plan
from kafka_migration.steps.rollback.plan_back import make_rollback_plan
from kafka_migration.steps.run.guards import hold_reservation
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import Summary, log_findings

log = logging.getLogger(__name__)
REVERSE_MIGRATION = "reverse-migration.yaml"


def plan_rollback(run: MigrationRun) -> Summary:
    """Plan, record and log; refuse to leave records on the target without consent."""
    if refusals := (*phase_findings(run.ledger.known(), run.name, run.request.mode, ()), *_unknown_topics(run)):
        raise Refused(refusals)
    plan = make_rollback_plan(run)
    page = render_plan(plan, run.name)
    run.evidence.write(Stored.ROLLBACK_PLAN, RollbackPlanDocument(plan.digest, plan, page))
    if plan.target_only:
        run.evidence.publish(REVERSE_MIGRATION, reverse_migration(run.whole_migration, plan.target_only)[1])
    _log_plan(plan)
    findings = target_only_findings(plan.target_only, run.request.leave_records_of)
    if findings:
        raise Refused(findings)
    return {"groups": len(plan.changed), "left_out": len(plan.left_out), "digest": plan.digest}


def _log_plan(plan: OffsetsPlan) -> None:
    for group in plan.groups:
        log.info("%-40r %d offsets%s", group.group, len(group.proposed), ", removed" * group.is_removed)
        log_findings((*group.refusals, *group.warnings), logging.INFO)
    for each in plan.target_only:
        log.info("%-40r %s records on the target only", each.topic, each.count)
    log.info("Plan %s. This task wrote nothing.", plan.digest)


def _unknown_topics(run: MigrationRun) -> Iterator[Finding]:
    """Refuse to leave records of a topic that never belonged to this migration; the name may be misspelled."""
    known = {*run.whole_migration.topics, *run.ledger.known().copied_topics}
    unknown = [topic for topic in run.request.leave_records_of if topic not in known]
    return unknown_findings("leave_records_of", unknown, f"topics of the migration: {some(sorted(known))}")


def roll_back(run: MigrationRun, triggered_by: str | None) -> Summary:
    """Check the approval, save the present offsets, write them, and record the result."""
    done = run.ledger.known().rollback_of(run.identity)
    if done is None:
        hold_reservation(run)
        plan = approved_plan(run, Stored.ROLLBACK_PLAN, triggered_by, make_rollback_plan)
        done = _recorded(run, plan, write_plan(run, plan))
    for number, text in enumerate(run.evidence.require(Stored.ROLLED_BACK).next_steps, start=1):
        log.info("%d. %s", number, text)
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
