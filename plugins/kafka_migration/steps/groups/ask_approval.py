"""Asks for the approval of a plan, and takes the answer."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime

from kafka_migration.core.cutover.approval import APPROVE, Ask, Responder, not_final, rejected, stale_asks, timed_out
from kafka_migration.core.evidence.evidence_documents import StoredKind
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.groups.group_writes import stuck_findings
from kafka_migration.core.stored.stored_documents import PlanOfGroups, Stored
from kafka_migration.steps.run.guards import hold_reservation, require_entitled
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import Summary, skip_unless_moving

log = logging.getLogger(__name__)


def ask_approval(run: MigrationRun, kind: StoredKind[PlanOfGroups]) -> tuple[Ask, str]:
    """Record the question about the newest plan, of a cutover or of a rollback; return it and the plan's text.

    Raises `NothingToDo` in a mode that needs no approval, and `Refused` if the question must not be asked.
    """
    if kind is Stored.OFFSETS_PLAN:
        skip_unless_moving(run)
    document, cutover = run.evidence.require(kind), run.migration.cutover
    plan, asks = document.plan, run.evidence.of_run(Stored.APPROVE)
    if findings := not_final(plan) or stuck_findings(plan) or stale_asks(asks, plan.digest, cutover.approvers):
        raise Refused(findings)
    hold_reservation(run)
    ask = Ask(plan.digest, run.now(), cutover.approval_time_limit_s, cutover.approvers)
    _keep(run, ask)
    return ask, document.markdown


def _keep(run: MigrationRun, ask: Ask) -> None:
    """Keep a question or its answer: in Airflow for the tasks that act on it, in the evidence for readers."""
    if run.keeper is not None:
        run.keeper.keep_answer(ask.to_document())
    run.evidence.write(Stored.APPROVE, ask)


def record_answer(run: MigrationRun, chosen: str | None, by: Responder, at: datetime | None) -> Ask:
    """Record and return the latest question with its answer; a time-out has no answer and no time."""
    answered_at = at.isoformat(timespec="seconds") if at else run.now()
    ask = replace(run.evidence.require(Stored.APPROVE), answered_at=answered_at, chosen=chosen, responded_by=by)
    _keep(run, ask)
    return ask


def accept_answer(run: MigrationRun, ask: Ask, triggered_by: str | None) -> Summary:
    """Return the answer if it approves the plan and comes from a permitted user; else raise `Refused`."""
    if ask.chosen != APPROVE:
        raise Refused([timed_out(ask) if ask.chosen is None else rejected(ask)])
    require_entitled(run, ask, triggered_by)
    log.info("Approved by %s at %s.", ask.who, ask.answered_at)
    return {"chosen": ask.chosen, "by": ask.who, "at": ask.answered_at, "digest": ask.digest}
