"""The plan of the consumer groups' offsets, in either direction: its values, its document and its digest.

A cutover moves groups from the source to the target, a rollback moves them back. The rules of each direction are in
`core.groups.group_rules` and `core.rollback.rollback_rules`, the text for people is in `core.cutover.plan_page`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from kafka_migration.core.documents.codec import Document, written
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.selection import OtherGroups
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.kafka.offsets import Commits, CommittedOffset, Offsets, TopicPartition
from kafka_migration.core.migration.settings import Mode


class GroupVerdict(StrEnum):
    """The plan's decision on a group.

    `ready`: proved; its offsets may be written. `provisional`: in a rehearsal, the group still reads or has read past
    the end of the copy. `left out`: nothing is written for it; the refusals say why. `nothing to do`: in a rollback,
    the group already has no offsets to take back.
    """

    READY = "ready"
    PROVISIONAL = "provisional"
    LEFT_OUT = "left out"
    NOTHING = "nothing to do"


class Proof(StrEnum):
    """How a planned offset was proved.

    `record`: the first record from the offset on is the same on both sides. `end`: nothing is unread on either
    side. `none`: the copy does not reach the offset yet (only in a rehearsal). `copies`: every unread record has a copy
    at or after the offsets, in order. `ledger`: the source has deleted unread records; the offsets are the target ends
    before the generation that copied the first of them, and everything from there on was validated. `saved`: the group
    had the offset before the cutover. `rule`: it never committed, and starts there as `cutover.uncommitted` says.
    """

    RECORD = "record"
    END = "end"
    NONE = "none"
    COPIES = "copies"
    LEDGER = "ledger"
    SAVED = "saved"
    RULE = "rule"


@dataclass(frozen=True, slots=True)
class OffsetsMove(Document):
    """Where a group resumes on the written cluster, in partitions of one topic that are translated together.

    It is one partition if its offset is translated alone, and the whole topic otherwise.

    :param committed: the group's commits on the cluster that it leaves; none if the offsets were `saved`, or if it
        never committed
    :param before: its current offsets on the written cluster
    :param proposed: the commits to write there
    :param unread: records that it has not read; `None` if they were not counted
    :param delivered_again: records that it has read and will read again, and those that are present more than once; a
        count that cannot be exact is an upper bound
    :param is_minimal: whether no other offsets would deliver fewer records again
    """

    topic: str
    committed: Commits
    before: Offsets
    proposed: Commits
    proof: Proof
    delivered_again: int = 0
    unread: int | None = None
    is_minimal: bool = True

    @property
    def partitions(self) -> tuple[TopicPartition, ...]:
        """All partitions of either side, sorted."""
        return tuple(sorted({*self.committed, *self.before, *self.proposed}))


def with_metadata(offsets: Offsets, commits: Commits) -> dict[TopicPartition, CommittedOffset]:
    """Return translated offsets as commits; the metadata of `commits` is kept if it is the same in all partitions."""
    texts = {commit.metadata for commit in commits.values()}
    metadata = texts.pop() if len(texts) == 1 else ""
    return {partition: CommittedOffset(offset, metadata) for partition, offset in offsets.items()}


@dataclass(frozen=True, slots=True)
class GroupPlan(Document):
    """The plan for one group.

    `unset` are partitions of its topics on which it never committed and that stay unset. Nothing is written for a
    group with `refusals`: its `moves` are for information, and `left` are the partitions that it committed on.
    `is_removed`: a rollback deletes the group, because it had no offsets before. `purged` are the numbers of offsets
    (at most) that the source deleted before the group read them, and that the copy does not hold.
    """

    group: str
    moves: tuple[OffsetsMove, ...] = ()
    unset: tuple[TopicPartition, ...] = ()
    warnings: tuple[Finding, ...] = ()
    refusals: tuple[Finding, ...] = ()
    is_active_on_source: bool = False
    is_removed: bool = False
    left: tuple[TopicPartition, ...] = ()
    purged: Offsets = field(default_factory=dict)

    @property
    def verdict(self) -> GroupVerdict:
        """The plan's decision on the group."""
        if self.refusals:
            return GroupVerdict.LEFT_OUT
        if not self.is_changed:
            return GroupVerdict.NOTHING
        is_provisional = self.is_active_on_source or Proof.NONE in self.proofs
        return GroupVerdict.PROVISIONAL if is_provisional else GroupVerdict.READY

    @property
    def is_changed(self) -> bool:
        """Whether something is written for the group."""
        return bool(self.proposed) or self.is_removed

    @property
    def is_unreadable(self) -> bool:
        """Whether it is left out because it could not be read."""
        return any(finding.code is Code.GROUP_UNREADABLE for finding in self.refusals)

    @property
    def has_something_to_move(self) -> bool:
        """Whether a group that is left out has any offsets."""
        return any(finding.code is not Code.OFFSET_NEVER_COMMITTED for finding in self.refusals)

    @property
    def refusal_codes(self) -> list[str]:
        """The codes of its refusals, each once, sorted."""
        return sorted({str(finding.code) for finding in self.refusals})

    @property
    def proofs(self) -> list[Proof]:
        """The proof of each planned offset."""
        return [move.proof for move in self.moves for _ in move.proposed]

    @property
    def delivered_again(self) -> int:
        """Records that the group will read again, if they were counted."""
        return sum(move.delivered_again for move in self.moves)

    @property
    def committed(self) -> dict[TopicPartition, CommittedOffset]:
        """The group's commits on the planned partitions of the cluster that it leaves."""
        return {p: commit for move in self.moves for p, commit in move.committed.items()}

    @property
    def proposed(self) -> dict[TopicPartition, CommittedOffset]:
        """The commits to write."""
        return {} if self.refusals else {p: commit for move in self.moves for p, commit in move.proposed.items()}

    @property
    def approved_content(self) -> dict[str, Any]:
        """Everything of the group that an approval covers."""
        return {
            "committed": written(self.committed),
            "proposed": written(self.proposed),
            "unset": written(self.unset),
            "is_removed": self.is_removed,
        }

    def to_document(self) -> dict[str, Any]:
        """Return the group's plan, with its verdict and count for readers."""
        said = {"verdict": str(self.verdict), "delivered_again": self.delivered_again}
        return {**Document.to_document(self), **said}


@dataclass(frozen=True, slots=True)
class TargetOnly(Document):
    """Records of a topic that were written to the target after the copy and that the source does not have.

    :param first_offsets: the offset of the first of them, by target partition
    :param records: their number; an upper bound if `is_exact` is false
    """

    topic: str
    first_offsets: Offsets
    records: int
    is_exact: bool

    @property
    def count(self) -> str:
        """How many records, in words."""
        return f"{self.records:,}" if self.is_exact else f"at most {self.records:,}"


@dataclass(frozen=True, slots=True)
class OffsetsPlan(Document):
    """The plan for all groups, and the end offsets of the clusters when it was made.

    Modes `rehearse` and `cutover` translate source offsets and write them on the target; `fail_back` translates target
    offsets and writes them on the source; `restore` writes the saved offsets of the target again.

    :param topics: the topics on which groups are moved
    :param source_end_offsets: those of the topics that are moved now; a rollback does not depend on them
    :param mirror_positions: the source offsets that the copy reaches
    :param unconcerned: the number of groups that committed only on other topics
    :param others: groups that the plan does not cover
    :param target_only: for a rollback, the records that remain only on the target, for each topic with any
    :param unproved: topics of the run that are not moved because their copy is not proved, with the reason
    """

    at: str
    mode: Mode
    topics: tuple[str, ...]
    groups: tuple[GroupPlan, ...]
    target_end_offsets: Offsets
    source_end_offsets: Offsets = field(default_factory=dict)
    mirror_positions: Offsets = field(default_factory=dict)
    unconcerned: int = 0
    others: OtherGroups = field(default_factory=OtherGroups)
    target_only: tuple[TargetOnly, ...] = ()
    unproved: Mapping[str, Finding] = field(default_factory=dict)

    @property
    def is_final(self) -> bool:
        """Whether the plan is meant to be written; a rehearsal's plan is not."""
        return self.mode is not Mode.REHEARSE

    @property
    def is_rollback(self) -> bool:
        """Whether the plan reverses cutovers."""
        return self.mode.rolls_back

    @property
    def written_side(self) -> Side:
        """The cluster on which offsets are written."""
        return "source" if self.mode is Mode.FAIL_BACK else "target"

    @property
    def left_side(self) -> Side:
        """The cluster that the groups leave."""
        return "target" if self.written_side == "source" else "source"

    @property
    def planned(self) -> tuple[GroupPlan, ...]:
        """The groups that are not left out."""
        return tuple(group for group in self.groups if group.verdict is not GroupVerdict.LEFT_OUT)

    @property
    def changed(self) -> tuple[GroupPlan, ...]:
        """The groups for which something is written."""
        return tuple(group for group in self.planned if group.is_changed)

    @property
    def left_out(self) -> tuple[GroupPlan, ...]:
        """The groups for which nothing is written, because of a refusal."""
        return tuple(group for group in self.groups if group.verdict is GroupVerdict.LEFT_OUT)

    @property
    def digest(self) -> str:
        """SHA-256 (hex) over everything that the approval is bound to.

        It leaves out the groups' current offsets on the written cluster: the plan's first write changes them, and each
        is compared right before its group is written.
        """
        content = {
            "mode": str(self.mode),
            "topics": sorted(self.topics),
            "source_end_offsets": written(self.source_end_offsets),
            "target_end_offsets": written(self.target_end_offsets),
            "groups": {group.group: group.approved_content for group in self.planned},
            # Kafka deletes an empty group without offsets by itself; this does not change what is approved.
            "left_out": {group.group: group.refusal_codes for group in self.left_out if group.has_something_to_move},
        }
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def to_document(self) -> dict[str, Any]:
        """Return the plan, with its digest for readers; it is computed again from what is read."""
        return {**Document.to_document(self), "digest": self.digest}

    def uncopied_findings(self) -> tuple[Finding, ...]:
        """Name every partition with source records after the end of the copy: no consumer would ever read them."""
        return tuple(
            Finding(
                Code.FENCE_MOVING,
                str(partition),
                f"source end {end:,}",
                f"{self.mirror_positions.get(partition, 0):,}, the end of the copy",
                "Stop that producer and trigger a new cutover.",
                happened=f"A producer wrote to {partition} of the source (end {end:,}, copied up to "
                f"{self.mirror_positions.get(partition, 0):,}) after the fence.",
                matters="No consumer on the target would read these records. Nothing was written to any group.",
            )
            for partition, end in sorted(self.source_end_offsets.items())
            if end > self.mirror_positions.get(partition, 0)
        )
