"""Whether the source cluster of a migration may be switched off (`core.rollback.decommission`), read from its facts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from kafka_migration.adapters.kafka.renamed_topics import renamed_topics
from kafka_migration.adapters.store.evidence_store import RunEvidence
from kafka_migration.core.documents.codec import Document
from kafka_migration.core.kafka.cluster import KafkaCluster, Side
from kafka_migration.core.kafka.offsets import TopicPartition, offsets_of
from kafka_migration.core.ledger.chain import Confirmation
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import MIRROR_GROUP_PREFIX, Cluster, Migration
from kafka_migration.core.rollback.decommission import (
    EVERY_TOPIC_CUT_OVER,
    Condition,
    NotKnown,
    OldCluster,
    SourceGroup,
    WaitingTimes,
    condition,
    decommission_conditions,
    may_go,
)
from kafka_migration.core.rollback.rollback_rules import Move
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.steps.answers.kept_migration import MigrationStore
from kafka_migration.steps.mirror.stop_mirror import retention_of
from kafka_migration.steps.reading.one_by_one import commits_of, described, unreadable_of
from kafka_migration.steps.run.migration_run import resolved


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


OpenCluster = Callable[[Side, Cluster], KafkaCluster]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecommissionAnswer(Document):
    """Yes or no at a moment, and every condition with its state."""

    schema: Literal[3] = 3
    migration: str
    at: str
    ledger: Confirmation
    answer: Literal["yes", "no"]
    conditions: tuple[Condition, ...]


def decommission_answer(
    store: MigrationStore, patience: WaitingTimes, now: datetime, open_cluster: OpenCluster
) -> DecommissionAnswer:
    """Return the answer. Before the first cutover no cluster is asked.

    Raises `TransientError` if a cluster does not answer, and `Refused` if ledger or evidence cannot be trusted.
    """
    ledger = store.ledger.read()
    if ledger.cutovers:
        conditions = _conditions(store, ledger, patience, now, open_cluster)
    else:
        conditions = (condition(EVERY_TOPIC_CUT_OVER, [f"phase {ledger.phase}: nothing is cut over"]),)
    confirmation = store.confirmation()
    if confirmation.not_confirmed:
        conditions = (condition("Airflow confirms the ledger", [NotKnown(confirmation)]), *conditions)
    return DecommissionAnswer(
        migration=store.name,
        at=now.isoformat(timespec="seconds"),
        ledger=confirmation,
        answer="yes" if may_go(conditions) else "no",
        conditions=conditions,
    )


def _conditions(
    store: MigrationStore, ledger: Ledger, patience: WaitingTimes, now: datetime, open_cluster: OpenCluster
) -> tuple[Condition, ...]:
    migration = _migration(store, ledger)
    names = {topic: migration.target_topic(topic) for topic in {*migration.topics, *ledger.copied_topics}}
    with (
        closing(open_cluster("source", migration.source)) as source,
        closing(open_cluster("target", migration.target)) as target,
    ):
        old = read_old_cluster(
            now=now,
            ledger=ledger,
            topics=migration.topics,
            source=source,
            target=renamed_topics(target, names) if migration.renames else target,
            evidence_of=store.evidence_of,
        )
    return decommission_conditions(old, patience)


def _migration(store: MigrationStore, ledger: Ledger) -> Migration:
    """Return the migration as frozen by the run of the last cutover."""
    evidence = store.evidence_of(ledger.cutovers[-1].run)
    filed = load_migration(evidence.frozen_migration(), where=f"{store.name} (frozen)")
    return resolved(filed, evidence, lambda: ledger)
