"""Reads records of a Kafka cluster with a temporary consumer without a shared group."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from operator import methodcaller
from typing import Any

from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Consumer, KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as ClientPartition

from kafka_migration.adapters.kafka.kafka_client import ClusterClient, chunks, may_pass, reader_settings
from kafka_migration.adapters.system.deadlines import time_left
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.kafka.cluster import IsolationLevel, Probe
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.kafka.records import NO_TIMESTAMP, LogRow, RecordPrint, RecordShape, SampledRecord

READ_TIMEOUT_S = 60.0
# A probe ends if no further partition answers for this long. A client quota can delay an answer by more than ten
# seconds: while a broker throttles the client, the limit is `READ_TIMEOUT_S`.
PROBE_TIMEOUT_S = 10.0
# Few enough that all their answers, a batch or a little more each, arrive well before that.
PARTITIONS_AT_ONCE = 200
BATCH_RECORDS = 1000
# `consume` waits this long for a full batch.
BATCH_WAIT_S = 0.05
# One record per partition is enough, so only a few batches of a producer's default size (16 KiB) are fetched. A larger
# batch is returned completely if it is the first of a response (KIP-74), which happens to each in turn. The queue's
# limits count all partitions together: a partition that has its record must not delay the others by a second.
ONE_RECORD_EACH = {
    "max.partition.fetch.bytes": 65_536,
    "queued.min.messages": 1,
    "queued.max.messages.kbytes": 16_384,
    "fetch.queue.backoff.ms": 10,
    "fetch.wait.max.ms": 50,
}


# One record is the cause of these errors of a consumer.
_OF_A_RECORD = {
    KafkaError._BAD_MSG,
    KafkaError._BAD_COMPRESSION,
    KafkaError._UNDERFLOW,
    KafkaError._NOT_IMPLEMENTED,
    KafkaError.INVALID_MSG,
    KafkaError.INVALID_MSG_SIZE,
    KafkaError.MSG_SIZE_TOO_LARGE,
}
# Python checks that a C function does not return a value and an error at once, as `headers` may do; a method that is
# called by name in a loop is not checked, and its error appears somewhere later.
_ask_headers = methodcaller("headers")


class RecordReads(ClusterClient):
    """The record methods of `core.kafka.cluster.KafkaCluster`."""

    def probe(self, start: Mapping[TopicPartition, int], isolation: IsolationLevel) -> Mapping[TopicPartition, Probe]:
        """Return what a reader finds first from these offsets; a partition without an answer is missing."""
        met = self._met_first(start, isolation)
        return {
            partition: Probe(start[partition], is_end=False)
            if _is_unreadable(message)
            else Probe(message.offset(), is_end=message.error() is not None)
            for partition, message in met.items()
        }

    def records_at(self, offsets: Offsets, isolation: IsolationLevel) -> Mapping[TopicPartition, RecordPrint | None]:
        """Return the first visible record at or after each offset; `None` if the end comes first."""
        met = self._met_first(offsets, isolation)
        return {partition: _print(message, offsets[partition]) for partition, message in met.items()}

    def count_visible(self, start: Offsets, end: Offsets, isolation: IsolationLevel) -> Mapping[TopicPartition, int]:
        """Return the number of visible records in [start, end) per partition (`KafkaCluster.count_visible`)."""
        counts, unreadable = dict.fromkeys(start, 0), set[TopicPartition]()
        for message in self._visible(start, end, isolation, unreadable):
            counts[TopicPartition(message.topic(), message.partition())] += 1
        return {partition: count for partition, count in counts.items() if partition not in unreadable}

    def prints_between(
        self, start: Offsets, end: Offsets, isolation: IsolationLevel
    ) -> Mapping[TopicPartition, Sequence[RecordPrint]]:
        """Return the visible records in [start, end) per partition, ascending (`KafkaCluster.prints_between`)."""
        prints: dict[TopicPartition, list[RecordPrint]] = {partition: [] for partition in start}
        unreadable = set[TopicPartition]()
        for message in self._visible(start, end, isolation, unreadable):
            prints[TopicPartition(message.topic(), message.partition())].append(_print_of(message))
        return {partition: found for partition, found in prints.items() if partition not in unreadable}

    def _visible(
        self, start: Offsets, end: Offsets, isolation: IsolationLevel, unreadable: set[TopicPartition]
    ) -> Iterator[Message]:
        return self._between(start, end, isolation, {"auto.offset.reset": "error"}, unreadable)

    def _between(
        self,
        start: Offsets,
        end: Offsets,
        isolation: IsolationLevel,
        settings: Mapping[str, Any] | None = None,
        unreadable: set[TopicPartition] | None = None,
    ) -> Iterator[Message]:
        """Yield the records in [start, end) per partition, with a consumer of its own; raises like `_read_to`."""
        wanted = {partition: offset for partition, offset in start.items() if offset < end[partition]}
        with closing(self._reader(wanted, isolation, settings)) as consumer:
            yield from self._read_to(consumer, {partition: end[partition] for partition in wanted}, unreadable)

    def records_between(
        self, start: Offsets, end: Offsets, time_limit_s: float
    ) -> Iterator[tuple[bytes | None, bytes | None]]:
        """Yield (key, value) of every record in [start, end) per partition, read uncommitted.

        Raises `TransientError` if the time limit is reached, or if no record arrives for a while.
        """
        deadline = time.monotonic() + time_limit_s
        for message in self._between(start, end, "read_uncommitted"):
            if time.monotonic() > deadline:
                raise TransientError(f"{self.name}: {message.topic()} was not read to its end in {time_limit_s:.0f} s")
            yield message.key(), message.value()

    def rows_between(self, start: Offsets, end: Offsets) -> Sequence[LogRow]:
        """Return every record in [start, end) per partition, read uncommitted; raises like `_read_to`."""
        return [
            LogRow(TopicPartition(found.topic(), found.partition()), found.offset(), found.key(), found.value())
            for found in self._between(start, end, "read_uncommitted")
        ]

    def sampled_records(self, start: Offsets, end: Offsets, time_limit_s: float) -> Iterator[SampledRecord]:
        """Yield the records in [start, end) per partition, read uncommitted, until the time limit.

        A record that cannot be read ends the sample of its partition.
        """
        deadline = time.monotonic() + time_limit_s
        for message in self._between(start, end, "read_uncommitted", ONE_RECORD_EACH, set()):
            if time.monotonic() > deadline:
                return
            yield _sampled(message)

    def record_shapes(
        self, start: Offsets, end: Offsets, isolation: IsolationLevel, time_limit_s: float
    ) -> Iterator[RecordShape]:
        """Yield the shapes of the visible records in [start, end) per partition, until the time limit."""
        deadline = time.monotonic() + time_limit_s
        for message in self._between(start, end, isolation):
            if time.monotonic() > deadline:
                return
            yield _shape(message)

    def _met_first(self, start: Offsets, isolation: IsolationLevel) -> dict[TopicPartition, Message]:
        """Return the first message of each partition: a record, or an error message.

        The error is the end of the partition, or why its next record cannot be read. Partitions without an answer
        within the time limit of a probe after the last one are missing.
        """
        met: dict[TopicPartition, Message] = {}
        for chunk in chunks(sorted(start), PARTITIONS_AT_ONCE):
            met |= self._first_of({partition: start[partition] for partition in chunk}, isolation)
            if not met.keys() >= set(chunk):
                break
        return met

    def _first_of(self, start: Offsets, isolation: IsolationLevel) -> dict[TopicPartition, Message]:
        met: dict[TopicPartition, Message] = {}
        silence = _Silence()
        settings = {**ONE_RECORD_EACH, "throttle_cb": silence.allow_more}
        # A consumer that has paused all its partitions needs a second to switch to others; a new one does not.
        with closing(self._reader(start, isolation, settings)) as consumer:
            while len(met) < len(start) and not silence.is_too_long():
                message = consumer.poll(BATCH_WAIT_S)
                if message is None or self._is_passing(message, _OF_A_RECORD):
                    continue
                partition = TopicPartition(message.topic(), message.partition())
                if partition not in met:
                    met[partition] = message
                    silence.restart()
                consumer.pause([ClientPartition(*partition)])
        return met

    def _reader(
        self, start: Mapping[TopicPartition, int], isolation: IsolationLevel, settings: Mapping[str, Any] | None = None
    ) -> Consumer:
        consumer = Consumer({**reader_settings(self._config, isolation), **(settings or {})})
        consumer.assign([ClientPartition(p.topic, p.partition, offset) for p, offset in start.items()])
        return consumer

    def _read_to(self, consumer: Consumer, ends: Offsets, unreadable: set[TopicPartition] | None) -> Iterator[Message]:
        """Yield every record before the ends, in order per partition.

        With a set `unreadable`, a record that cannot be read ends its partition, which is added to the set. Raises
        `TransientError` if nothing arrives for `READ_TIMEOUT_S`, or if a partition ends before its given end.
        """
        unread = dict(ends)
        deadline = time.monotonic() + time_left(READ_TIMEOUT_S)
        while unread:
            messages = consumer.consume(BATCH_RECORDS, BATCH_WAIT_S)
            if messages:
                deadline = time.monotonic() + time_left(READ_TIMEOUT_S)
            elif time.monotonic() > deadline:
                raise TransientError(f"{self.name}: no record of {sorted(unread)[0]} for {READ_TIMEOUT_S:.0f} s")
            for message in messages:
                if unreadable is not None and _is_unreadable(message):
                    partition = TopicPartition(message.topic(), message.partition())
                    unreadable.add(partition)
                    unread.pop(partition, None)
                    consumer.pause([ClientPartition(*partition)])
                else:
                    yield from self._before_end(consumer, message, unread)

    def _before_end(self, consumer: Consumer, message: Message, unread: dict[TopicPartition, int]) -> Iterator[Message]:
        """Yield the message if it is a record before the end; pause a partition that is read to its end."""
        if self._is_passing(message):
            return
        partition = TopicPartition(message.topic(), message.partition())
        end = unread.get(partition)
        if end is None:
            return
        is_record = message.error() is None
        if is_record and message.offset() < end:
            yield message
        if message.offset() + is_record >= end:
            del unread[partition]
            consumer.pause([ClientPartition(*partition)])
        elif not is_record:
            raise TransientError(f"{self.name}: {partition} ends at {message.offset():,}, before {end:,}")

    def _is_passing(self, message: Message, answers: Collection[int] = ()) -> bool:
        """Whether a message is a temporary error, so that reading continues; raises for any other error.

        The end of a partition is not an error, and neither are the codes of `answers`.
        """
        error = message.error()
        if error is None or error.code() == KafkaError._PARTITION_EOF or error.code() in answers:
            return False
        if may_pass(error):
            return True
        raise self._translated(KafkaException(error))


class _Silence:
    """The time limit of a probe for the next answer."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Begin the time limit again, because a partition has answered."""
        self._is_throttled = False
        self._deadline = time.monotonic() + time_left(PROBE_TIMEOUT_S)

    def allow_more(self, _event: object) -> None:
        """Extend the time limit, because a broker throttles this client. Only the first such event extends it."""
        if not self._is_throttled:
            self._is_throttled = True
            self._deadline = time.monotonic() + time_left(READ_TIMEOUT_S)

    def is_too_long(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self._deadline


def _shape(message: Message) -> RecordShape:
    key, value = (None if field is None else len(field) for field in (message.key(), message.value()))
    place = TopicPartition(message.topic(), message.partition())
    headers = _headers(message) or ()
    sizes = tuple((len(name.encode()), None if content is None else len(content)) for name, content in headers)
    return RecordShape(place, message.offset(), _timestamp_ms(message), key, value, sizes)


def _sampled(message: Message) -> SampledRecord:
    headers = (field for name, content in _headers(message) or () for field in (name.encode(), content))
    size = sum(len(field or b"") for field in (message.key(), message.value(), *headers))
    return SampledRecord(TopicPartition(message.topic(), message.partition()), message.key(), size)


def _is_unreadable(message: Message) -> bool:
    """Whether librdkafka cannot read the next record of a partition."""
    error = message.error()
    return error is not None and error.code() in _OF_A_RECORD


def _print(message: Message, offset: int) -> RecordPrint | None:
    """Return the record's print; `None` at the end of the partition, which was read from this offset."""
    error = message.error()
    if error is not None:
        return RecordPrint(offset, "", -1, "", unreadable=error.str()) if _is_unreadable(message) else None
    return _print_of(message)


def _print_of(message: Message) -> RecordPrint:
    kind, timestamp_ms = message.timestamp()
    found = RecordPrint.of(message.offset(), message.key(), message.value(), _headers(message), timestamp_ms)
    # librdkafka returns 0 for a record of message format v0. The digest keeps it, because ledgers have such digests.
    return replace(found, timestamp_ms=NO_TIMESTAMP) if kind == TIMESTAMP_NOT_AVAILABLE else found


def _timestamp_ms(message: Message) -> int:
    """Return the timestamp; the client says 0 for a record of message format 0, which has none."""
    kind, timestamp_ms = message.timestamp()
    return NO_TIMESTAMP if kind == TIMESTAMP_NOT_AVAILABLE else timestamp_ms


def _headers(message: Message) -> list[tuple[str, bytes | None]] | None:
    """Return the headers; `None` if the name of one is not UTF-8, which librdkafka's Python client cannot return.

    They are asked for once: after its error the client returns a list with holes, and reading that ends the process.
    """
    try:
        return _ask_headers(message) or []
    except SystemError as error:
        if isinstance(error.__cause__, UnicodeDecodeError):
            return None
        raise
