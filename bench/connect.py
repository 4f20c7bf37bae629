"""MirrorMaker 2 on a Kafka Connect cluster: how it scales on one machine, and what its start and its stop cost.

A reservation, a start and a stop are those of a run: of the engine's own process, without Airflow. The start ends with
the last of few records on the target, so it includes that of the tasks; the stop ends when it is proved.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from unittest.mock import patch

from bench.copies import Topic, await_records, cost_of_copy, on_target
from bench.measuring import Cost, median_of, ratio
from bench.results import Arm, Row, compared
from bench.sizes import Connect as Size
from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.connections.java_properties import java_properties
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.mirror.engine import DEFAULT_MAX_MESSAGE_BYTES, AnyEngine, LaunchFacts
from kafka_migration.core.mirror.mirror_process import AnyProcess
from kafka_migration.migration_file.loading import load_migration_file
from sandbox.connect import ConnectWorker, running_workers, workers_of
from sandbox.parts import HOST
from sandbox.sandbox import Sandbox

PARTITIONS = 12
TASKS = 3
HOLDER = "bench"
ALONE, TOGETHER = "1 worker", f"{TASKS} workers"
ON_CONNECT, ON_A_HOST = "Kafka Connect", "a host"
_FILE = """\
version: 1
name: {name}
source: {{connection: demo_source, alias: {name}-old}}
target: {{connection: demo_target, replication_factor: 1}}
topics: [{topic}]
mirror:
  tasks: {tasks}
  topic_names: {{naming: prefixed}}
{mirror}validation: {{spark_connection: demo_spark}}
"""
_HOST = """\
  connection: demo_mirror_host
"""
_WORKERS = """\
  engine: connect
  connection: {group}
  connect: {{status_topic: {group}-status, config_topic: {group}-config, offset_topic: {group}-offset, group: {group}}}
"""


@dataclass
class Mirror:
    """The engine and the process of one migration, opened as a run opens them, and what its generations need."""

    engine: AnyEngine
    process: AnyProcess
    target: ConfluentCluster
    facts: LaunchFacts
    stop_grace_s: int
    copied: Sequence[TopicPartition]
    generation: int = 0

    def start(self) -> None:
        """Take the reservation and start the next generation, as a run does."""
        self.process.reserve(HOLDER)
        self.generation += 1
        self.target.delete_topics(self.engine.stale_topics(self.generation, self.target.topic_names()))
        self.process.start(HOLDER, self.generation, self.engine.launch(self.generation, self.facts))

    def stop(self) -> None:
        """Stop the generation, which must end in order, and release the reservation."""
        reply = self.process.stop(HOLDER, self.generation, self.stop_grace_s)
        assert self.engine.ending(reply).is_clean, reply
        self.process.release(HOLDER)

    def arrived(self) -> int:
        """Return how many records are on the target."""
        return on_target(self.target, self.copied)


@dataclass
class World:
    """Two clusters, whose connections this process has, and a folder for migration files."""

    folder: Path
    bootstraps: Mapping[str, str]
    _numbers: Iterator[int] = field(default_factory=count)

    @contextmanager
    def mirror(self, topic: Topic, where: str) -> Iterator[Mirror]:
        """Yield the engine and the process of a new migration of one topic, which is created on the target."""
        from kafka_migration.cli.shell.airflow_access import shown_deployment

        name = f"bench-{next(self._numbers)}"
        file = self.folder / f"{name}.yaml"
        file.write_text(_FILE.format(name=name, topic=topic.name, tasks=TASKS, mirror=where))
        _, migration = load_migration_file(file)
        deployment = shown_deployment(self.folder)
        source, target = (
            ConfluentCluster("bench", {"bootstrap.servers": self.bootstraps[side]}) for side in ("source", "target")
        )
        copied = migration.target_topic(topic.name)
        target.create_topics([NewTopic(copied, topic.partitions, 1, {})])
        facts = LaunchFacts(
            java_properties(migration.source.connection, deployment.client_settings(migration.source)),
            java_properties(migration.target.connection, deployment.client_settings(migration.target)),
            DEFAULT_MAX_MESSAGE_BYTES,
            topic.partitions,
        )
        opened = deployment.open_mirror(migration)
        try:
            yield Mirror(
                deployment.engine_of(migration, source, target),
                opened.process,
                target,
                facts,
                migration.mirror.stop_grace_s,
                [TopicPartition(copied, number) for number in range(topic.partitions)],
            )
        finally:
            opened.close()
            target.delete_topics([copied])


@contextmanager
def _world() -> Iterator[World]:
    """Start the clusters and the MirrorMaker host, with a Connect cluster of one worker and one of three."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kafka-migration-bench-")))
        sandbox = stack.enter_context(Sandbox(folder / "sandbox", airflow=False, java_options=()))
        target = sandbox.bootstraps["target"]
        groups = {group: workers_of(folder, target, number, group, java_options=()) for group, number in GROUPS.items()}
        workers = tuple(worker for group in groups.values() for worker in group)
        stack.enter_context(running_workers(workers, folder / "logs"))
        settings = {name: text for name, text in sandbox.state.environment.items() if name.startswith("AIRFLOW_")}
        settings |= {f"AIRFLOW_CONN_{group.upper()}": _connection(found[0]) for group, found in groups.items()}
        stack.enter_context(patch.dict(os.environ, settings))
        (folder / "migrations").mkdir()
        yield World(folder / "migrations", sandbox.bootstraps)


# The Connect clusters by their connection, which is the group of the workers too, and the number of their workers.
GROUPS = {"bench_alone": 1, "bench_together": TASKS}
PLACES = {
    ALONE: _WORKERS.format(group="bench_alone"),
    TOGETHER: _WORKERS.format(group="bench_together"),
    ON_CONNECT: _WORKERS.format(group="bench_together"),
    ON_A_HOST: _HOST,
}


def _connection(worker: ConnectWorker) -> str:
    return json.dumps({"conn_type": "http", "host": f"http://{HOST}", "port": worker.port})


def rows(size: Size) -> Iterator[Row]:
    """Copy through one worker and through three, and start and stop both engines, each in turn; yield the figures."""
    with _world() as world:
        yield _rates(world, size)
        yield _starts_and_stops(world, size)


def _rates(world: World, size: Size) -> Row:
    """Copy the same topic on each Connect cluster in turn; the first copy of each warms it up and is dropped."""
    topic = Topic("many", PARTITIONS, size.records)
    topic.fill(world.bootstraps["source"])
    found = [{arm: _copy(world, topic, arm) for arm in (ALONE, TOGETHER)} for _ in range(size.runs + 1)][1:]
    costs = {arm: median_of(each[arm] for each in found) for arm in (ALONE, TOGETHER)}
    return ratio("Kafka Connect, rate of 3 tasks on 3 workers ÷ on 1", costs, ALONE, TOGETHER, (size.records,) * 2)


def _copy(world: World, topic: Topic, arm: str) -> Cost:
    with world.mirror(topic, PLACES[arm]) as mirror:
        mirror.start()
        try:
            return cost_of_copy(topic.count, mirror.arrived)
        finally:
            mirror.stop()


def _starts_and_stops(world: World, size: Size) -> Row:
    """Let both engines copy few new records in turn; the first round is dropped."""
    topic = Topic("few", PARTITIONS, size.few)
    topic.fill(world.bootstraps["source"])
    with ExitStack() as stack:
        mirrors = {arm: stack.enter_context(world.mirror(topic, PLACES[arm])) for arm in (ON_CONNECT, ON_A_HOST)}
        found: list[dict[str, float]] = []
        for number in range(1, size.runs + 2):
            found.append({arm: _turn_s(mirror, number * size.few) for arm, mirror in mirrors.items()})
            topic.write(world.bootstraps["source"])
    arms = {arm: Arm(arm, statistics.median(each[arm] for each in found[1:])) for arm in mirrors}
    name = "overhead of start and stop, Kafka Connect ÷ MirrorMaker 2 on a host"
    return compared(name, arms[ON_CONNECT], arms[ON_A_HOST])


def _turn_s(mirror: Mirror, records: int) -> float:
    """Return the seconds of one generation that copies until this many records are on the target."""
    began = time.perf_counter()
    mirror.start()
    try:
        await_records(records, mirror.arrived)
    finally:
        mirror.stop()
    return time.perf_counter() - began
