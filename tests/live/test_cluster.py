"""The adapter over confluent-kafka keeps the contract on a real broker."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.kafka.cluster import NewTopic, Probe
from kafka_migration.core.kafka.offsets import TopicPartition as Partition
from sandbox.jars import KAFKA_VERSION
from sandbox.sandbox import Sandbox
from tests.contract.cluster_contract import ClusterContract, Record
from tests.live.raw_commit import NO_ERROR, commit_raw
from tests.waiting import wait_until

pytestmark = pytest.mark.live


OTHER_VERSIONS = ("2.4.1", "3.2.0", "4.1.1", "4.2.0")


@pytest.fixture(scope="module")
def old_brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The addresses of the oldest brokers, by version."""
    yield from _pair(tmp_path_factory, *OTHER_VERSIONS[:2])


@pytest.fixture(scope="module")
def new_brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The addresses of the newest brokers, by version."""
    yield from _pair(tmp_path_factory, *OTHER_VERSIONS[2:])


def _pair(folders: pytest.TempPathFactory, source: str, target: str) -> Iterator[dict[str, str]]:
    versions = {"source": source, "target": target}
    with Sandbox(folders.mktemp("versions"), airflow=False, versions=versions) as running:
        yield {source: running.state.source_bootstrap, target: running.state.target_bootstrap}


def _bootstrap(request: pytest.FixtureRequest) -> str:
    """Return the address of a broker of the requested version."""
    version = request.param
    if version == KAFKA_VERSION:
        return str(request.getfixturevalue("brokers").state.source_bootstrap)
    name = "old_brokers" if version in OTHER_VERSIONS[:2] else "new_brokers"
    return str(request.getfixturevalue(name)[version])


class TestConfluentCluster(ClusterContract):
    """The contract, run by the real thing; in the campaign on other Kafka versions too."""

    @pytest.fixture(
        autouse=True,
        params=[KAFKA_VERSION, *(pytest.param(version, marks=pytest.mark.campaign) for version in OTHER_VERSIONS)],
    )
    def _connect(self, request: pytest.FixtureRequest) -> Iterator[None]:
        self.config = {"bootstrap.servers": _bootstrap(request)}
        self.cluster = ConfluentCluster("source", self.config)
        if request.param == "2.4.1":
            self.max_message_bytes = "1000012"
            self.has_topic_ids = False
        yield
        # pytest keeps this object until the session ends. Hundreds of open clients use half a core.
        del self.cluster

    def produce(self, topic: str, partition: int, *records: Record, timestamp_ms: int | None = None) -> None:
        """Append records to a partition."""
        producer = Producer(self.config)
        for key, value in records:
            # 0 is the client's word for now.
            producer.produce(topic, key=key, value=value, partition=partition, timestamp=timestamp_ms or 0)
        assert producer.flush(60) == 0

    def purge(self, topic: str, partition: int, log_start: int) -> None:
        """Delete everything before an offset."""
        admin = AdminClient(self.config)
        futures = admin.delete_records(
            [TopicPartition(topic, partition, log_start)], request_timeout=60, operation_timeout=60
        )
        for future in futures.values():
            future.result(60)

    def commit_without_id(self, topic: str) -> None:
        """Commit under the empty group id in Kafka's protocol, because no client takes this id."""
        address = self.config["bootstrap.servers"]
        wait_until(lambda: commit_raw(address, b"", topic, {0: 0}) == {0: NO_ERROR}, 60, "the commit without an id")

    @contextmanager
    def member(self, group: str, topic: str) -> Iterator[None]:
        """Hold a member in a group that reads a topic."""
        settings = {"group.id": group, "client.id": "contract", "enable.auto.commit": False}
        with closing(Consumer({**self.config, **settings})) as consumer:
            consumer.subscribe([topic])
            wait_until(lambda: consumer.poll(0.1) is None and bool(consumer.assignment()))
            yield

    def test_count_and_record_pass_over_transaction_markers(self, topic: str) -> None:
        """Under read_committed neither markers nor aborted records are met or counted."""
        producer = Producer({**self.config, "transactional.id": f"count-{topic}"})
        producer.init_transactions(30)
        for value, end in ((b"1", producer.commit_transaction), (b"2", producer.abort_transaction)) * 2:
            producer.begin_transaction()
            producer.produce(topic, value=value, partition=0)
            # An abort drops what was not sent yet.
            producer.flush(60)
            end(30)
        partition = Partition(topic, 0)
        wait_until(lambda: self.cluster.log_end_offsets([partition], "read_committed") == {partition: 8})

        met = self.cluster.records_at({partition: 1}, "read_committed")[partition]

        assert met is not None
        assert met.offset == 4
        assert {partition: 2} == self.cluster.count_visible({partition: 0}, {partition: 8}, "read_committed")
        assert {partition: 4} == self.cluster.count_visible({partition: 0}, {partition: 8}, "read_uncommitted")
        assert {partition: None} == self.cluster.records_at({partition: 5}, "read_committed")

    def test_digest_holds_key_value_headers_and_timestamp(self, topic: str) -> None:
        """Two records are the same only if all four are; a missing value is not an empty one."""
        # The brokers would delete older records within seconds.
        now_ms = time.time_ns() // 1_000_000
        alike = {"key": b"k", "value": b"v", "headers": [("h", b"1"), ("n", None)], "timestamp": now_ms}
        others = (
            {"key": b"other"},
            {"value": b""},
            {"value": None},
            {"headers": [("h", b"1")]},
            {"timestamp": now_ms + 1},
        )
        producer = Producer(self.config)
        for record in (alike, alike, *({**alike, **other} for other in others)):
            producer.produce(topic, partition=0, **record)
        assert producer.flush(60) == 0
        partition = Partition(topic, 0)

        prints = [self.cluster.records_at({partition: n}, "read_committed")[partition] for n in range(2 + len(others))]
        digests = [found.digest for found in prints if found]

        assert digests[0] == digests[1]
        assert 1 + len(others) == len(set(digests))

    def test_probe_passes_over_transaction_markers(self, topic: str) -> None:
        """Behind the last committed record only a marker follows: the probe meets the end at the goal."""
        producer = Producer({**self.config, "transactional.id": f"probe-{topic}"})
        producer.init_transactions(30)
        producer.begin_transaction()
        producer.produce(topic, value=b"1", partition=0)
        producer.commit_transaction(30)
        producer.begin_transaction()
        producer.produce(topic, value=b"aborted", partition=0)
        # An abort drops what was not sent yet.
        producer.flush(60)
        producer.abort_transaction(30)
        partition = Partition(topic, 0)

        # The markers are written behind the producer's back; wait until the last one ends the transaction.
        wait_until(lambda: self.cluster.log_end_offsets([partition], "read_committed") == {partition: 4})

        assert {partition: Probe(4, True)} == self.cluster.probe({partition: 1}, "read_committed")
        assert {partition: Probe(2, False)} == self.cluster.probe({partition: 1}, "read_uncommitted")

    def test_open_transaction_holds_the_committed_end(self, topic: str) -> None:
        """Under read_committed the end is the start of the first open transaction, else the high watermark."""
        plain = Producer(self.config)
        plain.produce(topic, value=b"0", partition=0)
        plain.flush(60)
        producer = Producer({**self.config, "transactional.id": f"open-{topic}"})
        producer.init_transactions(30)
        producer.begin_transaction()
        producer.produce(topic, value=b"1", partition=0)
        producer.flush(60)
        plain.produce(topic, value=b"2", partition=0)
        plain.flush(60)
        partition = Partition(topic, 0)

        assert {partition: 1} == self.cluster.log_end_offsets([partition], "read_committed")
        assert {partition: 3} == self.cluster.log_end_offsets([partition], "read_uncommitted")
        producer.abort_transaction(30)

    def test_topic_asked_for_before_it_existed_is_found(self) -> None:
        """Regression: a client that once was told of no such topic went on to find no offsets of it."""
        partition = Partition(f"contract-{uuid4().hex[:8]}", 0)
        self.cluster.topic_names()
        assert {} == self.cluster.log_end_offsets([partition], "read_committed")

        ConfluentCluster("other", self.config).create_topics([NewTopic(partition.topic, 1, 1, {})])

        def is_found() -> bool:
            # The broker may not know yet that it leads the partition.
            with suppress(TransientError):
                return {partition: 0} == self.cluster.log_end_offsets([partition], "read_committed")
            return False

        wait_until(is_found)

    @pytest.mark.campaign
    def test_first_records_of_600_partitions_of_large_batches(self) -> None:
        """Batches larger than what is fetched of a partition come all the same, a few at a time."""
        topic = f"contract-{uuid4().hex[:8]}"
        self.cluster.create_topics([NewTopic(topic, 600, 1, {})])
        producer = Producer({**self.config, "linger.ms": 0, "batch.size": 300_000})
        partitions = [Partition(topic, number) for number in range(600)]
        for partition in partitions:
            producer.produce(topic, value=b"%0200000d" % partition.partition, partition=partition.partition)
            producer.poll(0)
        assert producer.flush(60) == 0

        found = self.cluster.records_at(dict.fromkeys(partitions, 0), "read_committed")

        assert 600 == len({record.digest for record in found.values() if record is not None})
        self.cluster.delete_topics([topic])


def test_cluster_that_does_not_answer_is_transient() -> None:
    """A closed port is a transport error that names the cluster."""
    with pytest.raises(TransientError, match="source"):
        ConfluentCluster("source (nowhere)", {"bootstrap.servers": "127.0.0.1:9"}).topic_names()
