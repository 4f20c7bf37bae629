"""The demo's topics, and creating topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from sandbox.data.records import AUDIT_PARTITIONS, DAY_MS
from sandbox.errors import SandboxError

ADMIN_TIMEOUT_S = 30


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic, its partition count, and the settings that differ from the broker's."""

    name: str
    partitions: int
    configs: Mapping[str, str] = field(default_factory=dict)


# Retention is far above the data's age: nothing may be purged while the demo compares.
ORDERS = Topic("orders", 4, {"retention.ms": str(14 * DAY_MS), "segment.bytes": "8388608"})
PAYMENTS = Topic("payments", 3, {"max.message.bytes": "2097152", "retention.ms": str(30 * DAY_MS)})
AUDIT = Topic("audit", AUDIT_PARTITIONS, {"compression.type": "gzip"})
TRANSFERS = Topic("transfers", 3)
TOPICS = (ORDERS, PAYMENTS, AUDIT, TRANSFERS)


def admin(bootstrap: str) -> AdminClient:
    """Return an admin client that logs errors only; keep it while results are awaited, they end with it."""
    return AdminClient({"bootstrap.servers": bootstrap, "log_level": 3})


def create_topics(bootstrap: str, topics: Iterable[Topic] = TOPICS) -> None:
    """Create topics with one replica and wait until all are there.

    Raises:
        SandboxError: one cannot be created, for example because it exists.
    """
    new = [NewTopic(topic.name, topic.partitions, replication_factor=1, config=dict(topic.configs)) for topic in topics]
    client = admin(bootstrap)
    futures = client.create_topics(new, operation_timeout=ADMIN_TIMEOUT_S)
    for name, future in futures.items():
        try:
            future.result(ADMIN_TIMEOUT_S)
        except KafkaException as error:
            raise SandboxError(f"topic {name} cannot be created at {bootstrap}: {error.args[0].str()}") from error


def present_topics(bootstrap: str) -> set[str]:
    """Return the names of the topics of a cluster."""
    return set(admin(bootstrap).list_topics(timeout=ADMIN_TIMEOUT_S).topics)
