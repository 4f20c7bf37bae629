"""The offsets plan of a cutover as a function of the run's scope and one snapshot of the clusters."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.clusters_seen import ClustersSeen, CommittedGroup
from kafka_migration.core.groups.group_rules import Accepted, Translated, plan_groups
from kafka_migration.core.groups.kept_elsewhere import kept_elsewhere
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.groups.rules_by_topic import Vectors
from kafka_migration.core.groups.selection import OtherGroups, unsupported_groups, which_groups
from kafka_migration.core.groups.uncommitted import UncommittedRule, never_committed
from kafka_migration.core.groups.unproved import changed_since_cutover
from kafka_migration.core.kafka.cluster import GroupListing
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition, commits_on
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import MIRROR_GROUP_PREFIX, Migration, Mode
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.translation.by_partition import Position, target_probes, translate
from kafka_migration.core.translation.by_topic import repartitioned_topics
from kafka_migration.core.translation.copies import PartitionCopy, copies_of
from kafka_migration.core.translation.translation_contract import TranslationRequest, TranslationResult


@dataclass(frozen=True, slots=True)
class CutoverScope:
    """What a run moves: by the migration file, the run's form, the ledger and the run's evidence.

    :param migration: the migration file, limited to the topics that are moved; `file_topics` are all topics of the file
    :param moved_topics: the topics that other runs cut over
    :param chosen: the groups that the form names; empty means all
    :param translation: request and result of `translate_offsets`; `None` if the copy keeps offsets
    :param unproved: topics of the run that are not moved because their copy is not proved, with the reason
    """

    ledger: Ledger
    identity: RunIdentity
    mode: Mode
    migration: Migration
    file_topics: tuple[str, ...]
    moved_topics: frozenset[str]
    chosen: tuple[str, ...]
    translation: tuple[TranslationRequest, TranslationResult] | None = None
    unproved: Mapping[str, Finding] = field(default_factory=dict)

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics on which groups are moved: the run's topics, and those of earlier cutovers."""
        return (*self.migration.topics, *sorted(self.moved_topics))

    @property
    def left(self) -> Mapping[str, Collection[str]]:
        """The groups that earlier cutovers did not move, with their topics."""
        left = self.ledger.left_behind(but_by=self.identity)
        return {group: topics for group, topics in left.items() if not self.chosen or group in self.chosen}

    def groups(self, listings: Iterable[GroupListing]) -> tuple[str, ...]:
        """Return the groups that file and form select, and those of `left`, even if they no longer exist; sorted."""
        return tuple(sorted({*which_groups(listings, self.migration.cutover.groups, self.chosen), *self.left}))

    def other_groups(self, listings: Iterable[GroupListing]) -> tuple[str, ...]:
        """Return the movable groups that are not selected."""
        mine = which_groups(listings, self.migration.cutover.groups, self.chosen)
        names = (each.group for each in listings if each.is_movable and each.group not in mine)
        return tuple(group for group in names if not group.startswith(MIRROR_GROUP_PREFIX))

    def moved_with(self, group: str) -> frozenset[str]:
        """Return the topics that earlier runs moved together with a group, which now reads them on the target."""
        cutovers = (each for each in self.ledger.cutovers if group in each.groups)
        return self.moved_topics.intersection(topic for each in cutovers for topic in each.topics)


# Without slots, for the cached properties.
@dataclass(frozen=True)
class Planning:
    """The plan of a run from one snapshot, and what has to be read for it."""

    scope: CutoverScope
    seen: ClustersSeen

    @cached_property
    def groups(self) -> tuple[CommittedGroup, ...]:
        """The selected groups with their commits; in a rehearsal as `translate_offsets` saw them, if it did."""
        groups = tuple(map(self._group, sorted(self.seen.source.commits)))
        return groups if self.scope.mode is not Mode.REHEARSE else tuple(map(self._as_translated, groups))

    def _group(self, name: str) -> CommittedGroup:
        """Return a group with its commits in scope."""
        scope, seen = self.scope, self.seen
        commits, moved = seen.source.commits[name], scope.moved_with(name)
        mine = {p: c for p, c in commits.items() if p in seen.source.log_end and p.topic not in moved}
        committed = {partition.topic for partition in commits}
        return CommittedGroup(
            source=seen.source.groups[name],
            target=seen.target.groups[name],
            source_commits=mine,
            target_commits=commits_on(seen.target.commits[name], scope.topics),
            commits_elsewhere=len(mine) < len(commits),
            later_topics=tuple(
                sorted(committed.intersection(scope.file_topics).difference(scope.topics, scope.unproved))
            ),
            lost_topics=tuple(sorted(set(scope.left.get(name, ())) - committed - moved)),
            unreadable=seen.unreadable(name),
            unproved_topics=tuple(sorted(committed.intersection(scope.unproved))),
        )

    def _as_translated(self, group: CommittedGroup) -> CommittedGroup:
        """Return a group with its commits at the start of `translate_offsets`: in a rehearsal, groups keep reading."""
        if self.scope.translation is None:
            return group
        request, _ = self.scope.translation
        then = request.commits.get(group.group, {})
        return replace(group, source_commits={**group.source_commits, **commits_on(then, self.vectors.topics)})

    @cached_property
    def vectors(self) -> Vectors:
        """The topics whose copy does not keep partitions or offsets, with the answer of `translate_offsets`."""
        if self.scope.translation is None:
            return Vectors()
        request, result = self.scope.translation
        vectors = self.untranslated(request.source_log_start).answered(request, result)
        return replace(vectors, target_log_start=self.seen.target.log_start)

    def untranslated(self, source_log_start: Offsets) -> Vectors:
        """Return these topics without an answer."""
        ledger, rule = self.scope.ledger, self.rule
        return Vectors(repartitioned_topics(ledger, self.seen.hows, source_log_start, rule.readable, rule.rule))

    @property
    def rule(self) -> UncommittedRule:
        """What happens with partitions on which a group never committed."""
        return UncommittedRule(self.scope.migration.uncommitted, self.seen.readable)

    @cached_property
    def copies(self) -> dict[TopicPartition, PartitionCopy]:
        """How each partition was copied."""
        source, target = self.seen.source, self.seen.target
        return copies_of(
            self.scope.ledger,
            source.log_start,
            source.log_end,
            self.target_ends,
            target.log_start,
            self.seen.compacted,
        )

    @property
    def target_ends(self) -> Offsets:
        """The target's ends without topics that are already cut over; a partition that is missing has none."""
        return {p: end for p, end in self.seen.target.log_end.items() if p.topic in self.scope.migration.topics}

    @cached_property
    def positions(self) -> frozenset[Position]:
        """The positions that are translated partition by partition."""
        committed = (at for group in self.groups for at in group.source_commits.items())
        alone = {p for p in self.copies if p.topic not in self.vectors.topics}
        begin = {
            position
            for group in self.groups
            for position in self.rule.at_begin(never_committed(group.source_commits, alone))
        }
        return frozenset({Position(p, at.offset) for p, at in committed if p in alone} | begin)

    @cached_property
    def translated(self) -> Translated:
        """Everything that the rules need about the committed positions."""
        records = self.seen.records
        translations = translate(self.copies, self.positions, records.counts, records.resent)
        probes = target_probes(self.copies, translations, records.source_prints)
        return Translated(
            self.copies,
            translations,
            records.source_prints,
            probes,
            records.target_prints,
            self.vectors,
            self.rule,
            self.seen.untimed,
        )

    def plan(self) -> OffsetsPlan:
        """Return the plan. A final plan leaves out groups about which a rehearsal only warns."""
        scope, seen, cutover = self.scope, self.seen, self.scope.migration.cutover
        source_ends = {p: end for p, end in seen.source.log_end.items() if p.topic in scope.migration.topics}
        return OffsetsPlan(
            at=seen.at,
            mode=scope.mode,
            topics=scope.topics,
            groups=plan_groups(
                self.groups,
                self.translated,
                is_final=scope.mode is not Mode.REHEARSE,
                hints=kept_elsewhere(self.groups, seen.topic_names),
                unproved=scope.unproved,
                accepted=Accepted(cutover.may_be_active, cutover.may_rewind),
                blocked=changed_since_cutover(
                    scope.ledger, scope.moved_topics, seen.source.log_end, seen.target.topics
                ),
            ),
            target_end_offsets=self.target_ends,
            source_end_offsets=source_ends,
            mirror_positions={partition: self.copies[partition].mirror_position for partition in source_ends},
            unconcerned=sum(not group.is_concerned for group in self.groups),
            others=self._others(),
            unproved=scope.unproved,
        )

    def _others(self) -> OtherGroups:
        """Return the groups that are not moved although they read the migration's topics or are selected."""
        others = self.seen.others.items()
        unreadable = {group: why for group, why in others if isinstance(why, str)}
        commits = {group: found for group, found in others if found and not isinstance(found, str)}
        not_chosen = {group: tuple(sorted({p.topic for p in found})) for group, found in commits.items()}
        patterns = self.scope.migration.cutover.groups
        return OtherGroups(not_chosen, unsupported_groups(self.seen.listings, patterns, self.scope.chosen), unreadable)
