"""Reads on a cluster with client quotas."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from sandbox.sandbox import Sandbox
from tests.live.quotas import slow_reads

pytestmark = [pytest.mark.live, pytest.mark.campaign]

TOPIC = "throttled"


def test_throttled_answers_are_waited_for(brokers: Sandbox) -> None:
    """Large batches use up a small quota; each partition's record is read nevertheless."""
    config = {"bootstrap.servers": brokers.state.source_bootstrap}
    cluster = ConfluentCluster("source", config)
    cluster.create_topics([NewTopic(TOPIC, 2, 1, {})])
    producer = Producer({**config, "linger.ms": 200})
    for n in range(4000):
        producer.produce(TOPIC, b"x" * 1000, partition=n % 2)
    assert producer.flush(60) == 0
    wanted = {TopicPartition(TOPIC, number): 1000 for number in range(2)}

    with slow_reads(config, bytes_per_s=100_000):
        found = cluster.records_at(wanted, "read_uncommitted")

    assert wanted == {partition: record and record.offset for partition, record in found.items()}
