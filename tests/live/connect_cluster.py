"""A real Kafka Connect cluster on the sandbox's target, and the process of a migration on it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_migration.adapters.connect.connect_process import ConnectProcess
from kafka_migration.adapters.connect.connect_rest import ConnectRest
from kafka_migration.adapters.connect.task_watch import TaskWatch
from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.connect.connect_config import BYTES, ConnectLaunch
from kafka_migration.core.connect.connect_tools import SOURCE_CONNECTOR
from kafka_migration.core.connections.http import HttpSettings
from sandbox.connect import ConnectWorker, running_workers, workers_of
from sandbox.parts import Part
from sandbox.sandbox import Sandbox


@dataclass
class ConnectCluster:
    """The workers of one Connect cluster, whose Kafka is the target of the sandbox."""

    brokers: Sandbox
    workers: tuple[ConnectWorker, ...]
    parts: dict[str, Part]

    @property
    def status_topic(self) -> str:
        """The workers' topic of states."""
        return f"{self.workers[0].group}-status"

    def settings(self, number: int = 0) -> HttpSettings:
        """Return how a worker's REST interface is reached."""
        return HttpSettings("connect", self.workers[number].url)

    def rest(self, number: int = 0) -> ConnectRest:
        """Return the connectors, as asked of one worker."""
        return ConnectRest(self.settings(number))

    def process(self, migration: str, number: int = 0) -> ConnectProcess:
        """Return the process of a migration, by one worker."""
        target = ConfluentCluster("target", {"bootstrap.servers": self.brokers.state.target_bootstrap})
        watch = TaskWatch(target, self.status_topic, self.settings(number), self.workers[0].group)
        return ConnectProcess(migration, self.rest(number), watch)

    def part(self, worker_id: str) -> Part:
        """Return the part of a worker by its name in the status of tasks."""
        (name,) = (each.name for each in self.workers if each.worker_id == worker_id)
        return self.parts[name]

    def revive(self, worker_id: str) -> None:
        """Start a worker again on its old address, and wait until it answers."""
        part = self.part(worker_id)
        part.stop()
        part.start()
        while not part.is_ready():
            time.sleep(0.2)


@contextmanager
def connect_cluster(
    brokers: Sandbox, folder: Path, count: int = 2, group: str = "connect", **more: Any
) -> Iterator[ConnectCluster]:
    """Run a Connect cluster until the end of the block; `more` are fields of its workers."""
    shutil.rmtree(folder, ignore_errors=True)
    workers = workers_of(folder, brokers.state.target_bootstrap, count, group, **more)
    with running_workers(workers, folder) as parts:
        yield ConnectCluster(brokers, workers, parts)


def one_topic(cluster: ConnectCluster, topic: str) -> Callable[[str], ConnectLaunch]:
    """Return how connectors of migrations are launched that copy one topic in two tasks."""
    bootstraps = cluster.brokers.bootstraps

    def launch(migration: str) -> ConnectLaunch:
        config = {
            "connector.class": SOURCE_CONNECTOR,
            "topics": topic,
            "tasks.max": "2",
            "key.converter": BYTES,
            "value.converter": BYTES,
            "header.converter": BYTES,
            "replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
            "offset-syncs.topic.location": "target",
            "offsets.storage.topic": f"mm2-offsets.{migration}-source.internal",
            "replication.factor": "1",
            "offset-syncs.topic.replication.factor": "1",
        }
        for side in ("source", "target"):
            config |= {f"{side}.cluster.alias": side, f"{side}.cluster.bootstrap.servers": bootstraps[side]}
        return ConnectLaunch(config)

    return launch
