"""Small compacted topics as tables; a repeated read continues where the last one ended."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as ClientPartition

from kafka_migration.adapters.kafka.kafka_client import may_pass, reader_settings
from kafka_migration.adapters.system.deadlines import time_left
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition

BATCH_RECORDS = 1000
# `consume` waits this long for a full batch.
BATCH_WAIT_S = 0.02
READ_TIMEOUT_S = 60.0

Table = dict[bytes | None, bytes | None]


class _CutShort(TimeoutError):
    """The caller's time ended while records were still arriving."""


@dataclass
class _Followed:
    """A followed topic: the latest value of each key so far, and the next offset of each partition."""

    topic_id: str
    latest: Table = field(default_factory=dict)
    next_offsets: dict[TopicPartition, int] = field(default_factory=dict)

    def goes_on(self, topic_id: str, end_offsets: Offsets) -> bool:
        """Whether a topic with this id and these ends can be the topic that was read so far."""
        return (
            self.topic_id == topic_id
            and self.next_offsets.keys() == end_offsets.keys()
            and all(self.next_offsets[p] <= end for p, end in end_offsets.items())
        )


class TableReader:
    """Reads tables of one cluster with one long-lived consumer; not thread-safe.

    A recreated topic is read from its beginning. It is detected by its id or, if brokers have no topic ids (before
    Kafka 2.8), by an end before the offsets already read. Without ids, a recreated topic that was meanwhile filled
    beyond that point is not detected.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._config = dict(config)
        self._consumer: Consumer | None = None
        self._followed: dict[str, _Followed] = {}

    def read(self, topic: str, topic_id: str, end_offsets: Offsets, starts: Callable[[], Offsets]) -> Table:
        """Return the latest value of each key before the ends, read committed.

        `starts` returns the first offsets; it is asked only if the topic is read from its beginning. A client begins
        at exact offsets at once, but takes up to a second to find the beginning of a partition itself (seen with
        librdkafka 2.16).

        Raises `KafkaException`, what `starts` raises, and `TimeoutError` if nothing arrives for a while; then the next
        read starts from the beginning. If the caller's time ends while records are arriving, the next read continues
        there.
        """
        try:
            followed = self._follow(topic, topic_id, end_offsets, starts)
            self._read_to(followed, end_offsets)
        except _CutShort:
            raise
        except BaseException:
            self.close()
            raise
        return dict(followed.latest)

    def close(self) -> None:
        """Forget all tables and close the consumer."""
        consumer, self._consumer = self._consumer, None
        self._followed.clear()
        if consumer is not None:
            consumer.close()

    def _follow(self, topic: str, topic_id: str, end_offsets: Offsets, starts: Callable[[], Offsets]) -> _Followed:
        known = self._followed.get(topic)
        if known is not None and known.goes_on(topic_id, end_offsets):
            return known
        consumer, start_offsets = self._open(), starts()
        if known is not None:
            consumer.incremental_unassign([ClientPartition(*p) for p in known.next_offsets])
        self._followed[topic] = _Followed(topic_id, next_offsets=dict(start_offsets))
        consumer.incremental_assign([ClientPartition(*p, offset) for p, offset in sorted(start_offsets.items())])
        return self._followed[topic]

    def _read_to(self, followed: _Followed, end_offsets: Offsets) -> None:
        consumer, begun = self._open(), time.monotonic()
        silent_since, end = begun, begun + time_left(math.inf)
        while any(followed.next_offsets[p] < goal for p, goal in end_offsets.items()):
            for message in (messages := consumer.consume(BATCH_RECORDS, BATCH_WAIT_S)):
                self._take(message)
            now = time.monotonic()
            silent_since = now if messages else silent_since
            if now > silent_since + READ_TIMEOUT_S:
                raise TimeoutError("no records arrived")
            if now > end:
                raise (
                    _CutShort("not read to its end in time")
                    if silent_since > begun
                    else TimeoutError("no records arrived")
                )

    def _take(self, message: Message) -> None:
        """Process a record or the end of a partition; the end may come after transaction markers."""
        error = message.error()
        if error is not None and error.code() != KafkaError._PARTITION_EOF:
            if may_pass(error):
                return
            raise KafkaException(error)
        partition = TopicPartition(message.topic(), message.partition())
        followed = self._followed.get(partition.topic)
        if followed is None or partition not in followed.next_offsets:
            return
        if error is None:
            followed.latest[message.key()] = message.value()
        followed.next_offsets[partition] = message.offset() + (error is None)

    def _open(self) -> Consumer:
        if self._consumer is None:
            self._consumer = Consumer(reader_settings(self._config, "read_committed"))
        return self._consumer
