"""A cluster seen through other names keeps the contract, and shows no stranger."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kafka_migration.adapters.kafka.renamed_topics import RenamedTopics
from kafka_migration.core.kafka.cluster import CommittedOffset, NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from tests.contract.cluster_contract import ClusterContract, Record
from tests.contract.fake_cluster import FakeCluster

pytestmark = pytest.mark.unit

SHOWN, REAL, STRANGER = (TopicPartition(name, 0) for name in ("orders", "east.orders", "orders"))


class TestRenamedTopics(ClusterContract):
    """The contract, run over a fake in which every topic of the test has another name."""

    @pytest.fixture(autouse=True)
    def _renamed(self) -> None:
        self.fake = FakeCluster()
        self.names: dict[str, str] = {}
        self.cluster = RenamedTopics(self.fake, self.names)

    @pytest.fixture
    def topic(self) -> str:
        """A fresh topic with two partitions, of another name on the cluster."""
        self.names["contract"] = "east.contract"
        self.cluster = RenamedTopics(self.fake, self.names)
        self.cluster.create_topics([NewTopic("contract", 2, 1, {"retention.ms": "12345678"})])
        assert {"east.contract"} == set(self.fake.topics)
        return "contract"

    def own_name(self, topic: str) -> str:
        """Return the name of a topic on the cluster itself."""
        return self.names[topic]

    def produce(self, topic: str, partition: int, *records: Record, timestamp_ms: int | None = None) -> None:
        """Append records to a partition."""
        self.fake.produce(self.names[topic], partition, *records, timestamp_ms=timestamp_ms)

    def purge(self, topic: str, partition: int, log_start: int) -> None:
        """Delete everything before an offset."""
        self.fake.purge(self.names[topic], partition, log_start)

    def commit_without_id(self, topic: str) -> None:
        """Commit under the empty group id."""
        self.fake.commit("", {TopicPartition(self.names[topic], 0): 0})

    @contextmanager
    def member(self, group: str, topic: str) -> Iterator[None]:
        """Hold a member in a group."""
        self.fake.join(group)
        yield
        self.fake.leave(group)


@pytest.fixture
def fake() -> FakeCluster:
    """A target with the copy, a topic of somebody else that has the source's name, and an internal one."""
    made = FakeCluster()
    made.create_topics([NewTopic(name, 1, 1, {}) for name in ("east.orders", "orders", "mm2-offsets.east.internal")])
    made.produce("east.orders", 0, (b"a", b"1"))
    return made


@pytest.fixture
def renamed(fake: FakeCluster) -> RenamedTopics:
    """That cluster with the names of the source."""
    return RenamedTopics(fake, {"orders": "east.orders"})


def test_topic_of_the_sources_name_is_not_seen(renamed: RenamedTopics) -> None:
    """What is called `orders` here is the copy; internal topics keep their names."""
    assert {"orders", "mm2-offsets.east.internal"} == renamed.topic_names()
    assert {SHOWN: 1} == renamed.log_end_offsets([SHOWN], "read_committed")
    assert {"mm2-offsets.east.internal"} == set(renamed.describe_topics(["mm2-offsets.east.internal"]))


def test_commits_on_a_stranger_are_not_those_on_the_copy(fake: FakeCluster, renamed: RenamedTopics) -> None:
    """Regression: all commits of a group were asked for, and another topic's stood for the copy's."""
    fake.commit("billing", {REAL: 1, STRANGER: 99})

    assert {SHOWN: CommittedOffset(1)} == renamed.committed_offsets("billing")
    assert {SHOWN: CommittedOffset(1)} == renamed.committed_offsets("billing", [SHOWN])


def test_members_read_what_goes_by_the_sources_name(fake: FakeCluster, renamed: RenamedTopics) -> None:
    """What is assigned to a member is named as everything else is, without strangers."""
    fake.join("billing", "app", "/h", REAL)
    fake.join("other", "app", "/h", STRANGER)

    members = [d.members[0].assigned for d in renamed.describe_groups(["billing", "other"]).values()]
    assert [{SHOWN}, set()] == members


def test_deleting_touches_the_copy_alone(fake: FakeCluster, renamed: RenamedTopics) -> None:
    """A stranger stays, whatever its name."""
    renamed.delete_topics(["orders"])

    assert {"orders", "mm2-offsets.east.internal"} == set(fake.topics)
