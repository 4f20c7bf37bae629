"""What a rollback may do with each group, and where it puts it: rules over what was read of both clusters."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kafka_migration.core.cluster import CommittedOffset, GroupDescription
from kafka_migration.core.codes import Code
from kafka_migration.core.commits import Commits
from kafka_migration.core.copied_topic import CopiedTopic
from kafka_migration.core.errors import Finding
from kafka_migration.core.group_offsets import CommittedGroup, Proof, group_subject
from kafka_migration.core.offsets import Offsets, TopicPartition
from kafka_migration.core.offsets_writing import active_finding
from kafka_migration.core.repartitioned import by_partition
from kafka_migration.core.translation import Position
from kafka_migration.core.vector_translation import PartitionOffsets, TranslationsBack
from kafka_migration.core.way_back import GroupReturn, ReturnedTopic, TargetOnly


@dataclass(frozen=True, slots=True)
class MovedGroup:
    """A group that a cutover moved: what that wrote on the target, what stood there before, and what stands there now.

    `present` are all of its commits on the target, those on other topics too.
    """

    description: GroupDescription
    written: Offsets
    before: Commits
    present: Commits

    @property
    def group(self) -> str:
        """The group's name."""
        return self.description.group


def restored(group: MovedGroup) -> GroupReturn:
    """Plan to put a group on the target back to where it stood before the cutover."""
    present = {p: commit for p, commit in group.present.items() if p in group.written}
    if group.description.is_active:
        return GroupReturn(group.group, present, {}, refusals=(active_finding(group.description, "target"),))
    proposed = {p: group.before[p] for p in sorted(group.written) if p in group.before}
    added = group.written.keys() - proposed.keys()
    # Also when it is gone already: asked again after that, the plan is the same.
    is_removed = bool(added) and group.present.keys() <= added
    stay = () if is_removed else tuple(_stays_finding(group, p) for p in sorted(added & present.keys()))
    return GroupReturn(group.group, present, proposed, is_removed, warnings=(*stay, *_read_on_findings(group)))


def _stays_finding(group: MovedGroup, partition: TopicPartition) -> Finding:
    return Finding(
        Code.OFFSET_STAYS,
        f"{group_subject(group.group)}, {partition}",
        f"target offset {group.present[partition].offset:,}, and none before the cutover",
        "no offset, as before; Kafka's client takes single offsets of a group away only by deleting the group, which "
        "has others",
        "Delete it with `kafka-consumer-groups --delete-offsets` on the target if the group must not go on from there.",
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
                "The group has read on the target since. On the source it reads that again; mode fail_back takes it "
                "along.",
            )


@dataclass(frozen=True, slots=True)
class Returning:
    """Everything that was read and computed about the groups' commits on the target.

    `proofs` are the digests of the record at each counted source offset and at the committed target offset; `None`
    stands for the end of the copy.
    """

    topics: Mapping[str, CopiedTopic]
    translations: TranslationsBack = field(default_factory=dict)
    source_proofs: Mapping[Position, str | None] = field(default_factory=dict)
    target_proofs: Mapping[Position, str | None] = field(default_factory=dict)

    def commits_of(self, group: CommittedGroup) -> Iterator[tuple[CopiedTopic, PartitionOffsets]]:
        """Yield the topics that a group has committed on, each with its offsets on the target."""
        for name, topic in sorted(self.topics.items()):
            committed = {p.partition: c.offset for p, c in sorted(group.target_commits.items()) if p.topic == name}
            if committed:
                yield topic, committed

    def is_proved(self, topic: CopiedTopic, here: Position, there: Position) -> bool:
        """Whether a group goes on with the same record; where all is read there is none to compare."""
        number = here.partition.partition
        if here.offset >= topic.topic.mirror_positions[number]:
            return True
        is_held = here.offset >= topic.topic.source_log_start.get(number, 0)
        return is_held and self.source_proofs[here] == self.target_proofs[there]

    def returned(self, group: CommittedGroup, topic: CopiedTopic, committed: PartitionOffsets) -> ReturnedTopic | None:
        """Return where the group goes on in a topic; `None` where nothing tells it."""
        name, ends = topic.topic.topic, topic.topic.mirror_positions
        before = self.on_source(group, topic)
        mine = [p for p in ends if p in committed] if topic.topic.how.keeps_partitions else list(ends)

        def made(at: PartitionOffsets, unread: int | None, again: int, proof: Proof, *, minimal: bool) -> ReturnedTopic:
            # What a group has read on the source it has read, wherever it stands on the target.
            offsets = {p: max(at[p], before.get(p, 0)) for p in mine}
            left = sum(max(ends[p] - offset, 0) for p, offset in offsets.items()) if unread is None else unread
            return ReturnedTopic(
                topic=name,
                target_commits=by_partition(name, committed),
                source_before=by_partition(name, before),
                source_offsets=by_partition(name, offsets),
                unread=left,
                delivered_again=again,
                proof=proof,
                is_minimal=minimal,
            )

        if topic.is_all_read(committed):
            return made(ends, 0, 0, Proof.END, minimal=True)
        if (counted := topic.counted(committed)) is not None:
            return made(counted, None, 0, Proof.RECORD, minimal=True)
        asked = topic.vector(committed), topic.read(committed, before)
        if (found := self.translations.get(name, {}).get(asked)) is not None:
            again = found.delivered - found.unread
            return made(found.goes_on_at, found.unread, again, Proof.COPIES, minimal=found.is_minimal)
        return None

    @staticmethod
    def on_source(group: CommittedGroup, topic: CopiedTopic) -> dict[int, int]:
        """Return what the group has committed on the source in a topic."""
        commits = sorted(group.source_commits.items())
        return {p.partition: commit.offset for p, commit in commits if p.topic == topic.topic.topic}


@dataclass(frozen=True, slots=True)
class _GroupBack:
    """One group on its way back to the source."""

    group: CommittedGroup
    returning: Returning

    def plan(self) -> GroupReturn:
        """Plan to put the group on the source to where it stands on the target."""
        topics = [(topic, at, self.returning.returned(self.group, topic, at)) for topic, at in self._commits]
        refusals = (
            *(active_finding(each, side) for each, side in self._sides if each.is_active),
            *(() if topics else [_no_commit_finding(self.group)]),
            *(finding for topic, at, found in topics for finding in self._topic_findings(topic, at, found)),
        )
        known = tuple(found for _, _, found in topics if found is not None)
        proposed = {p: commit for found in known for p, commit in self._proposed(found).items()}
        present = {p: commit for p, commit in self.group.source_commits.items() if p in proposed}
        return GroupReturn(self.group.group, present, {} if refusals else proposed, topics=known, refusals=refusals)

    @property
    def _commits(self) -> Iterator[tuple[CopiedTopic, PartitionOffsets]]:
        return self.returning.commits_of(self.group)

    @property
    def _sides(self) -> tuple[tuple[GroupDescription, str], ...]:
        return (self.group.target, "target"), (self.group.source, "source")

    def _proposed(self, found: ReturnedTopic) -> dict[TopicPartition, CommittedOffset]:
        """Return what is to be written: a text that the consumer left goes along where it is the same everywhere."""
        texts = {c.metadata for p, c in self.group.target_commits.items() if p.topic == found.topic}
        metadata = texts.pop() if len(texts) == 1 else ""
        return {p: CommittedOffset(offset, metadata) for p, offset in found.source_offsets.items()}

    def _topic_findings(
        self, topic: CopiedTopic, committed: PartitionOffsets, found: ReturnedTopic | None
    ) -> Iterator[Finding]:
        if found is None:
            yield _unknown_finding(self.group, topic, committed)
        elif found.proof is Proof.RECORD:
            yield from self._unproved(topic, committed, found)

    def _unproved(self, topic: CopiedTopic, committed: PartitionOffsets, found: ReturnedTopic) -> Iterator[Finding]:
        for partition, offset in found.source_offsets.items():
            here, there = Position(partition, offset), Position(partition, committed[partition.partition])
            start = topic.topic.source_log_start.get(partition.partition, 0)
            stays = found.source_before.get(partition) == offset
            if not stays and not self.returning.is_proved(topic, here, there):
                yield _unproved_finding(self.group, partition, offset, there.offset, start)


def failed_back(groups: Iterable[CommittedGroup], returning: Returning) -> tuple[GroupReturn, ...]:
    """Plan to put every group on the source to where it stands on the target, sorted by name."""
    return tuple(_GroupBack(group, returning).plan() for group in sorted(groups, key=lambda group: group.group))


def _no_commit_finding(group: CommittedGroup) -> Finding:
    return Finding(
        Code.OFFSET_NEVER_COMMITTED,
        group_subject(group.group),
        "no committed offset on the target on any topic that was cut over",
        "at least one to translate",
        "Nothing has to be moved: on the source it goes on where it stopped before the cutover.",
    )


def _unknown_finding(group: CommittedGroup, topic: CopiedTopic, committed: PartitionOffsets) -> Finding:
    if not topic.is_held(topic.read(committed, Returning.on_source(group, topic))):
        found = "the source has deleted records that the group may not have read"
        remedy = "They are on the target only. Let the group read them there first, then trigger a new rollback."
    else:
        found = "committed offsets that translate_back did not see"
        remedy = "The group has read on since. Stop its consumers, then clear translate_back with downstream."
    expected = "every unread record on the source, and a proved place before it"
    return Finding(
        Code.OFFSET_UNPROVED, f"{group_subject(group.group)}, topic {topic.topic.topic}", found, expected, remedy
    )


def _unproved_finding(
    group: CommittedGroup, partition: TopicPartition, source_offset: int, target_offset: int, log_start: int
) -> Finding:
    if source_offset < log_start:
        found = f"the source's log starts at {log_start:,}; source offset {source_offset:,} is deleted"
    else:
        found = f"another record at source offset {source_offset:,} than at target offset {target_offset:,}"
    return Finding(
        Code.OFFSET_UNPROVED,
        f"{group_subject(group.group)}, {partition}",
        found,
        "the same record on both sides",
        "Records were deleted or compacted on one side since they were copied. Let the group read to the end of the "
        "copy on the target first, or move it by hand.",
    )


def target_only_findings(target_only: Iterable[TargetOnly], accepted: Collection[str]) -> tuple[Finding, ...]:
    """Refuse to leave records behind that only the target has, but those of topics that a person named."""
    return tuple(
        Finding(
            Code.TARGET_ONLY_RECORDS,
            f"topic {each.topic}",
            f"{each.count} records on the target that the source does not have, from "
            f"{', '.join(f'{p.partition}: {offset:,}' for p, offset in sorted(each.first.items()))} on",
            "no records on the target behind the copy, or the topic named in leave_records_of",
            "Consumers on the source would never see them. Copy them back first (reverse-migration.yaml beside this "
            "run's evidence does), or let go of them on purpose: name the topic in leave_records_of.",
        )
        for each in target_only
        if each.topic not in accepted
    )
