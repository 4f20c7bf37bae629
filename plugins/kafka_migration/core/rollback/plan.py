"""The plan of a rollback: its values, its document and its digest.

A rollback reverses cutovers. Mode `restore` sets the groups on the target back to their offsets before the cutover.
Mode `fail_back` sets the groups on the source to the translation of their target offsets. The rules are in
`core.rollback.rules`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.plan import Proof
from kafka_migration.core.kafka.cluster import CommittedOffset, Side
from kafka_migration.core.kafka.commits import Commits, commits_document, commits_from_document
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition, from_document, to_document
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.text.names import group_subject


@dataclass(frozen=True, slots=True)
class ReturnedTopic:
    """Where a group resumes on the source in one topic.

    :param target_commits: the group's offsets on the target
    :param source_offsets: where it resumes, by source partition; `source_before` are its current offsets there
    :param unread: records of the copy that it has not read
    :param delivered_again: records that it has read and will read again
    :param is_minimal: whether no other offsets would deliver fewer records again
    """

    topic: str
    target_commits: Offsets
    source_before: Offsets
    source_offsets: Offsets
    unread: int
    delivered_again: int
    proof: Proof
    is_minimal: bool

    def to_document(self) -> dict[str, Any]:
        """Return the topic as plain JSON values."""
        return {
            "topic": self.topic,
            "target_commits": to_document(self.target_commits),
            "source_before": to_document(self.source_before),
            "source_offsets": to_document(self.source_offsets),
            "unread": self.unread,
            "delivered_again": self.delivered_again,
            "proof": str(self.proof),
            "is_minimal": self.is_minimal,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> ReturnedTopic:
        """Read back what `to_document` wrote."""
        return cls(
            document["topic"],
            from_document(document["target_commits"]),
            from_document(document["source_before"]),
            from_document(document["source_offsets"]),
            document["unread"],
            document["delivered_again"],
            Proof(document["proof"]),
            document["is_minimal"],
        )


@dataclass(frozen=True, slots=True)
class GroupReturn:
    """The plan for one group.

    :param present: its current commits on the written cluster, on the partitions that change
    :param proposed: the commits to write there
    :param is_removed: whether the group is deleted there, because it had no offsets before
    :param topics: how the proposed offsets were found; empty if they come from a snapshot
    :param refusals: why the group is not changed, if so; then nothing is proposed
    """

    group: str
    present: Commits
    proposed: Mapping[TopicPartition, CommittedOffset]
    is_removed: bool = False
    topics: tuple[ReturnedTopic, ...] = ()
    warnings: tuple[Finding, ...] = ()
    refusals: tuple[Finding, ...] = ()

    @property
    def is_changed(self) -> bool:
        """Whether something is written for the group."""
        return bool(self.proposed) or self.is_removed

    @property
    def delivered_again(self) -> int:
        """Records that the group will read again, if they were counted."""
        return sum(topic.delivered_again for topic in self.topics)

    def to_document(self) -> dict[str, Any]:
        """Return the group's plan as plain JSON values."""
        return {
            "group": self.group,
            "present": commits_document({self.group: self.present})[self.group],
            "proposed": commits_document({self.group: self.proposed})[self.group],
            "is_removed": self.is_removed,
            "delivered_again": self.delivered_again,
            "topics": [topic.to_document() for topic in self.topics],
            "warnings": [finding.to_document() for finding in self.warnings],
            "refusals": [finding.to_document() for finding in self.refusals],
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> GroupReturn:
        """Read back what `to_document` wrote."""
        group = document["group"]
        return cls(
            group,
            commits_from_document({group: document["present"]})[group],
            commits_from_document({group: document["proposed"]})[group],
            document["is_removed"],
            tuple(ReturnedTopic.from_document(topic) for topic in document["topics"]),
            tuple(Finding.from_document(finding) for finding in document["warnings"]),
            tuple(Finding.from_document(finding) for finding in document["refusals"]),
        )


@dataclass(frozen=True, slots=True)
class TargetOnly:
    """Records of a topic that were written to the target after the copy and that the source does not have.

    :param first: the offset of the first of them, by target partition
    :param records: their number; an upper bound if `is_exact` is false
    """

    topic: str
    first: Offsets
    records: int
    is_exact: bool

    @property
    def count(self) -> str:
        """How many records, in words."""
        return f"{self.records:,}" if self.is_exact else f"at most {self.records:,}"

    def to_document(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            "topic": self.topic,
            "first_offsets": to_document(self.first),
            "records": self.records,
            "is_exact": self.is_exact,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> TargetOnly:
        """Read back what `to_document` wrote."""
        first = from_document(document["first_offsets"])
        return cls(document["topic"], first, document["records"], document["is_exact"])


def _approved(group: GroupReturn) -> list[Any]:
    """Return the part of a group's plan that an approval covers."""
    return [commits_document({group.group: group.proposed}), group.is_removed, bool(group.refusals)]


@dataclass(frozen=True, slots=True)
class RollbackPlan:
    """The plan for all groups of the topics that were cut over.

    :param target_only: records that remain only on the target, for each topic with any
    :param target_end_offsets: the target's ends up to which these were read
    """

    at: str
    mode: Mode
    topics: tuple[str, ...]
    groups: tuple[GroupReturn, ...]
    target_only: tuple[TargetOnly, ...]
    target_end_offsets: Offsets

    @property
    def written_side(self) -> Side:
        """The cluster on which offsets are written."""
        return "target" if self.mode is Mode.RESTORE else "source"

    @property
    def changed(self) -> tuple[GroupReturn, ...]:
        """The groups for which something is written."""
        return tuple(group for group in self.groups if group.is_changed)

    @property
    def left_out(self) -> tuple[GroupReturn, ...]:
        """The groups that cannot be changed because of a refusal."""
        return tuple(group for group in self.groups if group.refusals)

    @property
    def digest(self) -> str:
        """SHA-256 (hex) over everything that the approval is bound to.

        It leaves out the groups' current commits on the written side: the plan's first write changes them, and each is
        compared right before its group is written.
        """
        content = {
            "mode": str(self.mode),
            "topics": sorted(self.topics),
            "target_end_offsets": to_document(self.target_end_offsets),
            "groups": {group.group: _approved(group) for group in self.changed},
            "left_out": sorted(group.group for group in self.left_out),
        }
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def changes_to(self, live: RollbackPlan) -> Iterator[str]:
        """Yield what has changed since this plan was made."""
        if self.target_end_offsets != live.target_end_offsets:
            yield "the target's ends"
        mine, theirs = ({group.group: _approved(group) for group in plan.groups} for plan in (self, live))
        for group in sorted({*mine, *theirs}):
            if mine.get(group) != theirs.get(group):
                yield group_subject(group)

    def to_document(self) -> dict[str, Any]:
        """Return the plan as plain JSON values."""
        return {
            "at": self.at,
            "mode": str(self.mode),
            "digest": self.digest,
            "topics": list(self.topics),
            "groups": [group.to_document() for group in self.groups],
            "target_only": [each.to_document() for each in self.target_only],
            "target_end_offsets": to_document(self.target_end_offsets),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> RollbackPlan:
        """Read back what `to_document` wrote; the digest is computed again."""
        return cls(
            document["at"],
            Mode(document["mode"]),
            tuple(document["topics"]),
            tuple(GroupReturn.from_document(group) for group in document["groups"]),
            tuple(TargetOnly.from_document(each) for each in document["target_only"]),
            from_document(document["target_end_offsets"]),
        )
