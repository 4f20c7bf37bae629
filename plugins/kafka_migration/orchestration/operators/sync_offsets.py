"""`sync_offsets`: writes the approved offsets of the consumer groups on the target."""

from __future__ import annotations

from collections.abc import Collection

from airflow.sdk import Context

from kafka_migration.core.approval import Ask, evidence_changed, four_eyes, not_final, plan_changes, unapproved
from kafka_migration.core.cluster import KafkaCluster
from kafka_migration.core.commits import (
    Commits,
    GroupsCommits,
    commits_document,
    commits_from_document,
    reset_offsets_csv,
)
from kafka_migration.core.errors import Finding, OffsetsNotMoved, OutcomeUnknown, Refused, TransientError
from kafka_migration.core.evidence import Kind
from kafka_migration.core.group_offsets import GroupPlan, OffsetsPlan
from kafka_migration.core.offsets_writing import (
    GroupWrite,
    OffsetsResult,
    after_write,
    before_write,
    nothing_moved_finding,
    unknown_write,
)
from kafka_migration.orchestration.group_planning import make_offsets_plan
from kafka_migration.orchestration.operators.base import (
    MigrationOperator,
    Summary,
    hold_reservation,
    skip_unless_moving,
)
from kafka_migration.orchestration.run import MigrationRun, triggered_by

SOURCE_CSV = "offsets-before-source.csv"
TARGET_CSV = "offsets-before-target.csv"


class SyncOffsetsOperator(MigrationOperator):
    """Write the groups' offsets as they were approved, one group after the other, each proved by reading it back.

    Needs an approval of just the newest plan (`APPROVAL_STALE`), by another person than who triggered the run if
    the file says `cutover.four_eyes`, and clusters that still give that plan (`EVIDENCE_CHANGED`). Before the first
    write the offsets of both sides are saved, also in the format of `kafka-consumer-groups --from-file`.

    A group that cannot be written is left out with its reason, and the others go on. Tried again, it finds what
    was written and writes the rest.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Check the approval, save what stands there, write group by group, record the result."""
        skip_unless_moving(run)
        hold_reservation(run)
        plan = _approved_plan(run, triggered_by(context))
        before = _saved_before(run, plan)
        moves = [_move(run.target, group, before.get(group.group, {})) for group in plan.planned]
        result = OffsetsResult(plan.digest, tuple(moves), plan.left_out)
        run.evidence.write(Kind.OFFSETS_RESULT, {"at": run.now(), **result.to_document()})
        for move in moves:
            self.log.info("%-40s %s", move.group, move.outcome)
        _raise_unless_moved(result)
        return {"moved": list(result.moved), "partly": result.is_partly}


def _approved_plan(run: MigrationRun, triggered_by: str | None) -> OffsetsPlan:
    """Return the plan that was approved and that the clusters still give."""
    approved = OffsetsPlan.from_document(run.evidence.require(Kind.OFFSETS_PLAN)["plan"])
    document = run.evidence.newest(Kind.APPROVE)
    ask = None if document is None else Ask.from_document(document)
    findings = not_final(approved) or unapproved(ask, approved.digest)
    if ask is not None and not findings and run.migration.cutover.four_eyes:
        findings = four_eyes(ask, triggered_by)
    if findings:
        raise Refused(findings)
    live = make_offsets_plan(run, final=True)
    if live.digest != approved.digest:
        has_written = run.evidence.newest(Kind.OFFSETS_BEFORE) is not None
        raise Refused([evidence_changed(plan_changes(approved, live), has_written=has_written)])
    return approved


def _saved_before(run: MigrationRun, plan: OffsetsPlan) -> GroupsCommits:
    """Return the target's offsets as they stood before this run wrote any; save both sides' the first time."""
    document = run.evidence.newest(Kind.OFFSETS_BEFORE)
    if document is None:
        groups = [group.group for group in plan.groups]
        sides = {"source": _commits(run, run.source, groups), "target": _commits(run, run.target, groups)}
        document = {"at": run.now(), "digest": plan.digest}
        document |= {side: commits_document(commits) for side, commits in sides.items()}
        # The document is last: where it is, the files are.
        run.evidence.publish(SOURCE_CSV, reset_offsets_csv(sides["source"]))
        run.evidence.publish(TARGET_CSV, reset_offsets_csv(sides["target"], run.target_names))
        run.evidence.write(Kind.OFFSETS_BEFORE, document)
    return commits_from_document(document["target"])


def _commits(run: MigrationRun, cluster: KafkaCluster, groups: Collection[str]) -> GroupsCommits:
    """Return what the groups committed on the migration's topics; their other topics are none of its business."""
    return {
        group: {p: c for p, c in cluster.committed_offsets(group).items() if p.topic in run.topics_of_groups}
        for group in groups
    }


def _move(target: KafkaCluster, group: GroupPlan, before: Commits) -> GroupWrite:
    """Look, write, read back, compare."""
    name, proposed = group.group, group.proposed
    description = target.describe_groups([name])[name]
    present = target.committed_offsets(name, tuple(proposed))
    settled = before_write(description, present, before, proposed)
    if settled is not None:
        return settled
    denial, lost = _write(target, name, proposed)
    try:
        move = after_write(name, target.committed_offsets(name, tuple(proposed)), present, proposed, denial)
    except TransientError as error:
        return unknown_write(name, lost or str(error))
    # A write without an answer may still be on its way: only its effect, seen, tells what became of it.
    return unknown_write(name, lost) if lost and not move.outcome.is_moved else move


def _write(target: KafkaCluster, group: str, proposed: Commits) -> tuple[tuple[Finding, ...], str]:
    """Write; return the broker's reasons when it refused, and what was lost when its answer never came."""
    try:
        target.alter_offsets(group, proposed)
    except Refused as refused:
        return refused.findings, ""
    except TransientError as error:
        return (), str(error)
    return (), ""


def _raise_unless_moved(result: OffsetsResult) -> None:
    if result.unknown:
        raise OutcomeUnknown(f"whether the offsets of {', '.join(result.unknown)} were written is not known.")
    if result.moves and not result.moved:
        findings = [finding for move in result.moves for finding in move.findings]
        raise OffsetsNotMoved([*findings, nothing_moved_finding(result.moves)])
