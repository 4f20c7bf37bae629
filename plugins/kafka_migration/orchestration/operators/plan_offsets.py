"""`plan_offsets`: translates the consumer groups' offsets and proves every one, without writing any."""

from __future__ import annotations

from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowSkipException

from kafka_migration.core.codes import Code
from kafka_migration.core.errors import Finding, Refused
from kafka_migration.core.evidence import Kind
from kafka_migration.core.group_offsets import OffsetsPlan
from kafka_migration.core.group_rules import unproved_copy_findings
from kafka_migration.core.offsets_report import render_plan
from kafka_migration.core.verdict import Verdict
from kafka_migration.orchestration.group_planning import make_offsets_plan
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary
from kafka_migration.orchestration.run import MigrationRun


class PlanOffsetsOperator(MigrationOperator):
    """Plan where every consumer group goes on on the target, and prove it by comparing the records on both sides.

    Only over a copy that is proved, in this run and as a whole. In mode `rehearse` groups may go on reading, and the
    plan is shown; in mode `cutover` a group that still reads is left out, and records behind the fenced ends refuse
    the run (`FENCE_MOVING`). Neither changes anything on either cluster.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Refuse an unproved copy, plan, record, log."""
        mode = run.request.mode
        if not mode.plans_groups:
            raise AirflowSkipException(f"Mode {mode} plans no consumer groups.")
        _require_proved_copy(run)
        plan = make_offsets_plan(run, final=mode.moves_groups)
        markdown = render_plan(plan, run.name)
        run.evidence.write(Kind.OFFSETS_PLAN, _document(plan, markdown))
        self._log_plan(plan)
        if plan.is_final and (findings := plan.uncopied_findings()):
            raise Refused(findings)
        return {"groups": len(plan.planned), "left_out": len(plan.left_out), "digest": plan.digest}

    def _log_plan(self, plan: OffsetsPlan) -> None:
        for group in plan.groups:
            self.log.info("%-40r %s, %d offsets", group.group, group.verdict, len(group.offsets))
            for finding in (*group.refusals, *group.warnings):
                self.log.info("  %s", finding)
        self.log.info("Plan %s: nothing was written by this task.", plan.digest)


def _document(plan: OffsetsPlan, markdown: str) -> dict[str, object]:
    return {"digest": plan.digest, "plan": plan.to_document(), "markdown": markdown, "final": plan.is_final}


def _require_proved_copy(run: MigrationRun) -> None:
    """Raise `Refused` unless this run's verdict is good, and that on everything that was ever copied."""
    judged = run.evidence.require(Kind.JUDGE)
    findings = unproved_copy_findings(run.ledger.read(), run.migration.topics)
    if not findings and not Verdict(judged["verdict"]).is_good:
        findings = (_bad_verdict(judged["verdict"]),)
    if findings:
        raise Refused(findings)


def _bad_verdict(verdict: str) -> Finding:
    return Finding(
        Code.COPY_DIFFERS if verdict == Verdict.FAIL else Code.RECORDS_NOT_VERIFIABLE,
        "the verdict of this run",
        verdict,
        f"{Verdict.PASS} or {Verdict.WARN}",
        "Offsets can only be translated over a copy that is proved. The report says what differs.",
    )
