"""A cluster seen through other names keeps the contract, and shows no stranger."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import isfunction, signature

import pytest

from kafka_migration.adapters.kafka.renamed_topics import AS_THEY_ARE, OF_TOPICS, renamed_topics
from kafka_migration.core.kafka.cluster import KafkaCluster, NewTopic
from kafka_migration.core.kafka.offsets import CommittedOffset, TopicPartition
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
        self.cluster = renamed_topics(self.fake, self.names)

    @pytest.fixture
    def topic(self) -> str:
        """A fresh topic with two partitions, of another name on the cluster."""
        self.names["contract"] = "east.contract"
        self.cluster = renamed_topics(self.fake, self.names)
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
def renamed(fake: FakeCluster) -> KafkaCluster:
    """That cluster with the names of the source."""
    return renamed_topics(fake, {"orders": "east.orders"})


def test_topic_of_the_sources_name_is_not_seen(renamed: KafkaCluster) -> None:
    """What is called `orders` here is the copy; internal topics keep their names."""
    assert {"orders", "mm2-offsets.east.internal"} == renamed.topic_names()
    assert {SHOWN: 1} == renamed.log_end_offsets([SHOWN], "read_committed")
    assert {"mm2-offsets.east.internal"} == set(renamed.describe_topics(["mm2-offsets.east.internal"]))


def test_commits_on_a_stranger_are_not_those_on_the_copy(fake: FakeCluster, renamed: KafkaCluster) -> None:
    """Regression: all commits of a group were asked for, and another topic's stood for the copy's."""
    fake.commit("billing", {REAL: 1, STRANGER: 99})

    assert {SHOWN: CommittedOffset(1)} == renamed.committed_offsets("billing")
    assert {SHOWN: CommittedOffset(1)} == renamed.committed_offsets("billing", [SHOWN])


def test_members_read_what_goes_by_the_sources_name(fake: FakeCluster, renamed: KafkaCluster) -> None:
    """What is assigned to a member is named as everything else is, without strangers."""
    fake.join("billing", "app", "/h", REAL)
    fake.join("other", "app", "/h", STRANGER)

    members = [d.members[0].assigned for d in renamed.describe_groups(["billing", "other"]).values()]
    assert [{SHOWN}, set()] == members


def test_deleting_touches_the_copy_alone(fake: FakeCluster, renamed: KafkaCluster) -> None:
    """A stranger stays, whatever its name."""
    renamed.delete_topics(["orders"])

    assert {"orders", "mm2-offsets.east.internal"} == set(fake.topics)


def test_each_parameter_and_answer_with_topics_is_renamed() -> None:
    """What names topics or partitions in a signature of `KafkaCluster` is renamed, and nothing else is."""
    methods = {name: signature(each) for name, each in vars(KafkaCluster).items() if isfunction(each)}
    # Those that are written out: an answer with groups or with rights names topics only inside of its values.
    written_out = {"granted", "describe_groups", "__init__", "__subclasshook__"}
    generic = {name: each for name, each in methods.items() if name not in written_out}
    with_topics = ("TopicPartition", "Offsets", "NewTopic")

    parameters = {(each.name, str(each.annotation)) for found in generic.values() for each in found.parameters.values()}
    named = {name for name, kind in parameters if any(word in kind for word in with_topics)}
    assert named | {"topic", "topics", "configs"} == OF_TOPICS
    assert {"self", "names", "isolation", "at", "time_limit_s", "group"} == {name for name, _ in parameters} - OF_TOPICS

    silent = {name for name, each in generic.items() if each.return_annotation == "None"}
    by_topic = {"topic_names", "partition_counts", "topic_ids", "effective_configs", "refused_topics"}
    answers = {
        name
        for name, each in generic.items()
        if any(word in str(each.return_annotation) for word in (*with_topics, "TopicDescription", "Record", "LogRow"))
    }
    assert silent | by_topic | answers | AS_THEY_ARE == generic.keys()
    assert not AS_THEY_ARE & (by_topic | answers)
