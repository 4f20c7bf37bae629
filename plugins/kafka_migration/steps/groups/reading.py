"""The consumer groups of a run, their committed offsets, and the topics that Spark translates."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kafka_migration.adapters.many import of_each
from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.groups.plan import CommittedGroup
from kafka_migration.core.groups.rules_by_topic import Vectors, topics_to_translate
from kafka_migration.core.groups.selection import OtherGroups, unsupported_groups, which_groups
from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.core.kafka.commits import Commits, GroupsCommits, commits_from_document, commits_on
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition, from_document
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import MIRROR_GROUP_PREFIX
from kafka_migration.core.translation.by_topic import HowCopied, repartitioned_topics
from kafka_migration.core.translation.contract import TranslationRequest
from kafka_migration.steps.mirror.state import every_value
from kafka_migration.steps.run import MigrationRun, partitions_of
from kafka_migration.steps.validation.spark_documents import understood
from kafka_migration.steps.validation.topic_settings import compared_topics


def read_groups(
    run: MigrationRun, ledger: Ledger, partitions: Collection[TopicPartition]
) -> tuple[CommittedGroup, ...]:
    """Return the groups that the migration file and the run select, with their present state on both sides.

    Groups that an earlier cutover did not move are included, even if they no longer exist on the source.
    """
    known = which_groups(run.source.list_groups(), run.migration.cutover.groups, run.request.groups)
    left = ledger.left_behind(but_by=run.identity)
    names = sorted({*known, *(group for group in left if not run.request.groups or group in run.request.groups)})
    source, target = run.source.describe_groups(names), run.target.describe_groups(names)
    scope = _Scope(ledger, run.whole_migration.topics, run.topics_of_groups, frozenset(partitions), run.moved_topics)
    here, there = (of_each(names, cluster.committed_offsets) for cluster in (run.source, run.target))
    return tuple(
        scope.of(CommittedGroup(source[name], target[name], here[name], {}), there[name], left.get(name, ()))
        for name in names
    )


@dataclass(frozen=True, slots=True)
class _Scope:
    """Selects the commits of a group that a run covers."""

    ledger: Ledger
    file_topics: Collection[str]
    topics: Collection[str]
    partitions: Collection[TopicPartition]
    moved_topics: frozenset[str]

    def of(self, group: CommittedGroup, on_target: Commits, left: Iterable[str]) -> CommittedGroup:
        """Return the group with its commits in scope; `left` are topics on which an earlier cutover did not move it."""
        moved = self._moved_with(group.group)
        mine = {p: c for p, c in group.source_commits.items() if p in self.partitions and p.topic not in moved}
        committed = {partition.topic for partition in group.source_commits}
        return replace(
            group,
            source_commits=mine,
            target_commits={p: commit for p, commit in on_target.items() if p.topic in self.topics},
            commits_elsewhere=len(mine) < len(group.source_commits),
            later_topics=tuple(sorted(committed.intersection(self.file_topics).difference(self.topics))),
            lost_topics=tuple(sorted(set(left) - committed - moved)),
        )

    def _moved_with(self, group: str) -> frozenset[str]:
        """Return the topics that earlier runs moved together with a group, which now reads them on the target."""
        cutovers = (each for each in self.ledger.cutovers if group in each.groups)
        return self.moved_topics.intersection(topic for each in cutovers for topic in each.topics)


def read_others(run: MigrationRun) -> OtherGroups:
    """Return the groups that the run does not move although they read the migration's topics or are selected.

    A group whose offsets cannot be read is reported as unreadable. It does not fail the run.
    """
    listings, patterns, chosen = run.source.list_groups(), run.migration.cutover.groups, run.request.groups
    partitions = partitions_of(run.describe("source"))
    mine = which_groups(listings, patterns, chosen)
    others = [each.group for each in listings if each.is_movable and each.group not in mine]
    others = [group for group in others if not group.startswith(MIRROR_GROUP_PREFIX)]

    def topics_of(group: str) -> tuple[str, ...] | str:
        try:
            return tuple(sorted({partition.topic for partition in run.source.committed_offsets(group, partitions)}))
        except (Refused, TransientError) as error:
            return str(error)

    found = of_each(others, topics_of)
    unreadable = {group: topics for group, topics in found.items() if isinstance(topics, str)}
    not_chosen = {group: topics for group, topics in found.items() if topics and not isinstance(topics, str)}
    return OtherGroups(not_chosen, unsupported_groups(listings, patterns, chosen), unreadable)


@dataclass(frozen=True, slots=True)
class TranslatedCommits:
    """The result of `translate_offsets`: the commits that it read, and where the groups resume on the target."""

    commits: GroupsCommits
    vectors: Vectors


def read_vectors(run: MigrationRun, ledger: Ledger, source_log_start: Offsets) -> Vectors:
    """Return the topics whose copy does not keep partitions or offsets, without translations."""
    if run.migration.keeps_offsets:
        return Vectors()
    hows, uncommitted = how_copied(run, run.topics_of_groups), run.migration.cutover.uncommitted
    return Vectors(repartitioned_topics(ledger, hows, source_log_start, uncommitted))


def how_copied(run: MigrationRun, topics: Collection[str]) -> dict[str, HowCopied]:
    """Return how each topic was copied and is compared."""
    compared = compared_topics(run.target, run.migration.validation, topics)
    return {
        topic: HowCopied(
            run.migration.target_topic(topic),
            keeps_partitions=run.migration.keeps_partitions,
            is_compacted=topic in compared.compacted,
            has_timestamps=topic not in compared.untimed,
        )
        for topic in topics
    }


def translation_request(run: MigrationRun) -> TranslationRequest:
    """Return the request for the Spark job, for the present commits of the groups. It may have no topics."""
    groups: Iterable[CommittedGroup] = ()
    vectors, log_start = Vectors(), {}
    if not run.migration.keeps_offsets:
        ledger, partitions = run.ledger.known(), partitions_of(run.describe("source", run.topics_of_groups))
        groups = [group for group in read_groups(run, ledger, partitions) if group.source_commits]
        log_start = dict(log_starts(run.source, partitions, "source"))
        vectors = read_vectors(run, ledger, log_start)
    return TranslationRequest(
        id=secrets.token_hex(8),
        migration=run.name,
        run=run.identity.holder,
        # With MirrorMaker's isolation level, because only records that it copies count as unread.
        isolation_level=run.migration.mirror.isolation_level,
        topics=topics_to_translate(groups, vectors),
        commits={group.group: group.source_commits for group in groups},
        source_log_start=log_start,
        max_bytes_per_s=run.migration.validation.max_bytes_per_s,
    )


def log_starts(cluster: KafkaCluster, partitions: Collection[TopicPartition], side: str) -> Offsets:
    """Return the log starts of a side. Raises `TransientError` if one cannot be read."""
    return every_value(cluster.log_start_offsets(partitions), partitions, f"{side} log start")


def answered(run: MigrationRun, ledger: Ledger) -> TranslatedCommits:
    """Return the result of `translate_offsets`, with the source's log start at the time of its request."""
    if run.migration.keeps_offsets:
        return TranslatedCommits({}, Vectors())
    request = run.evidence.require(Kind.TRANSLATION_REQUEST)
    result = run.evidence.require(Kind.TRANSLATION_RESULT)
    return understood(lambda found: _answered(run, ledger, request, found), result, "translate_offsets")


def _answered(
    run: MigrationRun, ledger: Ledger, request: Mapping[str, Any], result: Mapping[str, Any]
) -> TranslatedCommits:
    vectors = read_vectors(run, ledger, from_document(request["source_log_start"]))
    return TranslatedCommits(commits_from_document(request["commits"]), vectors.answered(request, result))


def as_translated(groups: Iterable[CommittedGroup], seen: TranslatedCommits) -> tuple[CommittedGroup, ...]:
    """Return the groups with their commits at the start of `translate_offsets`, on the topics that it translated.

    For a rehearsal, where groups keep reading.
    """
    topics = seen.vectors.topics

    def translated(group: CommittedGroup) -> CommittedGroup:
        then = commits_on(seen.commits.get(group.group, {}), topics)
        return replace(group, source_commits={**group.source_commits, **then})

    return tuple(map(translated, groups))
