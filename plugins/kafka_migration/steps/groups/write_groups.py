"""Asks for the approval of a plan, then writes the offsets of consumer groups.

The writing saves the present offsets, then checks, writes and reads back each group.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime

from kafka_migration.adapters.system.deadlines import of_each
from kafka_migration.core.cutover.approval import APPROVE, Ask, Responder, not_final, rejected, stale_asks, timed_out
from kafka_migration.core.evidence.evidence_documents import StoredKind
from kafka_migration.core.findings.errors import Finding, OffsetsNotMoved, OutcomeUnknown, Refused, TransientError
from kafka_migration.core.groups.group_writes import (
    GroupWriteDocument,
    OffsetsResultDocument,
    Write,
    Writing,
    active_finding,
    after_write,
    before_write,
    committed_since_finding,
    nothing_moved_finding,
    stuck_findings,
    unknown_write,
)
from kafka_migration.core.groups.offsets_plan import GroupPlan, OffsetsPlan
from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.core.kafka.offsets import (
    Commits,
    GroupsCommits,
    commits_on,
    offsets_of,
    reset_offsets_csv,
)
from kafka_migration.core.report.standing_still import stand_still
from kafka_migration.core.run.stand_still import forecast_lines
from kafka_migration.core.stored.stored_documents import OffsetsBeforeDocument, PlanOfGroups, Stored
from kafka_migration.core.text.shortened import some
from kafka_migration.core.text.terminal_text import shown
from kafka_migration.steps.groups.plan_groups import make_offsets_plan
from kafka_migration.steps.run.copy_scope import require_same_basis
from kafka_migration.steps.run.guards import (
    hold_reservation,
    require_approved,
    require_entitled,
    require_proved_copy,
    require_unchanged,
)
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


def standing_still(run: MigrationRun) -> tuple[str, ...]:
    """Return since when clients stand still, and what the newest rehearsal measured; nothing for a rollback."""
    now = stand_still(run.request.mode, run.evidence.newest)
    rehearsal = run.ledger.known().rehearsal
    return () if now is None else (*now.since(run.local), *forecast_lines(rehearsal.stand_still if rehearsal else None))


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


SOURCE_CSV = "offsets-before-source.csv"
TARGET_CSV = "offsets-before-target.csv"


def sync_offsets(run: MigrationRun, triggered_by: str | None) -> Summary:
    """Check the approval, save the present offsets, write group by group, and record the result."""
    skip_unless_moving(run)
    hold_reservation(run)
    plan = approved_plan(run, Stored.OFFSETS_PLAN, triggered_by, _present_plan)
    result = write_plan(run, plan)
    return {"moved": list(result.moved), "partly": result.partly}


def _present_plan(run: MigrationRun) -> OffsetsPlan:
    return make_offsets_plan(run, require_proved_copy(run))


def approved_plan(
    run: MigrationRun,
    kind: StoredKind[PlanOfGroups],
    triggered_by: str | None,
    make: Callable[[MigrationRun], OffsetsPlan],
) -> OffsetsPlan:
    """Return the plan that was approved and that the clusters still give; `make` plans from their present state."""
    approved = run.evidence.require(kind).plan
    if findings := not_final(approved):
        raise Refused(findings)
    require_approved(run, approved.digest, triggered_by)
    require_same_basis(run)
    require_unchanged(run, approved, make(run))
    return approved


def write_plan(run: MigrationRun, plan: OffsetsPlan) -> OffsetsResultDocument:
    """Save the present offsets, write some groups at a time, and record the result.

    Raises `OutcomeUnknown` or `OffsetsNotMoved`, as `require_moved`.
    """
    readable = [group.group for group in plan.groups if not group.is_unreadable]
    saved = saved_before(run, plan.digest, readable, plan.topics).of_side(plan.written_side)
    writing = Writing.of(plan)
    groups = {group.group: group for group in plan.changed}
    moves = of_each(groups, lambda name: _write_group(run, writing, groups[name], saved.get(name, {})))
    result = OffsetsResultDocument.of(run.now(), plan.digest, tuple(moves.values()), plan.left_out)
    run.evidence.write(Stored.OFFSETS_RESULT, result)
    for move in result.groups:
        log.info("%-40s %s", shown(move.group), move.outcome)
    require_moved(result, writing)
    return result


def _write_group(run: MigrationRun, writing: Writing, group: GroupPlan, saved: Commits) -> GroupWriteDocument:
    """Write one group. If a cluster refuses to let it be read before the write, the others are still written."""
    try:
        return _written(run, writing, group, saved)
    except Refused as refused:
        return GroupWriteDocument(group.group, Write.REFUSED, {}, refused.findings)


def _written(run: MigrationRun, writing: Writing, group: GroupPlan, saved: Commits) -> GroupWriteDocument:
    if group.is_removed:
        # All offsets of a group are deleted together, so its topics have their real names.
        real = {p._replace(topic=run.migration.target_topic(p.topic)): commit for p, commit in saved.items()}
        return remove_group(run.bare_target, writing, group.group, real)
    cluster = run.source if writing.side == "source" else run.target
    return move_group(cluster, writing, group.group, group.proposed, saved)


def saved_before(
    run: MigrationRun, digest: str, groups: Collection[str], topics: Collection[str]
) -> OffsetsBeforeDocument:
    """Return the offsets on both sides before this run wrote any; save them the first time."""
    saved = run.evidence.newest(Stored.OFFSETS_BEFORE)
    if saved is None:
        source, target = _commits(run.source, groups, topics), _commits(run.target, groups, topics)
        saved = OffsetsBeforeDocument(run.now(), digest, source, target)
        # The document is written last, so that its files exist whenever it does.
        csv = {SOURCE_CSV: reset_offsets_csv(source), TARGET_CSV: reset_offsets_csv(target, run.target_names)}
        run.evidence.publish(csv)
        run.evidence.write(Stored.OFFSETS_BEFORE, saved)
    return saved


def _commits(cluster: KafkaCluster, groups: Collection[str], topics: Collection[str]) -> GroupsCommits:
    """Return the groups' committed offsets on these topics only."""
    found = of_each(groups, cluster.committed_offsets)
    return {group: commits_on(commits, topics) for group, commits in found.items()}


def move_group(
    cluster: KafkaCluster, writing: Writing, group: str, proposed: Commits, before: Commits
) -> GroupWriteDocument:
    """Set a group to its proposed offsets, unless another client has changed its offsets since they were saved."""
    description = cluster.describe_groups([group])[group]
    present = cluster.committed_offsets(group, tuple(proposed))
    settled = before_write(description, present, before, proposed, writing)
    if settled is not None:
        return settled
    denial, lost = _write(cluster, group, proposed)
    try:
        read_back = cluster.committed_offsets(group, tuple(proposed))
    except (Refused, TransientError) as error:
        return unknown_write(group, lost or str(error), writing)
    move = after_write(group, read_back, present, proposed, denial, writing)
    # A write without an answer may still be applied later. Only offsets that were read back prove the outcome.
    return unknown_write(group, lost, writing) if lost and not move.outcome.is_moved else move


def _write(cluster: KafkaCluster, group: str, proposed: Commits) -> tuple[tuple[Finding, ...], str]:
    """Write the offsets; return the broker's findings if it refused, and the error if no answer arrived."""
    try:
        cluster.alter_offsets(group, proposed)
    except Refused as refused:
        return refused.findings, ""
    except TransientError as error:
        return (), str(error)
    return (), ""


def remove_group(cluster: KafkaCluster, writing: Writing, group: str, before: Commits) -> GroupWriteDocument:
    """Delete a group that had no offsets before the cutover, if its offsets still match the saved ones."""
    description, present = cluster.describe_groups([group])[group], cluster.committed_offsets(group)
    if description.is_active:
        return GroupWriteDocument(
            group, Write.REFUSED, offsets_of(present), (active_finding(description, writing.side),)
        )
    if not present:
        return GroupWriteDocument(group, Write.ALREADY_MOVED, offsets_of(present))
    if dict(present) != dict(before):
        return GroupWriteDocument(group, Write.REFUSED, offsets_of(present), (committed_since_finding(group, writing),))
    try:
        cluster.delete_group(group)
    except Refused as refused:
        return GroupWriteDocument(group, Write.REFUSED, offsets_of(present), refused.findings)
    except TransientError as error:
        return unknown_write(group, str(error), writing)
    return GroupWriteDocument(group, Write.MOVED, {})


def require_moved(result: OffsetsResultDocument, writing: Writing) -> None:
    """Raise `OutcomeUnknown` if the write of any group has an unknown outcome, `OffsetsNotMoved` if none was moved."""
    if result.unknown:
        raise OutcomeUnknown(f"the offsets of {some(result.unknown)} may or may not have been written.")
    if result.groups and not result.moved:
        findings = [finding for move in result.groups for finding in move.findings]
        raise OffsetsNotMoved([*findings, nothing_moved_finding(result.groups, writing)])
