"""The plan of a rollback: its values, its document and its digest.

A rollback takes back what cutovers moved. Mode `restore` puts the groups on the target back to where they stood before;
mode `fail_back` puts those on the source to where they stand on the target. The rules are in `core.way_back_rules`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.plan import Proof
from kafka_migration.core.kafka.cluster import CommittedOffset
from kafka_migration.core.kafka.commits import Commits, commits_document, commits_from_document
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition, from_document, to_document
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.text.names import group_subject

SideName = Literal["source", "target"]


@dataclass(frozen=True, slots=True)
class ReturnedTopic:
    """Where a group goes on on the source in one topic.

    :param target_commits: where the group stands on the target
    :param source_offsets: where it goes on, by source partition; `source_before` is where it stands there now
    :param unread: records of the copy that it has not read
    :param delivered_again: records that it has read and will read again
    :param is_minimal: whether no other offsets would do with fewer of them
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
    """What is planned for one group.

    :param present: what it has committed on the cluster that is written, on the partitions that are changed
    :param proposed: what is to be written there
    :param is_removed: whether the group is deleted there, because it had nothing before
    :param topics: how the proposed offsets were found; empty where they were saved
    :param refusals: why the group stays as it is, if so; then nothing is proposed
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
        """Records that the group will read again, as far as they are counted."""
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
    """Records of a topic that were written to the target since the copy ended, and that the source does not have.

    :param first: the offset of the first of them, by target partition that has any
    :param records: how many there are; where `is_exact` is false, the most there can be
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
    """Return what of a group an approval is bound to."""
    return [commits_document({group.group: group.proposed}), group.is_removed, bool(group.refusals)]


@dataclass(frozen=True, slots=True)
class RollbackPlan:
    """The plan for all groups of the topics that were cut over.

    :param target_only: what stays behind on the target, by topic that has any
    :param target_end_offsets: the ends that this was read up to
    """

    at: str
    mode: Mode
    topics: tuple[str, ...]
    groups: tuple[GroupReturn, ...]
    target_only: tuple[TargetOnly, ...]
    target_end_offsets: Offsets

    @property
    def written_side(self) -> SideName:
        """The cluster on which offsets are written."""
        return "target" if self.mode is Mode.RESTORE else "source"

    @property
    def changed(self) -> tuple[GroupReturn, ...]:
        """The groups for which something is written."""
        return tuple(group for group in self.groups if group.is_changed)

    @property
    def left_out(self) -> tuple[GroupReturn, ...]:
        """The groups that stay as they are though they should not."""
        return tuple(group for group in self.groups if group.refusals)

    @property
    def digest(self) -> str:
        """SHA-256 (hex) over everything that the approval is bound to.

        What the groups have committed on the written side is not in it: it changes with the first write of the plan
        itself, and is compared right before each group is written.
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
        """Yield what is no longer as in this plan."""
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
        """Read back what `to_document` wrote; the digest is computed anew."""
        return cls(
            document["at"],
            Mode(document["mode"]),
            tuple(document["topics"]),
            tuple(GroupReturn.from_document(group) for group in document["groups"]),
            tuple(TargetOnly.from_document(each) for each in document["target_only"]),
            from_document(document["target_end_offsets"]),
        )
