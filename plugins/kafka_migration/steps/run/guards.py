"""What must hold before a step acts: the reservation, a proved copy, an approval."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from kafka_migration.adapters.system.this_machine import service_login
from kafka_migration.core.cutover.approval import (
    Ask,
    answer_changed,
    evidence_changed,
    four_eyes,
    not_an_approver,
    plan_changes,
    unapproved,
)
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.groups.unproved import stopping_findings, unproved_copies
from kafka_migration.core.kafka.cluster import Resource, Side
from kafka_migration.core.ledger.cutovers import Reserved
from kafka_migration.core.rights.rights import selected_groups, topics_on
from kafka_migration.core.stored.stored_documents import ReserveDocument, Stored
from kafka_migration.core.text.quoting import group_subject, quoted
from kafka_migration.engines.engine_rights import missing_rights
from kafka_migration.steps.run.migration_run import MigrationRun


def hold_reservation(run: MigrationRun) -> None:
    """Ensure that this attempt of the run holds the migration's reservation.

    A cleared task may run before the cleared `reserve`. So a reservation that is free or held by an earlier attempt is
    taken and recorded, and `finish` frees it. Raises `Refused` (`NOT_RESERVED`) when another run holds it.
    """
    holder, mine = run.process.status().holder, run.identity
    if holder == mine.holder:
        if run.ledger.read().reserved_by != holder:
            # An earlier try ended between the host's reservation and the ledger entry.
            record_reservation(run, None)
        return
    if holder and not mine.follows(holder):
        finding = Finding(
            Code.NOT_RESERVED,
            f"migration {run.name}",
            f"this run no longer holds the reservation; {quoted(holder)} does",
            f"a reservation of {mine.holder}",
            "Wait until that run has ended. If a person reserved by hand, let them release the reservation. Then "
            "trigger a new run.",
            happened=f"This run no longer holds the reservation of migration {run.name}; {quoted(holder)} does.",
            matters="Two runs that write at the same time would spoil the copy, so this task wrote nothing.",
        )
        raise Refused([finding])
    run.process.reserve(mine.holder, take_over_from=holder or None)
    record_reservation(run, holder or None)


def hold_ledger(run: MigrationRun) -> None:
    """Ensure that this attempt of the run may add to the ledger. Raises `Refused` like `hold_reservation`.

    The ledger refuses a writer that another run has replaced, so the host is asked only if the last reservation in the
    ledger is not that of this attempt, as when the task was cleared.
    """
    # `append` looks again.
    if run.ledger.known().reserved_by != run.identity.holder:
        hold_reservation(run)


def record_reservation(run: MigrationRun, taken_from: str | None) -> None:
    """Record in evidence and ledger that this attempt holds the reservation, and the run it was taken over from.

    After the ledger entry, no other run can append to the ledger.
    """
    at, holder = run.now(), run.identity.holder
    run.evidence.write(Stored.RESERVE, ReserveDocument(at, holder, taken_from))
    if run.ledger.read().reserved_by != holder:
        run.ledger.append(Reserved(holder, at, taken_from).to_document())


def require_proved_copy(run: MigrationRun) -> Mapping[str, Finding]:
    """Return the topics of the run that must be left out because their copy is not proved, each with the reason.

    Raises `Refused` if a copy differs, if no topic is proved, or if the verdict is bad for another reason.
    """
    judged, topics = run.evidence.require(Stored.JUDGE), run.migration.topics
    unproved = unproved_copies(run.ledger.known(), topics)
    if findings := stopping_findings(unproved, topics, judged):
        raise Refused(findings)
    return unproved


def require_approved(run: MigrationRun, digest: str, triggered_by: str | None) -> None:
    """Raise `Refused` unless the newest answer approves exactly this plan and comes from a permitted user.

    The answer is the one that Airflow keeps. The document in the evidence is for readers only.
    """
    answer = run.kept.answer
    ask = None if answer is None else Ask.from_document(answer)
    findings = unapproved(ask, digest)
    if not findings and ask != run.evidence.newest(Stored.APPROVE):
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


def require_unchanged(run: MigrationRun, approved: OffsetsPlan, live: OffsetsPlan) -> None:
    """Raise `Refused` (`EVIDENCE_CHANGED`) if the clusters' present state gives another plan than the approved one.

    Groups that could not be read for the approved plan stay left out. Raises `TransientError` if another one cannot be
    read now.
    """
    left = {group.group: group for group in approved.left_out if group.is_unreadable}
    live = replace(live, groups=tuple(left.get(group.group, group) for group in live.groups))
    if unknown := [group for group in live.left_out if group.is_unreadable and group.group not in left]:
        raise TransientError(f"{group_subject(unknown[0].group)} cannot be read now: {unknown[0].refusals[0].found}")
    if live.digest != approved.digest:
        has_written = run.evidence.newest(Stored.OFFSETS_BEFORE) is not None
        raise Refused([evidence_changed(plan_changes(approved, live), has_written=has_written)])


def require_rights_on_target_topics(run: MigrationRun) -> None:
    """Raise `Refused` (`RIGHT_MISSING`) if the login lacks a right on a target topic, which all exist now."""
    if findings := _missing_rights(run, "target", only_on=topics_on(run.migration, "target")):
        raise Refused(findings)


def missing_rights_of(run: MigrationRun) -> tuple[Finding, ...]:
    """Return the rights that the run's logins lack on both clusters, as far as the brokers report them."""
    return (*_missing_rights(run, "source"), *_missing_rights(run, "target"))


def _missing_rights(run: MigrationRun, side: Side, only_on: Collection[Resource] | None = None) -> tuple[Finding, ...]:
    # What looks at listeners imports all of TLS.
    from kafka_migration.adapters.kafka.listeners import principal_of

    cluster, named = (run.source, run.migration.source) if side == "source" else (run.target, run.migration.target)
    principal = principal_of(run.deployment.client_settings(named))
    return missing_rights(cluster, run.migration, side, run.request.mode, principal, only_on)


def unseen_groups(run: MigrationRun) -> tuple[Finding, ...]:
    """Return a warning if it is unknown whether the list of the source's groups is complete.

    Brokers leave out groups that the login may not describe, without an error. Brokers before Kafka 2.3 do not report
    whether it may.
    """
    wanted = selected_groups(run.migration)
    granted = run.source.granted(wanted)
    unknown = [each for each in wanted if each not in granted]
    return tuple(_unseen(run, each) for each in unknown[:1])


def _unseen(run: MigrationRun, groups: Resource) -> Finding:
    return Finding(
        Code.FACT_UNKNOWN,
        f"consumer groups of source.connection {run.migration.source.connection}",
        f"not known whether the login may describe all groups {groups.name}",
        "an answer of the brokers",
        "Compare the shown groups with those that an administrator sees: kafka-consumer-groups.sh --list.",
        happened=f"The source's brokers do not say whether the login may describe all groups {groups.name}.",
        matters="Brokers leave out groups that a login may not describe, so the source may have more groups than are "
        "shown, and these would not be moved.",
    )
