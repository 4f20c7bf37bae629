"""`approve`: a user reviews the offsets plan and approves or rejects it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from airflow.providers.standard.exceptions import HITLRejectException, HITLTimeoutError
from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import Context

from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.text.terminal_text import duration
from kafka_migration.orchestration.operators.operator_base import reporting
from kafka_migration.orchestration.task.alerting import send
from kafka_migration.orchestration.task.failures import never_again

if TYPE_CHECKING:
    from kafka_migration.core.cutover.approval import Ask
    from kafka_migration.core.evidence.evidence_documents import StoredKind
    from kafka_migration.steps.run.migration_run import MigrationRun
    from kafka_migration.steps.run.task_frame import Summary


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

    def plan_kind(self) -> StoredKind[Any]:
        """Return the kind of the document that is approved."""
        from kafka_migration.core.stored.stored_documents import Stored

        return Stored.OFFSETS_PLAN

    def execute(self, context: Context) -> None:
        """Record the question, then ask. Never returns: the answer resumes the task."""
        from kafka_migration.orchestration.task.context import run_of, triggered_by
        from kafka_migration.steps.groups.write_groups import ask_approval

        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            asked, plan = ask_approval(run, self.plan_kind())
            self._word(run, asked, plan, triggered_by(context))
            self._tell(run, asked)
            self._send_waits(run, run.clock.now())
            super().execute(context)

    def execute_complete(self, context: Context, event: Mapping[str, Any]) -> Summary:
        """Record the answer; raise unless it is a valid approval."""
        from kafka_migration.core.cutover.approval import Responder
        from kafka_migration.orchestration.task.context import run_of, triggered_by
        from kafka_migration.steps.groups.write_groups import accept_answer, record_answer

        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            self._send_waits(run, None)
            user = event.get("responded_by_user") or {}
            chosen = next(iter(event.get("chosen_options") or ()), None)
            by = Responder(user.get("id"), user.get("name"))
            ask = record_answer(run, chosen, by, event.get("responded_at"))
            with suppress(HITLRejectException, HITLTimeoutError):
                super().execute_complete(context, dict(event))
            return accept_answer(run, ask, triggered_by(context))

    def _send_waits(self, run: MigrationRun, since: datetime | None) -> None:
        from kafka_migration.core.report.metrics import MetricsOf

        run.deployment.send_metrics(MetricsOf(run.name).waits(AlertKind.APPROVAL, since))

    def _tell(self, run: MigrationRun, asked: Ask) -> None:
        from kafka_migration.core.report.alerts import Alert
        from kafka_migration.orchestration.task.context import link_to

        until = run.local.weekday(asked.until or "not known")
        lines = (
            f"{self.subject}: the plan waits for an answer until {until}, {duration(asked.time_limit_s)} at most.",
            f"Who may answer: {', '.join(asked.approvers) or 'all users that Airflow permits'}",
        )
        link = link_to(run.identity, self.task_id)
        send(run, Alert(AlertKind.APPROVAL, run.name, run.identity, run.now_words(), link, lines=lines))

    def _word(self, run: MigrationRun, asked: Ask, plan: str, person: str | None) -> None:
        from kafka_migration.core.cutover.plan_page import Asking, approval_page
        from kafka_migration.core.stored.stored_documents import Stored
        from kafka_migration.orchestration.task.context import link_to
        from kafka_migration.steps.groups.write_groups import standing_still

        cutover = run.migration.cutover
        asking = Asking(
            ask=asked,
            judged=run.evidence.newest(Stored.JUDGE),
            approve=self.APPROVE_DOES,
            folder=str(run.evidence.folder),
            run=run.identity.holder,
            link=link_to(run.identity),
            four_eyes_of=(person or "") if cutover.four_eyes else "",
            still=standing_still(run),
            local=run.local,
        )
        self.body = approval_page(asking, plan)
        self.response_timeout = timedelta(seconds=cutover.approval_time_limit_s)
        self.assigned_users = [{"id": user, "name": user} for user in cutover.approvers] or None
