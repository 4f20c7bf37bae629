"""What all operators of a migration share: gather, call the step, publish, translate errors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from airflow.sdk import BaseOperator, Context
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from kafka_migration.core.approval import Ask, evidence_changed, four_eyes, unapproved
from kafka_migration.core.codes import Code
from kafka_migration.core.errors import Finding, FindingsError, OutcomeUnknown, Refused
from kafka_migration.core.evidence import Kind
from kafka_migration.core.group_rules import unproved_copy_findings
from kafka_migration.core.migration import RunIdentity
from kafka_migration.core.verdict import Verdict
from kafka_migration.orchestration.run import MigrationRun

# A short, JSON-safe summary; documents travel through the evidence store, not through XCom.
Summary = dict[str, Any]


class MigrationOperator(BaseOperator):
    """One step of a migration's run.

    :param migration: name of the migration. (templated)

    Errors: refusals and failures that a machine must not retry become `AirflowFailException`, and their
    findings are recorded in the run's evidence; a `TransientError` is left to Airflow's retries.
    """

    template_fields: Sequence[str] = ("migration",)

    def __init__(self, *, migration: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.migration = migration

    def execute(self, context: Context) -> Summary:
        """Run the step and return its summary for XCom."""
        run = MigrationRun.from_context(context, self.migration)
        with reporting(run, self.task_id):
            return self.step(run, context)

    @abstractmethod
    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Do the work of the task; return a short summary."""


@contextmanager
def reporting(run: MigrationRun, task_id: str) -> Iterator[None]:
    """Close the run's connections at the end; record and translate errors that are meant."""
    try:
        yield
    except FindingsError as error:
        run.refused(task_id, error)
        raise AirflowFailException(str(error)) from None
    except OutcomeUnknown as error:
        raise AirflowFailException(f"OUTCOME UNKNOWN: {error} Look before anything is tried again.") from None
    finally:
        run.close()


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
    """Keep in the evidence that this attempt reserved the migration, and from whom it took that over."""
    run.evidence.write(Kind.RESERVE, {"at": run.now(), "holder": run.identity.holder, "taken_over_from": taken_from})


def require_proved_copy(run: MigrationRun) -> None:
    """Raise `Refused` unless this run's verdict is good, and that on everything that was ever copied."""
    judged = run.evidence.require(Kind.JUDGE)
    findings = unproved_copy_findings(run.ledger.read(), run.migration.topics)
    if not findings and not Verdict(judged["verdict"]).is_good:
        findings = (_bad_verdict(judged["verdict"]),)
    if findings:
        raise Refused(findings)


def require_approved(run: MigrationRun, digest: str, triggered_by: str | None) -> None:
    """Raise `Refused` unless the newest question was about just this plan, and a person who may said yes to it."""
    document = run.evidence.newest(Kind.APPROVE)
    ask = None if document is None else Ask.from_document(document)
    findings = unapproved(ask, digest)
    if ask is not None and not findings and run.migration.cutover.four_eyes:
        findings = four_eyes(ask, triggered_by)
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
