"""Reads the facts that decide whether the source may be switched off (`core.rollback.decommission`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import datetime

from kafka_migration.adapters.evidence import RunEvidence
from kafka_migration.adapters.many import of_each
from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.core.kafka.commits import commits_from_document
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition, from_document
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import MIRROR_GROUP_PREFIX
from kafka_migration.core.rollback.decommission import OldCluster, SourceGroup
from kafka_migration.core.rollback.rules import Move
from kafka_migration.steps.mirror.forecast import retention_of


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
    described = source.describe_topics(topics)
    partitions = [p for each in described.values() for p in each.topic_partitions]
    moves = moves_of(ledger, evidence_of)
    written = {group: move.written for group, move in moves.items()}
    active = target.describe_groups(sorted(written))
    return OldCluster(
        now=now,
        ledger=ledger,
        topics=topics,
        source_ends=source.log_end_offsets(partitions, "read_uncommitted"),
        source_partitions={topic: description.partitions for topic, description in described.items()},
        source_groups=tuple(_source_groups(source, partitions)),
        commits_at_cutover={group: move.source_before for group, move in moves.items()},
        target_commits=of_each(written, target.committed_offsets),
        written=written,
        active_on_target=[group for group, description in active.items() if description.is_active],
        retention={topic: each.time_limit for topic, each in retention_of(source, topics).items()},
    )


def moves_of(ledger: Ledger, evidence_of: Callable[[str], RunEvidence]) -> dict[str, Move]:
    """Return the moves of each group from the evidence of the cutovers.

    Raises `Refused` (`EVIDENCE_MISSING`) if a cutover's evidence is missing.
    """
    moves: dict[str, Move] = {}
    for cutover in ledger.cutovers:
        evidence = evidence_of(cutover.run)
        before, result = evidence.require(Kind.OFFSETS_BEFORE), evidence.require(Kind.OFFSETS_RESULT)
        sides = {side: commits_from_document(before[side]) for side in ("source", "target")}
        read_back = {each["group"]: from_document(each["read_back"]) for each in result["groups"]}
        for group in cutover.groups:
            earlier = moves.get(group, Move({}, {}, {}))
            moves[group] = Move(
                {**earlier.written, **read_back[group]},
                {**sides["target"].get(group, {}), **earlier.target_before},
                {**sides["source"].get(group, {}), **earlier.source_before},
            )
    return moves


def _source_groups(source: KafkaCluster, partitions: Collection[TopicPartition]) -> Iterable[SourceGroup]:
    """Yield the groups that have committed offsets or members on these partitions, or whose offsets are unknown."""
    names = [each.group for each in source.list_groups() if each.is_movable]
    names = [name for name in names if not name.startswith(MIRROR_GROUP_PREFIX)]
    described = source.describe_groups(names)

    def offsets_of(group: str) -> Offsets | None:
        try:
            return {p: commit.offset for p, commit in source.committed_offsets(group, partitions).items()}
        except (Refused, TransientError):
            return None

    for group, offsets in of_each(names, offsets_of).items():
        reads = any(not member.assigned.isdisjoint(partitions) for member in described[group].members)
        if offsets is None or offsets or reads:
            yield SourceGroup(group, described[group].is_active, offsets)
