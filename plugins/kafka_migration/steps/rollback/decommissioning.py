"""Reads the facts that decide whether the source may be switched off (`core.rollback.decommission`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import datetime

from kafka_migration.adapters.store.evidence_store import RunEvidence
from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.core.kafka.commits import offsets_of
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import MIRROR_GROUP_PREFIX
from kafka_migration.core.rollback.decommission import OldCluster, SourceGroup
from kafka_migration.core.rollback.rollback_rules import Move
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.steps.mirror.stop_mirror import retention_of
from kafka_migration.steps.reading.one_by_one import commits_of, described, unreadable_of


def read_old_cluster(
    *,
    now: datetime,
    ledger: Ledger,
    topics: tuple[str, ...],
    source: KafkaCluster,
    target: KafkaCluster,
    evidence_of: Callable[[str], RunEvidence],
) -> OldCluster:
    """Read both clusters and the evidence of the cutovers; `target` uses the topics' names on the source.

    Raises `TransientError` if a cluster does not answer.
    """
    topics = tuple(sorted({*topics, *ledger.copied_topics}))
    existing = source.describe_topics(topics)
    partitions = [p for each in existing.values() for p in each.topic_partitions]
    moves = moves_of(ledger, evidence_of)
    written = {group: move.written for group, move in moves.items()}
    members, commits = described(target, sorted(written)), commits_of(target, sorted(written))
    return OldCluster(
        now=now,
        ledger=ledger,
        topics=topics,
        source_ends=source.log_end_offsets(partitions, "read_uncommitted"),
        source_partitions={topic: description.partitions for topic, description in existing.items()},
        source_groups=tuple(_source_groups(source, partitions)),
        commits_at_cutover={group: move.source_before for group, move in moves.items()},
        target_commits={group: found for group, found in commits.items() if not isinstance(found, str)},
        written=written,
        active_on_target=[group for group, found in members.items() if not isinstance(found, str) and found.is_active],
        retention={topic: each.time_limit for topic, each in retention_of(source, topics).items()},
        unreadable=unreadable_of(members, commits),
    )


def moves_of(ledger: Ledger, evidence_of: Callable[[str], RunEvidence]) -> dict[str, Move]:
    """Return the moves of each group from the evidence of the cutovers.

    Raises `Refused` (`EVIDENCE_MISSING`) if a cutover's evidence is missing.
    """
    moves: dict[str, Move] = {}
    for cutover in ledger.cutovers:
        evidence = evidence_of(cutover.run)
        before, result = evidence.require(Stored.OFFSETS_BEFORE), evidence.require(Stored.OFFSETS_RESULT)
        read_back = {each.group: each.read_back for each in result.groups}
        for group in cutover.groups:
            earlier = moves.get(group, Move({}, {}, {}))
            moves[group] = Move(
                {**earlier.written, **read_back[group]},
                {**before.target.get(group, {}), **earlier.target_before},
                {**before.source.get(group, {}), **earlier.source_before},
            )
    return moves


def _source_groups(source: KafkaCluster, partitions: Collection[TopicPartition]) -> Iterable[SourceGroup]:
    """Yield the groups that have committed offsets or members on these partitions, or whose offsets are unknown."""
    listed = source.list_groups()
    names = [each.group for each in listed if each.is_movable and not each.group.startswith(MIRROR_GROUP_PREFIX)]
    members, commits = described(source, names), commits_of(source, names, partitions)
    for group in names:
        found, offsets = members[group], commits[group]
        if isinstance(found, str) or isinstance(offsets, str):
            yield SourceGroup(group, not isinstance(found, str) and found.is_active, None)
        elif offsets or any(not member.assigned.isdisjoint(partitions) for member in found.members):
            yield SourceGroup(group, found.is_active, offsets_of(offsets))
    # The members of Connect's workers read in groups of their own. What other groups read is unknown.
    yield from (SourceGroup(g.group, False, None) for g in listed if not g.is_movable and g.kind != "connect")
