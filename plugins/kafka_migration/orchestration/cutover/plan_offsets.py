"""`plan_offsets`: translates the consumer groups' offsets and proves each of them, without writing any."""

from __future__ import annotations

import logging

from airflow.sdk import Context

from kafka_migration.core.cutover.not_moved import not_moved
from kafka_migration.core.cutover.plan_page import render_plan
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.stored.stored_documents import OffsetsPlanDocument, Stored
from kafka_migration.orchestration.operators.operator_base import MigrationOperator, Summary, skip_unless_planning
from kafka_migration.orchestration.task.failures import log_findings
from kafka_migration.steps.groups.plan_groups import make_offsets_plan
from kafka_migration.steps.run.guards import require_proved_copy
from kafka_migration.steps.run.migration_run import MigrationRun


class PlanOffsetsOperator(MigrationOperator):
    """Plan where each consumer group resumes on the target, and prove it by comparing the records on both sides.

    Requires a proved copy, for this run and as a whole; a topic that cannot be proved stays on the source, with the
    groups that read it. In mode `rehearse` groups may keep reading, and the plan is
    only shown. In mode `cutover` an active group is left out, and records after the fenced ends refuse the run
    (`FENCE_MOVING`). Neither mode changes a cluster here.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Refuse an unproved copy, then plan, record and log."""
        skip_unless_planning(run)
        unproved = require_proved_copy(run)
        plan = make_offsets_plan(run, unproved, with_others=True)
        run.evidence.write(Stored.OFFSETS_PLAN, _document(plan, render_plan(plan, run.name)))
        self._log_plan(plan)
        if plan.is_final and (findings := plan.uncopied_findings()):
            raise Refused(findings)
        return {"groups": len(plan.planned), "left_out": len(plan.left_out), "digest": plan.digest}

    def ends_mode(self, mode: Mode) -> bool:
        """Only a mode that moves the consumer groups continues."""
        return not mode.moves_groups

    def _log_plan(self, plan: OffsetsPlan) -> None:
        log_findings(plan.unproved.values(), logging.WARNING, self.log)
        for group in plan.groups:
            self.log.info("%-40r %s, %d offsets", group.group, group.verdict, len(group.proposed))
            log_findings((*group.refusals, *group.warnings), logging.INFO, self.log)
        self.log.info("Plan %s. This task wrote nothing.", plan.digest)


def _document(plan: OffsetsPlan, markdown: str) -> OffsetsPlanDocument:
    return OffsetsPlanDocument(plan.digest, plan, markdown, not_moved=tuple(not_moved(plan)), final=plan.is_final)
