"""The base of all operators of a migration: runs the step, publishes its result, translates errors."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from airflow.sdk import BaseOperator, Context
from airflow.sdk.bases.xcom import BaseXCom
from airflow.sdk.exceptions import AirflowSkipException, DownstreamTasksSkipped

from kafka_migration.adapters.logins import service_login
from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, FindingsError, OutcomeUnknown, Refused
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.groups.approval import (
    Ask,
    answer_changed,
    evidence_changed,
    four_eyes,
    not_an_approver,
    unapproved,
)
from kafka_migration.core.groups.rules import unproved_copy_findings
from kafka_migration.core.migration.settings import Mode, RunIdentity
from kafka_migration.orchestration.failing import FailedForGood, log_findings, never_again
from kafka_migration.orchestration.run import MigrationRun

log = logging.getLogger(__name__)

# A short, JSON-safe summary. Documents are passed through the evidence store, not through XCom.
Summary = dict[str, Any]


class MigrationOperator(BaseOperator):
    """One step of a migration's run.

    :param migration: name of the migration. (templated)

    Refusals and failures that must not be retried automatically become `FailedForGood`. Their findings are logged and
    recorded in the run's evidence. A `TransientError` is left to Airflow's retries.
    """

    template_fields: Sequence[str] = ("migration",)
    # Whether the run holds the reservation in this step; if not, another run may be active and must stay visible.
    tells_step = True
    # Whether modified evidence fails the task; a task that must always run ignores the modified documents.
    needs_evidence = True

    def __init__(self, *, migration: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.migration = migration
        never_again(self)

    def execute(self, context: Context) -> Summary:
        """Run the step and return its summary for XCom; after the mode's last step skip the rest of the DAG."""
        run = MigrationRun.from_context(context, self.migration)
        needs, tells = self.needs_evidence, self.tells_step
        with reporting(run, self.task_id, tells_step=tells, needs_evidence=needs):
            summary = self.step(run, context)
            rest = self._rest() if self.ends_mode(run.request.mode) else []
        if rest:
            # The exception replaces the return value.
            context["ti"].xcom_push(key=BaseXCom.XCOM_RETURN_KEY, value=summary)
            raise DownstreamTasksSkipped(tasks=rest)
        return summary

    def ends_mode(self, mode: Mode) -> bool:
        """Return whether only `finish` follows this step in this mode."""
        return False

    def _rest(self) -> list[str]:
        """Return the ids of all downstream tasks except teardowns.

        Airflow would skip them too, but only one level per scheduler loop.
        """
        return sorted(task.task_id for task in self.get_flat_relatives(upstream=False) if not task.is_teardown)

    @abstractmethod
    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Do the work of the task; return a short summary."""


@contextmanager
def reporting(
    run: MigrationRun, task_id: str, *, tells_step: bool = True, needs_evidence: bool = True
) -> Iterator[None]:
    """Publish the current step and check the evidence; close the run's connections at the end.

    Expected errors and modified evidence (`EVIDENCE_CHANGED`) are recorded and translated.
    """
    if tells_step:
        run.news.tell_step(run.identity.holder, task_id, run.now())
    try:
        changes = changes_of(run, needs_evidence=needs_evidence)
        if changes and needs_evidence:
            raise Refused(changes)
        run.evidence.leaves_out_changed = run.evidence.leaves_out_changed or bool(changes)
        log_findings(changes)
        yield
    except FindingsError as error:
        run.refused(task_id, error)
        log_findings(error.findings)
        raise FailedForGood(str(error)) from None
    except OutcomeUnknown as error:
        why = f"OUTCOME UNKNOWN: {error} Check the actual state before you retry."
        log.error("%s", why)
        raise FailedForGood(why) from None
    finally:
        run.close()


def changes_of(run: MigrationRun, *, needs_evidence: bool) -> tuple[Finding, ...]:
    """Return the findings about modified evidence.

    A task that does not need the evidence, such as `stop_mirror`, continues if the evidence cannot be read.
    """
    try:
        return run.evidence.changes()
    except Exception as error:
        if needs_evidence:
            raise
        run.evidence.leaves_out_changed = True
        log.error("The evidence cannot be read: %s: %s", type(error).__name__, error)
        return ()


def skip_unless_planning(run: MigrationRun) -> None:
    """Skip the task in a mode that plans no groups; `finish` knows which skips a mode expects."""
    if not run.request.mode.plans_groups:
        raise AirflowSkipException(f"Mode {run.request.mode} plans no consumer groups.")


def skip_unless_moving(run: MigrationRun) -> None:
    """Skip the task in a mode that moves no groups; `finish` knows which skips a mode expects."""
    if not run.request.mode.moves_groups:
        raise AirflowSkipException(f"Mode {run.request.mode} moves no consumer groups.")


def hold_reservation(run: MigrationRun) -> None:
    """Ensure that this attempt of the run holds the migration's reservation.

    A cleared task may run before the cleared `reserve`. So a reservation that is free or held by an earlier attempt is
    taken and recorded, and `finish` frees it. Raises `Refused` (`NOT_RESERVED`) when another run holds it.
    """
    holder, mine = run.host.status().holder, run.identity
    if holder == mine.holder:
        if run.ledger.read().reserved_by != holder:
            # An earlier try ended between the host's reservation and the ledger entry.
            record_reservation(run, None)
        return
    if holder and not RunIdentity.from_holder(holder).is_earlier_attempt_of(mine):
        finding = Finding(
            Code.NOT_RESERVED,
            f"migration {run.name}",
            f"the reservation is held by {holder}",
            f"held by {mine.holder}",
            "Nothing was written. Wait for that run to end, then trigger a new one.",
        )
        raise Refused([finding])
    run.host.reserve(mine.holder, take_over_from=holder or None)
    record_reservation(run, holder or None)


def record_reservation(run: MigrationRun, taken_from: str | None) -> None:
    """Record in evidence and ledger that this attempt holds the reservation, and the run it was taken over from.

    After the ledger entry, no other run can append to the ledger.
    """
    at, holder = run.now(), run.identity.holder
    run.evidence.write(Kind.RESERVE, {"at": at, "holder": holder, "taken_over_from": taken_from})
    if run.ledger.read().reserved_by != holder:
        run.ledger.append({"kind": "reserved", "run": holder, "at": at, "taken_over_from": taken_from})


def require_proved_copy(run: MigrationRun) -> None:
    """Raise `Refused` unless the verdicts on this run and on everything that was ever copied are good."""
    judged = run.evidence.require(Kind.JUDGE)
    findings = unproved_copy_findings(run.ledger.read(), run.migration.topics)
    if not findings and not Verdict(judged["verdict"]).is_good:
        findings = (_bad_verdict(judged["verdict"]),)
    if findings:
        raise Refused(findings)


def require_approved(run: MigrationRun, digest: str, triggered_by: str | None) -> None:
    """Raise `Refused` unless the newest answer approves exactly this plan and comes from a permitted user.

    The answer is the one that Airflow keeps. The document in the evidence is for readers only.
    """
    answer = run.kept.answer
    ask = None if answer is None else Ask.from_document(answer)
    findings = unapproved(ask, digest)
    if not findings and answer != run.evidence.newest(Kind.APPROVE):
        findings = (answer_changed(str(run.evidence.folder)),)
    if findings:
        raise Refused(findings)
    if ask is not None:
        require_entitled(run, ask, triggered_by)


def require_entitled(run: MigrationRun, ask: Ask, triggered_by: str | None) -> None:
    """Raise `Refused` if the current or the frozen migration file does not permit this user's approval."""
    begun, now = run.migration.cutover, run.live_migration().cutover
    findings = not_an_approver(ask, begun.approvers, now.approvers)
    if begun.four_eyes or now.four_eyes:
        findings += four_eyes(ask, triggered_by, service_login())
    if findings:
        raise Refused(findings)


def require_unchanged(run: MigrationRun, approved: str, live: str, changes: Iterable[str]) -> None:
    """Raise `Refused` (`EVIDENCE_CHANGED`) if the clusters' present state gives another plan than the approved one."""
    if live != approved:
        has_written = run.evidence.newest(Kind.OFFSETS_BEFORE) is not None
        raise Refused([evidence_changed(changes, has_written=has_written)])


def _bad_verdict(verdict: str) -> Finding:
    return Finding(
        Code.COPY_DIFFERS if verdict == Verdict.FAIL else Code.RECORDS_NOT_VERIFIABLE,
        "the verdict of this run",
        verdict,
        f"{Verdict.PASS} or {Verdict.WARN}",
        "Offsets can only be translated on a proved copy. The report lists the differences.",
    )
