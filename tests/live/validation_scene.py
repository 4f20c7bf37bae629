"""Two clusters as the tests of the validation job fill them, and the job as it is submitted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_migration.orchestration.operators.validate import zip_package

JOB = Path(__file__).parents[2] / "spark_jobs" / "validate_topics.py"
START_MS = 1_760_000_000_000
TIMEOUT_S = 300


@dataclass(frozen=True)
class Sent:
    """A record as a test sends it."""

    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]] = field(default_factory=list)
    timestamp_ms: int = START_MS


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

    @property
    def admin(self) -> AdminClient:
        """A client for topics."""
        return AdminClient({"bootstrap.servers": self.bootstrap})

    def create(self, topic: str, partitions: int = 1) -> None:
        """Create a topic and wait for it."""
        admin = self.admin  # its futures end with it
        # The records are older than the default retention.
        new = NewTopic(topic, partitions, 1, config={"retention.ms": "-1"})
        for future in admin.create_topics([new]).values():
            future.result(30)

    def purge(self, topic: str, log_start: int) -> None:
        """Delete the records of partition 0 below an offset."""
        admin = self.admin
        for future in admin.delete_records([TopicPartition(topic, 0, log_start)]).values():
            future.result(30)

    def send(self, topic: str, partition: int, records: Sequence[Sent]) -> None:
        """Send records in order and wait until they are stored."""
        self.send_all(topic, {partition: records})

    def send_all(self, topic: str, placed: Mapping[int, Sequence[Sent]]) -> None:
        """Send each partition its records in order and wait until they are stored."""
        producer = Producer({"bootstrap.servers": self.bootstrap, "enable.idempotence": True, "linger.ms": 50})
        for partition, records in placed.items():
            self._send(producer, topic, partition, records)
        assert producer.flush(30) == 0

    def transaction(self, topic: str, records: Sequence[Sent], how: str) -> Producer:
        """Send records in a transaction and `commit`, `abort` or `leave` it open; the producer keeps it open."""
        name = f"{topic}-{how}-{records[0].timestamp_ms}"
        # The longest that a broker allows: a transaction left open must outlive all tests.
        longest = {"transaction.timeout.ms": 900_000}
        producer = Producer({"bootstrap.servers": self.bootstrap, "transactional.id": name, **longest})
        producer.init_transactions(30)
        producer.begin_transaction()
        self._send(producer, topic, 0, records)
        assert producer.flush(30) == 0
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
        return message.value()

    @staticmethod
    def _send(producer: Producer, topic: str, partition: int, records: Sequence[Sent]) -> None:
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
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Run the job; returns how it ended and where its result should be."""
    (folder / "request.json").write_text(json.dumps(request))
    (folder / "clients.json").write_text(json.dumps(clients))
    command = [
        *(str(Path(sys.executable).parent / "spark-submit"), "--master", master),
        *("--conf", "spark.ui.enabled=false", "--conf", "spark.ui.showConsoleProgress=false"),
        *(word for name, value in (conf or {}).items() for word in ("--conf", f"{name}={value}")),
        *("--jars", ",".join(str(jar) for jar in clusters.jars)),
        *("--files", str(folder / "clients.json")),
        *("--py-files", str(zip_package(JOB.parent / "kafka_digest", folder))),
        *(str(JOB), "--request", str(folder / "request.json"), "--result", (folder / "result.json").as_uri()),
    ]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    ended = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    return ended, folder / "result.json"
