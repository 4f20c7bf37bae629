"""What is copied, and how much it costs from the first record on the target to the last one."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from confluent_kafka import Producer

from bench.measuring import Cost, meter
from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition

TIMEOUT_S = 600


@dataclass(frozen=True)
class Topic:
    """A topic of the source: `count` records of `value_bytes`, which their producer compressed with `codec`."""

    name: str
    partitions: int
    count: int
    value_bytes: int = 100
    codec: str = "none"

    def fill(self, bootstrap: str) -> None:
        """Create the topic and write its records."""
        cluster = ConfluentCluster("bench", {"bootstrap.servers": bootstrap})
        cluster.create_topics([NewTopic(self.name, self.partitions, 1, {})])
        self.write(bootstrap)

    def write(self, bootstrap: str) -> None:
        """Write its records to the topic, once more if they are there already."""
        settings = {"linger.ms": 50, "queue.buffering.max.messages": 0, "compression.type": self.codec}
        producer = Producer({"bootstrap.servers": bootstrap, **settings})
        # Numbers as text can be compressed to about a tenth.
        noise = random.Random(1).randbytes(self.value_bytes - 12)
        for number in range(self.count):
            value = b"%0*d" % (self.value_bytes, number) if self.value_bytes < 1_000 else b"%012d" % number + noise
            producer.produce(self.name, value, partition=number % self.partitions)
        assert producer.flush(TIMEOUT_S) == 0


def cost_of_copy(records: int, arrived: Callable[[], int], fault: Callable[[], str] = str) -> Cost:
    """Return the cost of copying all records, calculated from those that came after the first ones were seen.

    :param arrived: returns how many records are on the target
    :param fault: returns why no more records will come; empty while they may
    """
    deadline, whole = time.monotonic() + TIMEOUT_S, meter()
    before = await_records(1, arrived, fault, deadline)
    if before >= records:
        # So few that all came at once.
        return whole()
    cost = meter()
    await_records(records, arrived, fault, deadline)
    found, share = cost(), (records - before) / records
    return replace(found, wall_s=found.wall_s / share, cpu_s=found.cpu_s / share)


def await_records(
    least: int, arrived: Callable[[], int], fault: Callable[[], str] = str, deadline: float | None = None
) -> int:
    """Wait until this many records are on the target; return how many there are."""
    deadline = deadline or time.monotonic() + TIMEOUT_S
    while (found := arrived()) < least:
        assert not (why := fault()), why
        if time.monotonic() > deadline:
            raise TimeoutError(f"{found:,} of {least:,} records")
        time.sleep(0.1)
    return found


def on_target(target: ConfluentCluster, partitions: Sequence[TopicPartition]) -> int:
    """Return how many records these partitions have; none while MirrorMaker creates their topic."""
    try:
        return sum(target.log_end_offsets(partitions, "read_uncommitted").values())
    except TransientError:
        return 0
