"""Plans the rollback of a cutover, and sets the consumer groups back as approved."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from dataclasses import replace

from kafka_migration.adapters.system.deadlines import of_each
from kafka_migration.core.cutover.plan_page import render_plan
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.groups.clusters_seen import ClustersSeen, RecordsSeen, SideSeen
from kafka_migration.core.groups.group_writes import OffsetsResultDocument
from kafka_migration.core.groups.offsets_plan import OffsetsPlan, TargetOnly
from kafka_migration.core.groups.selection import which_groups
from kafka_migration.core.groups.unproved import unproved_copies
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition, commits_on
from kafka_migration.core.ledger.cutovers import RolledBack
from kafka_migration.core.ledger.ledger import phase_findings
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.next_steps import after_rollback
from kafka_migration.core.rollback.rollback_planning import (
    RollbackPlanning,
    RollbackScope,
    reverse_migration,
    target_only_findings,
)
from kafka_migration.core.run.run_conf import unknown_findings
from kafka_migration.core.run.task_steps import TaskId
from kafka_migration.core.stored.stored_documents import RollbackPlanDocument, RolledBackDocument, Stored
from kafka_migration.core.target.target_topics import missing_target_findings
from kafka_migration.core.text.shortened import some
from kafka_migration.core.translation.translation_contract import TranslationRequest
from kafka_migration.steps.groups.plan_groups import (
    how_copied,
    read_side,
    request_of,
    run_translation,
    translation_documents,
)
from kafka_migration.steps.groups.write_groups import approved_plan, write_plan
from kafka_migration.steps.reading.exact_reads import every_value, record_prints
from kafka_migration.steps.reading.spark_documents import SparkJobs, understood
from kafka_migration.steps.rollback.decommissioning import moves_of
from kafka_migration.steps.run.guards import hold_reservation
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import Summary, log_findings

log = logging.getLogger(__name__)


REVERSE_MIGRATION = "reverse-migration.yaml"


def plan_rollback(run: MigrationRun) -> Summary:
    """Plan, record and log; refuse to leave records on the target without consent."""
    if refusals := (*phase_findings(run.ledger.known(), run.name, run.request.mode, ()), *_unknown_topics(run)):
        raise Refused(refusals)
    plan = make_rollback_plan(run)
    page = render_plan(plan, run.name, run.local)
    run.evidence.write(Stored.ROLLBACK_PLAN, RollbackPlanDocument(plan.digest, plan, page))
    if plan.target_only:
        run.evidence.publish({REVERSE_MIGRATION: reverse_migration(run.whole_migration, plan.target_only)[1]})
    _log_plan(plan)
    findings = target_only_findings(plan.target_only, run.request.leave_records_of)
    if findings:
        raise Refused(findings)
    return {"groups": len(plan.changed), "left_out": len(plan.left_out), "digest": plan.digest}


def _log_plan(plan: OffsetsPlan) -> None:
    for group in plan.groups:
        log.info("%-40r %d offsets%s", group.group, len(group.proposed), ", removed" * group.is_removed)
        log_findings((*group.refusals, *group.warnings), logging.INFO)
    for each in plan.target_only:
        log.info("%-40r %s records on the target only", each.topic, each.count)
    log.info("Plan %s. This task wrote nothing.", plan.digest)


def _unknown_topics(run: MigrationRun) -> Iterator[Finding]:
    """Refuse to leave records of a topic that never belonged to this migration; the name may be misspelled."""
    known = {*run.whole_migration.topics, *run.ledger.known().copied_topics}
    unknown = [topic for topic in run.request.leave_records_of if topic not in known]
    return unknown_findings("leave_records_of", unknown, f"topics of the migration: {some(sorted(known))}")


def roll_back(run: MigrationRun, triggered_by: str | None) -> Summary:
    """Check the approval, save the present offsets, write them, and record the result."""
    done = run.ledger.known().rollback_of(run.identity)
    if done is None:
        hold_reservation(run)
        plan = approved_plan(run, Stored.ROLLBACK_PLAN, triggered_by, make_rollback_plan)
        done = _recorded(run, plan, write_plan(run, plan))
    for number, text in enumerate(run.evidence.require(Stored.ROLLED_BACK).next_steps, start=1):
        log.info("%d. %s", number, text)
    return {"topics": list(done.topics), "groups": list(done.groups), "left": list(done.left)}


def _recorded(run: MigrationRun, plan: OffsetsPlan, result: OffsetsResultDocument) -> RolledBack:
    """Write the document that a retry reads, then the ledger entry."""
    rolled_back = RolledBack(
        run.identity.holder,
        run.now(),
        str(plan.mode),
        plan.topics,
        result.moved,
        tuple(sorted(result.left_behind)),
        {each.topic: each.records for each in plan.target_only},
    )
    steps = after_rollback(
        source=run.migration.source.connection,
        target=run.migration.target.connection,
        topics=plan.topics,
        put_back=result.moved,
        left_behind=result.left_behind,
    )
    run.evidence.write(Stored.ROLLED_BACK, RolledBackDocument.extended(rolled_back, next_steps=steps))
    run.ledger.append(rolled_back.to_document())
    return rolled_back


# Larger ranges are not counted record by record, because that takes too long.
MAX_COUNTED = 1_000_000


def make_rollback_plan(run: MigrationRun) -> OffsetsPlan:
    """Return the rollback plan for the present state of both clusters; read-only.

    Raises `TransientError` when a value cannot be read: nothing is planned on unknown values. Raises `Refused` if the
    source no longer matches what was copied.
    """
    return read_rollback(run).plan()


def read_rollback(run: MigrationRun) -> RollbackPlanning:
    """Return what a plan is made from: the scope of the run and one snapshot of both clusters."""
    is_restore = run.request.mode is Mode.RESTORE
    scope = _scope_of(run)
    planning = _read_clusters(run, scope if is_restore else _translated(run, scope))
    records = RecordsSeen() if is_restore else _read_records(run, planning)
    left = _target_only(run, planning)
    return replace(planning, seen=replace(planning.seen, records=records, target_only=left))


def translate_back(run: MigrationRun, jobs: SparkJobs) -> Summary:
    """Refuse an unproved copy, then let Spark find how far the groups have read the copied records."""
    if run.request.mode is not Mode.FAIL_BACK:
        log.info("Mode %s translates nothing.", run.request.mode)
        return {"topics": 0, "vectors": 0}
    if unproved := unproved_copies(run.ledger.known(), sorted(run.moved_topics)):
        raise Refused(unproved.values())
    return run_translation(run, jobs, TaskId.TRANSLATE_BACK, translation_back_request(run))


def translation_back_request(run: MigrationRun) -> TranslationRequest:
    """Return the request for the Spark job, for the groups' present commits on the target."""
    planning = _read_clusters(run, _scope_of(run))
    commits = {group.group: group.target_commits for group in planning.groups}
    return request_of(run, planning.to_translate(), commits, is_back=True)


def _translated(run: MigrationRun, scope: RollbackScope) -> RollbackScope:
    """Return the scope with the answer of `translate_back`, if it is about this run's last request."""
    request, result = translation_documents(run, TaskId.TRANSLATE_BACK)
    if result.id != request.id:
        return scope
    translations = understood(lambda: result.translations_back, TaskId.TRANSLATE_BACK)
    return replace(scope, translations=translations, unreadable=result.untranslated)


def _read_clusters(run: MigrationRun, scope: RollbackScope) -> RollbackPlanning:
    """Read both clusters without records. Raises `Refused` if a rollback is not possible."""
    at = run.now()
    if scope.mode is Mode.RESTORE:
        target, names = _read_target(run, scope, scope.moves), sorted(scope.moves)
    else:
        named = which_groups(run.target.list_groups(), scope.migration.cutover.groups)
        target = _read_target(run, scope, {*scope.moved, *named})
        reads = (group for group, commits in target.commits.items() if commits_on(commits, scope.topics))
        names = sorted({*scope.moved, *reads})
    planning = RollbackPlanning(
        scope,
        ClustersSeen(
            at=at,
            source=read_side(run.source, "source", scope.topics, names),
            target=target,
            hows={} if scope.mode is Mode.RESTORE else how_copied(run, scope.topics),
            elsewhere=_elsewhere(run, scope, target) if scope.mode is Mode.RESTORE else frozenset(),
        ),
    )
    findings = planning.refusals
    if not findings and scope.mode is Mode.FAIL_BACK:
        findings = missing_target_findings(scope.migration, target.topics, scope.topics)
    if findings:
        raise Refused(findings)
    return planning


def _read_target(run: MigrationRun, scope: RollbackScope, groups: Collection[str]) -> SideSeen:
    return read_side(run.target, "target", scope.topics, sorted(groups))


def _scope_of(run: MigrationRun) -> RollbackScope:
    ledger, is_restore = run.ledger.known(), run.request.mode is Mode.RESTORE
    before = run.evidence.newest(Stored.OFFSETS_BEFORE)
    return RollbackScope(
        ledger=ledger,
        mode=run.request.mode,
        migration=run.whole_migration,
        topics=tuple(sorted(run.moved_topics)),
        moves=moves_of(ledger, run.evidence_of) if is_restore else {},
        saved=before.source if before else {},
    )


def _elsewhere(run: MigrationRun, scope: RollbackScope, target: SideSeen) -> frozenset[str]:
    """Return the groups that also committed on other topics of the target.

    By real names, to include a target topic that has the name of a source topic.
    """
    readable = [group for group in target.commits if group not in target.unreadable]
    everything = of_each(readable, run.bare_target.committed_offsets) if run.target_names else target.commits
    mine = {group: commits_on(commits, scope.topics) for group, commits in target.commits.items()}
    return frozenset(group for group, commits in everything.items() if len(commits) > len(mine[group]))


def _read_records(run: MigrationRun, planning: RollbackPlanning) -> RecordsSeen:
    """Read the records that must be the same on both sides."""
    source, target = planning.positions
    isolation = run.migration.mirror.isolation_level
    return RecordsSeen(
        source_prints=record_prints(run.source, source, isolation, "source"),
        target_prints=record_prints(run.target, target, isolation, "target"),
    )


def _target_only(run: MigrationRun, planning: RollbackPlanning) -> tuple[TargetOnly, ...]:
    """Return what was written to the target after the copy, by topic. An open transaction may still add records."""
    stop, ends = planning.scope.ledger.last_stop, planning.seen.target.log_end
    copied = stop.target_end_offsets if stop else {}
    after = {p: copied.get(p, 0) for p, end in ends.items() if end > copied.get(p, 0)}
    found = every_value(run.target.records_at(after, "read_committed"), after, "first record after the copy")
    stable = every_value(run.target.log_end_offsets(tuple(after), "read_committed"), after, "target's stable end")
    is_open = {p for p in after if stable[p] < ends[p]}
    first = {p: each.offset if each else stable[p] for p, each in found.items() if each or p in is_open}
    return tuple(
        _counted(run, topic, {p: at for p, at in first.items() if p.topic == topic}, ends, is_open)
        for topic in sorted({partition.topic for partition in first})
    )


def _counted(
    run: MigrationRun, topic: str, first: Offsets, ends: Offsets, is_open: Collection[TopicPartition]
) -> TargetOnly:
    at_most = TargetOnly(topic, first, sum(ends[p] - at for p, at in first.items()), is_exact=False)
    if at_most.records > MAX_COUNTED or any(p in is_open for p in first):
        return at_most
    try:
        counts = run.target.count_visible(first, {p: ends[p] for p in first}, "read_committed")
    except TransientError:
        return at_most
    return TargetOnly(topic, first, sum(counts.values()), is_exact=True) if set(counts) == set(first) else at_most
