"""What must hold before a step acts: the reservation, a proved copy, an approval."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.adapters.logins import service_login
from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
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
from kafka_migration.core.migration.settings import RunIdentity
from kafka_migration.steps.run import MigrationRun


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
    findings = unproved_copy_findings(run.ledger.known(), run.migration.topics)
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
