"""Rules of tables that are read in several steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka import TopicPartition as ClientPartition

from kafka_migration.adapters.kafka import broker_tables as kafka_tables
from kafka_migration.adapters.kafka.broker_tables import TableReader
from kafka_migration.core.kafka.offsets import TopicPartition

P0 = TopicPartition("table", 0)
Log = list[tuple[bytes, bytes]]


class Record:
    """A record of the only partition."""

    def __init__(self, offset: int, key: bytes, value: bytes) -> None:
        self.topic, self.partition = (lambda: P0.topic), (lambda: P0.partition)
        self.offset, self.key, self.value, self.error = (lambda: offset), (lambda: key), (lambda: value), (lambda: None)


class OnePartitionConsumer:
    """A consumer of one partition whose log, `log`, the test writes; counts the reads from the beginning."""

    log: ClassVar[Log] = [(b"a", b"1"), (b"b", b"2"), (b"c", b"3")]
    beginnings = 0
    closed = 0

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._next = 0

    def incremental_assign(self, partitions: list[ClientPartition]) -> None:
        """Begin at the named offset."""
        self._next = partitions[0].offset
        type(self).beginnings += 1

    def incremental_unassign(self, partitions: list[ClientPartition]) -> None:
        """Forget the partition."""

    def consume(self, records: int, timeout_s: float) -> list[Record]:
        """Return what is there from the position on."""
        found = [Record(offset, *record) for offset, record in enumerate(self.log)][self._next :]
        self._next = len(self.log)
        return found

    def close(self) -> None:
        """Count it."""
        type(self).closed += 1


@pytest.fixture
def consumer(monkeypatch: pytest.MonkeyPatch) -> type[OnePartitionConsumer]:
    """The consumer that readers of this test open."""

    class Fresh(OnePartitionConsumer):
        log: ClassVar[Log] = list(OnePartitionConsumer.log)

    monkeypatch.setattr(kafka_tables, "Consumer", Fresh)
    return Fresh


def read(
    reader: TableReader, consumer: type[OnePartitionConsumer], topic_id: str = "", start: int = 0
) -> dict[bytes | None, Any]:
    return reader.read(P0.topic, topic_id, {P0: len(consumer.log)}, lambda: {P0: start})


def test_reading_begins_at_the_exact_start(consumer: type[OnePartitionConsumer]) -> None:
    """A client that has to find the beginning of a partition itself takes up to a second."""
    assert {b"b": b"2", b"c": b"3"} == read(TableReader({}), consumer, start=1)


def test_only_what_came_since_is_read(consumer: type[OnePartitionConsumer]) -> None:
    """A topic that grew is read on."""
    reader = TableReader({})
    read(reader, consumer)
    consumer.log.append((b"a", b"4"))

    assert {b"a": b"4", b"b": b"2", b"c": b"3"} == read(reader, consumer)
    assert 1 == consumer.beginnings


@pytest.mark.parametrize(
    ("ids", "records"), [pytest.param(("", ""), 1, id="shorter"), pytest.param(("first", "second"), 4, id="another id")]
)
def test_recreated_topic_is_read_again(
    consumer: type[OnePartitionConsumer], ids: tuple[str, str], records: int
) -> None:
    """A recreated topic has another id, or is shorter than before; what was read of it before is forgotten."""
    reader = TableReader({})
    read(reader, consumer, ids[0])
    consumer.log[:] = [(b"d", b"5")] * records

    assert {b"d": b"5"} == read(reader, consumer, ids[1])


def test_closed_reader_reads_again(consumer: type[OnePartitionConsumer]) -> None:
    """Closing ends the consumer once; after it the reader reads the whole table."""
    reader = TableReader({})
    table = read(reader, consumer)
    reader.close()
    reader.close()

    assert 1 == consumer.closed
    assert table == read(reader, consumer)
    assert 2 == consumer.beginnings


class Hiccup(Record):
    """An error in place of a record."""

    def __init__(self, code: int) -> None:
        super().__init__(0, b"", b"")
        self.error = lambda: KafkaError(code)


def test_error_that_may_pass_is_read_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A leader that moves while a table is read ends nothing; any other error does."""

    class Moved(OnePartitionConsumer):
        code = KafkaError.NOT_LEADER_FOR_PARTITION

        def consume(self, records: int, timeout_s: float) -> list[Record]:
            """Return an error before the records."""
            return [Hiccup(self.code), *super().consume(records, timeout_s)]

    monkeypatch.setattr(kafka_tables, "Consumer", Moved)
    assert dict(Moved.log) == read(TableReader({}), Moved)

    Moved.code = KafkaError.TOPIC_AUTHORIZATION_FAILED
    with pytest.raises(KafkaException):
        read(TableReader({}), Moved)
