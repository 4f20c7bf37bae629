"""The cost of one read of all positions and goals: in batches, compared with one partition at a time.

The source's broker is reached directly and through a relay with a round trip of 10 ms. Both arms read the log start and
end of every partition; the batched arm also reads MirrorMaker's stored positions.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as ClientPartition

from bench.relay import Relay, relayed_cluster
from bench.results import Row
from kafka_migration.adapters.kafka import ConfluentCluster
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.engines.mirrormaker2_topics import InternalTopics, stored_positions
from sandbox.parts import HOST

ALIAS = "bench-source"
FEW, MANY = 1_000, 10_000
PARTITIONS_PER_TOPIC = 100
ROUND_TRIP_S = 0.010
RUNS = 5
CALL_TIMEOUT_S = 300


def rows() -> list[Row]:
    """Create the topics once and time all arms on them."""
    with (
        tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder,
        relayed_cluster(Path(folder)) as cluster,
    ):
        _fill(cluster.bootstrap)
        far = f"{HOST}:{cluster.relay_port}"
        with Relay(cluster.relay_port, cluster.relayed_port, ROUND_TRIP_S / 2):
            seconds = {
                "loop": _median(lambda: _one_by_one(cluster.bootstrap, FEW)),
                "batched": _median(_batched(cluster.bootstrap, FEW)),
                "batched, many": _median(_batched(cluster.bootstrap, MANY)),
                "loop, far": _median(lambda: _one_by_one(far, FEW), runs=1),
                "batched, far": _median(_batched(far, FEW)),
            }
    return [
        Row("snapshot of 1,000 partitions, batched ÷ loop", seconds["batched"] / seconds["loop"], 1 / 5, None),
        Row(
            "snapshot of 1,000 partitions at 10 ms round trip, batched ÷ loop",
            seconds["batched, far"] / seconds["loop, far"],
            1 / 100,
            None,
        ),
        Row("snapshot, 10,000 ÷ 1,000 partitions", seconds["batched, many"] / seconds["batched"], 12, None),
    ]


def _fill(bootstrap: str) -> None:
    """Create the topics, and store a position of every partition as MirrorMaker does."""
    new = [NewTopic(topic, PARTITIONS_PER_TOPIC, 1, {}) for topic in _topics(MANY)]
    tables = [NewTopic(_table(count), 25, 1, {}) for count in (FEW, MANY)]
    ConfluentCluster("bench", {"bootstrap.servers": bootstrap}).create_topics([*new, *tables])
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50})
    for count in (FEW, MANY):
        for partition in _partitions(count):
            source = {"cluster": ALIAS, "partition": partition.partition, "topic": partition.topic}
            key, value = json.dumps(["MirrorSourceConnector", source]), json.dumps({"offset": 1})
            producer.produce(_table(count), key=key, value=value)
            producer.poll(0)
    assert producer.flush(CALL_TIMEOUT_S) == 0
    _await_leaders(bootstrap)


def _await_leaders(bootstrap: str) -> None:
    """Return once every partition answers: metadata may name leaders that do not know their partition yet."""
    snapshot, deadline = _batched(bootstrap, MANY), time.monotonic() + CALL_TIMEOUT_S
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


def _one_by_one(bootstrap: str, count: int) -> None:
    """Read start and end of one partition at a time, as most scripts do."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "bench"})
    for topic, number in _partitions(count):
        low, high = consumer.get_watermark_offsets(ClientPartition(topic, number), timeout=30)
        assert low <= high
    consumer.close()


def _median(arm: Callable[[], None], runs: int = RUNS) -> float:
    """Return the median seconds of an arm after a warm-up."""
    seconds = []
    for _ in range(runs + 1):
        began = time.perf_counter()
        arm()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds[1:])
