"""Topics of two real clusters that hold the same records, as the arms read them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from multiprocessing import get_context

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

VALUE_BYTES = 100
_QUEUED = 500_000
# The same on both sides, and of today, because the broker deletes records that are older than its retention.
_TIMESTAMP_MS = int(time.time() * 1000)

Place = tuple[bytes, int]


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic with this many records; `place` returns key and partition of a record by its number.

    :param damage: one record in this many is damaged on the target: altered, missing and duplicated in turn
    """

    name: str
    records: int
    partitions: int
    place: Callable[[int], Place]
    damage: int = 0
    sizes: dict[str, dict[int, int]] = field(default_factory=dict)


def keyed(name: str, records: int, keys: int, partitions: int = 4) -> Topic:
    """Return a topic with this many keys, each in one partition."""
    return Topic(name, records, partitions, _Round(keys, partitions))


@dataclass(frozen=True, slots=True)
class _Round:
    """Keys one after the other."""

    keys: int
    partitions: int

    def __call__(self, number: int) -> Place:
        """Return key and partition."""
        key = number % self.keys
        return b"key-%d" % key, key % self.partitions


@dataclass(frozen=True, slots=True)
class Hot:
    """Half of all records have one key in its own partition; the tasks are as long as those of other topics."""

    keys: int
    partitions: int

    def __call__(self, number: int) -> Place:
        """Return key and partition."""
        if number % 2:
            return b"hot", 0
        key = number // 2 % self.keys
        return b"key-%d" % key, 1 + key % (self.partitions - 1)


def fill(sides: Mapping[str, str], topics: list[Topic]) -> None:
    """Create the topics on both sides and write their records, both sides at once."""
    for bootstrap in sides.values():
        admin = AdminClient({"bootstrap.servers": bootstrap})
        for future in admin.create_topics([NewTopic(t.name, t.partitions, 1) for t in topics]).values():
            future.result(60)
    context = get_context("fork")
    for topic in topics:
        queue = context.Queue()
        writers = [context.Process(target=_write, args=(queue, *side, topic)) for side in sides.items()]
        for writer in writers:
            writer.start()
        topic.sizes.update(queue.get() for _ in writers)
        for writer in writers:
            writer.join()


def _write(queue, side: str, bootstrap: str, topic: Topic) -> None:  # type: ignore[no-untyped-def]
    settings = {"linger.ms": 50, "queue.buffering.max.messages": 2 * _QUEUED, "enable.idempotence": True}
    producer = Producer({"bootstrap.servers": bootstrap, **settings})
    sizes: dict[int, int] = dict.fromkeys(range(topic.partitions), 0)
    for count, (number, value) in enumerate(_records(topic, side)):
        key, partition = topic.place(number)
        if count % _QUEUED == _QUEUED - 1:
            producer.flush()
        producer.produce(topic.name, value, key, partition, timestamp=_TIMESTAMP_MS)
        sizes[partition] += 1
    assert producer.flush() == 0
    queue.put((side, sizes))


def _damage(number: int, one_of: int) -> int | None:
    """Return how a record is damaged, by its number: one in each block of records, at irregular distances."""
    block, place = divmod(number, one_of)
    return block % 3 if place == block * 7_919 % one_of else None


def _records(topic: Topic, side: str) -> Iterator[tuple[int, bytes]]:
    """Return number and value of the records of one side."""
    for number in range(topic.records):
        value = b"%0*d" % (VALUE_BYTES, number)
        kind = _damage(number, topic.damage) if side == "target" and topic.damage else None
        if kind == 0:
            yield number, value[:-1] + b"?"
        elif kind == 1:
            continue
        else:
            yield number, value
            if kind == 2:
                yield number, value
