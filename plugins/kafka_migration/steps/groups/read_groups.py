"""Reads both clusters once for a plan of offsets."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Collection, Iterable

from kafka_migration.core.groups.clusters_seen import ClustersSeen, SideSeen
from kafka_migration.core.groups.group_planning import CutoverScope
from kafka_migration.core.groups.uncommitted import never_committed
from kafka_migration.core.kafka.cluster import GroupDescription, GroupState, KafkaCluster, Side
from kafka_migration.core.kafka.commits import GroupsCommits, topics_of
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.run.task_steps import TaskId
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.translation.by_topic import HowCopied
from kafka_migration.core.translation.translation_contract import (
    TopicToTranslate,
    TranslationRequest,
    TranslationResult,
    nothing_to_translate,
)
from kafka_migration.steps.reading.exact_reads import compared_topics, every_value
from kafka_migration.steps.reading.one_by_one import commits_of, described, unreadable_of
from kafka_migration.steps.reading.spark_documents import SparkJobs, result_of, understood
from kafka_migration.steps.run.migration_run import MigrationRun, partitions_of
from kafka_migration.steps.run.task_frame import Summary

log = logging.getLogger(__name__)


def read_clusters(run: MigrationRun, scope: CutoverScope, *, with_others: bool) -> ClustersSeen:
    """Read both clusters for the groups that a run moves, without their records.

    `with_others` also reads the commits of the groups that are not selected. Raises `TransientError` when a value
    cannot be read: nothing is planned on unknown values.
    """
    at, listings = run.now(), run.source.list_groups()
    names = scope.groups(listings)
    source = read_side(run.source, "source", scope.topics, names)
    partitions = source.of_topics(scope.migration.topics)
    others = commits_of(run.source, scope.other_groups(listings) if with_others else (), partitions)
    sides = (run.source, run.target) if run.migration.keeps_offsets else ()
    compared = [compared_topics(cluster, run.migration, scope.topics) for cluster in sides]
    return ClustersSeen(
        at=at,
        source=source,
        target=read_side(run.target, "target", scope.topics, names),
        listings=listings,
        hows={} if sides else how_copied(run, scope.topics),
        compacted=frozenset(topic for each in compared for topic in each.compacted),
        untimed=frozenset(compared[-1].untimed) if compared else frozenset(),
        readable=_readable(run, source),
        topic_names=run.source.topic_names() if with_others else frozenset(),
        others=others,
    )


def _readable(run: MigrationRun, source: SideSeen) -> frozenset[TopicPartition]:
    """Return the partitions with a record, of those on which a group has no commit although it committed on the topic.

    Offsets are not enough: they may all be markers, or aborted or compacted records.
    """
    missing = {p for each in source.commits.values() for p in never_committed(each, source.of_topics(topics_of(each)))}
    starts = {p: source.log_start[p] for p in missing if source.log_start[p] < source.log_end[p]}
    found = run.source.probe(starts, run.migration.mirror.isolation_level) if starts else {}
    return frozenset(p for p, first in every_value(found, starts, "first record").items() if not first.is_end)


def read_side(cluster: KafkaCluster, side: Side, topics: Collection[str], groups: Collection[str]) -> SideSeen:
    """Read topics, groups and offsets of one side.

    Commits are read before ends, so that a group that keeps reading does not appear to be beyond the end.
    """
    descriptions = cluster.describe_topics(tuple(sorted(topics)))
    partitions = partitions_of(descriptions)
    members = described(cluster, groups)
    commits = commits_of(cluster, groups)
    ends = cluster.log_end_offsets(partitions, "read_uncommitted")
    starts = cluster.log_start_offsets(partitions)
    return SideSeen(
        topics=descriptions,
        groups={g: GroupDescription(g, GroupState.UNKNOWN) if isinstance(m, str) else m for g, m in members.items()},
        commits={group: {} if isinstance(found, str) else found for group, found in commits.items()},
        log_start=every_value(starts, partitions, f"{side} log start"),
        log_end=every_value(ends, partitions, f"{side} end"),
        unreadable=unreadable_of(members, commits),
    )


def how_copied(run: MigrationRun, topics: Collection[str]) -> dict[str, HowCopied]:
    """Return how each topic was copied and is compared."""
    compared = compared_topics(run.target, run.migration, topics)
    return {
        topic: HowCopied(
            run.migration.target_topic(topic),
            keeps_partitions=run.migration.keeps_partitions,
            is_compacted=topic in compared.compacted,
            has_timestamps=topic not in compared.untimed,
        )
        for topic in topics
    }


def request_of(
    run: MigrationRun,
    topics: Iterable[TopicToTranslate] = (),
    commits: GroupsCommits | None = None,
    source_log_start: Offsets | None = None,
    *,
    is_back: bool = False,
) -> TranslationRequest:
    """Return a request for the Spark job. It may have no topics."""
    return TranslationRequest(
        id=secrets.token_hex(8),
        migration=run.name,
        run=run.identity.holder,
        # With MirrorMaker's isolation level, because only records that it copies count as unread.
        isolation_level=run.migration.mirror.isolation_level,
        topics=tuple(topics),
        commits=commits or {},
        source_log_start=source_log_start or {},
        max_bytes_per_s=run.migration.validation.max_bytes_per_s,
        is_back=is_back,
    )


def run_translation(run: MigrationRun, jobs: SparkJobs, task_id: TaskId, request: TranslationRequest) -> Summary:
    """Write the request, run Spark unless the request has no topics, and record the result."""
    request_path = run.evidence.write(Stored.TRANSLATION_REQUEST, request)
    if request.topics:
        asked = (request.client_id, request_path, request.most_records)
        result = result_of(run, jobs, task_id, Stored.TRANSLATION_RESULT, asked)
        assert result is not None, "a job without a time limit is always in time"
    else:
        log.info("No topic needs translation by its records.")
        result = nothing_to_translate(request)
        run.evidence.write(Stored.TRANSLATION_RESULT, result)
    return {"topics": len(result.topics), "vectors": sum(len(each.translations) for each in result.topics)}


def translation_documents(run: MigrationRun, task_id: str) -> tuple[TranslationRequest, TranslationResult]:
    """Return the newest request and result of a task that translates; they may be of different tries."""
    return (
        understood(lambda: run.evidence.require(Stored.TRANSLATION_REQUEST), task_id),
        understood(lambda: run.evidence.require(Stored.TRANSLATION_RESULT), task_id),
    )
