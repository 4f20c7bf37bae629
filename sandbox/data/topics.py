"""The demo's topics, and functions to create topics."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from sandbox.data.asking import asked
from sandbox.data.clients import client_config
from sandbox.data.records import AUDIT_PARTITIONS, DAY_MS
from sandbox.errors import SandboxError

ADMIN_TIMEOUT_S = 60


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic, its partition count, and the settings that differ from the broker's."""

    name: str
    partitions: int
    configs: Mapping[str, str] = field(default_factory=dict)


# Retention is much longer than the data's age, so that nothing is deleted during the comparison.
ORDERS = Topic("orders", 4, {"retention.ms": str(14 * DAY_MS), "segment.bytes": "8388608"})
PAYMENTS = Topic("payments", 3, {"max.message.bytes": "2097152", "retention.ms": str(30 * DAY_MS)})
AUDIT = Topic("audit", AUDIT_PARTITIONS, {"compression.type": "gzip"})
TRANSFERS = Topic("transfers", 3)
TOPICS = (ORDERS, PAYMENTS, AUDIT, TRANSFERS)


def admin(bootstrap: str) -> AdminClient:
    """Return an admin client; keep a reference until all results have arrived."""
    return AdminClient(client_config(bootstrap))


def create_topics(bootstrap: str, topics: Iterable[Topic] = TOPICS) -> None:
    """Create topics with one replica and wait until each partition has a leader that answers.

    Raises:
        SandboxError: one cannot be created, for example because it exists.
    """
    topics = tuple(topics)
    new = [NewTopic(topic.name, topic.partitions, replication_factor=1, config=dict(topic.configs)) for topic in topics]
    client = admin(bootstrap)
    futures = client.create_topics(new, operation_timeout=ADMIN_TIMEOUT_S)
    for name, future in futures.items():
        try:
            future.result(ADMIN_TIMEOUT_S)
        except KafkaException as error:
            raise SandboxError(f"topic {name} cannot be created at {bootstrap}: {error.args[0].str()}") from error
    wait_until_led(bootstrap, {topic.name: topic.partitions for topic in topics})


def wait_until_led(bootstrap: str, partitions: Mapping[str, int]) -> None:
    """Return once all partition leaders of new topics answer: a broker confirms the creation earlier.

    Args:
        bootstrap: `host:port` of the cluster.
        partitions: the number of partitions of each topic.

    Raises:
        SandboxError: a leader does not answer in time.
    """
    _all_ends(admin(bootstrap), partitions, IsolationLevel.READ_UNCOMMITTED)


def present_topics(bootstrap: str) -> set[str]:
    """Return the names of the topics of a cluster."""
    client = admin(bootstrap)
    return set(asked(lambda: client.list_topics(timeout=ADMIN_TIMEOUT_S), f"the topics of {bootstrap}").topics)


def topic_ends(bootstrap: str, topic: Topic) -> dict[int, int]:
    """Return the high watermark of each partition."""
    return _ends(admin(bootstrap), topic, IsolationLevel.READ_UNCOMMITTED)


def wait_until_settled(bootstrap: str, topic: Topic, timeout_s: float = ADMIN_TIMEOUT_S) -> None:
    """Return once no transaction is open on a topic: last stable offset = high watermark on every partition.

    A broker confirms the end of a transaction before it writes the markers that make the records visible.

    Raises:
        SandboxError: a transaction is still open after the time.
    """
    client, deadline = admin(bootstrap), time.monotonic() + timeout_s
    while _ends(client, topic, IsolationLevel.READ_COMMITTED) != _ends(client, topic, IsolationLevel.READ_UNCOMMITTED):
        if time.monotonic() > deadline:
            raise SandboxError(f"a transaction on topic {topic.name} is still open after {timeout_s:.0f} s")
        time.sleep(0.1)


def _ends(client: AdminClient, topic: Topic, level: IsolationLevel) -> dict[int, int]:
    found = _all_ends(client, {topic.name: topic.partitions}, level)
    return {number: offset for (_, number), offset in found.items()}


def _all_ends(client: AdminClient, partitions: Mapping[str, int], level: IsolationLevel) -> dict[tuple[str, int], int]:
    wanted = {
        TopicPartition(topic, number): OffsetSpec.latest()
        for topic, count in partitions.items()
        for number in range(count)
    }

    def ends() -> dict[tuple[str, int], int]:
        # After a request for a missing topic, the client considers it missing until it refreshes all topics.
        client.list_topics(timeout=ADMIN_TIMEOUT_S)
        futures = client.list_offsets(wanted, isolation_level=level, request_timeout=ADMIN_TIMEOUT_S)
        return {(p.topic, p.partition): future.result(ADMIN_TIMEOUT_S).offset for p, future in futures.items()}

    return asked(ends, f"the ends of {', '.join(partitions)}")
