"""Reads topics to their present end with a plain consumer, independently of the package under test."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import NamedTuple

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition

from sandbox.data.asking import PASSING, asked
from sandbox.data.clients import client_config
from sandbox.data.records import Headers, Record
from sandbox.errors import SandboxError

CHUNK_RECORDS = 10_000
STALL_TIMEOUT_S = 120.0


class Content(NamedTuple):
    """The committed records of a partition: their number, and a digest of all in order."""

    records: int
    digest: str


class Placed(NamedTuple):
    """A record and its offset."""

    offset: int
    record: Record


Contents = Mapping[str, Mapping[int, Content]]


def read_contents(bootstrap: str, topics: Iterable[str]) -> Contents:
    """Return {topic: {partition: content}}, including partitions without records."""
    wanted = tuple(topics)
    counts, digests = {}, {}
    with _Reader(bootstrap, wanted) as reader:
        for place in reader.partitions:
            counts[place], digests[place] = 0, blake2b(digest_size=16)
        for message in reader.messages():
            place = (message.topic(), message.partition())
            counts[place] += 1
            digests[place].update(repr(to_record(message)).encode())
    return {
        topic: {p: Content(counts[t, p], digests[t, p].hexdigest()) for t, p in sorted(counts) if t == topic}
        for topic in wanted
    }


def read_records(bootstrap: str, topic: str) -> dict[int, list[Placed]]:
    """Return every visible record of a topic, {partition: records in the order of the log}."""
    with _Reader(bootstrap, (topic,)) as reader:
        found: dict[int, list[Placed]] = {partition: [] for _, partition in reader.partitions}
        for message in reader.messages():
            found[message.partition()].append(Placed(message.offset(), to_record(message)))
    return found


def to_record(message: Message) -> Record:
    """Return a message as the record that was sent."""
    headers: Headers = tuple((name, value) for name, value in message.headers() or ())
    return Record(message.key(), message.value(), headers, message.timestamp()[1], message.partition())


def partitions_of(consumer: Consumer, topic: str) -> list[int]:
    """Return the numbers of a topic's partitions, even if the topic is still being created.

    Raises:
        SandboxError: the topic does not exist or cannot be read.
    """

    def described() -> list[int]:
        found = consumer.list_topics(topic, timeout=60).topics[topic]
        if found.error is not None:
            raise KafkaException(found.error)
        return sorted(found.partitions)

    return asked(described, f"topic {topic} cannot be read")


class _Reader:
    """A consumer without a group, assigned to every partition of some topics from its first record on."""

    def __init__(self, bootstrap: str, topics: Iterable[str]) -> None:
        self._consumer = Consumer(
            {
                **client_config(bootstrap),
                # librdkafka requires a name; nothing is committed, so no group is created.
                "group.id": "sandbox-reader",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
            }
        )
        self.partitions = frozenset(self._find(topics))

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def messages(self) -> Iterator[Message]:
        """Yield every record up to the present end of each partition."""
        self._consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for topic, number in self.partitions])
        unfinished = set(self.partitions)
        for message in self._polled(unfinished):
            if message.error() is None:
                yield message
            elif message.error().code() == KafkaError._PARTITION_EOF:
                unfinished.discard((message.topic(), message.partition()))
            elif message.error().code() not in PASSING:
                raise SandboxError(f"{message.topic()} cannot be read: {message.error()}")

    def _polled(self, unfinished: set[tuple[str, int]]) -> Iterator[Message]:
        deadline = time.monotonic() + STALL_TIMEOUT_S
        while unfinished:
            found = self._consumer.consume(CHUNK_RECORDS, 0.5)
            if any(message.error() is None for message in found):
                deadline = time.monotonic() + STALL_TIMEOUT_S
            if time.monotonic() > deadline:
                raise SandboxError(f"the ends of {sorted(unfinished)} were not reached in {STALL_TIMEOUT_S:.0f} s")
            yield from found

    def _find(self, topics: Iterable[str]) -> Iterator[tuple[str, int]]:
        for topic in topics:
            yield from ((topic, number) for number in partitions_of(self._consumer, topic))
