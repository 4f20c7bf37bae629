"""What all operators of a migration share: gather, call the step, publish, translate errors."""

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

# A short, JSON-safe summary; documents travel through the evidence store, not through XCom.
Summary = dict[str, Any]


class MigrationOperator(BaseOperator):
    """One step of a migration's run.

    :param migration: name of the migration. (templated)

    Errors: refusals and failures that a machine must not retry become `FailedForGood`, and their
    findings are logged and recorded in the run's evidence; a `TransientError` is left to Airflow's retries.
    """

    template_fields: Sequence[str] = ("migration",)
    # Whether the run holds the reservation in this step; if not, another run may be at work, which must be shown.
    tells_step = True
    # Whether evidence that was changed ends the task; one that must work all the same does without the changed part.
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
            # The exception takes the place of what would be returned.
            context["ti"].xcom_push(key=BaseXCom.XCOM_RETURN_KEY, value=summary)
            raise DownstreamTasksSkipped(tasks=rest)
        return summary

    def ends_mode(self, mode: Mode) -> bool:
        """Return whether a run in this mode does nothing after this step but finish."""
        return False

    def _rest(self) -> list[str]:
        """Return the ids of all later tasks but teardowns.

        Airflow would skip them too, one level in each round of its scheduler.
        """
        return sorted(task.task_id for task in self.get_flat_relatives(upstream=False) if not task.is_teardown)

    @abstractmethod
    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Do the work of the task; return a short summary."""


@contextmanager
def reporting(
    run: MigrationRun, task_id: str, *, tells_step: bool = True, needs_evidence: bool = True
) -> Iterator[None]:
    """Tell which step this is and check the evidence; close the run's connections at the end.

    Errors that are meant are recorded and translated, as is evidence that is not what the run wrote
    (`EVIDENCE_CHANGED`).
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
        why = f"OUTCOME UNKNOWN: {error} Look before anything is tried again."
        log.error("%s", why)
        raise FailedForGood(why) from None
    finally:
        run.close()


def changes_of(run: MigrationRun, *, needs_evidence: bool) -> tuple[Finding, ...]:
    """Return how the evidence was changed.

    A task that does not need the evidence, such as one that stops MirrorMaker, goes on where that cannot be told.
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
    """Make sure that this attempt of the run holds the migration's reservation.

    A cleared task may run before the cleared `reserve` has: what is free, or an earlier attempt's, is taken, and
    recorded, so that `finish` frees it. Raises `Refused` (`NOT_RESERVED`) when another run holds it.
    """
    holder, mine = run.host.status().holder, run.identity
    if holder == mine.holder:
        if run.ledger.read().reserved_by != holder:
            # A try before this one ended between the host's reservation and the ledger's entry.
            record_reservation(run, None)
        return
    if holder and not RunIdentity.from_holder(holder).is_earlier_attempt_of(mine):
        finding = Finding(
            Code.NOT_RESERVED,
            f"migration {run.name}",
            f"the reservation is {holder}'s",
            f"held by {mine.holder}",
            "Nothing was written. Wait for that run to end, and trigger a new one.",
        )
        raise Refused([finding])
    run.host.reserve(mine.holder, take_over_from=holder or None)
    record_reservation(run, holder or None)


def record_reservation(run: MigrationRun, taken_from: str | None) -> None:
    """Keep in evidence and ledger that this attempt reserved the migration, and from whom it took that over.

    From the ledger's entry on, no other run can append to the ledger.
    """
    at, holder = run.now(), run.identity.holder
    run.evidence.write(Kind.RESERVE, {"at": at, "holder": holder, "taken_over_from": taken_from})
    if run.ledger.read().reserved_by != holder:
        run.ledger.append({"kind": "reserved", "run": holder, "at": at, "taken_over_from": taken_from})


def require_proved_copy(run: MigrationRun) -> None:
    """Raise `Refused` unless this run's verdict is good, and that on everything that was ever copied."""
    judged = run.evidence.require(Kind.JUDGE)
    findings = unproved_copy_findings(run.ledger.read(), run.migration.topics)
    if not findings and not Verdict(judged["verdict"]).is_good:
        findings = (_bad_verdict(judged["verdict"]),)
    if findings:
        raise Refused(findings)


def require_approved(run: MigrationRun, digest: str, triggered_by: str | None) -> None:
    """Raise `Refused` unless the newest answer is about just this plan, and is the yes of a person who may say so.

    The answer is the one that Airflow keeps; the document in the evidence is there to be read by people.
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
    """Raise `Refused` for an approval by somebody who may not give it, as the file says now or said at the start."""
    begun, now = run.migration.cutover, run.live_migration().cutover
    findings = not_an_approver(ask, begun.approvers, now.approvers)
    if begun.four_eyes or now.four_eyes:
        findings += four_eyes(ask, triggered_by, service_login())
    if findings:
        raise Refused(findings)


def require_unchanged(run: MigrationRun, approved: str, live: str, changes: Iterable[str]) -> None:
    """Raise `Refused` (`EVIDENCE_CHANGED`) when the clusters give another plan (by its digest) than was approved."""
    if live != approved:
        has_written = run.evidence.newest(Kind.OFFSETS_BEFORE) is not None
        raise Refused([evidence_changed(changes, has_written=has_written)])


def _bad_verdict(verdict: str) -> Finding:
    return Finding(
        Code.COPY_DIFFERS if verdict == Verdict.FAIL else Code.RECORDS_NOT_VERIFIABLE,
        "the verdict of this run",
        verdict,
        f"{Verdict.PASS} or {Verdict.WARN}",
        "Offsets can only be translated over a copy that is proved. The report says what differs.",
    )
