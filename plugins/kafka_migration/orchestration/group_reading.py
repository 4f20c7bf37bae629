"""Which consumer groups a run is about, what they committed, and which topics are translated as a whole."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from kafka_migration.core.commits import Commits, GroupsCommits, commits_from_document
from kafka_migration.core.evidence import Kind
from kafka_migration.core.group_choice import OtherGroups, unsupported_groups, which_groups
from kafka_migration.core.group_offsets import CommittedGroup
from kafka_migration.core.offsets import Offsets, TopicPartition
from kafka_migration.core.repartitioned import HowCopied, repartitioned_topics
from kafka_migration.core.vector_rules import Vectors, topics_to_translate
from kafka_migration.core.vector_translation import TranslationRequest
from kafka_migration.orchestration.comparing import compacted_topics, untimed_topics
from kafka_migration.orchestration.mirroring import every_value
from kafka_migration.orchestration.run import MigrationRun, partitions_of


def read_groups(run: MigrationRun, partitions: Collection[TopicPartition]) -> tuple[CommittedGroup, ...]:
    """Return the groups that the migration file and the run name, as both sides know them now."""
    names = which_groups(run.source.list_groups(), run.migration.cutover.groups, run.request.groups)
    source, target = run.source.describe_groups(names), run.target.describe_groups(names)
    return tuple(
        _group(CommittedGroup(source[name], target[name], run.source.committed_offsets(name), {}), run, set(partitions))
        for name in names
    )


def _group(group: CommittedGroup, run: MigrationRun, wanted: Collection[TopicPartition]) -> CommittedGroup:
    theirs = run.target.committed_offsets(group.group)
    moved = _moved_before(run, group.group)
    mine = {p: commit for p, commit in group.source_commits.items() if p in wanted and p.topic not in moved}
    committed = {partition.topic for partition in group.source_commits}
    return replace(
        group,
        source_commits=mine,
        target_commits={p: commit for p, commit in theirs.items() if p.topic in run.topics_of_groups},
        commits_elsewhere=len(mine) < len(group.source_commits),
        later_topics=tuple(sorted(committed.intersection(run.whole_migration.topics).difference(run.topics_of_groups))),
    )


def _moved_before(run: MigrationRun, group: str) -> frozenset[str]:
    """Return the topics that earlier runs moved together with a group; it reads them on the target since."""
    cutovers = (each for each in run.ledger.read().cutovers if group in each.groups)
    return run.moved_topics.intersection(topic for each in cutovers for topic in each.topics)


def read_others(run: MigrationRun, partitions: Collection[TopicPartition]) -> OtherGroups:
    """Return the groups that read the migration's topics, or are named, and that the run does not move."""
    listings, patterns, chosen = run.source.list_groups(), run.migration.cutover.groups, run.request.groups
    mine = set(which_groups(listings, patterns, chosen))
    others = [each.group for each in listings if each.is_movable and each.group not in mine]
    read = {group: {p.topic for p in run.source.committed_offsets(group, partitions)} for group in others}
    not_chosen = {group: tuple(sorted(topics)) for group, topics in read.items() if topics}
    return OtherGroups(not_chosen, unsupported_groups(listings, patterns, chosen))


@dataclass(frozen=True, slots=True)
class Answered:
    """What `translate_offsets` asked and found: the commits it saw, and where their vectors go on."""

    commits: GroupsCommits
    vectors: Vectors


def read_vectors(run: MigrationRun, source_log_start: Offsets) -> Vectors:
    """Return the topics of which the copy chose partitions or offsets anew, without translations."""
    if run.migration.keeps_offsets:
        return Vectors()
    topics = run.topics_of_groups
    compacted, untimed = compacted_topics(run, topics).get("target", ()), untimed_topics(run, topics)
    hows = {
        topic: HowCopied(
            run.migration.target_topic(topic),
            by_key=not run.migration.keeps_partitions or topic in compacted,
            is_compacted=topic in compacted,
            has_timestamps=topic not in untimed,
        )
        for topic in topics
    }
    uncommitted = run.migration.cutover.uncommitted
    return Vectors(repartitioned_topics(run.ledger.read(), hows, source_log_start, uncommitted))


def translation_request(run: MigrationRun) -> TranslationRequest:
    """Return what the Spark job is asked about the groups as they stand now; without topics there is nothing to ask."""
    groups: Iterable[CommittedGroup] = ()
    vectors = Vectors()
    if not run.migration.keeps_offsets:
        partitions = partitions_of(run.describe("source", run.topics_of_groups))
        groups = [group for group in read_groups(run, partitions) if group.source_commits]
        vectors = read_vectors(run, source_log_starts(run, partitions))
    return TranslationRequest(
        migration=run.name,
        run=run.identity.holder,
        # A record of an aborted transaction is no unread one, whether MirrorMaker copied it or not.
        isolation_level="read_committed",
        topics=topics_to_translate(groups, vectors),
        commits={group.group: group.source_commits for group in groups},
        max_bytes_per_s=run.migration.validation.max_bytes_per_s,
    )


def source_log_starts(run: MigrationRun, partitions: Collection[TopicPartition]) -> Offsets:
    """Return the source's log starts. Raises `TransientError` if one cannot be read."""
    return every_value(run.source.log_start_offsets(partitions), partitions, "source log start")


def answered(run: MigrationRun, source_log_start: Offsets) -> Answered:
    """Return what `translate_offsets` found."""
    vectors = read_vectors(run, source_log_start)
    if not vectors.topics:
        return Answered({}, vectors)
    request = run.evidence.require(Kind.TRANSLATION_REQUEST)
    result = run.evidence.require(Kind.TRANSLATION_RESULT)
    return Answered(commits_from_document(request["commits"]), vectors.answered(request, result))


def as_translated(groups: Iterable[CommittedGroup], seen: Answered) -> tuple[CommittedGroup, ...]:
    """Return the groups as they stood when `translate_offsets` began, on the topics that it translated.

    For a rehearsal, in which groups read on.
    """
    return tuple(
        replace(group, source_commits={**group.source_commits, **_of(seen.vectors.topics, seen.commits[group.group])})
        if group.group in seen.commits
        else group
        for group in groups
    )


def _of(topics: Mapping[str, object], commits: Commits) -> Commits:
    return {partition: commit for partition, commit in commits.items() if partition.topic in topics}
