"""Writing group offsets: what may be written to a group right now, and what became of it.

Every group is looked at right before its write, so that a step that was killed anywhere and runs again
comes to the same end: what stands there already is not written twice, and what neither was recorded before
nor is proposed belongs to somebody else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.plan import GroupPlan
from kafka_migration.core.kafka.cluster import CommittedOffset, GroupDescription
from kafka_migration.core.kafka.commits import Commits
from kafka_migration.core.kafka.offsets import TopicPartition, to_document
from kafka_migration.core.text.names import group_subject
from kafka_migration.core.text.shell import shell_word


class Write(StrEnum):
    """What became of one group.

    `moved`: written, read back, as proposed. `already_moved`: it stood there before, as proposed. `refused`:
    nothing was written to it. `failed`: what was read back is neither as proposed nor as before. `unknown`:
    the write may or may not have happened.
    """

    MOVED = "moved"
    ALREADY_MOVED = "already_moved"
    REFUSED = "refused"
    FAILED = "failed"
    UNKNOWN = "unknown"

    @property
    def is_moved(self) -> bool:
        """Whether the group now stands where the plan wants it, proved by reading."""
        return self in {Write.MOVED, Write.ALREADY_MOVED}


@dataclass(frozen=True, slots=True)
class GroupWrite:
    """The result of one group: what is known to stand on the target now, and why it is not what was planned."""

    group: str
    outcome: Write
    read_back: Commits
    findings: tuple[Finding, ...] = ()

    def to_document(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        return {
            "group": self.group,
            "outcome": str(self.outcome),
            "read_back": to_document({p: commit.offset for p, commit in self.read_back.items()}),
            "findings": [finding.to_document() for finding in self.findings],
        }


class Writing(NamedTuple):
    """On which cluster offsets are written, and what a person triggers to try again."""

    side: str
    run: str


CUTOVER = Writing("target", "cutover")
ROLLBACK_ON_TARGET = Writing("target", "rollback")
ROLLBACK_ON_SOURCE = Writing("source", "rollback")


def before_write(
    description: GroupDescription, present: Commits, before: Commits, proposed: Commits, writing: Writing = CUTOVER
) -> GroupWrite | None:
    """Tell what already speaks for itself without a write; `None` means: write now.

    `present` was read just now, `before` was recorded before anything was written by this run. Only the
    partitions of `proposed` count: a group may have offsets of other topics, and keeps them.
    """
    group = description.group
    if description.is_active:
        return GroupWrite(group, Write.REFUSED, present, (active_finding(description, writing.side),))
    if _stands_at(present, proposed):
        return GroupWrite(group, Write.ALREADY_MOVED, present)
    foreign = [p for p in sorted(proposed) if present.get(p) not in (before.get(p), proposed[p])]
    if foreign:
        findings = tuple(_changed_finding(group, p, present, before, proposed, writing) for p in foreign)
        return GroupWrite(group, Write.REFUSED, present, findings)
    return None


def after_write(
    group: str,
    read_back: Commits,
    present: Commits,
    proposed: Commits,
    denial: Iterable[Finding],
    writing: Writing = CUTOVER,
) -> GroupWrite:
    """Compare what was read back with what was proposed.

    `present` is what stood there before the write; `denial` holds the broker's reasons when it refused.
    """
    denial = tuple(denial)
    if _stands_at(read_back, proposed):
        return GroupWrite(group, Write.MOVED, read_back)
    if denial and all(read_back.get(p) == present.get(p) for p in proposed):
        return GroupWrite(group, Write.REFUSED, read_back, denial)
    wrong = tuple(
        _not_written_finding(group, p, read_back, proposed, writing)
        for p in sorted(proposed)
        if read_back.get(p) != proposed[p]
    )
    return GroupWrite(group, Write.FAILED, read_back, (*denial, *wrong))


def unknown_write(group: str, reason: str, writing: Writing = CUTOVER) -> GroupWrite:
    """Return the result of a write whose answer, or whose proof, never came."""
    finding = Finding(
        Code.OFFSETS_NOT_WRITTEN,
        group_subject(group),
        f"no answer whether its offsets were written: {reason}",
        "offsets read back as they were proposed",
        f"Look with `kafka-consumer-groups --describe --group {shell_word(group)}` on the {writing.side}. Clearing "
        "this task is safe: it writes only where the offsets are still those recorded before.",
    )
    return GroupWrite(group, Write.UNKNOWN, {}, (finding,))


def active_finding(
    description: GroupDescription,
    side: str,
    remedy: str = "Stop these consumers. Kafka takes offsets only for an empty group.",
) -> Finding:
    """Say who keeps a group from being moved."""
    members = ", ".join(str(member) for member in description.members) or "no member listed"
    return Finding(
        Code.GROUP_ACTIVE,
        group_subject(description.group),
        f"state {description.state} on the {side}: {members}",
        f"a group without members on the {side}",
        remedy,
    )


def nothing_moved_finding(results: Iterable[GroupWrite], writing: Writing = CUTOVER) -> Finding:
    """Say that of all planned groups none stands where it should."""
    counts = ", ".join(f"{result.group}: {result.outcome}" for result in results)
    return Finding(
        Code.OFFSETS_NOT_WRITTEN,
        "the groups of the plan",
        f"none moved ({counts})",
        "at least one group at its planned offsets",
        f"Nothing was taken over by this run. Remove the causes above and trigger a new {writing.run}.",
    )


def _stands_at(commits: Commits, proposed: Commits) -> bool:
    return all(commits.get(partition) == commit for partition, commit in proposed.items())


def _changed_finding(
    group: str, partition: TopicPartition, present: Commits, before: Commits, proposed: Commits, writing: Writing
) -> Finding:
    return Finding(
        Code.TARGET_OFFSETS_CHANGED,
        f"{group_subject(group)}, {partition}",
        f"{writing.side} offset {_text(present.get(partition))}",
        f"{_text(before.get(partition))} as recorded before, or {_text(proposed[partition])} as planned",
        f"Somebody else committed for this group on the {writing.side}. Find out who before you trigger a new "
        f"{writing.run}.",
    )


def committed_since_finding(group: str, writing: Writing) -> Finding:
    """Say that a group which was to be deleted is not as it was recorded."""
    return Finding(
        Code.TARGET_OFFSETS_CHANGED,
        group_subject(group),
        f"other offsets on the {writing.side} than were recorded before",
        "the recorded ones, so that nothing is taken away that nobody knows of",
        f"Somebody committed for this group. Find out who before you trigger a new {writing.run}.",
    )


def _not_written_finding(
    group: str, partition: TopicPartition, read_back: Commits, proposed: Commits, writing: Writing
) -> Finding:
    return Finding(
        Code.OFFSETS_NOT_WRITTEN,
        f"{group_subject(group)}, {partition}",
        f"{_text(read_back.get(partition))} read back",
        _text(proposed[partition]),
        f"Look at the group on the {writing.side}; what stood there before is in offsets-before-{writing.side}.csv.",
    )


def _text(commit: CommittedOffset | None) -> str:
    return "none" if commit is None else f"{commit.offset:,}"


@dataclass(frozen=True, slots=True)
class OffsetsResult:
    """What became of an approved plan: one result per planned group, and the groups that the plan left out."""

    digest: str
    moves: tuple[GroupWrite, ...]
    left_out: tuple[GroupPlan, ...]

    @property
    def moved(self) -> tuple[str, ...]:
        """The groups that stand at their planned offsets."""
        return tuple(move.group for move in self.moves if move.outcome.is_moved)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The groups of which nobody knows whether they were written."""
        return tuple(move.group for move in self.moves if move.outcome is Write.UNKNOWN)

    @property
    def left_behind(self) -> dict[str, tuple[Finding, ...]]:
        """Why each group that has something to move was not moved; one that never committed has nothing."""
        refused = {move.group: move.findings for move in self.moves if not move.outcome.is_moved}
        planned_out = {group.group: group.refusals for group in self.left_out if has_something_to_move(group)}
        return {**refused, **planned_out}

    @property
    def is_partly(self) -> bool:
        """Whether groups stay behind."""
        return bool(self.left_behind)

    def to_document(self) -> dict[str, Any]:
        """Return the result as plain JSON values.

        Its warnings are the reasons of the groups left behind, unless nothing moved: then they are the refusal.
        """
        left_behind = {name: [f.to_document() for f in findings] for name, findings in self.left_behind.items()}
        is_refusal = self.moves and not self.moved and not self.unknown
        return {
            "digest": self.digest,
            "groups": [move.to_document() for move in self.moves],
            "moved": list(self.moved),
            "left_behind": left_behind,
            "partly": self.is_partly,
            "warnings": [] if is_refusal else [f for findings in left_behind.values() for f in findings],
        }


def has_something_to_move(group: GroupPlan) -> bool:
    """Whether a group that is left out has offsets at all."""
    return any(finding.code is not Code.OFFSET_NEVER_COMMITTED for finding in group.refusals)


def nothing_to_move_findings(left_out: Iterable[GroupPlan]) -> tuple[Finding, ...]:
    """Name every group when not one of them can be moved: a cutover would leave all consumers behind."""
    findings = tuple(f for group in left_out if has_something_to_move(group) for f in group.refusals)
    if not findings:
        return ()
    nothing = Finding(
        Code.OFFSETS_NOT_WRITTEN,
        "the groups of the plan",
        "none that can be moved",
        "at least one, or no group at all",
        "The source stays the source of truth. Remove the causes above and trigger a new cutover.",
    )
    return (*findings, nothing)
