"""Writing the offsets of consumer groups: save what stands there, then for each: look, write, read back, compare."""

from __future__ import annotations

from collections.abc import Collection

from kafka_migration.adapters.many import of_each
from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.errors import Finding, OffsetsNotMoved, OutcomeUnknown, Refused, TransientError
from kafka_migration.core.groups.writing import (
    GroupWrite,
    OffsetsResult,
    Write,
    Writing,
    active_finding,
    after_write,
    before_write,
    committed_since_finding,
    nothing_moved_finding,
    unknown_write,
)
from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.core.kafka.commits import (
    Commits,
    GroupsCommits,
    commits_document,
    commits_from_document,
    commits_on,
    reset_offsets_csv,
)
from kafka_migration.steps.run import MigrationRun

SOURCE_CSV = "offsets-before-source.csv"
TARGET_CSV = "offsets-before-target.csv"


def saved_before(
    run: MigrationRun, digest: str, groups: Collection[str], topics: Collection[str]
) -> dict[str, GroupsCommits]:
    """Return both sides' offsets as they stood before this run wrote any; save them the first time."""
    document = run.evidence.newest(Kind.OFFSETS_BEFORE)
    if document is None:
        sides = {
            "source": _commits(run.source, groups, topics),
            "target": _commits(run.target, groups, topics),
        }
        document = {"at": run.now(), "digest": digest}
        document |= {side: commits_document(commits) for side, commits in sides.items()}
        # The document is last: where it is, the files are.
        run.evidence.publish(SOURCE_CSV, reset_offsets_csv(sides["source"]))
        run.evidence.publish(TARGET_CSV, reset_offsets_csv(sides["target"], run.target_names))
        run.evidence.write(Kind.OFFSETS_BEFORE, document)
    return {side: commits_from_document(document[side]) for side in ("source", "target")}


def _commits(cluster: KafkaCluster, groups: Collection[str], topics: Collection[str]) -> GroupsCommits:
    """Return what the groups committed on these topics; their other topics are none of the migration's business."""
    found = of_each(groups, cluster.committed_offsets)
    return {group: commits_on(commits, topics) for group, commits in found.items()}


def move_group(cluster: KafkaCluster, writing: Writing, group: str, proposed: Commits, before: Commits) -> GroupWrite:
    """Put a group at its proposed offsets, if nobody but this run has changed them since they were recorded."""
    description = cluster.describe_groups([group])[group]
    present = cluster.committed_offsets(group, tuple(proposed))
    settled = before_write(description, present, before, proposed, writing)
    if settled is not None:
        return settled
    denial, lost = _write(cluster, group, proposed)
    try:
        read_back = cluster.committed_offsets(group, tuple(proposed))
    except TransientError as error:
        return unknown_write(group, lost or str(error), writing)
    move = after_write(group, read_back, present, proposed, denial, writing)
    # A write without an answer may still be on its way: only its effect, seen, tells what became of it.
    return unknown_write(group, lost, writing) if lost and not move.outcome.is_moved else move


def _write(cluster: KafkaCluster, group: str, proposed: Commits) -> tuple[tuple[Finding, ...], str]:
    """Write; return the broker's reasons when it refused, and what was lost when its answer never came."""
    try:
        cluster.alter_offsets(group, proposed)
    except Refused as refused:
        return refused.findings, ""
    except TransientError as error:
        return (), str(error)
    return (), ""


def remove_group(cluster: KafkaCluster, writing: Writing, group: str, before: Commits) -> GroupWrite:
    """Delete a group that had no offsets before the cutover, if it still stands where it was recorded."""
    description, present = cluster.describe_groups([group])[group], cluster.committed_offsets(group)
    if description.is_active:
        return GroupWrite(group, Write.REFUSED, present, (active_finding(description, writing.side),))
    if not present:
        return GroupWrite(group, Write.ALREADY_MOVED, present)
    if dict(present) != dict(before):
        return GroupWrite(group, Write.REFUSED, present, (committed_since_finding(group, writing),))
    try:
        cluster.delete_group(group)
    except Refused as refused:
        return GroupWrite(group, Write.REFUSED, present, refused.findings)
    except TransientError as error:
        return unknown_write(group, str(error), writing)
    return GroupWrite(group, Write.MOVED, {})


def require_moved(result: OffsetsResult, writing: Writing) -> None:
    """Raise `OutcomeUnknown` when nobody knows of a group whether it was written, `OffsetsNotMoved` when none was."""
    if result.unknown:
        raise OutcomeUnknown(f"whether the offsets of {', '.join(result.unknown)} were written is not known.")
    if result.moves and not result.moved:
        findings = [finding for move in result.moves for finding in move.findings]
        raise OffsetsNotMoved([*findings, nothing_moved_finding(result.moves, writing)])
