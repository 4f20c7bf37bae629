"""Runs whose reports are large, or hard to show."""

from __future__ import annotations

from typing import Any

from kafka_migration.core.groups.offsets_plan import GroupPlan, OffsetsMove, OffsetsPlan, Proof
from kafka_migration.core.kafka.offsets import CommittedOffset, TopicPartition
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.run_document import RunDocument
from tests.stored_examples import NOW, planned, read_run
from tests.unit.report.test_report_of_a_run import READY, TOPIC, document_of, with_step


def run_of_partitions(count: int) -> RunDocument:
    """Return a rehearsal of so many topics of one partition, and of a group for each."""
    partitions = [TopicPartition(f"shop.orders-of-customers-{number}", 0) for number in range(count)]
    names = {partition: f"billing-of-customers-{partition.topic.rpartition('-')[2]}" for partition in partitions}
    groups = tuple(GroupPlan(name, (_move(partition),)) for partition, name in names.items())
    topics = tuple(partition.topic for partition in partitions)
    plan = OffsetsPlan(NOW, Mode.REHEARSE, topics, groups, dict.fromkeys(partitions, 60))
    document: dict[str, Any] = document_of(
        topics=[{**TOPIC, "topic": topic} for topic in topics],
        groups=[{**READY, "group": name} for name in names.values()],
        records={topic: {"source": 60, "target": 60} for topic in topics},
    )
    return read_run(with_step(document, **{"offsets-plan": planned(plan).to_document()}))


def _move(partition: TopicPartition) -> OffsetsMove:
    return OffsetsMove(
        partition.topic,
        {partition: CommittedOffset(50)},
        {},
        {partition: CommittedOffset(40)},
        Proof.RECORD,
    )
