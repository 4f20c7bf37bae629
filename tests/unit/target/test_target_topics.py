"""Rules of topic planning."""

from __future__ import annotations

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.kafka.cluster import TopicDescription
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.ledger.cutovers import CreatedTopic, TopicsCreated
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.target.target_topics import (
    frozen_settings,
    missing_topic_findings,
    plan_topics,
    recreated_findings,
    target_topic_findings,
)
from tests.folded import fold

OURS = fold([TopicsCreated("r", "t", {"orders": CreatedTopic("id-1", {"retention.ms": "1000"})}).to_document()])
NOTHING = fold([])


def topic(name: str, partitions: int, topic_id: str = "id-1", **configs: str) -> dict[str, TopicDescription]:
    described = {key.replace("_", "."): value for key, value in configs.items()}
    return {name: TopicDescription(name, topic_id, partitions, described)}


def test_missing_topic_is_created_like_its_source_with_retention_off(migration: Migration) -> None:
    """Partition count and settings are the source's; retention is frozen and remembered."""
    source = topic("orders", 4, retention_ms="1000", compression_type="lz4")

    plan = plan_topics(migration, source, {}, NOTHING)
    (created,) = plan.create

    assert (4, 1) == (created.partitions, created.replication_factor)
    assert {"compression.type": "lz4", "retention.ms": "-1", "retention.bytes": "-1"} == created.configs
    assert {"orders": {"retention.ms": "1000", "retention.bytes": None}} == plan.frozen_configs


def test_limits_of_timestamps_are_off_while_records_are_copied(migration: Migration) -> None:
    """Regression: a copy with its source's limit refused the old records; a topic without a limit gets no setting."""
    limit, unlimited = "message.timestamp.difference.max.ms", str(2**63 - 1)
    source = {"orders": TopicDescription("orders", "id", 1, {limit: "3600000"}), **topic("audit", 1)}

    plan = plan_topics(migration, source, {}, NOTHING)
    audit, orders = sorted(plan.create, key=lambda each: each.topic)

    assert {limit: unlimited, "retention.ms": "-1", "retention.bytes": "-1"} == orders.configs
    assert {limit: "3600000", "retention.ms": None, "retention.bytes": None} == plan.frozen_configs["orders"]
    assert {"retention.ms": "-1", "retention.bytes": "-1"} == audit.configs
    created = CreatedTopic("id", plan.frozen_configs["orders"])
    assert orders.configs == frozen_settings(created)


@pytest.mark.parametrize("name", ["leader.replication.throttled.replicas", "message.format.version"])
def test_what_is_no_setting_of_the_topic_is_not_copied(migration: Migration, name: str) -> None:
    """The state of a reassignment on the source, and a format that Kafka 4 refuses, are left out."""
    source = {"orders": TopicDescription("orders", "id", 1, {name: "2.4"})}

    assert name not in plan_topics(migration, source, {}, NOTHING).create[0].configs


def test_own_topic_grows_with_its_source(migration: Migration) -> None:
    """Partitions added on the source are added to a target topic that we created."""
    assert {"orders": 6} == plan_topics(migration, topic("orders", 6), topic("orders", 4), OURS).grow
    assert {} == plan_topics(migration, topic("orders", 6), topic("orders", 4), NOTHING).grow


@pytest.mark.parametrize(("target_partitions", "ledger"), [(3, NOTHING), (5, NOTHING), (5, OURS)])
def test_other_partition_counts_are_refused(migration: Migration, target_partitions: int, ledger: Ledger) -> None:
    """A foreign target topic must have the source's partitions; ours may only lack some."""
    (finding,) = target_topic_findings(migration, topic("orders", 4), topic("orders", target_partitions), {}, ledger)

    assert finding.code is Code.TOPIC_PARTITIONS_DIFFER


def test_foreign_records_are_refused(migration: Migration) -> None:
    """Records that no run of this migration wrote make the copy unprovable."""
    ends = {TopicPartition("orders", 1): 5}

    (finding,) = target_topic_findings(migration, topic("orders", 4), topic("orders", 4), ends, NOTHING)

    assert finding.code is Code.TARGET_TOPIC_NOT_EMPTY
    assert [] == list(target_topic_findings(migration, topic("orders", 4), topic("orders", 4), ends, OURS))


def test_topics_that_the_source_lacks_are_all_named(migration: Migration) -> None:
    """Every missing topic is reported, not just the first."""
    assert ["topic orders", "topic audit"] == [f.subject for f in missing_topic_findings(migration, {})]


def test_recreated_target_topic_is_told_by_its_id() -> None:
    """A topic that was deleted and created again has another id, whatever its offsets are."""
    (finding,) = recreated_findings(topic("orders", 4, topic_id="id-2"), OURS)

    assert finding.code is Code.TARGET_TOPIC_RECREATED
    assert () == recreated_findings(topic("orders", 4, topic_id="id-1"), OURS)
