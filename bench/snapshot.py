"""The cost of one read of all positions and goals: in batches, compared with one partition at a time.

The source's broker is reached directly and through a relay with a round trip of 10 ms. Both arms read the log start and
end of every partition; the batched arm also reads MirrorMaker's stored positions.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as ClientPartition

from bench.relay import Relay, relayed_cluster
from bench.results import Arm, Row, compared
from bench.sizes import Snapshot as Size
from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.engines.mirrormaker2_topics import InternalTopics, stored_positions
from sandbox.parts import HOST

ALIAS = "bench-source"
PARTITIONS_PER_TOPIC = 100
ROUND_TRIP_S = 0.010
CALL_TIMEOUT_S = 300


def rows(size: Size) -> Iterator[Row]:
    """Create the topics once and time all arms on them."""
    with (
        tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder,
        relayed_cluster(Path(folder)) as cluster,
    ):
        _fill(cluster.bootstrap, size)
        yield from _near(cluster.bootstrap, size)
        with Relay(cluster.relay_port, cluster.relayed_port, ROUND_TRIP_S / 2):
            yield _far(f"{HOST}:{cluster.relay_port}", size)


def _near(bootstrap: str, size: Size) -> Iterator[Row]:
    batched = Arm("batched", _median(_batched(bootstrap, size.few), size.runs))
    with _loop(bootstrap, size.few) as loop:
        yield compared("snapshot of 1,000 partitions, batched ÷ loop", batched, Arm("loop", _median(loop, size.runs)))
    many = Arm(f"{size.many:,}", _median(_batched(bootstrap, size.many), size.runs))
    yield compared("snapshot, 10,000 ÷ 1,000 partitions", many, replace(batched, name=f"{size.few:,}"))


def _far(bootstrap: str, size: Size) -> Row:
    batched = Arm("batched", _median(_batched(bootstrap, size.few), size.runs))
    with _loop(bootstrap, size.few) as loop:
        # The loop takes minutes, so it runs once after its warm-up.
        other = Arm("loop", _median(loop, runs=1))
    return compared("snapshot of 1,000 partitions at 10 ms round trip, batched ÷ loop", batched, other)


def _fill(bootstrap: str, size: Size) -> None:
    """Create the topics, and store a position of every partition as MirrorMaker does."""
    new = [NewTopic(topic, PARTITIONS_PER_TOPIC, 1, {}) for topic in _topics(size.many)]
    tables = [NewTopic(_table(count), 25, 1, {}) for count in (size.few, size.many)]
    ConfluentCluster("bench", {"bootstrap.servers": bootstrap}).create_topics([*new, *tables])
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50})
    for count in (size.few, size.many):
        for partition in _partitions(count):
            source = {"cluster": ALIAS, "partition": partition.partition, "topic": partition.topic}
            key, value = json.dumps(["MirrorSourceConnector", source]), json.dumps({"offset": 1})
            producer.produce(_table(count), key=key, value=value)
            producer.poll(0)
    assert producer.flush(CALL_TIMEOUT_S) == 0
    _await_leaders(bootstrap, size.many)


def _await_leaders(bootstrap: str, count: int) -> None:
    """Return once every partition answers: metadata may name leaders that do not know their partition yet."""
    snapshot, deadline = _batched(bootstrap, count), time.monotonic() + CALL_TIMEOUT_S
    while True:
        try:
            return snapshot()
        except (AssertionError, TransientError):
            if time.monotonic() > deadline:
                raise
            time.sleep(1)


def _table(partitions: int) -> str:
    """Return the offsets topic of a migration with this many partitions."""
    return InternalTopics.of(f"bench-{partitions}", 0).offsets


def _topics(partitions: int) -> list[str]:
    return [f"bench-{number}" for number in range(partitions // PARTITIONS_PER_TOPIC)]


def _partitions(count: int) -> list[TopicPartition]:
    return [TopicPartition(topic, number) for topic in _topics(count) for number in range(PARTITIONS_PER_TOPIC)]


def _batched(bootstrap: str, count: int) -> Callable[[], None]:
    """Return the snapshot as a poll of the watch takes it, with a reused client."""
    cluster, partitions = ConfluentCluster("bench", {"bootstrap.servers": bootstrap}), _partitions(count)
    topics, table = _topics(count), _table(count)

    def snapshot() -> None:
        assert len(cluster.log_start_offsets(partitions)) == count
        assert len(cluster.log_end_offsets(partitions, "read_committed")) == count
        assert len(stored_positions(cluster.read_table(table), ALIAS, topics)) == count

    return snapshot


@contextmanager
def _loop(bootstrap: str, count: int) -> Iterator[Callable[[], None]]:
    """Yield the snapshot of a script: start and end of one partition at a time, with a reused client."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "bench"})
    partitions = [ClientPartition(topic, number) for topic, number in _partitions(count)]

    def snapshot() -> None:
        for partition in partitions:
            low, high = consumer.get_watermark_offsets(partition, timeout=30)
            assert low <= high

    yield snapshot
    consumer.close()


def _median(arm: Callable[[], None], runs: int) -> float:
    """Return the median seconds of an arm after a warm-up, which opens its connections."""
    seconds = []
    for _ in range(runs + 1):
        began = time.perf_counter()
        arm()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds[1:])
