"""Writes the offsets of consumer groups: saves the present offsets, then checks, writes and reads back each group."""

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
    """Return the offsets on both sides before this run wrote any; save them the first time."""
    document = run.evidence.newest(Kind.OFFSETS_BEFORE)
    if document is None:
        sides = {
            "source": _commits(run.source, groups, topics),
            "target": _commits(run.target, groups, topics),
        }
        document = {"at": run.now(), "digest": digest}
        document |= {side: commits_document(commits) for side, commits in sides.items()}
        # The document is written last, so that its files exist whenever it does.
        run.evidence.publish(SOURCE_CSV, reset_offsets_csv(sides["source"]))
        run.evidence.publish(TARGET_CSV, reset_offsets_csv(sides["target"], run.target_names))
        run.evidence.write(Kind.OFFSETS_BEFORE, document)
    return {side: commits_from_document(document[side]) for side in ("source", "target")}


def _commits(cluster: KafkaCluster, groups: Collection[str], topics: Collection[str]) -> GroupsCommits:
    """Return the groups' committed offsets on these topics only."""
    found = of_each(groups, cluster.committed_offsets)
    return {group: commits_on(commits, topics) for group, commits in found.items()}


def move_group(cluster: KafkaCluster, writing: Writing, group: str, proposed: Commits, before: Commits) -> GroupWrite:
    """Set a group to its proposed offsets, unless another client has changed its offsets since they were saved."""
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


def remove_group(cluster: KafkaCluster, writing: Writing, group: str, before: Commits) -> GroupWrite:
    """Delete a group that had no offsets before the cutover, if its offsets still match the saved ones."""
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
    """Raise `OutcomeUnknown` if the write of any group has an unknown outcome, `OffsetsNotMoved` if none was moved."""
    if result.unknown:
        raise OutcomeUnknown(f"the offsets of {', '.join(result.unknown)} may or may not have been written.")
    if result.moves and not result.moved:
        findings = [finding for move in result.moves for finding in move.findings]
        raise OffsetsNotMoved([*findings, nothing_moved_finding(result.moves, writing)])
