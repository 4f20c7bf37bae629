"""Whether the source cluster of a migration may be switched off."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from kafka_migration.adapters.kafka.renamed_topics import renamed_topics
from kafka_migration.core.documents.codec import Document
from kafka_migration.core.kafka.cluster import KafkaCluster, Side
from kafka_migration.core.ledger.chain import Confirmation
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Cluster, Migration
from kafka_migration.core.rollback.decommission import (
    EVERY_TOPIC_CUT_OVER,
    Condition,
    NotKnown,
    WaitingTimes,
    condition,
    decommission_conditions,
    may_go,
)
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.steps.answers.kept_migration import MigrationStore
from kafka_migration.steps.rollback.decommissioning import read_old_cluster
from kafka_migration.steps.run.migration_run import resolved

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
