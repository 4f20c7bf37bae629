"""Where a group resumes in topics whose copy does not keep partitions: the plan, or why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.clusters_seen import CommittedGroup
from kafka_migration.core.groups.offsets_plan import OffsetsMove, Proof, with_metadata
from kafka_migration.core.groups.uncommitted import never_committed, uncommitted_finding
from kafka_migration.core.kafka.offsets import Commits, Offsets, TopicPartition
from kafka_migration.core.text.quoting import group_subject
from kafka_migration.core.text.shortened import sentence, some
from kafka_migration.core.translation.by_topic import RepartitionedTopic, by_partition
from kafka_migration.core.translation.translation_contract import (
    PartitionOffsets,
    TopicToTranslate,
    TopicTranslations,
    TranslatedTopic,
    TranslationRequest,
    TranslationResult,
    Vector,
    VectorTranslation,
)

VALIDATE_WHOLE = (
    "Validate the whole copy with mode validate. If the verdict is PASS or WARN, set the group's offset on the target "
    "by hand. Otherwise do what the findings of the validation say."
)


@dataclass(frozen=True, slots=True)
class Vectors:
    """The topics whose copy does not keep partitions, Spark's translations of vectors, and the target's log starts.

    `unreadable` are the topics that Spark could not read.
    """

    topics: Mapping[str, RepartitionedTopic] = field(default_factory=dict)
    translations: TopicTranslations = field(default_factory=dict)
    unreadable: Mapping[str, TranslatedTopic] = field(default_factory=dict)
    target_log_start: Offsets = field(default_factory=dict)

    def answered(self, request: TranslationRequest, result: TranslationResult) -> Vectors:
        """Return this with the result's translations of the topics that were not copied further since the request.

        Raises `ValueError` if a translation lacks a partition of the target, or has another one.
        """
        if result.id != request.id:
            return self
        asked, found = {topic.topic: topic.ends for topic in request.topics}, result.translations
        ends = {name: (topic.mirror_positions, topic.target_ends) for name, topic in self.topics.items()}
        answered = {t: vectors for t, vectors in found.items() if t in ends and asked.get(t) == ends[t]}
        for name, vectors in answered.items():
            _require_every_partition(self.topics[name], vectors.values())
        return replace(self, translations=answered, unreadable=result.untranslated)

    def commits_of(self, group: CommittedGroup) -> Iterator[tuple[RepartitionedTopic, Commits]]:
        """Yield the topics that the group reads, each with its commits."""
        for name, topic in sorted(self.topics.items()):
            commits = {p: commit for p, commit in sorted(group.source_commits.items()) if p.topic == name}
            if commits:
                yield topic, commits

    def translation(self, topic: RepartitionedTopic, commits: Commits) -> VectorTranslation | None:
        """Return where a group with these commits resumes; `None` if the Spark job was not asked about them."""
        vector = _vector(topic, commits)
        by_ledger = None if topic.is_held(vector) else topic.by_ledger(vector)
        return self._found(topic).get(vector, by_ledger)

    def _found(self, topic: RepartitionedTopic) -> Mapping[Vector, VectorTranslation]:
        return self.translations.get(topic.topic, {})

    def planned(self, group: CommittedGroup) -> tuple[OffsetsMove, ...]:
        """Return the plan for a group without findings."""
        return tuple(self._planned(group, topic, commits) for topic, commits in self.commits_of(group))

    def _planned(self, group: CommittedGroup, topic: RepartitionedTopic, commits: Commits) -> OffsetsMove:
        translation = self.translation(topic, commits)
        if translation is None:
            raise ValueError(f"{group.group} has no findings, but {topic.topic} is not translated")
        ahead = sum(max(commit.offset - topic.mirror_positions[p.partition], 0) for p, commit in commits.items())
        before = {p: commit.offset for p, commit in sorted(group.target_commits.items()) if p.topic == topic.topic}
        is_by_ledger = _vector(topic, commits) not in self._found(topic)
        return OffsetsMove(
            topic.topic,
            commits,
            before,
            with_metadata(self._target_offsets(topic, commits, translation), commits),
            _proof(translation, ahead, is_by_ledger=is_by_ledger, gives_up=topic.gives_up(_by_number(commits))),
            translation.delivered_again + ahead,
            None if is_by_ledger else translation.unread,
            translation.is_minimal,
        )

    @staticmethod
    def _target_offsets(topic: RepartitionedTopic, commits: Commits, translation: VectorTranslation) -> Offsets:
        offsets = by_partition(topic.topic, translation.goes_on_at)
        if not topic.how.keeps_partitions:
            return offsets
        unset, ends = topic.unset(_by_number(commits)), topic.target_ends
        return {
            p: ends[p.partition] if p not in commits and topic.starts_at_end(p.partition) else at
            for p, at in offsets.items()
            if p.partition not in unset
        }

    def unset(self, group: CommittedGroup) -> tuple[TopicPartition, ...]:
        """Return the partitions that stay unset on the target, because the group never committed on them."""
        return tuple(
            TopicPartition(topic.topic, number)
            for topic, commits in self.commits_of(group)
            for number in topic.unset(_by_number(commits))
        )

    def uncommitted(self, group: CommittedGroup) -> tuple[TopicPartition, ...]:
        """Return the partitions without a commit of topics whose copy keeps partitions."""
        kept = ((topic, commits) for topic, commits in self.commits_of(group) if topic.how.keeps_partitions)
        return tuple(
            p for topic, commits in kept for p in never_committed(commits, by_partition(topic.topic, topic.target_ends))
        )

    def findings(self, group: CommittedGroup) -> Iterator[Finding]:
        """Say why a group cannot be moved."""
        for topic, commits in self.commits_of(group):
            lacking = topic.lacking(_by_number(commits))
            yield from (uncommitted_finding(group.group, TopicPartition(topic.topic, p)) for p in lacking)
            if not lacking:
                yield from self._translation_findings(group, topic, commits)

    def _translation_findings(
        self, group: CommittedGroup, topic: RepartitionedTopic, commits: Commits
    ) -> Iterator[Finding]:
        translation = self.translation(topic, commits)
        if translation is None and topic.topic in self.unreadable:
            yield unreadable_topic_finding(group, self.unreadable[topic.topic])
        elif translation is None:
            yield _moved_finding(group, topic, commits)
        else:
            for partition, offset in sorted(translation.missing.items()):
                yield _missing_finding(group, TopicPartition(topic.topic, partition), offset)
            for place, at in self._target_offsets(topic, commits, translation).items():
                start = self.target_log_start.get(place, 0)
                if at < min(start, topic.target_ends[place.partition]):
                    yield deleted_finding(group, place, at, start)


def _require_every_partition(topic: RepartitionedTopic, found: Iterable[VectorTranslation]) -> None:
    for each in found:
        if each.goes_on_at.keys() != topic.target_ends.keys():
            there, expected = sorted(each.goes_on_at), sorted(topic.target_ends)
            raise ValueError(f"topic {topic.topic}: offsets of partitions {there}, expected those of {expected}")


def topics_to_translate(groups: Iterable[CommittedGroup], vectors: Vectors) -> tuple[TopicToTranslate, ...]:
    """Return the topics that the Spark job must translate for the groups."""
    asked: dict[str, list[Vector]] = {}
    for group in groups:
        for topic, commits in vectors.commits_of(group):
            if not topic.lacking(_by_number(commits)):
                asked.setdefault(topic.topic, []).append(_vector(topic, commits))
    found = (vectors.topics[name].to_translate(mine) for name, mine in sorted(asked.items()))
    return tuple(topic for topic in found if topic is not None)


def _vector(topic: RepartitionedTopic, commits: Commits) -> Vector:
    return topic.vector(_by_number(commits))


def _by_number(commits: Commits) -> PartitionOffsets:
    return {partition.partition: commit.offset for partition, commit in commits.items()}


def _proof(translation: VectorTranslation, ahead: int, *, is_by_ledger: bool, gives_up: bool) -> Proof:
    if ahead:
        return Proof.NONE
    if is_by_ledger:
        return Proof.LEDGER
    if gives_up:
        return Proof.RULE
    return Proof.COPIES if translation.unread else Proof.END


def unreadable_topic_finding(group: CommittedGroup, found: TranslatedTopic) -> Finding:
    """Say that a group cannot be moved because Spark cannot read a topic."""
    topic, why = found.topic, found.unreadable or ""
    return Finding(
        Code.RECORD_UNREADABLE if found.has_bad_record else Code.OFFSET_UNPROVED,
        f"{group_subject(group.group)}, topic {topic}",
        why,
        "records that Spark can read, to find the copy of each unread one",
        "Make the records readable and trigger a new run, or set the group's offsets by hand.",
        happened=sentence(f"Spark cannot read topic {topic}: {why}"),
        matters=f"Where {group_subject(group.group)} must resume on this topic is unknown, so the group is not moved.",
    )


def _moved_finding(group: CommittedGroup, topic: RepartitionedTopic, commits: Commits) -> Finding:
    offsets = some([f"{p.partition}: {commit.offset:,}" for p, commit in commits.items()])
    return Finding(
        Code.OFFSET_UNPROVED,
        f"{group_subject(group.group)}, topic {topic.topic}",
        f"committed offsets that translate_offsets did not see ({offsets})",
        "the offsets as they were when translate_offsets started",
        "Stop the group's consumers. Then clear the task translate_offsets with its downstream tasks.",
        happened=f"The offsets of {group_subject(group.group)} on topic {topic.topic} changed after translate_offsets "
        f"began ({offsets}).",
        matters="The new offsets have no translation, so the group is not moved.",
    )


def deleted_finding(group: CommittedGroup, partition: TopicPartition, offset: int, log_start: int) -> Finding:
    """Say that the target has deleted records from the planned offset on."""
    return Finding(
        Code.OFFSET_UNPROVED,
        f"{group_subject(group.group)}, {partition} of the target",
        f"the log starts at {log_start:,}",
        f"at most {offset:,}, where the group would resume",
        "Set retention.ms and retention.bytes of the target topic to -1. Then copy the topic again with a second "
        "migration file, or set the group's offset on the target by hand.",
        happened=f"The target's log of {partition} starts at {log_start:,}, after offset {offset:,}, where "
        f"{group_subject(group.group)} would resume.",
        matters="The target has deleted records that the group has not read, so the group is not moved.",
    )


def _missing_finding(group: CommittedGroup, partition: TopicPartition, offset: int) -> Finding:
    return Finding(
        Code.OFFSET_UNPROVED,
        f"{group_subject(group.group)}, {partition}",
        f"no copy, in order, of the unread record at source offset {offset:,}; earlier ones may lack a copy as well",
        "a copy of every unread record within the copy on the target",
        VALIDATE_WHOLE,
        happened=f"The target has no copy, in order, of the record at source offset {offset:,} of {partition}, which "
        f"{group_subject(group.group)} has not read. Probably the target deleted or compacted records since the copy.",
        matters="The group would skip this record, so it is not moved.",
    )
