"""The fake cluster keeps the contract of the real one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kafka_migration.core.kafka.offsets import TopicPartition
from tests.contract.cluster_contract import ClusterContract, Record
from tests.contract.fake_cluster import FakeCluster

pytestmark = pytest.mark.unit


class TestFakeCluster(ClusterContract):
    """The contract, run by the fake."""

    def setup_method(self) -> None:
        """Begin with an empty cluster."""
        self.fake = self.cluster = FakeCluster()

    def produce(self, topic: str, partition: int, *records: Record, timestamp_ms: int | None = None) -> None:
        """Append records to a partition."""
        self.fake.produce(topic, partition, *records, timestamp_ms=timestamp_ms)

    def purge(self, topic: str, partition: int, log_start: int) -> None:
        """Delete everything before an offset."""
        self.fake.purge(topic, partition, log_start)

    def commit_without_id(self, topic: str) -> None:
        """Commit under the empty group id."""
        self.fake.commit("", {TopicPartition(topic, 0): 0})

    @contextmanager
    def member(self, group: str, topic: str) -> Iterator[None]:
        """Hold a member in a group."""
        self.fake.join(group)
        yield
        self.fake.leave(group)
