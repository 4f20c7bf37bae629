"""Fills a source cluster with topics, records and groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from sandbox.data import records
from sandbox.data.groups import make_groups
from sandbox.data.records import Record
from sandbox.data.sending import Sender, TransactionalSender
from sandbox.data.topics import AUDIT, ORDERS, PAYMENTS, TRANSFERS, create_topics, wait_until_settled

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
# Codecs alternate within a partition only if one producer's records are written before the next one's.
CODEC_BLOCK_RECORDS = 2_000


@dataclass(frozen=True, slots=True)
class Volumes:
    """The number of committed records per topic."""

    orders: int = 200_000
    payments: int = 30_000
    audit: int = 20_000
    transfers: int = 10_000


def seed(bootstrap: str, start_ms: int, volumes: Volumes | None = None) -> dict[str, int]:
    """Create the demo's topics, records and consumer groups; return visible records per topic.

    Content, partitions and order are the same each time. Record times lie in the three days (`records.SPAN_MS`)
    from `start_ms` on, in milliseconds since the epoch.

    Raises:
        SandboxError: a topic exists already, or the brokers did not accept all records.
    """
    wanted = volumes or Volumes()
    create_topics(bootstrap)
    sent = {
        ORDERS.name: _orders(bootstrap, start_ms, wanted.orders),
        PAYMENTS.name: _payments(bootstrap, start_ms, wanted.payments),
        AUDIT.name: _audit(bootstrap, start_ms, wanted.audit),
        TRANSFERS.name: _transfers(bootstrap, start_ms, wanted.transfers),
    }
    make_groups(bootstrap)
    return sent


def _orders(bootstrap: str, start_ms: int, count: int) -> int:
    sender = Sender(bootstrap, {"compression.type": "lz4"})
    sender.send_all(ORDERS.name, records.orders(records.spread(start_ms, count)))
    return sender.acknowledged.get(ORDERS.name, 0)


def _payments(bootstrap: str, start_ms: int, count: int) -> int:
    senders = [Sender(bootstrap, {"compression.type": codec, "linger.ms": 5}) for codec in CODECS]
    history = records.payments(records.spread(start_ms, count))
    for number, block in enumerate(_blocks(history, CODEC_BLOCK_RECORDS)):
        senders[number % len(senders)].send_all(PAYMENTS.name, block)
    return sum(sender.acknowledged.get(PAYMENTS.name, 0) for sender in senders)


def _audit(bootstrap: str, start_ms: int, count: int) -> int:
    sender = Sender(bootstrap)
    sender.send_all(AUDIT.name, records.audit(records.spread(start_ms, count)))
    return sender.acknowledged.get(AUDIT.name, 0)


def _transfers(bootstrap: str, start_ms: int, count: int) -> int:
    sender = TransactionalSender(bootstrap, "transfers-history")
    for transaction in records.transactions(start_ms, count):
        sender.begin()
        for record in transaction.records:
            sender.send(TRANSFERS.name, record)
        if transaction.is_committed:
            sender.commit()
        else:
            sender.abort()
    wait_until_settled(bootstrap, TRANSFERS)
    return sender.committed.get(TRANSFERS.name, 0)


def _blocks(history: Iterator[Record], size: int) -> Iterator[list[Record]]:
    while block := list(islice(history, size)):
        yield block
