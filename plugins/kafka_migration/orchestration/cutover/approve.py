"""`approve`: a user reviews the offsets plan and approves or rejects it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple

from airflow.providers.standard.exceptions import HITLRejectException, HITLTimeoutError
from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import Context

from kafka_migration.core.cutover.approval import Ask, Responder, not_final, rejected, stale_asks, timed_out
from kafka_migration.core.cutover.plan_page import Asking, approval_page
from kafka_migration.core.evidence.stored_kind import StoredKind
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.groups.group_writes import stuck_findings
from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.report.alerts import Alert
from kafka_migration.core.stored.group_documents import PlanOfGroups
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.text.terminal_text import duration
from kafka_migration.orchestration.operators.operator_base import Summary, reporting, skip_unless_moving
from kafka_migration.orchestration.task.alerting import send
from kafka_migration.orchestration.task.context import link_to, run_of, triggered_by
from kafka_migration.orchestration.task.failures import never_again
from kafka_migration.steps.run.guards import hold_reservation, require_entitled
from kafka_migration.steps.run.migration_run import MigrationRun


class Question(NamedTuple):
    """The question to the approvers: a plan's digest and text, and findings that forbid asking."""

    digest: str
    text: str
    findings: tuple[Finding, ...]


class ApproveOperator(ApprovalOperator):
    """Ask for the approval of the newest offsets plan (Airflow's *Required Actions*).

    :param migration: name of the migration. (templated)

    The task waits in state `awaiting_input` without a slot, at most `cutover.approval_time_limit`. Only
    `cutover.approvers` may answer, if the file names any. There is no default answer: *Reject* and a time-out both end
    the run, and nothing is written. The approval applies to the plan's digest, which is recorded before asking. The
    task refuses to ask again about another plan or other approvers (`APPROVAL_STALE`), because Airflow would show the
    first plan's text to the first approvers. The task itself also checks the answering user against
    `cutover.approvers` (`NOT_AN_APPROVER`).
    """

    # Replaces the provider's fields: the body contains group and topic names, which must not be rendered.
    template_fields: Sequence[str] = ("migration",)
    SUBJECT = "Move the consumer groups of {migration}"
    APPROVE_DOES = "saves the present offsets and writes the offsets below to the groups on the target."

    def __init__(self, *, migration: str, **kwargs: Any) -> None:
        # The real texts are set when the plan is known.
        super().__init__(subject=self.SUBJECT.format(migration=migration), fail_on_reject=True, **kwargs)
        self.migration = migration
        never_again(self)

    def execute(self, context: Context) -> None:
        """Record the question, then ask. Never returns: the answer resumes the task."""
        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            question = self.question(run)
            asked = _record(run, question)
            self._word(run, asked, question.text, triggered_by(context))
            self._tell(run)
        super().execute(context)

    def question(self, run: MigrationRun) -> Question:
        """Return the question; skip the task in a mode that needs no approval."""
        skip_unless_moving(run)
        return question_of(run, Stored.OFFSETS_PLAN)

    def execute_complete(self, context: Context, event: Mapping[str, Any]) -> Summary:
        """Record the answer; raise unless it is a valid approval."""
        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            ask = _answered(run, event)
            _keep(run, ask)
            try:
                super().execute_complete(context, dict(event))
            except HITLRejectException:
                raise Refused([rejected(ask)]) from None
            except HITLTimeoutError:
                raise Refused([timed_out(ask)]) from None
            require_entitled(run, ask, triggered_by(context))
            self.log.info("Approved by %s at %s.", ask.who, ask.answered_at)
            return {"chosen": ask.chosen, "by": ask.who, "at": ask.answered_at, "digest": ask.digest}

    def _tell(self, run: MigrationRun) -> None:
        cutover = run.migration.cutover
        lines = (
            f"{self.subject}: the plan waits for an answer, {duration(cutover.approval_time_limit_s)} at most.",
            f"Who may answer: {', '.join(cutover.approvers) or 'all users that Airflow permits'}",
        )
        link = link_to(run.identity, self.task_id)
        kind = AlertKind.APPROVAL
        send(run, Alert(kind, run.name, str(run.identity), link, kind.first_step, lines=lines))

    def _word(self, run: MigrationRun, asked: Ask, plan: str, person: str | None) -> None:
        cutover = run.migration.cutover
        asking = Asking(
            ask=asked,
            judged=run.evidence.newest(Stored.JUDGE),
            approve=self.APPROVE_DOES,
            folder=str(run.evidence.folder),
            link=link_to(run.identity),
            four_eyes_of=(person or "") if cutover.four_eyes else "",
        )
        self.body = approval_page(asking, plan)
        self.response_timeout = timedelta(seconds=cutover.approval_time_limit_s)
        self.assigned_users = [{"id": user, "name": user} for user in cutover.approvers] or None


def question_of(run: MigrationRun, kind: StoredKind[PlanOfGroups]) -> Question:
    """Return the question about the newest plan, of a cutover or of a rollback."""
    document = run.evidence.require(kind)
    plan = document.plan
    return Question(plan.digest, document.markdown, not_final(plan) or stuck_findings(plan))


def _record(run: MigrationRun, question: Question) -> Ask:
    """Record the question and return it; raises `Refused` if it must not be asked."""
    cutover = run.migration.cutover
    asks = run.evidence.of_run(Stored.APPROVE)
    findings = question.findings or stale_asks(asks, question.digest, cutover.approvers)
    if findings:
        raise Refused(findings)
    hold_reservation(run)
    ask = Ask(question.digest, run.now(), cutover.approval_time_limit_s, cutover.approvers)
    _keep(run, ask)
    return ask


def _keep(run: MigrationRun, ask: Ask) -> None:
    """Keep a question or its answer: in Airflow for the tasks that act on it, in the evidence for readers."""
    if run.keeper is not None:
        run.keeper.keep_answer(ask.to_document())
    run.evidence.write(Stored.APPROVE, ask)


def _answered(run: MigrationRun, event: Mapping[str, Any]) -> Ask:
    """Return the latest question with the event's answer; a time-out has no answer."""
    ask = run.evidence.require(Stored.APPROVE)
    user = event.get("responded_by_user") or {}
    answered_at = event.get("responded_at")
    return replace(
        ask,
        answered_at=answered_at.isoformat(timespec="seconds") if answered_at else run.now(),
        chosen=next(iter(event.get("chosen_options") or ()), None),
        responded_by=Responder(user.get("id"), user.get("name")),
    )
