"""Two clusters as the tests of the validation job fill them, and the job as it is submitted."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from confluent_kafka import Consumer, IsolationLevel, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from kafka_migration.orchestration.operators.spark_submission import zip_package
from sandbox.data.asking import asked
from sandbox.data.topics import wait_until_led
from sandbox.kafka import SHORT_LIVED
from sandbox.sandbox import Sandbox
from sandbox.spark import JOB, submit_job
from tests.waiting import wait_until

START_MS = 1_760_000_000_000
TIMEOUT_S = 3_600
TOPICS_A_CALL = 100
_STEADY = {"enable.idempotence": True, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000}
_WHOLE = {
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "isolation.level": "read_committed",
    "auto.offset.reset": "error",
}
Place = tuple[str, int]  # topic, partition


@dataclass(frozen=True)
class Sent:
    """A record as a test sends it."""

    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]] = field(default_factory=list)
    timestamp_ms: int = START_MS


def _sent(message: Message) -> Sent:
    return Sent(message.key(), message.value(), list(message.headers() or ()), message.timestamp()[1])


def plain(count: int) -> list[Sent]:
    """Return distinct records; some are tombstones, some have no key, some have headers."""
    return [
        Sent(
            key=None if n % 7 == 3 else b"key-%d" % (n % 5),
            value=None if n % 11 == 4 else b"value-%d" % n,
            headers=[("trace", b"%d" % n), ("empty", b""), ("null", None)] if n % 3 == 0 else [],
            timestamp_ms=START_MS + n,
        )
        for n in range(count)
    ]


@dataclass(frozen=True)
class Side:
    """One cluster and what a test does to it."""

    bootstrap: str
    created: list[str] = field(default_factory=list, compare=False)

    @property
    def admin(self) -> AdminClient:
        """A client for topics."""
        return AdminClient({"bootstrap.servers": self.bootstrap})

    def create(self, topic: str, partitions: int = 1, **config: str) -> None:
        """Create a topic and wait for it; settings are named with underscores."""
        self.create_all({topic: partitions}, **config)

    def create_all(self, partitions: Mapping[str, int], **config: str) -> None:
        """Create topics with so many partitions each and wait for them."""
        admin = self.admin  # its futures end with it
        # The records are older than the default retention.
        settings = {"retention.ms": "-1", **{name.replace("_", "."): value for name, value in config.items()}}
        new = [NewTopic(topic, count, 1, config=settings) for topic, count in partitions.items()]
        for start in range(0, len(new), TOPICS_A_CALL):
            for future in admin.create_topics(new[start : start + TOPICS_A_CALL]).values():
                future.result(60)
        wait_until_led(self.bootstrap, partitions)
        self.created.extend(partitions)

    def remove(self) -> None:
        """Delete the topics that were created here, so that the next module may use their names."""
        admin = self.admin
        for future in admin.delete_topics(self.created).values() if self.created else ():
            future.result(60)
        wait_until(lambda: not set(self.created) & set(admin.list_topics(timeout=30).topics), what="the topics' end")
        self.created.clear()

    def purge(self, topic: str, log_start: int) -> None:
        """Delete the records of partition 0 below an offset."""
        admin = self.admin
        for future in admin.delete_records([TopicPartition(topic, 0, log_start)]).values():
            future.result(60)

    def send(self, topic: str, partition: int, records: Sequence[Sent]) -> None:
        """Send records in order and wait until they are stored."""
        self.send_all(topic, {partition: records})

    def send_all(self, topic: str, placed: Mapping[int, Sequence[Sent]]) -> None:
        """Send each partition its records in order and wait until they are stored."""
        self.fill({(topic, partition): records for partition, records in placed.items()})

    def fill(self, placed: Mapping[Place, Sequence[Sent]], **settings: str) -> None:
        """Send each partition its records in order, all by one producer, and wait until they are stored.

        :param settings: of the producer, named with underscores
        """
        named = {name.replace("_", "."): value for name, value in settings.items()}
        producer = Producer({"bootstrap.servers": self.bootstrap, **_STEADY, **named})
        for (topic, partition), records in placed.items():
            self.produce(producer, topic, partition, records)
        assert producer.flush(120) == 0

    def starts(self) -> dict[Place, int]:
        """Return the first offset of every partition of the tests."""
        return self._offsets(OffsetSpec.earliest(), IsolationLevel.READ_UNCOMMITTED)

    def ends(self) -> dict[Place, int]:
        """Return the end of every partition of the tests, once all transactions have their markers."""

        def are_readable() -> bool:
            return self._ends(IsolationLevel.READ_COMMITTED) == self._ends(IsolationLevel.READ_UNCOMMITTED)

        wait_until(are_readable, what="the transactions' markers")
        return self._ends(IsolationLevel.READ_COMMITTED)

    def _ends(self, level: IsolationLevel) -> dict[Place, int]:
        return self._offsets(OffsetSpec.latest(), level)

    def _offsets(self, what: OffsetSpec, level: IsolationLevel) -> dict[Place, int]:
        admin = self.admin
        topics = [topic for name, topic in admin.list_topics(timeout=30).topics.items() if not name.startswith("_")]
        wanted = {TopicPartition(topic.topic, number): what for topic in topics for number in topic.partitions}

        def offsets() -> dict[Place, int]:
            # Without it a client that asked too early takes a new topic for missing.
            admin.list_topics(timeout=30)
            answers = admin.list_offsets(wanted, isolation_level=level, request_timeout=60)
            return {(place.topic, place.partition): answer.result(60).offset for place, answer in answers.items()}

        return asked(offsets, "the offsets of every topic")

    def records(self, starts: Mapping[Place, int]) -> dict[Place, list[tuple[int, Sent]]]:
        """Return the committed records of partitions with their offsets, from these offsets to the end."""
        read: dict[Place, list[tuple[int, Sent]]] = {place: [] for place in starts}
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": "reader", **_WHOLE})
        consumer.assign([TopicPartition(*place, offset) for place, offset in starts.items()])
        ended: set[Place] = set()
        while len(ended) < len(read):
            message = consumer.poll(60)
            assert message is not None, f"{len(read) - len(ended)} partitions did not end"
            place = (message.topic(), message.partition())
            if message.error() is None:
                read[place].append((message.offset(), _sent(message)))
            else:
                assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                ended.add(place)
        consumer.close()
        return read

    def transaction(self, topic: str, records: Sequence[Sent], how: str) -> Producer:
        """Send records in a transaction and `commit`, `abort` or `leave` it open; the producer keeps it open."""
        name = f"{topic}-{how}-{records[0].timestamp_ms}"
        # The longest that a broker allows: a transaction left open must outlive all tests.
        longest = {"transaction.timeout.ms": 900_000}
        producer = Producer({"bootstrap.servers": self.bootstrap, "transactional.id": name, **longest})
        producer.init_transactions(30)
        producer.begin_transaction()
        self.produce(producer, topic, 0, records)
        assert producer.flush(60) == 0
        if how == "commit":
            producer.commit_transaction(30)
        elif how == "abort":
            producer.abort_transaction(30)
        return producer

    def read(self, topic: str, partition: int, offset: int) -> bytes | None:
        """Return the value of the record at an offset."""
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": "reader", "enable.auto.commit": False})
        consumer.assign([TopicPartition(topic, partition, offset)])
        message = consumer.poll(30)
        consumer.close()
        assert message is not None
        assert message.offset() == offset
        value = message.value()
        assert value is None or isinstance(value, bytes)
        return value

    @staticmethod
    def produce(producer: Producer, topic: str, partition: int, records: Sequence[Sent]) -> None:
        """Hand records of one partition to a producer."""
        for r in records:
            producer.produce(
                topic, key=r.key, value=r.value, headers=r.headers, partition=partition, timestamp=r.timestamp_ms
            )


@dataclass
class Clusters:
    """Both clusters, and the jars with which Spark reads them."""

    source: Side
    target: Side
    jars: Sequence[Path]

    @classmethod
    @contextmanager
    def of(cls, brokers: Sandbox) -> Iterator[Self]:
        """Give the clusters of a sandbox; afterwards the topics that were made on them are gone."""
        state = brokers.state
        made = cls(Side(state.source_bootstrap), Side(state.target_bootstrap), state.spark_jars)
        try:
            yield made
        finally:
            made.source.remove()
            made.target.remove()

    @property
    def clients(self) -> dict[str, dict[str, str]]:
        """The reader options of both sides."""
        return {
            "source": {"kafka.bootstrap.servers": self.source.bootstrap},
            "target": {"kafka.bootstrap.servers": self.target.bootstrap},
        }

    def create(self, topic: str, source: int = 1, target: int = 1) -> None:
        """Create a topic on both sides, with so many partitions."""
        self.source.create(topic, source)
        self.target.create(topic, target)


def submit(
    clusters: Clusters,
    folder: Path,
    request: object,
    clients: object,
    master: str = "local[2]",
    conf: Mapping[str, str] | None = None,
    timeout_s: float = TIMEOUT_S,
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Run the job; returns how it ended and where its result should be."""
    documents = {"request": request, "clients": clients}
    package = zip_package(JOB.parent / "kafka_digest", folder)
    quick = {"spark.driver.extraJavaOptions": " ".join(SHORT_LIVED)}
    settings = {**quick, **(conf or {})}
    return submit_job(folder, documents, package, clusters.jars, master=master, conf=settings, timeout_s=timeout_s)
