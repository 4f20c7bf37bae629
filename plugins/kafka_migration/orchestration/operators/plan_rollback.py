"""`plan_rollback`: says what a rollback would write and what it would leave behind, without writing anything."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from airflow.sdk import Context

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.ledger.phases import phase_findings
from kafka_migration.core.migration.run_conf import unknown_findings
from kafka_migration.core.rollback.plan import RollbackPlan
from kafka_migration.core.rollback.plan_page import render_rollback
from kafka_migration.core.rollback.reverse_migration import reverse_migration
from kafka_migration.core.rollback.rules import target_only_findings
from kafka_migration.core.text.brief import some
from kafka_migration.orchestration.failing import log_findings
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary
from kafka_migration.steps.rollback.planning import make_rollback_plan
from kafka_migration.steps.run import MigrationRun

REVERSE_MIGRATION = "reverse-migration.yaml"


def _unknown_topics(run: MigrationRun) -> Iterator[Finding]:
    """Refuse to leave records of a topic that was never this migration's: it may be misspelt."""
    known = {*run.whole_migration.topics, *run.ledger.known().copied_topics}
    unknown = [topic for topic in run.request.leave_records_of if topic not in known]
    return unknown_findings("leave_records_of", unknown, f"topics of the migration: {some(sorted(known))}")


class PlanRollbackOperator(MigrationOperator):
    """Plan to take back everything that was cut over.

    Mode `restore`: the groups on the target as they stood before. Mode `fail_back`: the groups on the source as they
    stand on the target, each offset proved. Records that only the target has are counted, and refuse the run
    (`TARGET_ONLY_RECORDS`) unless the form's `leave_records_of` names their topics; a migration file that copies them
    back is put beside the evidence. Neither cluster is changed.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Plan, record, log, refuse to leave records behind silently."""
        if refusals := (*phase_findings(run.ledger.known(), run.name, run.request.mode, ()), *_unknown_topics(run)):
            raise Refused(refusals)
        plan = make_rollback_plan(run)
        document = {"digest": plan.digest, "plan": plan.to_document(), "markdown": render_rollback(plan, run.name)}
        run.evidence.write(Kind.ROLLBACK_PLAN, document)
        if plan.target_only:
            run.evidence.publish(REVERSE_MIGRATION, reverse_migration(run.whole_migration, plan.target_only)[1])
        self._log_plan(plan)
        findings = target_only_findings(plan.target_only, run.request.leave_records_of)
        if findings:
            raise Refused(findings)
        return {"groups": len(plan.changed), "left_out": len(plan.left_out), "digest": plan.digest}

    def _log_plan(self, plan: RollbackPlan) -> None:
        for group in plan.groups:
            self.log.info("%-40r %d offsets%s", group.group, len(group.proposed), ", removed" * group.is_removed)
            log_findings((*group.refusals, *group.warnings), logging.INFO, self.log)
        for each in plan.target_only:
            self.log.info("%-40r %s records on the target only", each.topic, each.count)
        self.log.info("Plan %s: nothing was written by this task.", plan.digest)
