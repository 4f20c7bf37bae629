"""The plan of the consumer groups' offsets: its values, its document and its digest.

The rules that make it are in `core.groups.rules`, its text for people in `core.groups.plan_page`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.selection import NO_OTHERS, OtherGroups
from kafka_migration.core.kafka.cluster import CommittedOffset, GroupDescription
from kafka_migration.core.kafka.commits import Commits
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition, from_document, to_document
from kafka_migration.core.translation.by_partition import Position


class GroupVerdict(StrEnum):
    """The plan's decision on a group.

    `ready`: proved; its offsets may be written. `provisional`: in a rehearsal, the group still reads or has read past
    the end of the copy. `left out`: nothing is written for it; the refusals say why.
    """

    READY = "ready"
    PROVISIONAL = "provisional"
    LEFT_OUT = "left out"


class Proof(StrEnum):
    """How a planned offset was proved.

    `record`: the first record from the offset on is the same on both sides. `end`: nothing is unread on either
    side. `none`: the copy does not reach the offset yet (only in a rehearsal). `copies`: every unread record has a copy
    at or after the offsets, in order. `ledger`: the source has deleted unread records; the offsets are the target ends
    before the generation that copied the first of them, and everything from there on was validated.
    """

    RECORD = "record"
    END = "end"
    NONE = "none"
    COPIES = "copies"
    LEDGER = "ledger"


@dataclass(frozen=True, slots=True)
class CommittedGroup:
    """A group on both clusters, with its commits on the migration's partitions.

    `commits_elsewhere` says whether it committed on topics outside the migration. `later_topics` are topics of the
    migration on which it committed and that this run does not move. `lost_topics` were cut over without the group, and
    its commits on them no longer exist.
    """

    source: GroupDescription
    target: GroupDescription
    source_commits: Commits
    target_commits: Commits
    commits_elsewhere: bool = False
    later_topics: tuple[str, ...] = ()
    lost_topics: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """The group's name."""
        return self.source.group

    @property
    def is_concerned(self) -> bool:
        """Whether the group may read the migration's topics; `False` only if all its commits are on other topics."""
        return bool(self.source_commits or self.lost_topics) or not self.commits_elsewhere


@dataclass(frozen=True, slots=True)
class PlannedOffset:
    """Where a group resumes in one partition, on either side.

    `target_before` is the group's current offset on the target. `delivered_again` counts the records that it has read
    on the source and will read again, and those that the target holds more than once. A count that cannot be exact is
    an upper bound.
    """

    partition: TopicPartition
    source_offset: int
    target_before: int | None
    target_offset: int
    delivered_again: int
    proof: Proof
    metadata: str = ""

    def to_document(self) -> dict[str, Any]:
        """Return the offset as plain JSON values."""
        return {
            "topic": self.partition.topic,
            "partition": self.partition.partition,
            "source_offset": self.source_offset,
            "target_before": self.target_before,
            "target_offset": self.target_offset,
            "delivered_again": self.delivered_again,
            "proof": str(self.proof),
            "metadata": self.metadata,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> PlannedOffset:
        """Read back what `to_document` wrote."""
        return cls(
            TopicPartition(document["topic"], document["partition"]),
            document["source_offset"],
            document["target_before"],
            document["target_offset"],
            document["delivered_again"],
            Proof(document["proof"]),
            document["metadata"],
        )


@dataclass(frozen=True, slots=True)
class PlannedTopic:
    """Where a group resumes in a topic whose copy does not keep partitions: in all of its partitions at once.

    :param source_commits: what the group committed on the source
    :param target_offsets: where it resumes, by target partition; `target_before` are its current offsets there
    :param unread: records that it has not read on the source
    :param delivered_again: records read again, or present more than once; an upper bound if `proof` is `ledger`
    :param is_minimal: whether no other offsets would deliver fewer records again
    """

    topic: str
    source_commits: Commits
    target_before: Offsets
    target_offsets: Offsets
    unread: int
    delivered_again: int
    proof: Proof
    is_minimal: bool

    @property
    def proposed(self) -> dict[TopicPartition, CommittedOffset]:
        """The offsets to write; the commits' metadata is kept if it is the same in all partitions."""
        texts = {commit.metadata for commit in self.source_commits.values()}
        metadata = texts.pop() if len(texts) == 1 else ""
        return {p: CommittedOffset(offset, metadata) for p, offset in self.target_offsets.items()}

    def to_document(self) -> dict[str, Any]:
        """Return the topic as plain JSON values."""
        return {
            "topic": self.topic,
            "source_offsets": to_document({p: commit.offset for p, commit in self.source_commits.items()}),
            "metadata": {str(p.partition): commit.metadata for p, commit in self.source_commits.items()},
            "target_before": to_document(self.target_before),
            "target_offsets": to_document(self.target_offsets),
            "unread": self.unread,
            "delivered_again": self.delivered_again,
            "proof": str(self.proof),
            "is_minimal": self.is_minimal,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> PlannedTopic:
        """Read back what `to_document` wrote."""
        offsets, texts = from_document(document["source_offsets"]), document["metadata"]
        return cls(
            document["topic"],
            {p: CommittedOffset(offset, texts[str(p.partition)]) for p, offset in offsets.items()},
            from_document(document["target_before"]),
            from_document(document["target_offsets"]),
            document["unread"],
            document["delivered_again"],
            Proof(document["proof"]),
            document["is_minimal"],
        )


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """The plan for one group.

    `topics` are those whose copy does not keep partitions; `offsets` cover all other partitions. `unset` are the
    partitions of its topics on which it never committed; they stay unset. A group with `refusals` is left out: it has
    no planned offsets, nothing is written for it, and `left` are the partitions that it committed on.
    """

    group: str
    offsets: tuple[PlannedOffset, ...] = ()
    topics: tuple[PlannedTopic, ...] = ()
    unset: tuple[TopicPartition, ...] = ()
    warnings: tuple[Finding, ...] = ()
    refusals: tuple[Finding, ...] = ()
    is_active_on_source: bool = False
    left: tuple[TopicPartition, ...] = ()

    @property
    def verdict(self) -> GroupVerdict:
        """The plan's decision on the group."""
        if self.refusals:
            return GroupVerdict.LEFT_OUT
        is_provisional = self.is_active_on_source or Proof.NONE in self.proofs
        return GroupVerdict.PROVISIONAL if is_provisional else GroupVerdict.READY

    @property
    def refusal_codes(self) -> list[str]:
        """The codes of its refusals, each once, sorted."""
        return sorted({str(finding.code) for finding in self.refusals})

    @property
    def proofs(self) -> list[Proof]:
        """The proof of each offset that is planned for the target."""
        of_topics = [topic.proof for topic in self.topics for _ in topic.target_offsets]
        return [*(offset.proof for offset in self.offsets), *of_topics]

    @property
    def delivered_again(self) -> int:
        """Records that the group will read again."""
        of_topics = sum(topic.delivered_again for topic in self.topics)
        return of_topics + sum(offset.delivered_again for offset in self.offsets)

    @property
    def source_commits(self) -> dict[TopicPartition, CommittedOffset]:
        """The group's source commits on the planned partitions."""
        commits = {o.partition: CommittedOffset(o.source_offset, o.metadata) for o in self.offsets}
        return commits | {p: commit for topic in self.topics for p, commit in topic.source_commits.items()}

    @property
    def proposed(self) -> dict[TopicPartition, CommittedOffset]:
        """The commits to write on the target: the translated offsets with the source's metadata."""
        offsets = {o.partition: CommittedOffset(o.target_offset, o.metadata) for o in self.offsets}
        return offsets | {p: commit for topic in self.topics for p, commit in topic.proposed.items()}

    def to_document(self) -> dict[str, Any]:
        """Return the group's plan as plain JSON values."""
        return {
            "group": self.group,
            "verdict": str(self.verdict),
            "delivered_again": self.delivered_again,
            "active_on_source": self.is_active_on_source,
            "offsets": [offset.to_document() for offset in self.offsets],
            "topics": [topic.to_document() for topic in self.topics],
            "unset": [[p.topic, p.partition] for p in self.unset],
            "warnings": [finding.to_document() for finding in self.warnings],
            "refusals": [finding.to_document() for finding in self.refusals],
            "left": [[p.topic, p.partition] for p in self.left],
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> GroupPlan:
        """Read back what `to_document` wrote."""
        return cls(
            group=document["group"],
            offsets=tuple(PlannedOffset.from_document(offset) for offset in document["offsets"]),
            topics=tuple(PlannedTopic.from_document(topic) for topic in document.get("topics", ())),
            unset=_partitions(document["unset"]),
            warnings=tuple(Finding.from_document(finding) for finding in document["warnings"]),
            refusals=tuple(Finding.from_document(finding) for finding in document["refusals"]),
            is_active_on_source=document["active_on_source"],
            left=_partitions(document.get("left", ())),
        )


def _partitions(document: Iterable[tuple[str, int]]) -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition(topic, partition) for topic, partition in document)


@dataclass(frozen=True, slots=True)
class OffsetsPlan:
    """The plan for all groups, and the end offsets of both clusters when it was made.

    `is_final` is false in a rehearsal. `mirror_positions` are the source offsets that the copy reaches. `unconcerned`
    counts the groups that committed only on other topics; `others` are groups that the plan does not cover.
    """

    at: str
    is_final: bool
    source_end_offsets: Offsets
    mirror_positions: Offsets
    target_end_offsets: Offsets
    groups: tuple[GroupPlan, ...]
    unconcerned: int = 0
    others: OtherGroups = field(default_factory=OtherGroups)

    @property
    def planned(self) -> tuple[GroupPlan, ...]:
        """The groups that have planned offsets."""
        return tuple(group for group in self.groups if group.verdict is not GroupVerdict.LEFT_OUT)

    @property
    def left_out(self) -> tuple[GroupPlan, ...]:
        """The groups for which nothing is written."""
        return tuple(group for group in self.groups if group.verdict is GroupVerdict.LEFT_OUT)

    @property
    def digest(self) -> str:
        """SHA-256 (hex) over everything that the approval is bound to.

        It leaves out the groups' current offsets on the target: the plan's first write changes them, and each is
        compared right before its group is written.
        """
        content = {
            "source_end_offsets": to_document(self.source_end_offsets),
            "target_end_offsets": to_document(self.target_end_offsets),
            "groups": {group.group: _approved_content(group) for group in self.planned},
            "left_out": {group.group: group.refusal_codes for group in self._left_out_on_purpose},
        }
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def _left_out_on_purpose(self) -> Iterable[GroupPlan]:
        # Kafka deletes an empty group without offsets by itself; this does not change what is approved.
        return (g for g in self.left_out if any(f.code is not Code.OFFSET_NEVER_COMMITTED for f in g.refusals))

    def to_document(self) -> dict[str, Any]:
        """Return the plan as plain JSON values."""
        return {
            "at": self.at,
            "final": self.is_final,
            "digest": self.digest,
            "source_end_offsets": to_document(self.source_end_offsets),
            "mirror_positions": to_document(self.mirror_positions),
            "target_end_offsets": to_document(self.target_end_offsets),
            "groups": [group.to_document() for group in self.groups],
            "unconcerned": self.unconcerned,
            "others": self.others.to_document(),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> OffsetsPlan:
        """Read back what `to_document` wrote; the digest is computed again."""
        return cls(
            document["at"],
            document["final"],
            from_document(document["source_end_offsets"]),
            from_document(document["mirror_positions"]),
            from_document(document["target_end_offsets"]),
            tuple(GroupPlan.from_document(group) for group in document["groups"]),
            document["unconcerned"],
            OtherGroups.from_document(document.get("others", NO_OTHERS)),
        )

    def uncopied_findings(self) -> tuple[Finding, ...]:
        """Name every partition with source records after the end of the copy: no consumer would ever read them."""
        return tuple(
            Finding(
                Code.FENCE_MOVING,
                str(partition),
                f"source end {end:,}",
                f"{self.mirror_positions.get(partition, 0):,}, the end of the copy",
                "A producer wrote to the source after the fence. Stop it and trigger a new cutover. Nothing was "
                "written to any group.",
            )
            for partition, end in sorted(self.source_end_offsets.items())
            if end > self.mirror_positions.get(partition, 0)
        )


def _approved_content(group: GroupPlan) -> dict[str, Any]:
    offsets = {
        f"{o.partition.topic}/{o.partition.partition}": [o.source_offset, o.target_offset, o.metadata]
        for o in group.offsets
    }
    topics = {
        topic.topic: {
            "source": _content(topic.source_commits),
            "target": _content(topic.proposed),
        }
        for topic in group.topics
    }
    return {"offsets": offsets, "topics": topics, "unset": [[p.topic, p.partition] for p in group.unset]}


def _content(commits: Commits) -> dict[str, Any]:
    return {str(p.partition): [commit.offset, commit.metadata] for p, commit in commits.items()}


def committed_positions(groups: Iterable[CommittedGroup]) -> frozenset[Position]:
    """Return every position that some group committed on the source, once."""
    return frozenset(Position(p, commit.offset) for group in groups for p, commit in group.source_commits.items())
