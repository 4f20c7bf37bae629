"""What else there is on a Kafka Connect cluster: connectors of others, and the topics of its workers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from uuid import uuid4

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic, ResourceType

from sandbox.data.reading import read_records
from tests.live.connect_world import ConnectWorld
from tests.waiting import wait_until

# A request of a program to a worker, in the worker's log; the sandbox asks with Python's own client.
REQUEST = re.compile(r'"([A-Z]+) (/\S*) HTTP/1\.1" \d+ (?!.*Python-urllib)')
SOON = {
    "segment.ms": "100",
    "min.cleanable.dirty.ratio": "0.0001",
    "max.compaction.lag.ms": "1000",
}


@dataclass
class Foreign:
    """A connector of MirrorMaker that belongs to another team; `kind` is the name of its class."""

    world: ConnectWorld
    kind: str
    name: str = field(default_factory=lambda: f"foreign-{uuid4().hex[:8]}")

    def create(self) -> None:
        """Create it and the topic that it copies, and wait until it and its task run."""
        source = AdminClient({"bootstrap.servers": self.world.live.sandbox.bootstraps["source"]})
        source.create_topics([NewTopic(self.name, 1, 1)])[self.name].result(60)
        brokers = self.world.live.sandbox.bootstraps
        config = {
            "connector.class": f"org.apache.kafka.connect.mirror.{self.kind}",
            "tasks.max": "1",
            "topics": self.name,
            "source.cluster.alias": self.name,
            "target.cluster.alias": "target",
            "source.cluster.bootstrap.servers": brokers["source"],
            "target.cluster.bootstrap.servers": brokers["target"],
            "replication.factor": "1",
            "heartbeats.topic.replication.factor": "1",
            "offset-syncs.topic.replication.factor": "1",
            "offset-syncs.topic.location": "target",
        }
        with closing(self.world.cluster.rest()) as rest:
            rest.create(self.name, config, is_running=True)
        wait_until(self.runs, 240, f"rows of {self.name}")

    def runs(self) -> bool:
        """Whether it and its task run, by their newest rows."""
        states = self._states()
        return len(states) == 2 and set(states.values()) == {"RUNNING"}

    def delete(self) -> None:
        """Delete it."""
        with closing(self.world.cluster.rest()) as rest:
            rest.delete(self.name)

    def config(self) -> Mapping[str, str] | None:
        """Return its configuration, `None` if it does not exist."""
        with closing(self.world.cluster.rest()) as rest:
            return rest.config(self.name)

    def _states(self) -> dict[bytes, str]:
        """Return the state in the newest row of the connector and of each of its tasks.

        Other rows name the topics to which it writes.
        """
        own = (f"status-connector-{self.name}".encode(), f"status-task-{self.name}-".encode())
        found = read_records(self.world.live.sandbox.bootstraps["target"], self.world.cluster.status_topic).values()
        rows = [each.record for placed in found for each in placed if (each.record.key or b"").startswith(own)]
        return {row.key or b"": json.loads(row.value or b"{}").get("state", "") for row in rows}


@dataclass
class Compacted:
    """Compacted topics of workers, by their cluster."""

    side: Mapping[str, str]
    topics: Iterable[str]

    def compact(self) -> None:
        """Let Kafka compact them soon from now on, and wait until each partition has lost rows.

        The rows that make it begin are of no connector, so that workers ignore them.
        """
        admin = AdminClient(dict(self.side))
        changes = [
            ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET) for name, value in SOON.items()
        ]
        resources = [ConfigResource(ResourceType.TOPIC, topic, incremental_configs=changes) for topic in self.topics]
        for future in admin.incremental_alter_configs(resources).values():
            future.result(60)
        wait_until(self._has_gaps, 240, f"the compaction of {self.topics}", every_s=1.0)

    def _has_gaps(self) -> bool:
        found = [(topic, n, p) for topic in self.topics for n, p in self._read(topic).items()]
        producer = Producer(dict(self.side))
        for topic, partition, _ in found:
            producer.produce(topic, key=b"of-no-connector", value=b"{}", partition=partition)
        assert producer.flush(60) == 0
        return all(offsets[-1] - offsets[0] >= len(offsets) for _, _, offsets in found)

    def _read(self, topic: str) -> dict[int, list[int]]:
        placed = read_records(self.side["bootstrap.servers"], topic)
        return {number: [each.offset for each in found] or [0] for number, found in placed.items()}
