"""The timed arms: a plain scan, both levels, and alternatives without this package."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition
from pyspark.sql import DataFrame, SparkSession, Window, functions

from bench.opponents import (
    CONSUMER,
    CONSUMER_BATCH,
    JOIN,
    PERFORMANCE_JAVA,
    PERFORMANCE_OPTIONS,
    PERFORMANCE_PROPERTIES,
)
from bench.validation.data import Topic
from kafka_digest.keys.frames import KeyedSide, compared_rows
from kafka_digest.keys.key_tasks import DIFFERING
from kafka_digest.keys.locate_key_differences import Suspects, aligned_keys, reconciled
from kafka_digest.position.position_digest import block_rows
from kafka_digest.reading.kafka_source import read_ranges
from kafka_digest.reading.read_windows import SideRange
from sandbox import jars

BLOCK_RECORDS = 65_536


@dataclass(frozen=True, slots=True)
class Arms:
    """All arms over one topic of both sides."""

    session: SparkSession
    sides: Mapping[str, str]
    topic: Topic
    tasks: int = 2

    def frame(self, side: str) -> DataFrame:
        """Return one side's frame as the job reads it."""
        sizes = self.topic.sizes[side]
        ranges = [SideRange(self.topic.name, partition, 0, end) for partition, end in sizes.items()]
        read = read_ranges(self.session, {"kafka.bootstrap.servers": self.sides[side]}, ranges, "read_committed")
        assert read is not None
        return read

    def scan(self) -> None:
        """Read both sides and discard the records."""
        for side in self.sides:
            self.frame(side).write.format("noop").mode("overwrite").save()

    def level_1(self) -> None:
        """Digest both sides by position."""
        source, target = (block_rows(self.frame(side), side, BLOCK_RECORDS, self.tasks) for side in self.sides)
        rows = source.union(target).collect()
        blocks = [{tuple(row[1:6]) for row in rows if row["side"] == side} for side in self.sides]
        assert (blocks[0] == blocks[1]) == (not self.topic.damage)

    def level_2(self) -> set[int]:
        """Digest both sides by key; return the buckets that differ."""
        rows = compared_rows(self._keyed(), null_keys_have_order=False, tasks=self.tasks).collect()
        found = {row["bucket"] for row in rows if row["kind"] == DIFFERING}
        assert bool(found) == bool(self.topic.damage)
        return found

    def level_2_and_drill(self) -> None:
        """Digest by key, then label every difference."""
        suspects = Suspects(self.level_2(), {0: 0})
        found = reconciled(
            aligned_keys(self.session, self._keyed(), suspects, null_keys_have_order=False, tasks=self.tasks).persist()
        )
        labels = {row["label"]: row["count"] for row in found.groupBy("label").count().collect()}
        assert sum(labels.values()) == self.topic.records // self.topic.damage, labels

    def _keyed(self) -> list[KeyedSide]:
        units = {f"{self.topic.name}/{number}": 0 for number in range(self.topic.partitions)}
        return [KeyedSide(number, self.frame(side), units) for number, side in enumerate(self.sides)]

    def naive_join(self) -> None:
        """Number the records of each key, join both sides by key and number, and compare the content."""
        window = Window.partitionBy("key").orderBy("partition", "offset")
        self._join(["key", "n"], lambda frame: frame.withColumn("n", functions.row_number().over(window)))

    def join_by_offset(self) -> None:
        """Join both sides by partition and offset, and compare key and content: only for a copy that keeps offsets."""
        self._join(["partition", "offset"], lambda frame: frame, "key")

    def _join(self, by: list[str], numbered: Callable[[DataFrame], DataFrame], *more: str) -> None:
        content = functions.xxhash64(*more, "value", "headers", "timestamp")
        sides = [
            numbered(self.frame(side).select("key", "partition", "offset", content.alias(side))).select(*by, side)
            for side in ("source", "target")
        ]
        with configured(self.session, JOIN):
            joined = sides[0].join(sides[1], by, "full_outer")
            assert joined.where("not (source <=> target)").count() == 0

    def one_process(self) -> None:
        """Compare both sides as a script with two consumers would: one hash per partition."""
        consumers = {side: _assigned(self.sides[side], self.topic.name, self.topic.sizes[side]) for side in self.sides}
        # Both fetch from now on; the second one fills its queue while the first one is read.
        source, target = (_hashes(consumers[side], sum(self.topic.sizes[side].values())) for side in self.sides)
        assert source == target

    def consumer_performance(self) -> float:
        """Read both sides with Kafka's own tool, at once; return the longer fetch time in seconds."""
        with tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder:
            settings = Path(folder) / "client.properties"
            settings.write_text("".join(f"{name}={value}\n" for name, value in PERFORMANCE_PROPERTIES.items()))
            with ThreadPoolExecutor() as pool:
                return max(pool.map(lambda address: _fetch_seconds(address, self.topic, settings), self.sides.values()))


@contextmanager
def configured(session: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Change settings of the session for a while."""
    before = {name: session.conf.get(name) for name in settings}
    for name, value in settings.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            session.conf.set(name, old)


def _assigned(bootstrap: str, topic: str, partitions: Iterable[int]) -> Consumer:
    """Return a consumer that has begun to fetch all partitions."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "bench", **CONSUMER})
    consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
    return consumer


def _hashes(consumer: Consumer, left: int) -> dict[int, str]:
    """Read this many records; return a digest per partition, updated once per batch."""
    digests: defaultdict[int, hashlib._Hash] = defaultdict(hashlib.sha256)
    while left:
        messages = consumer.consume(min(CONSUMER_BATCH, left), timeout=30)
        assert messages
        pieces: defaultdict[int, list[bytes]] = defaultdict(list)
        for message in messages:
            pieces[message.partition()] += (message.key(), message.value(), b"%d" % message.timestamp()[1])
        for partition, found in pieces.items():
            digests[partition].update(b"".join(found))
        left -= len(messages)
    consumer.close()
    return {partition: digest.hexdigest() for partition, digest in digests.items()}


def _fetch_seconds(bootstrap: str, topic: Topic, settings: Path) -> float:
    libs = jars.kafka_home() / "libs"
    log4j = libs.parent / "no-log4j.properties"
    command = ["java", *PERFORMANCE_JAVA, "-cp", f"{libs}/*", f"-Dlog4j.configuration=file:{log4j}"]
    tool = ["org.apache.kafka.tools.ConsumerPerformance", *PERFORMANCE_OPTIONS, f"--consumer.config={settings}"]
    options = ["--bootstrap-server", bootstrap, "--topic", topic.name, "--messages", str(topic.records)]
    ended = subprocess.run([*command, *tool, *options], capture_output=True, text=True, timeout=600, check=True)
    header, values = (line.split(", ") for line in ended.stdout.splitlines()[-2:])
    found = dict(zip((name.strip() for name in header), values, strict=True))
    assert int(found["data.consumed.in.nMsg"]) >= topic.records
    return float(found["fetch.time.ms"]) / 1000
