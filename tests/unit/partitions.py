"""The partitions that unit tests speak about."""

from __future__ import annotations

from kafka_migration.core.kafka.offsets import TopicPartition

P0, P1, P2 = (TopicPartition("orders", number) for number in range(3))
AUDIT = TopicPartition("audit", 0)
