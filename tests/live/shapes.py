"""Topics of every shape that a source may have and a copy of it still be clean."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from confluent_kafka import Producer

from tests.live.random_copies import home, placed_by_key, random_records
from tests.live.validation_scene import Place, Sent, Side
from tests.waiting import wait_until

PARTITIONS = 2
RECORDS = 90
COMPACTION_TIMEOUT_S = 300
MEGABYTE = 1_000_000
Logs = Sequence[Sequence[Sent]]


def mixed(rng: random.Random) -> list[Sent]:
    return random_records(rng, RECORDS)


@dataclass(frozen=True)
class Shape:
    """How records look and lie on the source, and how each side's producer and topic are set.

    :param codecs: compression on the source and on the target
    :param source, target: settings of the topic, named with underscores
    :param in_transactions: whether source and target are written in transactions, some of them aborted
    :param log_start: so many records of the source's partition 0 are deleted
    """

    records: Callable[[random.Random], list[Sent]] = mixed
    placed: Callable[[random.Random, list[Sent], int], Logs] = placed_by_key
    codecs: tuple[str, str] = ("none", "none")
    source: Mapping[str, str] = field(default_factory=dict)
    target: Mapping[str, str] = field(default_factory=dict)
    in_transactions: tuple[bool, bool] = (False, False)
    log_start: int = 0

    @property
    def is_untimed(self) -> bool:
        """Whether the target makes timestamps of its own."""
        return self.target.get("message_timestamp_type") == "LogAppendTime"

    @property
    def is_compacted(self) -> bool:
        """Whether the source is compacted before it is copied."""
        return "segment_ms" in self.source


def large(rng: random.Random) -> list[Sent]:
    sizes = (0, 1, 1_000, 65_536, MEGABYTE)
    return [replace(r, value=rng.randbytes(rng.choice(sizes))) for r in random_records(rng, 20)]


def of_headers(rng: random.Random) -> list[Sent]:
    """Headers with names and values of every kind, many of them, and large ones."""
    names, values = ["", "a", "trace", "größe", "鍵", "🔑" * 20], [None, b"", b"\0", bytes(range(256)), b"x" * 50_000]

    def some(most: int) -> list[tuple[str, bytes | None]]:
        return [(rng.choice(names), rng.choice(values)) for _ in range(rng.randrange(most))]

    many: list[tuple[str, bytes | None]] = [("n", b"%d" % n) for n in range(300)]
    return [replace(r, headers=many if n % 30 == 7 else some(5)) for n, r in enumerate(mixed(rng))]


def out_of_order(rng: random.Random) -> list[Sent]:
    """Timestamps from the epoch's first milliseconds until today, in no order, some of them equal."""
    return [replace(r, timestamp_ms=rng.choice([1, 2, rng.randrange(1, r.timestamp_ms)])) for r in mixed(rng)]


def repeated(rng: random.Random) -> list[Sent]:
    """Records and runs of records that the source itself holds several times, beside each other and far apart."""
    records = mixed(rng)
    for _ in range(8):
        start, to = rng.randrange(len(records)), rng.randrange(len(records))
        records[to:to] = records[start : start + rng.choice([1, 1, 12])]
    first = rng.randrange(len(records))
    records[first:first] = [records[first]] * 5
    return records


def keyed(rng: random.Random) -> list[Sent]:
    """Records that a compacted topic takes."""
    return [r for r in mixed(rng) if r.key is not None]


def scattered(rng: random.Random, records: list[Sent], partitions: int) -> Logs:
    """Put records anywhere, so that keys are in several partitions."""
    logs: list[list[Sent]] = [[] for _ in range(partitions)]
    for record in records:
        logs[rng.randrange(partitions)].append(record)
    return logs


COMPACT = {"cleanup_policy": "compact"}
SOON = {**COMPACT, "segment_ms": "100", "min_cleanable_dirty_ratio": "0.001"}
APPEND_TIME = {"message_timestamp_type": "LogAppendTime"}
LARGE = {"max_message_bytes": "4000000"}
SHAPES: dict[str, Shape] = {
    "mixed": Shape(),
    "gzip to zstd": Shape(codecs=("gzip", "zstd")),
    "snappy to lz4": Shape(codecs=("snappy", "lz4")),
    "lz4 to none": Shape(codecs=("lz4", "none")),
    "zstd to snappy": Shape(codecs=("zstd", "snappy")),
    "none to gzip": Shape(codecs=("none", "gzip")),
    "large": Shape(large, source=LARGE, target=LARGE),
    "headers": Shape(of_headers),
    "out of order": Shape(out_of_order),
    "append time on the target": Shape(target=APPEND_TIME),
    "append time on the source": Shape(source=APPEND_TIME),
    "repeated at the source": Shape(repeated),
    "compact": Shape(keyed, source=COMPACT, target=COMPACT),
    "compacted": Shape(keyed, source=SOON, target=COMPACT),
    "transactions on the source": Shape(in_transactions=(True, False)),
    "transactions on both sides": Shape(in_transactions=(True, True)),
    "keys in several partitions": Shape(placed=scattered),
    "deleted at the start": Shape(log_start=10),
    "empty": Shape(lambda rng: []),
}


def send(side: Side, placed: Mapping[Place, Sequence[Sent]], codec: str, *, in_transactions: bool) -> None:
    """Write partitions, in transactions if asked for."""
    if in_transactions:
        _transact(side, placed)
    else:
        side.fill(placed, compression_codec=codec, message_max_bytes=LARGE["max_message_bytes"])


def _transact(side: Side, placed: Mapping[Place, Sequence[Sent]]) -> None:
    """Write partitions in transactions of some records; after each comes one that is aborted, at the end too."""
    producer = Producer({"bootstrap.servers": side.bootstrap, "transactional.id": "shapes"})
    producer.init_transactions(30)
    for place, records in placed.items():
        for start in range(0, len(records), 15):
            for piece, end in (
                (records[start : start + 15], producer.commit_transaction),
                (records[start : start + 3], producer.abort_transaction),
            ):
                producer.begin_transaction()
                side.produce(producer, *place, piece)
                assert producer.flush(60) == 0
                end(30)


def force_compaction(side: Side, topic: str, logs: Logs) -> None:
    """Wait until each partition holds of each key the last record only, but for its newest record.

    That one is sent behind all others: the segment that is written to is not compacted.
    """
    newest = max(record.timestamp_ms for log in logs for record in log) + 1_000
    candidates = [b"newest-%d" % number for number in range(100)]
    keys = [next(key for key in candidates if home(key, len(logs)) == n) for n in range(len(logs))]
    side.fill({(topic, n): [Sent(key, b"", timestamp_ms=newest)] for n, key in enumerate(keys)})

    def is_compacted() -> bool:
        read = side.records({(topic, n): 0 for n in range(len(logs))})
        closed = [[record.key for _, record in records[:-1]] for records in read.values()]
        return all(len(set(found)) == len(found) for found in closed)

    wait_until(is_compacted, COMPACTION_TIMEOUT_S, f"the compaction of {topic}")
