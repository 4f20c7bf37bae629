"""Reading what must be known before the source is switched off (`core.decommission`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from typing import Any

from kafka_migration.adapters.evidence import RunEvidence
from kafka_migration.adapters.many import of_each
from kafka_migration.core.cluster import KafkaCluster
from kafka_migration.core.commits import Commits, commits_from_document
from kafka_migration.core.decommission import OldCluster, SourceGroup
from kafka_migration.core.errors import Refused, TransientError
from kafka_migration.core.evidence import Kind
from kafka_migration.core.ledger import Ledger
from kafka_migration.core.migration import MIRROR_GROUP_PREFIX
from kafka_migration.core.offsets import Offsets, TopicPartition, from_document
from kafka_migration.core.retention import TopicRetention


def read_old_cluster(
    *,
    now: datetime,
    ledger: Ledger,
    topics: tuple[str, ...],
    source: KafkaCluster,
    target: KafkaCluster,
    evidence_of: Callable[[str], RunEvidence],
) -> OldCluster:
    """Ask both clusters and the evidence of the cutovers; `target` knows the topics by their names on the source.

    Raises `TransientError` where a cluster does not answer at all.
    """
    described = source.describe_topics(topics)
    partitions = [p for each in described.values() for p in each.topic_partitions]
    commits_at_cutover: dict[str, Commits] = {}
    written: dict[str, Offsets] = {}
    for cutover in ledger.cutovers:
        evidence = evidence_of(cutover.run)
        saved = commits_from_document(_of(evidence, Kind.OFFSETS_BEFORE).get("source", {}))
        results = {each["group"]: each["read_back"] for each in _of(evidence, Kind.OFFSETS_RESULT).get("groups", ())}
        for group in cutover.groups:
            commits_at_cutover[group] = {**commits_at_cutover.get(group, {}), **saved.get(group, {})}
            written[group] = {**written.get(group, {}), **from_document(results.get(group, {}))}
    active = target.describe_groups(sorted(written))
    return OldCluster(
        now=now,
        ledger=ledger,
        topics=topics,
        source_ends=source.log_end_offsets(partitions, "read_uncommitted"),
        source_partitions={topic: description.partitions for topic, description in described.items()},
        source_groups=tuple(_source_groups(source, partitions)),
        commits_at_cutover=commits_at_cutover,
        target_commits=of_each(written, target.committed_offsets),
        written=written,
        active_on_target=[group for group, description in active.items() if description.is_active],
        retention={topic: each.time_limit for topic, each in _retention(source, topics).items()},
    )


def _of(evidence: RunEvidence, kind: Kind) -> dict[str, Any]:
    return evidence.newest(kind) or {}


def _source_groups(source: KafkaCluster, partitions: Collection[TopicPartition]) -> Iterable[SourceGroup]:
    """Yield the groups with commits on these partitions, and those of which nobody can tell."""
    names = [each.group for each in source.list_groups() if each.is_movable]
    described = source.describe_groups(names)
    for group in (name for name in names if not name.startswith(MIRROR_GROUP_PREFIX)):
        try:
            commits = source.committed_offsets(group, partitions)
        except (Refused, TransientError):
            yield SourceGroup(group, described[group].is_active, None)
        else:
            if commits:
                offsets = {p: commit.offset for p, commit in commits.items()}
                yield SourceGroup(group, described[group].is_active, offsets)


def _retention(source: KafkaCluster, topics: Collection[str]) -> dict[str, TopicRetention]:
    names = ("cleanup.policy", "retention.ms", "retention.bytes")
    policy, time, size = (source.effective_configs(topics, name) for name in names)
    return {topic: TopicRetention.of(policy[topic], time[topic], size[topic]) for topic in topics if topic in policy}
