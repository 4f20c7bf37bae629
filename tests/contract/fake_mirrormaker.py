"""MirrorMakers in memory: they read the rendered launch and copy between two fake clusters, step by step.

They store positions and health where the real ones do and in their formats, so that an engine reads both alike. A
*step* is a poll: some records are copied, and every few steps the positions are stored.

What they do not do: logins, tuning, the order across keys (MirrorMaker 1 sends what it reads partition by partition).
"""

from __future__ import annotations

import json
import re
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import count

from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.mirror.host import GENERATION_DIR, MirrorLaunch
from tests.contract.fake_cluster import FakeCluster, Record
from tests.contract.logging_mirror import LoggingMirror

STEP_RECORDS = 5
FLUSH_STEPS = 3
SESSION_STEPS = 4


def fake_mirror(launch: MirrorLaunch, source: FakeCluster, target: FakeCluster) -> FakeMirrorMaker:
    """Start the MirrorMaker that a launch is for."""
    kinds = {"kafka.tools.MirrorMaker": FakeMirrorMaker1}
    return kinds.get(launch.main_class, FakeMirrorMaker2)(launch, source, target)


def properties_of(launch: MirrorLaunch, file: str) -> dict[str, str]:
    """Read a rendered properties file as Java does (text within ISO 8859-1)."""
    pairs = (line.partition(" = ") for line in launch.files[file].splitlines())
    return {key: value.encode().decode("unicode_escape") for key, _, value in pairs}


class FakeMirror(ABC):
    """One generation: `step` it until it has copied everything, then `stop` or `kill` it."""

    def __init__(self, source: FakeCluster, target: FakeCluster) -> None:
        self.source = source
        self.target = target
        self._lives = True
        self.positions: dict[TopicPartition, int] = {}
        self._steps = count(1)
        self._is_stuck = False

    @property
    def is_alive(self) -> bool:
        """Whether its process runs."""
        return self._lives

    def step(self) -> None:
        """Poll once; nothing happens to one that is dead."""
        if not self.is_alive or self._is_stuck:
            return
        for partition in self.partitions():
            self.copy(partition, STEP_RECORDS)
        if self.flushes_at(next(self._steps)):
            self.flush()

    def copy(self, partition: TopicPartition, records: int) -> None:
        """Copy up to so many records of a partition; the position is not stored yet."""
        log = self.source.topics[partition.topic].partitions[partition.partition]
        begin = self.positions.get(partition, self.stored().get(partition, log.log_start))
        for offset, record in log.visible(begin)[:records]:
            if self._is_stuck or not self.is_alive:
                return
            if self._takes(partition, offset, record):
                self.send(partition, record)
                self.positions[partition] = offset + 1

    def stop(self) -> None:
        """Store the positions and end, as after TERM."""
        if self.is_alive and not self._is_stuck:
            self.flush()
            self.ended_in_order()
        self._lives = False

    def kill(self) -> None:
        """End at once."""
        self._lives = False

    def _takes(self, partition: TopicPartition, offset: int, record: Record) -> bool:
        size = len(record[0] or b"") + len(record[1] or b"")
        limit = int(self.target.topics[self.target_topic(partition.topic)].configs.get("max.message.bytes", "1048588"))
        if size > self.max_request_bytes:
            self.refused_by_itself()
        elif size > limit:
            self._is_stuck = True
            self.refused_by_the_broker(partition, offset)
        return size <= min(limit, self.max_request_bytes)

    max_request_bytes: int

    @abstractmethod
    def ended_in_order(self) -> None:
        """Leave the evidence of an orderly end."""

    @abstractmethod
    def partitions(self) -> Iterable[TopicPartition]:
        """Return the source partitions that it copies."""

    @abstractmethod
    def stored(self) -> dict[TopicPartition, int]:
        """Return the positions, next to copy, that earlier flushes stored."""

    @abstractmethod
    def flush(self) -> None:
        """Store the positions."""

    @abstractmethod
    def send(self, partition: TopicPartition, record: Record) -> None:
        """Write a record to the target."""

    @abstractmethod
    def target_topic(self, topic: str) -> str:
        """Return what a topic is called on the target."""

    @abstractmethod
    def refused_by_itself(self) -> None:
        """A record is larger than the producer may send."""

    @abstractmethod
    def refused_by_the_broker(self, partition: TopicPartition, offset: int) -> None:
        """A record in a batch is larger than its topic takes: the producer now splits and retries for ever."""

    def flushes_at(self, step: int) -> bool:
        """Whether the positions are stored in this step."""
        return step % FLUSH_STEPS == 0

    def _partitions_of(self, topics: Iterable[str]) -> Iterator[TopicPartition]:
        for topic in topics:
            yield from (TopicPartition(topic, n) for n in range(len(self.source.topics[topic].partitions)))


class FakeMirrorMaker(FakeMirror, LoggingMirror):
    """One generation of a MirrorMaker, which logs."""

    stopped_line: str

    def __init__(self, launch: MirrorLaunch, source: FakeCluster, target: FakeCluster) -> None:
        super().__init__(source, target)
        self.launch = launch
        self._lines: list[str] = []

    def log(self) -> str:
        """Return what it has logged so far."""
        return "".join(f"{line}\n" for line in self._lines)

    def ended_in_order(self) -> None:
        """Log the last line."""
        self._lines.append(self.stopped_line)

    def refused_by_the_broker(self, partition: TopicPartition, offset: int) -> None:
        """Log that the producer splits the batch."""
        self._lines.append("WARN Got error produce response on topic-partition, splitting and retrying")


class FakeMirrorMaker2(FakeMirrorMaker):
    """MirrorMaker 2: partitions kept; positions, configuration and health in topics on the target."""

    stopped_line = "INFO Kafka MirrorMaker stopped."

    def __init__(self, launch: MirrorLaunch, source: FakeCluster, target: FakeCluster) -> None:
        super().__init__(launch, source, target)
        self._properties = properties_of(launch, "mm2.properties")
        self._from, self._to = self._properties["clusters"].split(", ")
        self.max_request_bytes = int(self._properties[f"{self._to}.producer.max.request.size"])
        self._is_exactly_once = f"{self._to}.exactly.once.source.support" in self._properties
        names = (self._properties[f"{self._to}.{kind}.storage.topic"] for kind in ("offset", "config", "status"))
        self._offsets, self._configs, self._status = names
        target.create_topics([NewTopic(name, 1, 1, {}) for name in (self._offsets, self._configs, self._status)])
        self._create_missing()
        self._write_configuration()

    def partitions(self) -> Iterable[TopicPartition]:
        """Every partition of the topics that one of the expressions matches as a whole."""
        expressions = self._properties[f"{self._from}->{self._to}.topics"].split(",")
        named = (t for t in self.source.topics if any(re.fullmatch(expression, t) for expression in expressions))
        return self._partitions_of(sorted(named))

    def stored(self) -> dict[TopicPartition, int]:
        """What the offsets topic holds for this source: last copied, plus one."""
        rows = ((json.loads(key or b"")[1], value) for key, value in self.target.read_table(self._offsets))
        return {
            TopicPartition(place["topic"], place["partition"]): json.loads(value)["offset"] + 1
            for place, value in rows
            if value is not None and place["cluster"] == self._from
        }

    def flush(self) -> None:
        """Write the offset of the last copied record of each partition."""
        for partition, position in self.positions.items():
            place = {"cluster": self._from, "partition": partition.partition, "topic": partition.topic}
            self._write(self._offsets, json.dumps(["MirrorSourceConnector", place]), {"offset": position - 1})

    def send(self, partition: TopicPartition, record: Record) -> None:
        """Write to the partition of the same number; in a transaction of its own, if it must be exactly once."""
        topic = self.target_topic(partition.topic)
        self.target.produce(topic, partition.partition, record)
        if self._is_exactly_once:
            self.target.leave_holes(topic, partition.partition, 1)

    def target_topic(self, topic: str) -> str:
        """As the replication policy names it."""
        is_identity = self._properties["replication.policy.class"].endswith(".IdentityReplicationPolicy")
        return topic if is_identity else f"{self._from}.{topic}"

    def flushes_at(self, step: int) -> bool:
        """Exactly once, positions are part of the transaction."""
        return self._is_exactly_once or super().flushes_at(step)

    def refused_by_itself(self) -> None:
        """The task fails; the process lives on."""
        self._is_stuck = True
        trace = "ConnectException: Unrecoverable exception\n\tat x\nCaused by: RecordTooLargeException: too large"
        self._write(self._status, "status-task-MirrorSourceConnector-0", {"state": "FAILED", "trace": trace})

    def _create_missing(self) -> None:
        counts = Counter(partition.topic for partition in self.partitions())
        self.target.create_topics([NewTopic(self.target_topic(t), count, 1, {}) for t, count in counts.items()])

    def _write_configuration(self) -> None:
        connector = dict(self._connector())
        self._write(self._configs, "connector-MirrorSourceConnector", {"properties": connector})
        assigned = ",".join(f"{p.topic}-{p.partition}" for p in self.partitions())
        task = {**connector, "task.assigned.partitions": assigned}
        self._write(self._configs, "task-MirrorSourceConnector-0", {"properties": task})
        self._write(self._status, "status-task-MirrorSourceConnector-0", {"state": "RUNNING", "trace": None})

    def _connector(self) -> Iterator[tuple[str, str]]:
        yield from {"source.cluster.alias": self._from, "target.cluster.alias": self._to}.items()
        for key, value in self._properties.items():
            owner, _, name = key.partition(".")
            if owner == f"{self._from}->{self._to}":
                yield name, value
            elif owner in {self._from, self._to}:
                side = "source" if owner == self._from else "target"
                is_client = name.startswith(("consumer.", "producer.", "admin."))
                yield (f"{side}.{name}" if is_client else f"{side}.cluster.{name}"), value
            elif not key.startswith(("offset.storage", "config.storage", "status.storage", "task.", "clusters")):
                yield key, value

    def _write(self, topic: str, key: str, value: object) -> None:
        self.target.produce(topic, 0, (key.encode(), json.dumps(value).encode()))


class FakeMirrorMaker1(FakeMirrorMaker):
    """MirrorMaker 1: a consumer group on the source; the producer chooses the partition."""

    stopped_line = "INFO Kafka mirror maker shutdown successfully"

    def __init__(self, launch: MirrorLaunch, source: FakeCluster, target: FakeCluster) -> None:
        super().__init__(launch, source, target)
        arguments = dict(zip(launch.arguments[::2], launch.arguments[1::2], strict=True))
        consumer, producer = (
            properties_of(launch, arguments[f"--{client}.config"].removeprefix(f"{GENERATION_DIR}/"))
            for client in ("consumer", "producer")
        )
        self._group = consumer["group.id"]
        self._expression = arguments["--whitelist"].replace(",", "|").replace(" ", "")
        self.max_request_bytes = int(producer["max.request.size"])
        self._dead_steps = 0
        self._keyless = count()
        if self._group in source.groups:
            # The group waits for the members of a killed generation, and then shares out anew.
            source.leave(self._group)
        source.join(self._group, f"{self._group}-0", "/127.0.0.1", *self.partitions())

    def partitions(self) -> Iterable[TopicPartition]:
        """Every partition of the topics that the expression matches as a whole."""
        return self._partitions_of(sorted(t for t in self.source.topics if re.fullmatch(self._expression, t)))

    def step(self) -> None:
        """Poll, unless a topic is missing on the target; a killed one leaves the group when its session is over."""
        if not self.is_alive:
            self._dead_steps += 1
            if self._dead_steps == SESSION_STEPS:
                self.source.leave(self._group)
        elif {p.topic for p in self.partitions()} <= set(self.target.topics):
            super().step()

    def stored(self) -> dict[TopicPartition, int]:
        """What its group committed."""
        commits = self.source.committed_offsets(self._group)
        return {partition: commit.offset for partition, commit in commits.items()}

    def flush(self) -> None:
        """Commit."""
        self.source.commit(self._group, self.positions)

    def send(self, partition: TopicPartition, record: Record) -> None:
        """Write to the partition that the key's hash chooses; a record without a key goes to any."""
        topic = self.target_topic(partition.topic)
        key = record[0]
        number = next(self._keyless) if key is None else zlib.crc32(key)
        self.target.produce(topic, number % len(self.target.topics[topic].partitions), record)

    def target_topic(self, topic: str) -> str:
        """It never renames."""
        return topic

    def stop(self) -> None:
        """Store the positions, leave the group and end."""
        super().stop()
        self.source.leave(self._group)

    def refused_by_itself(self) -> None:
        """It ends, and says that it did so successfully; nothing is committed."""
        self._lines += ["INFO Exiting on send failure, skip committing offsets.", self.stopped_line]
        self.source.leave(self._group)
        self._lives = False

    def refused_by_the_broker(self, partition: TopicPartition, offset: int) -> None:
        """It commits the record although it never arrived (seen on Kafka 3.9.1)."""
        super().refused_by_the_broker(partition, offset)
        self.positions[partition] = offset + 1
        self.flush()
