"""`plan_rollback`: shows what a rollback would write and which records it would leave on the target; read-only."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from airflow.sdk import Context

from kafka_migration.core.cutover.plan_page import render_plan
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.ledger.ledger import phase_findings
from kafka_migration.core.rollback.reverse_migration import reverse_migration
from kafka_migration.core.rollback.rollback_refusals import target_only_findings
from kafka_migration.core.run.run_conf import unknown_findings
from kafka_migration.core.stored.stored_documents import RollbackPlanDocument, Stored
from kafka_migration.core.text.shortened import some
from kafka_migration.orchestration.operators.operator_base import MigrationOperator, Summary
from kafka_migration.orchestration.task.failures import log_findings
from kafka_migration.steps.rollback.plan_back import make_rollback_plan
from kafka_migration.steps.run.migration_run import MigrationRun

REVERSE_MIGRATION = "reverse-migration.yaml"


def _unknown_topics(run: MigrationRun) -> Iterator[Finding]:
    """Refuse to leave records of a topic that never belonged to this migration; the name may be misspelled."""
    known = {*run.whole_migration.topics, *run.ledger.known().copied_topics}
    unknown = [topic for topic in run.request.leave_records_of if topic not in known]
    return unknown_findings("leave_records_of", unknown, f"topics of the migration: {some(sorted(known))}")


class PlanRollbackOperator(MigrationOperator):
    """Plan the rollback of everything that was cut over.

    Mode `restore` sets the groups on the target back to their offsets before the cutover. Mode `fail_back` sets the
    groups on the source to their position on the target, with each offset proved. Records that exist only on the
    target are counted, and refuse the run (`TARGET_ONLY_RECORDS`) unless the form's `leave_records_of` names their
    topics. A migration file that copies them back is written next to the evidence. Neither cluster is changed.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Plan, record and log; refuse to leave records on the target without consent."""
        if refusals := (*phase_findings(run.ledger.known(), run.name, run.request.mode, ()), *_unknown_topics(run)):
            raise Refused(refusals)
        plan = make_rollback_plan(run)
        page = render_plan(plan, run.name)
        run.evidence.write(Stored.ROLLBACK_PLAN, RollbackPlanDocument(plan.digest, plan, page))
        if plan.target_only:
            run.evidence.publish(REVERSE_MIGRATION, reverse_migration(run.whole_migration, plan.target_only)[1])
        self._log_plan(plan)
        findings = target_only_findings(plan.target_only, run.request.leave_records_of)
        if findings:
            raise Refused(findings)
        return {"groups": len(plan.changed), "left_out": len(plan.left_out), "digest": plan.digest}

    def _log_plan(self, plan: OffsetsPlan) -> None:
        for group in plan.groups:
            self.log.info("%-40r %d offsets%s", group.group, len(group.proposed), ", removed" * group.is_removed)
            log_findings((*group.refusals, *group.warnings), logging.INFO, self.log)
        for each in plan.target_only:
            self.log.info("%-40r %s records on the target only", each.topic, each.count)
        self.log.info("Plan %s. This task wrote nothing.", plan.digest)
