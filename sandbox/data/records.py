"""The records of the demo's topics. Pure and deterministic: the same seed and times give the same bytes.

Each generator yields one record per given time, so the same code makes a fixed history (times spread over days) and
endless traffic (times from the clock).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

SEED = 20_240
CUSTOMERS = 5_000
ACCOUNTS = 900
AUDIT_PARTITIONS = 2
BY_KEY = -1
DAY_MS = 86_400_000
SPAN_MS = 3 * DAY_MS
# A record's timestamp is up to this much too early for its place: real logs are not sorted by CreateTime.
JITTER_MS = 5_000
TRANSACTION_RECORDS = 100
ABORTED_RECORDS = 30
ABORTED_EVERY = 4

Headers = tuple[tuple[str, bytes | None], ...]


class Record(NamedTuple):
    """A record as a producer sends it; `partition` is `BY_KEY` if the partitioner decides."""

    key: bytes | None
    value: bytes | None
    headers: Headers
    timestamp_ms: int
    partition: int = BY_KEY


@dataclass(frozen=True, slots=True)
class Transaction:
    """Records that one transaction sends, and how it ends."""

    records: tuple[Record, ...]
    is_committed: bool


def spread(start_ms: int, count: int, span_ms: int = SPAN_MS) -> Iterator[int]:
    """Yield `count` times from `start_ms` on over a span, in milliseconds since the epoch, nearly ascending."""
    draw = random.Random(SEED)
    for number in range(count):
        yield max(start_ms, start_ms + number * span_ms // count - draw.randrange(JITTER_MS))


def orders(times: Iterable[int], stream: str = "history") -> Iterator[Record]:
    """Yield order events keyed by customer, each unique; a third is followed at once by the same key's next event."""
    draw = random.Random(f"{SEED}/orders/{stream}")
    customer, status, cents = 0, "placed", 0
    for number, time_ms in enumerate(times):
        if status == "placed":
            customer, cents = draw.randrange(CUSTOMERS), draw.randrange(500, 90_000)
        value = (
            f'{{"event":"{stream}-{number}","customer":{customer},"status":"{status}","items":{1 + cents % 7},'
            f'"total_cents":{cents},"currency":"EUR","shop":"shop-{customer % 40:02}"}}'
        )
        yield Record(b"customer-%04d" % customer, value.encode(), (), time_ms)
        status = "paid" if status == "placed" and draw.random() < 0.5 else "placed"


def payments(times: Iterable[int], stream: str = "history") -> Iterator[Record]:
    """Yield payments keyed by customer with headers of every shape, tombstones, and empty (not null) values."""
    draw = random.Random(f"{SEED}/payments/{stream}")
    for number, time_ms in enumerate(times):
        customer = draw.randrange(CUSTOMERS)
        text = f'{{"payment":"{stream}-{number}","customer":{customer},"cents":{draw.randrange(100, 90_000)}}}'
        value = None if number % 17 == 11 else b"" if number % 101 == 50 else text.encode()
        yield Record(b"customer-%04d" % customer, value, _headers(number, draw), time_ms)


def _headers(number: int, draw: random.Random) -> Headers:
    shapes: tuple[Headers, ...] = (
        (),
        (("trace", b"%016x" % draw.getrandbits(64)),),
        (("attempt", b"1"), ("trace", b"%d" % number), ("attempt", b"2")),
        (("reviewed-by", None),),
        (("signature", draw.randbytes(24)), ("empty", b"")),
    )
    return shapes[number % len(shapes)]


def audit(times: Iterable[int], stream: str = "history") -> Iterator[Record]:
    """Yield audit lines without a key.

    The partition is random too: with the partitioner, two sandboxes would hold different logs.
    """
    draw = random.Random(f"{SEED}/audit/{stream}")
    for number, time_ms in enumerate(times):
        action = draw.choice(("login", "logout", "price-change", "refund", "export"))
        text = f"{stream}-{number} user-{draw.randrange(200):03} {action} from 10.0.{draw.randrange(256)}.7"
        yield Record(None, text.encode(), (("source", b"backoffice"),), time_ms, draw.randrange(AUDIT_PARTITIONS))


def transfers(times: Iterable[int], stream: str = "history") -> Iterator[Record]:
    """Yield money transfers keyed by account."""
    draw = random.Random(f"{SEED}/transfers/{stream}")
    for number, time_ms in enumerate(times):
        account, other = draw.randrange(ACCOUNTS), draw.randrange(ACCOUNTS)
        text = f'{{"transfer":"{stream}-{number}","from":{account},"to":{other},"cents":{draw.randrange(1, 10**6)}}}'
        yield Record(b"account-%03d" % account, text.encode(), (("booking", b"%d" % number),), time_ms)


def transactions(start_ms: int, committed_records: int) -> Iterator[Transaction]:
    """Yield the history of `transfers`: aborted transactions among the committed ones, and one at the very end.

    So the log of every partition ends with aborted records and an abort marker.
    """
    committed = transfers(spread(start_ms, committed_records))
    aborted = transfers(spread(start_ms, committed_records), "aborted")
    number = 0
    while batch := tuple(islice(committed, TRANSACTION_RECORDS)):
        yield Transaction(batch, is_committed=True)
        number += 1
        if number % ABORTED_EVERY == 0:
            yield Transaction(tuple(islice(aborted, ABORTED_RECORDS)), is_committed=False)
    yield Transaction(tuple(transfers([start_ms + SPAN_MS] * ABORTED_RECORDS, "aborted-last")), is_committed=False)
