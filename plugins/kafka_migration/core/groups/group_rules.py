"""The rules of the offsets plan: which consumer groups may move, and to which offsets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.clusters_seen import CommittedGroup
from kafka_migration.core.groups.group_writes import active_finding, unreadable_finding
from kafka_migration.core.groups.offsets_plan import GroupPlan, OffsetsMove, Proof
from kafka_migration.core.groups.purged import purged_findings, purged_offsets
from kafka_migration.core.groups.rules_by_topic import VALIDATE_WHOLE, Vectors, deleted_finding
from kafka_migration.core.groups.uncommitted import (
    UncommittedRule,
    forward_findings,
    never_committed,
    no_commit_finding,
    stale_findings,
    uncommitted_finding,
    unset_findings,
)
from kafka_migration.core.kafka.offsets import Commits, CommittedOffset, TopicPartition
from kafka_migration.core.kafka.records import RecordPrint
from kafka_migration.core.text.quoting import group_subject
from kafka_migration.core.text.shortened import some
from kafka_migration.core.translation.by_partition import Position, Prints, Translation, is_same, within
from kafka_migration.core.translation.copies import PartitionCopy


@dataclass(frozen=True, slots=True)
class Translated:
    """Everything that was read and computed about the committed positions.

    `target_probes` says per position where its next record must be on the target; a position without an unread
    record is missing. `copies` covers all partitions. `vectors` covers the topics that are not translated partition by
    partition. `rule` is about partitions without a commit. `untimed` are the topics to which the target assigns its own
    timestamps.
    """

    copies: Mapping[TopicPartition, PartitionCopy]
    translations: Mapping[Position, Translation]
    source_prints: Prints
    target_probes: Mapping[Position, Position]
    target_prints: Prints
    vectors: Vectors = field(default_factory=Vectors)
    rule: UncommittedRule = field(default_factory=UncommittedRule)
    untimed: frozenset[str] = frozenset()

    def by_partition(self, group: CommittedGroup) -> Commits:
        """Return the group's commits on topics that are translated partition by partition."""
        commits = sorted(group.source_commits.items())
        return {p: commit for p, commit in commits if p.topic not in self.vectors.topics}

    def unset(self, group: CommittedGroup) -> tuple[TopicPartition, ...]:
        """Return the partitions of the group's topics that stay unset, because it never committed on them."""
        return (*self.rule.unset(self.uncommitted(group)), *self.vectors.unset(group))

    def uncommitted(self, group: CommittedGroup) -> tuple[TopicPartition, ...]:
        """Return the partitions without a commit of topics that are translated partition by partition."""
        return never_committed(self.by_partition(group), self.copies)

    def kept_uncommitted(self, group: CommittedGroup) -> tuple[TopicPartition, ...]:
        """Return the partitions without a commit of all topics whose copy keeps partitions."""
        return (*self.uncommitted(group), *self.vectors.uncommitted(group))


NOTHING_BLOCKED: Mapping[str, Finding] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Accepted:
    """Groups that an operator allowed by name to be moved in spite of a finding.

    :param may_be_active: groups that may have members on the source
    :param may_rewind: groups whose target offset may be higher than the planned one
    """

    may_be_active: Collection[str] = ()
    may_rewind: Collection[str] = ()


def plan_groups(
    groups: Iterable[CommittedGroup],
    translated: Translated,
    *,
    is_final: bool,
    accepted: Accepted = Accepted(),
    blocked: Mapping[str, Finding] = NOTHING_BLOCKED,
    hints: Mapping[str, Finding] = NOTHING_BLOCKED,
    unproved: Mapping[str, Finding] = NOTHING_BLOCKED,
) -> tuple[GroupPlan, ...]:
    """Return the plan of every group that the migration concerns, sorted by name.

    In a rehearsal (`is_final` false) a group may still read on the source, also past the end of the copy.

    :param blocked: topics for which no group can be moved, with the reason
    :param hints: a warning for a group, by its name
    :param unproved: the reasons for topics whose copy is not proved, which stay on the source
    """
    concerned = sorted((group for group in groups if group.is_concerned), key=lambda group: group.group)
    plans = (_plan_group(group, translated, is_final, accepted, blocked, unproved) for group in concerned)
    return tuple(
        replace(plan, warnings=(*plan.warnings, hints[plan.group])) if plan.group in hints else plan for plan in plans
    )


def _plan_group(
    group: CommittedGroup,
    translated: Translated,
    is_final: bool,
    accepted: Accepted,
    blocked: Mapping[str, Finding],
    unproved: Mapping[str, Finding],
) -> GroupPlan:
    if group.unreadable:
        return _left_out(group, (unreadable_finding(group.group, group.unreadable),))
    ahead = _ahead_findings(group, translated.copies, is_final)
    refusals = (
        *_active_findings(group, is_final and group.group not in accepted.may_be_active),
        *(() if group.source_commits or group.unproved_topics else [no_commit_finding(group.group)]),
        *(replace(unproved[t], subject=f"{group_subject(group.group)}, topic {t}") for t in group.unproved_topics),
        *_later_findings(group),
        *_beyond_end_findings(group, translated.copies),
        *(ahead if is_final else ()),
        *_unproved_findings(group, translated),
        *(uncommitted_finding(group.group, p) for p in translated.rule.refused(translated.uncommitted(group))),
        *stale_findings(group, translated.unset(group)),
        *(blocked[topic] for topic in sorted({p.topic for p in group.source_commits} & blocked.keys())),
        *_lost_findings(group),
        *translated.vectors.findings(group),
    )
    if refusals:
        return _left_out(group, refusals)
    plan = _plan_of(group, translated, () if is_final else ahead)
    rewinds = () if group.group in accepted.may_rewind else tuple(_rewind_findings(group, plan))
    refusals = (*rewinds, *forward_findings(group, plan, translated.kept_uncommitted(group)))
    return _left_out(group, refusals) if refusals else plan


def _left_out(group: CommittedGroup, refusals: tuple[Finding, ...]) -> GroupPlan:
    left = tuple(sorted(group.source_commits))
    return GroupPlan(group.group, refusals=refusals, is_active_on_source=group.source.is_active, left=left)


def _plan_of(group: CommittedGroup, translated: Translated, warnings: Iterable[Finding]) -> GroupPlan:
    alone = (_planned(group, p, commit, translated) for p, commit in translated.by_partition(group).items())
    unset = translated.unset(group)
    purged = purged_offsets(group, translated.copies, translated.vectors.topics)
    return GroupPlan(
        group.group,
        (
            *alone,
            *translated.rule.moves(group, translated.uncommitted(group), translated.copies, translated.translations),
            *translated.vectors.planned(group),
        ),
        unset,
        (*unset_findings(group.group, unset), *purged_findings(group, purged), *warnings),
        purged=purged,
        is_active_on_source=group.source.is_active,
    )


def _planned(
    group: CommittedGroup, partition: TopicPartition, commit: CommittedOffset, translated: Translated
) -> OffsetsMove:
    position = Position(partition, commit.offset)
    before = group.target_commits.get(partition)
    translation = translated.translations.get(position)
    if translation is None:
        copy = translated.copies[partition]
        offset, again, proof = copy.target_end, commit.offset - copy.mirror_position, Proof.NONE
    else:
        offset, again = translation.target_offset, translation.delivered_again
        proof = _proof_of(position, translation, translated)
    return OffsetsMove(
        partition.topic,
        {partition: commit},
        {partition: before.offset} if before else {},
        {partition: CommittedOffset(offset, commit.metadata)},
        proof,
        again,
        is_minimal=translation is None or translation.is_minimal,
    )


def _proof_of(position: Position, translation: Translation, translated: Translated) -> Proof:
    if translation.by_ledger:
        return Proof.LEDGER
    return Proof.END if _source_record(position, translated) is None else Proof.RECORD


def _source_record(position: Position, translated: Translated) -> RecordPrint | None:
    """Return the next unread record on the source; `None` if all is read."""
    if position not in translated.target_probes:
        return None
    probe = Position(position.partition, translated.translations[position].source_probe)
    return within(translated.source_prints[probe], translated.copies[position.partition].mirror_position)


def _target_record(position: Position, translated: Translated) -> RecordPrint | None:
    """Return the record that must be the same on the target; `None` at the end of the copy."""
    probe = translated.target_probes.get(position)
    if probe is None:
        return None
    return within(translated.target_prints[probe], translated.copies[position.partition].target_end)


def _active_findings(group: CommittedGroup, must_have_stopped: bool) -> Iterable[Finding]:
    again = "Reject this plan if it waits for an approval, and trigger a new run."
    if group.target.is_active:
        yield active_finding(group.target, "target", f"Stop these consumers. {again}")
    if must_have_stopped and group.source.is_active:
        stop = "Stop these consumers. If they may read records twice, name the group in cutover.may_be_active instead."
        matters = "These consumers would read the same records again on the target, so their group is not moved."
        yield active_finding(group.source, "source", f"{stop} {again}", matters)


def _lost_findings(group: CommittedGroup) -> Iterable[Finding]:
    for topic in group.lost_topics:
        yield Finding(
            Code.GROUP_OFFSETS_LOST,
            f"{group_subject(group.group)}, topic {topic}",
            "no committed offset on the source",
            "the offsets that it had there when an earlier cutover left it on the source",
            "Set the group's offsets on the target by hand: see offsets-before-source.csv of the earlier cutover.",
            happened=f"The source has lost the committed offsets of {group_subject(group.group)} on topic {topic}, "
            "which an earlier cutover left on the source: they have expired, or the topic was deleted.",
            matters="Where the group must resume on the target is unknown, so it is not moved.",
        )


def _later_findings(group: CommittedGroup) -> Iterable[Finding]:
    if group.later_topics and group.source_commits:
        yield Finding(
            Code.GROUP_IN_LATER_CUTOVER,
            group_subject(group.group),
            f"commits on {some(group.later_topics)}, which remain on the source",
            "a group whose topics are all cut over, now or earlier",
            "Trigger one cutover of all these topics, or wait: the last of their cutovers moves the group.",
            happened=f"Besides topics of this cutover, {group_subject(group.group)} reads {some(group.later_topics)}, "
            "which remain on the source.",
            matters="The group's consumers would have to read from both clusters, so this cutover does not move it.",
        )


def _rewind_findings(group: CommittedGroup, plan: GroupPlan) -> Iterable[Finding]:
    for partition, commit in plan.proposed.items():
        present = group.target_commits.get(partition)
        if present is not None and commit.offset < present.offset:
            yield Finding(
                Code.OFFSETS_REWOUND,
                f"{group_subject(group.group)}, {partition}",
                f"committed target offset {present.offset:,}",
                f"at most {commit.offset:,}, the planned offset",
                "If the group may read these records again, name it in cutover.may_rewind. Otherwise find out who "
                "committed on the target. Then trigger a new run.",
                happened=f"The target offset {present.offset:,} of {group_subject(group.group)} on {partition} is "
                f"after {commit.offset:,}, the planned offset.",
                matters="The group has probably read on the target, and would read records again. It is not moved.",
            )


def _beyond_end_findings(group: CommittedGroup, copies: Mapping[TopicPartition, PartitionCopy]) -> Iterable[Finding]:
    for partition, commit in sorted(group.source_commits.items()):
        end = copies[partition].source_end
        if commit.offset > end:
            yield Finding(
                Code.OFFSET_BEYOND_END,
                f"{group_subject(group.group)}, {partition}",
                f"committed offset {commit.offset:,}",
                f"at most {end:,}, the end of the source partition",
                "Set the group's offset on the source to the record at which it must resume. Then trigger a new run.",
                happened=f"The committed offset {commit.offset:,} of {group_subject(group.group)} on {partition} is "
                f"after {end:,}, the end of the source partition.",
                matters="The topic was probably deleted and created again after the commit. Which records the group "
                "has not read is unknown, so it is not moved.",
            )


def _ahead_findings(
    group: CommittedGroup, copies: Mapping[TopicPartition, PartitionCopy], is_final: bool
) -> tuple[Finding, ...]:
    matters, remedy = _AHEAD_IN_CUTOVER if is_final else _AHEAD_IN_REHEARSAL
    return tuple(
        Finding(
            Code.OFFSET_AHEAD_OF_COPY,
            f"{group_subject(group.group)}, {partition}",
            f"committed offset {commit.offset:,}",
            f"at most {copies[partition].mirror_position:,}, the end of the copy",
            remedy,
            happened=f"The committed offset {commit.offset:,} of {group_subject(group.group)} on {partition} is after "
            f"{copies[partition].mirror_position:,}, the end of the copy.",
            matters=matters,
        )
        for partition, commit in sorted(group.source_commits.items())
        if copies[partition].mirror_position < commit.offset <= copies[partition].source_end
    )


_AHEAD_IN_CUTOVER = (
    "A producer wrote to the source after the fence, and the target lacks its records. The group is not moved.",
    "Stop this producer, then trigger a new cutover.",
)
_AHEAD_IN_REHEARSAL = (
    "This is normal in a rehearsal: the group read on after the copy stopped.",
    "No action is needed.",
)


def _unproved_findings(group: CommittedGroup, translated: Translated) -> Iterable[Finding]:
    for partition, commit in translated.by_partition(group).items():
        position = Position(partition, commit.offset)
        probe = translated.target_probes.get(position)
        source, target = _source_record(position, translated), _target_record(position, translated)
        if probe is None or is_same(source, target, timestamps=partition.topic not in translated.untimed):
            yield from _deleted_findings(group, position, translated)
            continue
        source_probe = translated.translations[position].source_probe
        yield Finding(
            Code.OFFSET_UNPROVED,
            f"{group_subject(group.group)}, {partition}",
            f"{_record(source)} from source offset {source_probe:,}, {_record(target)} from target {probe.offset:,}",
            "the same record on both sides",
            VALIDATE_WHOLE,
            happened=f"Where {group_subject(group.group)} would resume on {partition}, the two clusters differ: from "
            f"offset {source_probe:,} on the source has {_record(source)}, and from offset {probe.offset:,} on the "
            f"target has {_record(target)}. Probably records were deleted or compacted since the copy, or another "
            "client wrote to the target.",
            matters="The group could skip records or read records again, so it is not moved.",
        )


def _deleted_findings(group: CommittedGroup, position: Position, translated: Translated) -> Iterable[Finding]:
    """Refuse an offset if the target has deleted records that the group has not read, or may not have read."""
    translation, probe = translated.translations.get(position), translated.target_probes.get(position)
    log_start = translated.copies[position.partition].target_log_start
    if translation is not None and translation.by_ledger:
        unread_from = translation.target_offset
    elif probe is not None and _source_record(position, translated) is not None:
        unread_from = probe.offset
    else:
        return
    if unread_from < log_start:
        yield deleted_finding(group, position.partition, unread_from, log_start)


def _record(found: RecordPrint | None) -> str:
    return "the end" if found is None else f"record {found.digest[:12]}"
