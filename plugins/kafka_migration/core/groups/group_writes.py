"""Writing group offsets: whether a group may be written now, and the result of its write.

Each group is read right before its write. So a step that was killed at any point can run again with the same result.
Offsets that are already written are not written twice. Offsets that match neither the saved snapshot nor the plan were
committed by another client and are not overwritten.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Self

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.offsets_plan import GroupPlan, OffsetsPlan
from kafka_migration.core.kafka.cluster import GroupDescription, Side
from kafka_migration.core.kafka.offsets import Commits, CommittedOffset, Offsets, TopicPartition, offsets_of
from kafka_migration.core.text.quoting import group_subject, shell_word
from kafka_migration.core.text.shortened import LONGEST_SENTENCE, sentence, some


class Write(StrEnum):
    """The result of one group's write.

    `moved`: written, and read back as proposed. `already_moved`: the proposed offsets were there before. `refused`:
    nothing was written. `failed`: the offsets read back are neither the proposed nor the earlier ones. `unknown`:
    the write may or may not have happened.
    """

    MOVED = "moved"
    ALREADY_MOVED = "already_moved"
    REFUSED = "refused"
    FAILED = "failed"
    UNKNOWN = "unknown"

    @property
    def is_moved(self) -> bool:
        """Whether the group has the planned offsets, proved by reading them back."""
        return self in {Write.MOVED, Write.ALREADY_MOVED}


@dataclass(frozen=True, slots=True)
class GroupWriteDocument(Document):
    """The result of one group: the offsets read back, without their metadata, and why they differ from the plan."""

    group: str
    outcome: Write
    read_back: Offsets
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class OffsetsResultDocument(Document):
    """The stored result of an approved plan, one entry per planned group.

    `left_behind` says why each group with offsets was not moved; `warnings` are these reasons, unless no group was
    moved: then they are the refusal.
    """

    at: str
    digest: str
    groups: tuple[GroupWriteDocument, ...]
    moved: tuple[str, ...]
    left_behind: Mapping[str, tuple[Finding, ...]]
    partly: bool
    warnings: tuple[Finding, ...]

    @classmethod
    def of(cls, at: str, digest: str, writes: tuple[GroupWriteDocument, ...], left_out: Iterable[GroupPlan]) -> Self:
        """Return the result of a plan with this digest, which left some groups out."""
        moved = tuple(write.group for write in writes if write.outcome.is_moved)
        refused = {write.group: write.findings for write in writes if not write.outcome.is_moved}
        planned_out = {group.group: group.refusals for group in left_out if group.has_something_to_move}
        left_behind = {**refused, **planned_out}
        is_refusal = bool(writes) and not moved and not any(write.outcome is Write.UNKNOWN for write in writes)
        warnings = () if is_refusal else tuple(f for findings in left_behind.values() for f in findings)
        return cls(at, digest, writes, moved, left_behind, bool(left_behind), warnings)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The groups for which it is unknown whether their offsets were written."""
        return tuple(write.group for write in self.groups if write.outcome is Write.UNKNOWN)


class Writing(NamedTuple):
    """The cluster on which offsets are written, and the kind of run that tries again."""

    side: Side
    run: str

    @classmethod
    def of(cls, plan: OffsetsPlan) -> Writing:
        """Return where and by what kind of run a plan is written."""
        return cls(plan.written_side, "rollback" if plan.is_rollback else "cutover")


CUTOVER = Writing("target", "cutover")


def before_write(
    description: GroupDescription, present: Commits, before: Commits, proposed: Commits, writing: Writing = CUTOVER
) -> GroupWriteDocument | None:
    """Return the result of a group that needs no write or may not be written; `None` means that it may be written.

    `present` was read just now; `before` was recorded before this run wrote anything. Only the partitions of
    `proposed` count: a group keeps its offsets of other topics.
    """
    group = description.group
    if description.is_active:
        return GroupWriteDocument(
            group, Write.REFUSED, offsets_of(present), (active_finding(description, writing.side),)
        )
    if _stands_at(present, proposed):
        return GroupWriteDocument(group, Write.ALREADY_MOVED, offsets_of(present))
    foreign = [p for p in sorted(proposed) if present.get(p) not in (before.get(p), proposed[p])]
    if foreign:
        findings = tuple(_changed_finding(group, p, present, before, proposed, writing) for p in foreign)
        return GroupWriteDocument(group, Write.REFUSED, offsets_of(present), findings)
    return None


def after_write(
    group: str,
    read_back: Commits,
    present: Commits,
    proposed: Commits,
    denial: Iterable[Finding],
    writing: Writing = CUTOVER,
) -> GroupWriteDocument:
    """Compare the offsets read back with the proposed ones.

    `present` are the offsets before the write; `denial` holds the broker's reasons if it refused.
    """
    denial = tuple(denial)
    if _stands_at(read_back, proposed):
        return GroupWriteDocument(group, Write.MOVED, offsets_of(read_back))
    if denial and all(read_back.get(p) == present.get(p) for p in proposed):
        return GroupWriteDocument(group, Write.REFUSED, offsets_of(read_back), denial)
    wrong = tuple(
        _not_written_finding(group, p, read_back, proposed, writing)
        for p in sorted(proposed)
        if read_back.get(p) != proposed[p]
    )
    return GroupWriteDocument(group, Write.FAILED, offsets_of(read_back), (*denial, *wrong))


def unknown_write(group: str, reason: str, writing: Writing = CUTOVER) -> GroupWriteDocument:
    """Return the result of a write that was not confirmed, or could not be read back."""
    finding = Finding(
        Code.OFFSETS_NOT_WRITTEN,
        group_subject(group),
        f"no answer, so it is unknown whether its offsets were written: {reason}",
        "the proposed offsets, read back",
        f"Look at the offsets with `kafka-consumer-groups --describe --group {shell_word(group)}` on the "
        f"{writing.side}. Then clear this task with its downstream tasks: it writes only where the offsets still match "
        "the saved snapshot.",
        happened=sentence(f"The {writing.side} did not confirm the offsets of {group_subject(group)}: {reason}"),
        matters="Whether the offsets were written is unknown, and so is where the group would resume.",
    )
    return GroupWriteDocument(group, Write.UNKNOWN, {}, (finding,))


def active_finding(
    description: GroupDescription,
    side: str,
    remedy: str = "Stop these consumers, then trigger a new run.",
    matters: str = "Kafka writes offsets only for groups without members, so a run leaves active groups out.",
) -> Finding:
    """Name the members that prevent a group from being moved."""
    members = some([str(member) for member in description.members], longest=LONGEST_SENTENCE) or "no member listed"
    return Finding(
        Code.GROUP_ACTIVE,
        group_subject(description.group),
        f"state {description.state} on the {side}: {members}",
        f"a group without members on the {side}",
        remedy,
        happened=f"The consumers of {group_subject(description.group)} (state {description.state}; {members}) still "
        f"run on the {side}.",
        matters=matters,
    )


def nothing_moved_finding(results: Iterable[GroupWriteDocument], writing: Writing = CUTOVER) -> Finding:
    """Return the finding for a run in which no planned group has its planned offsets."""
    counts = some([f"{result.group}: {result.outcome}" for result in results])
    return Finding(
        Code.OFFSETS_NOT_WRITTEN,
        "the groups of the plan",
        f"none moved ({counts})",
        "at least one group at its planned offsets",
        f"Remove the causes that the other findings name. Then trigger a new {writing.run}.",
        happened=f"No group of the plan is at its planned offsets ({counts}).",
        matters="Consumers that change clusters now would not resume where they stopped.",
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
        f"{_text(before.get(partition))} (saved snapshot) or {_text(proposed[partition])} (plan)",
        f"Find this client and stop it. Then trigger a new {writing.run}.",
        happened=f"The {writing.side} offset of {group_subject(group)} on {partition} is now "
        f"{_text(present.get(partition))}, which is neither {_text(before.get(partition))} (saved snapshot) nor "
        f"{_text(proposed[partition])} (plan).",
        matters="Another client committed for this group. The run did not overwrite its offset.",
    )


def committed_since_finding(group: str, writing: Writing) -> Finding:
    """Return the finding for a group that was to be deleted but has changed since its snapshot."""
    return Finding(
        Code.TARGET_OFFSETS_CHANGED,
        group_subject(group),
        f"offsets on the {writing.side} that differ from the saved snapshot",
        "the offsets of the snapshot; otherwise the deletion would lose unsaved offsets",
        f"Find this client and stop it. Then trigger a new {writing.run}.",
        happened=f"The offsets of {group_subject(group)} on the {writing.side} differ from the saved snapshot, so the "
        "group was not deleted.",
        matters="Another client committed for this group. No file has the new offsets, so a deletion would lose them.",
    )


def _not_written_finding(
    group: str, partition: TopicPartition, read_back: Commits, proposed: Commits, writing: Writing
) -> Finding:
    return Finding(
        Code.OFFSETS_NOT_WRITTEN,
        f"{group_subject(group)}, {partition}",
        f"{_text(read_back.get(partition))} read back",
        _text(proposed[partition]),
        f"Find out whether another client commits for the group on the {writing.side}. Its earlier offsets are in "
        f"offsets-before-{writing.side}.csv. Then trigger a new {writing.run}.",
        happened=f"The {writing.side} returns {_text(read_back.get(partition))} as the offset of "
        f"{group_subject(group)} on {partition}, although {_text(proposed[partition])} was written.",
        matters="The group would resume at another record than planned.",
    )


def _text(commit: CommittedOffset | None) -> str:
    return "none" if commit is None else f"{commit.offset:,}"


def stuck_findings(plan: OffsetsPlan) -> tuple[Finding, ...]:
    """Return why a plan cannot be approved: it changes no group, although some groups have offsets to move."""
    if plan.changed:
        return ()
    return _refusals(plan.left_out) if plan.is_rollback else nothing_to_move_findings(plan.left_out)


def _refusals(left_out: Iterable[GroupPlan]) -> tuple[Finding, ...]:
    return tuple(f for group in left_out if group.has_something_to_move for f in group.refusals)


def nothing_to_move_findings(left_out: Iterable[GroupPlan]) -> tuple[Finding, ...]:
    """Name every group if none of them can be moved: after such a cutover all consumers would remain on the source."""
    findings = _refusals(left_out)
    if not findings:
        return ()
    nothing = Finding(
        Code.OFFSETS_NOT_WRITTEN,
        "the groups of the plan",
        "none that can be moved",
        "at least one, or no group at all",
        "Remove the causes that the other findings name. Then trigger a new cutover.",
        happened="No group of the plan can be moved.",
        matters="After this cutover all consumers would still have to read from the source.",
    )
    return (*findings, nothing)


def unreadable_finding(group: str, why: str) -> Finding:
    """Return why a group that cannot be read is not moved, although its offsets may be on the cluster."""
    return Finding(
        Code.GROUP_UNREADABLE,
        group_subject(group),
        why,
        "the state and the offsets of the group",
        "Remove the cause (a missing right, a coordinator that fails) and trigger a new run, or set the group's "
        "offsets by hand.",
        happened=sentence(f"The state or the offsets of {group_subject(group)} cannot be read: {why}"),
        matters="What the group has not read is unknown, so it is not moved. Other groups are not affected.",
    )
