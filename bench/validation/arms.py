"""The timed arms: a plain scan, both levels, and alternatives without this package."""

from __future__ import annotations

import hashlib
import subprocess
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from confluent_kafka import Consumer, TopicPartition
from pyspark.sql import DataFrame, SparkSession, Window, functions

from bench.validation.data import Topic
from kafka_digest.keys.drill import Suspects, aligned_keys, reconciled
from kafka_digest.keys.frames import KeyedSide, compared_rows
from kafka_digest.keys.tasks import DIFFERING
from kafka_digest.position.digest import block_rows
from kafka_digest.reading.kafka_source import read_ranges
from kafka_digest.reading.windows import SideRange
from sandbox import jars

BLOCK_RECORDS = 65_536
_BATCH = 10_000


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

        def numbered(side: str) -> DataFrame:
            columns = (functions.col(name).alias(f"{side}_{name}") for name in ("value", "headers", "timestamp"))
            return self.frame(side).select("key", functions.row_number().over(window).alias("n"), *columns)

        joined = numbered("source").join(numbered("target"), ["key", "n"], "full_outer")
        same = " and ".join(f"source_{name} <=> target_{name}" for name in ("value", "headers", "timestamp"))
        assert joined.where(f"not ({same})").count() == 0

    def one_process(self) -> None:
        """Compare both sides as a script with one consumer would: one hash per partition."""
        digests = []
        for side, bootstrap in self.sides.items():
            digests.append(_hashes(bootstrap, self.topic.name, self.topic.sizes[side]))
        assert digests[0] == digests[1]

    def consumer_performance(self) -> float:
        """Read both sides with Kafka's own tool; return its fetch time in seconds."""
        return sum(_fetch_seconds(bootstrap, self.topic) for bootstrap in self.sides.values())


def _hashes(bootstrap: str, topic: str, sizes: Mapping[int, int]) -> dict[int, str]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "bench", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, partition, 0) for partition in sizes])
    digests: defaultdict[int, hashlib._Hash] = defaultdict(hashlib.sha256)
    left = sum(sizes.values())
    while left:
        messages = consumer.consume(min(_BATCH, left), timeout=30)
        assert messages
        for message in messages:
            digest = digests[message.partition()]
            digest.update(message.key() or b"")
            digest.update(message.value() or b"")
            digest.update(b"%d" % message.timestamp()[1])
        left -= len(messages)
    consumer.close()
    return {partition: digest.hexdigest() for partition, digest in digests.items()}


def _fetch_seconds(bootstrap: str, topic: Topic) -> float:
    libs = jars.kafka_home() / "libs"
    log4j = libs.parent / "no-log4j.properties"
    command = ["java", "-cp", f"{libs}/*", f"-Dlog4j.configuration=file:{log4j}", "-Xmx512m"]
    tool = "org.apache.kafka.tools.ConsumerPerformance"
    options = ["--bootstrap-server", bootstrap, "--topic", topic.name, "--messages", str(topic.records)]
    ended = subprocess.run([*command, tool, *options], capture_output=True, text=True, timeout=600, check=True)
    header, values = (line.split(", ") for line in ended.stdout.splitlines()[-2:])
    found = dict(zip((name.strip() for name in header), values, strict=True))
    assert int(found["data.consumed.in.nMsg"]) >= topic.records
    return float(found["fetch.time.ms"]) / 1000
