"""Produces records and counts what the brokers acknowledged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from sandbox.data.clients import client_config
from sandbox.data.records import Record
from sandbox.errors import SandboxError

FLUSH_TIMEOUT_S = 180.0
TRANSACTION_TIMEOUT_S = 120.0
# Java's default; librdkafka's default would assign keys to other partitions.
JAVA_PARTITIONER = "murmur2_random"


class NotDelivered(SandboxError):
    """The brokers did not accept all records."""


class Sender:
    """An idempotent producer that counts acknowledged records per topic. Not thread-safe."""

    def __init__(self, bootstrap: str, settings: Mapping[str, str | int] | None = None) -> None:
        self.acknowledged: dict[str, int] = {}
        self._error: KafkaError | None = None
        self._producer = Producer(
            {
                **client_config(bootstrap),
                "partitioner": JAVA_PARTITIONER,
                "enable.idempotence": True,
                "linger.ms": 20,
                **(settings or {}),
            }
        )

    def send(self, topic: str, record: Record) -> None:
        """Queue one record, waiting while the queue is full.

        Raises:
            NotDelivered: an earlier record was refused.
        """
        while True:
            try:
                self._producer.produce(
                    topic,
                    key=record.key,
                    value=record.value,
                    headers=list(record.headers),
                    timestamp=record.timestamp_ms,
                    partition=record.partition,
                    on_delivery=self._delivered,
                )
            except BufferError:
                self.poll(0.1)
                continue
            self.poll(0)
            return

    def send_all(self, topic: str, records: Iterable[Record]) -> None:
        """Queue all records and wait until they are acknowledged."""
        for record in records:
            self.send(topic, record)
        self.flush()

    def poll(self, timeout_s: float) -> None:
        """Process acknowledgements; raises `NotDelivered` on the first refusal."""
        self._producer.poll(timeout_s)
        if self._error is not None:
            raise NotDelivered(f"a record was not delivered: {self._error}")

    def flush(self, timeout_s: float = FLUSH_TIMEOUT_S) -> None:
        """Wait until every record is acknowledged.

        Raises:
            NotDelivered: some are not acknowledged in time, or one was refused.
        """
        left = self._producer.flush(timeout_s)
        self.poll(0)
        if left:
            raise NotDelivered(f"{left} records were not acknowledged within {timeout_s:.0f} s")

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._error = self._error or error
            return
        topic = message.topic()
        self.acknowledged[topic] = self.acknowledged.get(topic, 0) + 1


class TransactionalSender(Sender):
    """A sender of complete transactions; `committed` counts the visible records per topic."""

    def __init__(self, bootstrap: str, transactional_id: str) -> None:
        super().__init__(bootstrap, {"transactional.id": transactional_id})
        self.committed: dict[str, int] = {}
        self._open: dict[str, int] = {}
        self._calling(self._producer.init_transactions)

    def begin(self) -> None:
        """Begin a transaction."""
        self._producer.begin_transaction()
        self._open = {}

    def send(self, topic: str, record: Record) -> None:
        """Queue one record of the open transaction."""
        super().send(topic, record)
        self._open[topic] = self._open.get(topic, 0) + 1

    def commit(self) -> None:
        """Commit the open transaction."""
        self._calling(self._producer.commit_transaction)
        for topic, records in self._open.items():
            self.committed[topic] = self.committed.get(topic, 0) + records

    def abort(self) -> None:
        """Flush and abort the open transaction, so that its records are in the log."""
        self.flush()
        self._calling(self._producer.abort_transaction)

    @staticmethod
    def _calling(call: Callable[[float], None]) -> None:
        try:
            call(TRANSACTION_TIMEOUT_S)
        except KafkaException as error:
            raise NotDelivered(f"a transaction failed: {error}") from error
