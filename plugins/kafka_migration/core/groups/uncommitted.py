"""Partitions on which a group never committed, of topics on which it did: where it starts there on the target.

If the source holds no record of the partition that the group could still read, the group starts at the end of the copy.
Otherwise `cutover.uncommitted` decides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.clusters_seen import CommittedGroup
from kafka_migration.core.groups.offsets_plan import GroupPlan, OffsetsMove, Proof
from kafka_migration.core.kafka.offsets import Commits, CommittedOffset, TopicPartition
from kafka_migration.core.migration.settings import Uncommitted
from kafka_migration.core.text.quoting import group_subject
from kafka_migration.core.text.shortened import some
from kafka_migration.core.translation.by_partition import Position, Translation
from kafka_migration.core.translation.copies import PartitionCopy

# More partitions than these are counted.
MAX_PARTITIONS = 20
START_FIRST = "Start the group's consumers before the producers."


def never_committed(commits: Commits, partitions: Iterable[TopicPartition]) -> tuple[TopicPartition, ...]:
    """Return those of the partitions on which a group has no commit, of topics on which it has one; sorted."""
    topics = {partition.topic for partition in commits}
    return tuple(p for p in sorted(partitions) if p.topic in topics and p not in commits)


@dataclass(frozen=True, slots=True)
class UncommittedRule:
    """What happens with partitions on which a group never committed.

    :param rule: the rule for partitions of the source with a record that the group could still read
    :param readable: these partitions
    """

    rule: Uncommitted = "unset"
    readable: Collection[TopicPartition] = frozenset()

    def unset(self, partitions: Iterable[TopicPartition]) -> tuple[TopicPartition, ...]:
        """Return those that stay unset on the target."""
        return tuple(self._with_records(partitions)) if self.rule == "unset" else ()

    def refused(self, partitions: Iterable[TopicPartition]) -> tuple[TopicPartition, ...]:
        """Return those because of which a group is not moved."""
        return tuple(self._with_records(partitions)) if self.rule == "refuse" else ()

    def moves(
        self,
        group: CommittedGroup,
        partitions: Collection[TopicPartition],
        copies: Mapping[TopicPartition, PartitionCopy],
        translations: Mapping[Position, Translation],
    ) -> Iterator[OffsetsMove]:
        """Yield where the group starts in those of the partitions that do not stay unset."""
        for partition in self.at_end(partitions):
            proof = Proof.RULE if partition in self.readable else Proof.END
            yield _move(group, partition, copies[partition].target_end, proof)
        for position in self.at_begin(partitions):
            found = translations[position]
            move = _move(group, position.partition, found.target_offset, Proof.RULE)
            yield replace(move, delivered_again=found.delivered_again, is_minimal=found.is_minimal)

    def at_begin(self, partitions: Iterable[TopicPartition]) -> tuple[Position, ...]:
        """Return the positions that are translated as if the group had committed them: the begin of the copy."""
        with_records = self._with_records(partitions) if self.rule == "earliest" else ()
        return tuple(Position(partition, 0) for partition in with_records)

    def at_end(self, partitions: Iterable[TopicPartition]) -> tuple[TopicPartition, ...]:
        """Return those in which a group starts at the end of the copy."""
        return tuple(p for p in partitions if self.rule == "latest" or p not in self.readable)

    def _with_records(self, partitions: Iterable[TopicPartition]) -> Iterator[TopicPartition]:
        return (p for p in partitions if p in self.readable)


def _move(group: CommittedGroup, partition: TopicPartition, offset: int, proof: Proof) -> OffsetsMove:
    before = group.target_commits.get(partition)
    proposed = {partition: CommittedOffset(offset)}
    return OffsetsMove(partition.topic, {}, {partition: before.offset} if before else {}, proposed, proof)


def no_commit_finding(group: str) -> Finding:
    """Return the finding about a group that committed on no topic."""
    return Finding(
        Code.OFFSET_NEVER_COMMITTED,
        group_subject(group),
        "no committed offset on any topic",
        "at least one offset to translate",
        START_FIRST,
        happened=f"No offset of {group_subject(group)} has to be moved: it never committed on a topic of this run.",
        matters=late_words(group, "its topics"),
    )


def stale_findings(group: CommittedGroup, unset: Iterable[TopicPartition]) -> Iterator[Finding]:
    """Refuse to leave a partition unset in which the group has an offset on the target alone."""
    expected = "no committed offset on the target; the group would resume there and skip earlier records"
    matters = "The group would resume at this offset and skip earlier records, so it is not moved."
    for partition in unset:
        if partition in group.target_commits:
            yield _stale_finding(group, partition, expected, matters)


def forward_findings(
    group: CommittedGroup, plan: GroupPlan, without_commit: Iterable[TopicPartition]
) -> Iterator[Finding]:
    """Refuse to move a group past an offset that it has on the target alone: it may not have read up to the new one."""
    for partition in without_commit:
        present, planned = group.target_commits.get(partition), plan.proposed.get(partition)
        if present is not None and planned is not None and present.offset < planned.offset:
            expected = f"{planned.offset:,}, the planned offset, or none on the target"
            matters = f"At {planned.offset:,}, the planned offset, the group could skip records, so it is not moved."
            yield _stale_finding(group, partition, expected, matters)


def _stale_finding(group: CommittedGroup, partition: TopicPartition, expected: str, matters: str) -> Finding:
    offset = group.target_commits[partition].offset
    return Finding(
        Code.STALE_TARGET_OFFSET,
        f"{group_subject(group.group)}, {partition}",
        f"target offset {offset:,}, and none on the source",
        expected,
        "Find out who committed this offset. Delete it on the target (`kafka-consumer-groups --delete-offsets`), or "
        "let the group commit on the source. Then trigger a new run.",
        happened=f"The offset of {group_subject(group.group)} on {partition} is {offset:,} on the target, and the "
        "source has none.",
        matters=matters,
    )


def uncommitted_finding(group: str, partition: TopicPartition) -> Finding:
    """Return why a group is not moved: it never committed on a partition with records."""
    return Finding(
        Code.OFFSET_NEVER_COMMITTED,
        f"{group_subject(group)}, {partition}",
        "no committed offset, although the group has commits on other partitions of the topic",
        "a committed offset on every partition that holds records (cutover.uncommitted is refuse)",
        "Commit an offset of the group on the source, or set cutover.uncommitted in the migration file to the group's "
        "auto.offset.reset (earliest or latest). Then trigger a new run.",
        happened=f"No offset of {group_subject(group)} is committed on {partition}, although the group has commits on "
        "other partitions of the topic.",
        matters="The partition has records for the group, and cutover.uncommitted is refuse. So the group is not "
        "moved.",
    )


def unset_findings(group: str, partitions: Iterable[TopicPartition]) -> Iterator[Finding]:
    """Yield one warning per topic about the partitions that stay unset on the target."""
    topics: dict[str, list[int]] = {}
    for topic, number in partitions:
        topics.setdefault(topic, []).append(number)
    for topic, numbers in topics.items():
        yield Finding(
            Code.OFFSET_NEVER_COMMITTED,
            f"{group_subject(group)}, {place_words(topic, numbers)}",
            "no committed offset",
            "an offset to translate",
            START_FIRST,
            happened=f"No offset of {group_subject(group)} is committed on {place_words(topic, numbers)}, so it stays "
            "unset.",
            matters=late_words(group, place_words(topic, numbers)),
        )


def late_words(group: str, place: str) -> str:
    """Say what a group without an offset may miss; `place` names the topic or its partitions."""
    return (
        f"With `auto.offset.reset=latest` {group_subject(group)} may miss records that are written to {place} before "
        "it reads there."
    )


def place_words(topic: str, numbers: Collection[int]) -> str:
    """Name some partitions of a topic; without any, the topic."""
    if len(numbers) == 1:
        return str(TopicPartition(topic, next(iter(numbers))))
    return f"{topic}, partitions {some(list(map(str, numbers)), MAX_PARTITIONS)}" if numbers else topic
