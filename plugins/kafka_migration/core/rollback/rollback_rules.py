"""The rules of a rollback: whether each group may be changed, and to which offsets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.clusters_seen import CommittedGroup
from kafka_migration.core.groups.group_writes import active_finding, unreadable_finding
from kafka_migration.core.groups.offsets_plan import GroupPlan, OffsetsMove, Proof, with_metadata
from kafka_migration.core.groups.rules_by_topic import unreadable_topic_finding
from kafka_migration.core.groups.uncommitted import unset_findings
from kafka_migration.core.kafka.cluster import GroupDescription
from kafka_migration.core.kafka.offsets import Commits, Offsets, TopicPartition, commits_on, offsets_of
from kafka_migration.core.text.quoting import group_subject
from kafka_migration.core.translation.by_partition import Position, Prints, is_same
from kafka_migration.core.translation.by_topic import CopiedTopic, by_partition
from kafka_migration.core.translation.translation_contract import PartitionOffsets, TranslatedTopic, TranslationsBack


@dataclass(frozen=True, slots=True)
class Move:
    """A group's offsets that cutovers wrote, and its committed offsets on both clusters before the first cutover."""

    written: Offsets
    target_before: Commits
    source_before: Commits


@dataclass(frozen=True, slots=True)
class MovedGroup:
    """A group that a cutover moved: the written target offsets, the ones before, and the current ones.

    All are on the topics that were cut over. `has_others` says whether it also committed on other topics of the target.
    `source_before` are its source commits at the cutover, `source_present` the current ones. `unreadable` says why
    something is not known; empty if all is.
    """

    description: GroupDescription
    written: Offsets
    before: Commits
    present: Commits
    has_others: bool
    source_before: Commits
    source_present: Commits
    unreadable: str = ""

    @property
    def group(self) -> str:
        """The group's name."""
        return self.description.group


def restored(group: MovedGroup, source_log_start: Offsets) -> GroupPlan:
    """Plan to set a group on the target back to its offsets before the cutover.

    The group must be able to resume on the source where it stopped: its offsets and records must still exist there.
    """
    if group.unreadable:
        return GroupPlan(group.group, refusals=(unreadable_finding(group.group, group.unreadable),))
    refusals = (
        *((active_finding(group.description, "target"),) if group.description.is_active else ()),
        *_gone_findings(group, source_log_start),
    )
    if refusals:
        return GroupPlan(group.group, refusals=refusals)
    proposed = {p: group.before[p] for p in sorted(group.written) if p in group.before}
    # Also if it is already deleted: a plan made after that must be the same.
    is_removed = not group.before and not group.has_others
    added = group.written.keys() - proposed.keys() if not is_removed else set()
    stay = tuple(_stays_finding(group, p) for p in sorted(added & group.present.keys()))
    changed = group.present if is_removed else {p: c for p, c in group.present.items() if p in group.written}
    moves = tuple(_saved_move(p, changed, proposed) for p in sorted({*changed, *proposed}))
    return GroupPlan(group.group, moves, warnings=(*stay, *_read_on_findings(group)), is_removed=is_removed)


def _saved_move(partition: TopicPartition, present: Commits, proposed: Commits) -> OffsetsMove:
    before = {partition: present[partition].offset} if partition in present else {}
    written = {partition: proposed[partition]} if partition in proposed else {}
    return OffsetsMove(partition.topic, {}, before, written, Proof.SAVED)


def _gone_findings(group: MovedGroup, source_log_start: Offsets) -> Iterator[Finding]:
    for partition, before in sorted(group.source_before.items()):
        present = group.source_present.get(partition)
        if present is None:
            yield _lost_finding(group.group, partition, before.offset)
        elif present.offset < source_log_start.get(partition, 0):
            remedy = "The target still has these records: let the group read them there, then use mode fail_back."
            yield _deleted_finding(group.group, partition, present.offset, source_log_start[partition], remedy)


_WITHOUT_OFFSET = (
    "On the source the group would start by its auto.offset.reset, and skip records or read all of them again. So it "
    "is not moved."
)


def _lost_finding(group: str, partition: TopicPartition, offset: int) -> Finding:
    return Finding(
        Code.GROUP_OFFSETS_LOST,
        f"{group_subject(group)}, {partition}",
        "no committed offset on the source",
        f"{offset:,}, its offset there at the cutover",
        "Set the offset on the source with `kafka-consumer-groups --reset-offsets` (offsets-before-source.csv of the "
        "cutover has it), then trigger a new rollback. Otherwise use mode fail_back.",
        happened=f"The source has lost the committed offset of {group_subject(group)} on {partition}, which was "
        f"{offset:,} at the cutover. The offset has expired, or the topic was deleted.",
        matters=_WITHOUT_OFFSET,
    )


def _stays_finding(group: MovedGroup, partition: TopicPartition) -> Finding:
    return Finding(
        Code.OFFSET_STAYS,
        f"{group_subject(group.group)}, {partition}",
        f"target offset {group.present[partition].offset:,}, and none before the cutover",
        "no offset, as before; the run can only delete all offsets of a group together, and this group had others",
        "If the group must not resume at this offset, delete the offset on the target with `kafka-consumer-groups "
        "--delete-offsets`.",
        happened=f"The target offset {group.present[partition].offset:,} of {group_subject(group.group)} on "
        f"{partition} stays, although the group had none there before the cutover.",
        matters="If the group starts on the target again, it resumes at this offset. The run can only delete all "
        "offsets of a group together, and before the cutover this group had offsets on other partitions there.",
    )


def _read_on_findings(group: MovedGroup) -> Iterator[Finding]:
    for partition, written in sorted(group.written.items()):
        present = group.present.get(partition)
        if present is not None and present.offset != written:
            yield Finding(
                Code.TARGET_OFFSETS_CHANGED,
                f"{group_subject(group.group)}, {partition}",
                f"target offset {present.offset:,}",
                f"{written:,}, as the cutover wrote it",
                "If the group must not read records twice, use mode fail_back, which translates its target offsets.",
                happened=f"The target offset of {group_subject(group.group)} on {partition} is {present.offset:,}; the "
                f"cutover set it to {written:,}.",
                matters="The group has committed on the target since the cutover. A rollback in mode restore returns "
                "it to its source offset from before the cutover, so it reads copied records again.",
            )


@dataclass(frozen=True, slots=True)
class Returning:
    """Everything that was read and computed about the groups' commits on the target.

    `moved` are the groups that cutovers moved. The proofs are the records at each counted source offset and at the
    committed target offset; `None` means the end of the copy. `unreadable` are the topics that Spark could not read.
    """

    topics: Mapping[str, CopiedTopic]
    moved: Collection[str] = ()
    translations: TranslationsBack = field(default_factory=dict)
    source_proofs: Prints = field(default_factory=dict)
    target_proofs: Prints = field(default_factory=dict)
    unreadable: Mapping[str, TranslatedTopic] = field(default_factory=dict)

    def commits_of(self, group: CommittedGroup) -> Iterator[tuple[CopiedTopic, PartitionOffsets]]:
        """Yield the topics that a group has committed on, each with its offsets on the target."""
        for name, topic in sorted(self.topics.items()):
            committed = {p.partition: c.offset for p, c in sorted(group.target_commits.items()) if p.topic == name}
            if committed:
                yield topic, committed

    def is_proved(self, topic: CopiedTopic, here: Position, there: Position) -> bool:
        """Whether a group resumes with the same record; if all is read there is none to compare."""
        number = here.partition.partition
        if here.offset >= topic.topic.mirror_positions[number]:
            return True
        return is_same(self.source_proofs[here], self.target_proofs[there])

    def returned(self, group: CommittedGroup, topic: CopiedTopic, committed: PartitionOffsets) -> OffsetsMove | None:
        """Return where the group resumes in a topic; `None` if it cannot be determined."""
        before = self.on_source(group, topic)
        asked = topic.vector(committed), topic.read(committed, before)
        found = self.translations.get(topic.topic.topic, {}).get(asked)
        if topic.is_all_read(committed):
            at, proof = topic.topic.mirror_positions, Proof.END
        elif (counted := topic.counted(committed)) is not None:
            at, proof = counted, Proof.RECORD
        elif found is not None:
            at, proof = found.goes_on_at, Proof.COPIES
        else:
            return None
        keeps = topic.topic.how.keeps_partitions
        # Never go back before the group's own offset on the source, whatever its target offset is.
        offsets = {p: max(offset, before.get(p, 0)) for p, offset in at.items() if p in committed or not keeps}
        ahead = sum(max(topic.topic.mirror_positions[p] - offset, 0) for p, offset in offsets.items())
        # With counted offsets every remaining record is unread, and none is read again.
        by_copies = found if proof is Proof.COPIES else None
        name = topic.topic.topic
        commits = commits_on(group.target_commits, (name,))
        return OffsetsMove(
            topic=name,
            committed=commits,
            before=by_partition(name, before),
            proposed=with_metadata(by_partition(name, offsets), commits),
            proof=proof,
            delivered_again=by_copies.delivered_again if by_copies else 0,
            unread=by_copies.unread if by_copies else ahead,
            is_minimal=by_copies is None or by_copies.is_minimal,
        )

    @staticmethod
    def on_source(group: CommittedGroup, topic: CopiedTopic) -> dict[int, int]:
        """Return what the group has committed on the source in a topic."""
        commits = sorted(group.source_commits.items())
        return {p.partition: commit.offset for p, commit in commits if p.topic == topic.topic.topic}

    def plan(self, group: CommittedGroup) -> GroupPlan:
        """Plan to set the group on the source to the translation of its target offsets."""
        if group.unreadable:
            return GroupPlan(group.group, refusals=(unreadable_finding(group.group, group.unreadable),))
        topics = [(topic, at, self.returned(group, topic, at)) for topic, at in self.commits_of(group)]
        is_unmoved = group.source_commits and group.group not in self.moved
        sides = (group.target, "target"), (group.source, "source")
        refusals = (
            *(active_finding(each, side) for each, side in sides if each.is_active),
            *([_not_moved_finding(group)] if is_unmoved else []),
            *(() if topics else [_no_commit_finding(group)]),
            *(finding for topic, at, found in topics for finding in self._topic_findings(group, topic, at, found)),
        )
        known = tuple(found for _, _, found in topics if found is not None)
        name, unset = group.group, () if refusals else tuple(self._unset(group))
        return GroupPlan(name, known, unset, tuple(unset_findings(name, unset)), refusals)

    def _unset(self, group: CommittedGroup) -> Iterator[TopicPartition]:
        """Yield the partitions that stay unset on the source: the group has no offset there on either cluster."""
        for topic, committed in self.commits_of(group):
            if topic.topic.how.keeps_partitions:
                known = {**committed, **self.on_source(group, topic)}
                partitions = by_partition(topic.topic.topic, topic.topic.mirror_positions)
                yield from (partition for partition in partitions if partition.partition not in known)

    def _topic_findings(
        self, group: CommittedGroup, topic: CopiedTopic, committed: PartitionOffsets, found: OffsetsMove | None
    ) -> Iterator[Finding]:
        if found is None:
            why = self.unreadable.get(topic.topic.topic)
            unknown = _unknown_finding(group, topic, committed)
            yield unreadable_topic_finding(group, why) if why else unknown
            return
        gone = tuple(_deleted(group, topic, found))
        yield from gone
        if not gone and found.proof is Proof.RECORD:
            yield from self._unproved(group, topic, committed, found)

    def _unproved(
        self, group: CommittedGroup, topic: CopiedTopic, committed: PartitionOffsets, found: OffsetsMove
    ) -> Iterator[Finding]:
        for partition, offset in offsets_of(found.proposed).items():
            here, there = Position(partition, offset), Position(partition, committed[partition.partition])
            stays = found.before.get(partition) == offset
            if not stays and not self.is_proved(topic, here, there):
                yield _unproved_finding(group, partition, offset, there.offset)


def _deleted(group: CommittedGroup, topic: CopiedTopic, found: OffsetsMove) -> Iterator[Finding]:
    for partition, offset in offsets_of(found.proposed).items():
        start = topic.topic.source_log_start.get(partition.partition, 0)
        if offset < min(start, topic.topic.mirror_positions[partition.partition]):
            remedy = "Let the group read these records on the target first, then trigger a new rollback."
            yield _deleted_finding(group.group, partition, offset, start, remedy)


def failed_back(groups: Iterable[CommittedGroup], returning: Returning) -> tuple[GroupPlan, ...]:
    """Plan to set every group on the source to the translation of its target offsets, sorted by name."""
    return tuple(map(returning.plan, sorted(groups, key=lambda group: group.group)))


def _not_moved_finding(group: CommittedGroup) -> Finding:
    return Finding(
        Code.GROUP_NOT_MOVED,
        group_subject(group.group),
        "offsets on both clusters, and no cutover has moved it",
        "a group that a cutover moved, or that has no offsets on the source",
        "If the group must continue from its target offsets, set its source offsets by hand. Otherwise do nothing.",
        happened=f"No cutover has moved {group_subject(group.group)}, and it has offsets on both clusters.",
        matters="Which records the group has not read is unknown, so it keeps its offsets on the source.",
    )


def _no_commit_finding(group: CommittedGroup) -> Finding:
    if not group.source_commits:
        return Finding(
            Code.GROUP_OFFSETS_LOST,
            group_subject(group.group),
            "no committed offset on either cluster on any topic that was cut over",
            "at least one committed offset",
            "Set the group's offsets on the source by hand: offsets-before-source.csv of the cutover has them.",
            happened=f"The offsets of {group_subject(group.group)} on the topics that were cut over have expired on "
            "both clusters.",
            matters=_WITHOUT_OFFSET,
        )
    return Finding(
        Code.OFFSET_NEVER_COMMITTED,
        group_subject(group.group),
        "no committed offset on the target on any topic that was cut over",
        "at least one to translate",
        "Do nothing.",
        happened=f"No target offset of {group_subject(group.group)} is committed on any topic that was cut over, so "
        "nothing has to be moved.",
        matters="On the source the group resumes where it stopped before the cutover.",
    )


def _unknown_finding(group: CommittedGroup, topic: CopiedTopic, committed: PartitionOffsets) -> Finding:
    subject, name = group_subject(group.group), topic.topic.topic
    if not topic.topic.is_held(topic.read(committed, Returning.on_source(group, topic))):
        found = "the source has deleted records that the group may not have read"
        happened = f"The source has deleted records of topic {name} that {subject} may not have read."
        matters = "Only the target has these records. The group would skip them on the source, so it is not moved."
        remedy = "Let the group read these records on the target. Then trigger a new rollback."
    else:
        found = "committed offsets that translate_back did not see"
        happened = f"The target offsets of {subject} on topic {name} changed after translate_back began."
        matters = "The new offsets have no translation, so the group is not moved."
        remedy = "Stop the group's consumers. Then clear the task translate_back with its downstream tasks."
    expected = "every unread record on the source, and a proved offset before them"
    return Finding(
        Code.OFFSET_UNPROVED, f"{subject}, topic {name}", found, expected, remedy, happened=happened, matters=matters
    )


def _deleted_finding(group: str, partition: TopicPartition, offset: int, log_start: int, remedy: str) -> Finding:
    return Finding(
        Code.OFFSET_UNPROVED,
        f"{group_subject(group)}, {partition}",
        f"the source's log starts at {log_start:,}",
        f"at most {offset:,}, where the group would resume",
        remedy,
        happened=f"After the rollback {group_subject(group)} would resume at source offset {offset:,} of {partition}, "
        f"but the source's log starts at {log_start:,}.",
        matters="The source has deleted records that the group has not read, so the group is not moved.",
    )


def _unproved_finding(
    group: CommittedGroup, partition: TopicPartition, source_offset: int, target_offset: int
) -> Finding:
    return Finding(
        Code.OFFSET_UNPROVED,
        f"{group_subject(group.group)}, {partition}",
        f"different records at source offset {source_offset:,} and target offset {target_offset:,}",
        "the same record on both sides",
        "Let the group read all copied records on the target, then trigger a new rollback. Otherwise set its source "
        "offset by hand.",
        happened=f"On {partition}, {group_subject(group.group)} stands at target offset {target_offset:,}. Its "
        f"translation is source offset {source_offset:,}, but the records at these two offsets differ: one cluster has "
        "deleted or compacted records since the copy.",
        matters="At this source offset the group could skip records or read records again, so the rollback does not "
        "move it.",
    )
