"""The cost of planning and writing the offsets of many consumer groups: it must grow with groups, not with partitions.

A topic with ten partitions has been copied, and the groups have committed random offsets in it. Both arms plan and
write like `plan_offsets` and `sync_offsets` on real clusters: first a hundred groups, then a thousand. The same hundred
groups on a topic with one partition show the number of calls per group.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from bench.results import Row
from sandbox.sandbox import Sandbox

FEW, MANY = 100, 1_000
PARTITIONS, RECORDS = 10, 2_000
_FILE = """\
version: 1
name: groups
source:
  connection: bench_source
target:
  connection: bench_target
  replication_factor: 1
topics: [{topic}]
mirror:
  connection: bench_host
validation:
  spark_connection: bench_spark
cutover:
  groups: ["{topic}-.*"]
"""


class Counting:
    """A cluster that counts its requests."""

    def __init__(self, cluster: Any) -> None:
        self._cluster = cluster
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        asked = getattr(self._cluster, name)

        def counted(*arguments: Any) -> Any:
            self.calls[name] += 1
            return asked(*arguments)

        return counted


def rows() -> list[Row]:
    """Plan and write for few groups, for many, and for few of one partition; return the figures."""
    with tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder:
        os.environ["AIRFLOW_HOME"] = folder
        with Sandbox(Path(folder) / "sandbox", airflow=False, java_options=()) as sandbox:
            sides = (sandbox.state.source_bootstrap, sandbox.state.target_bootstrap)
            narrow, _ = _moved(Path(folder) / "narrow", sides, "narrow", 1, range(FEW))
            few, few_s = _moved(Path(folder) / "few", sides, "wide", PARTITIONS, range(FEW))
            many, many_s = _moved(Path(folder) / "many", sides, "wide", PARTITIONS, range(FEW, FEW + MANY))
    return [
        Row(f"offsets of groups planned and written, {MANY:,} ÷ {FEW} groups", many_s / few_s, 12, None),
        Row(f"calls for the offsets of groups, {MANY:,} ÷ {FEW} groups", many / few, 10.5, None),
        Row(f"calls for the offsets of groups, {PARTITIONS} ÷ 1 partitions", few / narrow, 1.25, None),
    ]


def _moved(folder: Path, sides: tuple[str, str], topic: str, partitions: int, numbers: range) -> tuple[int, float]:
    """Move groups of a topic; return the number of calls and the seconds."""
    from kafka_migration.adapters.kafka import ConfluentCluster
    from kafka_migration.steps.groups.planning import make_offsets_plan
    from kafka_migration.steps.groups.writing import write_plan

    clusters = [ConfluentCluster("bench", {"bootstrap.servers": at}) for at in sides]
    _fill(clusters, sides, topic, partitions)
    names = [f"{topic}-{number:04}" for number in numbers]
    _commit(clusters[0], topic, partitions, names)
    run = _run(folder, topic, partitions, [Counting(cluster) for cluster in clusters], names)
    began = time.perf_counter()
    plan = make_offsets_plan(run, with_others=True)
    result = write_plan(run, plan)
    seconds = time.perf_counter() - began
    left = [group.refusals for group in plan.left_out] + [m for m in result.moves if not m.outcome.is_moved]
    assert len(result.moves) == len(names), left[:1]
    assert not left, left[0]
    return sum(sum(cluster.calls.values()) for cluster in (run.source, run.target)), seconds


def _fill(clusters: list[Any], sides: tuple[str, str], topic: str, partitions: int) -> None:
    from kafka_migration.core.kafka.cluster import NewTopic

    if topic in clusters[0].topic_names():
        return
    for cluster, bootstrap in zip(clusters, sides, strict=True):
        cluster.create_topics([NewTopic(topic, partitions, 1, {})])
        producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20, "enable.idempotence": True})
        for number in range(RECORDS):
            for partition in range(partitions):
                producer.produce(topic, b"%d" % number, partition=partition, timestamp=1_700_000_000_000)
        assert producer.flush(60) == 0


def _commit(source: Any, topic: str, partitions: int, names: list[str]) -> None:
    from kafka_migration.adapters.many import of_each
    from kafka_migration.core.kafka.cluster import CommittedOffset
    from kafka_migration.core.kafka.offsets import TopicPartition

    rng = random.Random(3)
    stands = {
        name: {TopicPartition(topic, p): CommittedOffset(rng.randrange(RECORDS)) for p in range(partitions)}
        for name in names
    }
    of_each(names, lambda name: source.alter_offsets(name, stands[name]))


def _run(folder: Path, topic: str, partitions: int, clusters: list[Counting], names: list[str]) -> Any:
    """Return a cutover run whose ledger has one generation that copied everything."""
    from kafka_migration.adapters.ledger_store import LedgerStore
    from kafka_migration.core.kafka.offsets import TopicPartition
    from kafka_migration.core.ledger.generations import GenerationStart, StopCertificate
    from kafka_migration.core.migration.settings import Mode, RunIdentity
    from kafka_migration.orchestration.context import deployment
    from kafka_migration.steps.request import RunRequest
    from kafka_migration.steps.run import MigrationRun

    identity, at = RunIdentity("kafka_migration__groups", "bench", 1), "2030-01-01T00:00:00+00:00"
    run = MigrationRun("groups", identity, {}, replace(deployment(), evidence_root=folder))
    # No Airflow is running that could keep the head of the ledger.
    run.ledger = LedgerStore(folder, "groups")
    run.evidence.freeze_migration(_FILE.format(topic=topic))
    begin = {TopicPartition(topic, p): 0 for p in range(partitions)}
    end = dict.fromkeys(begin, RECORDS)
    run.ledger.append(GenerationStart(1, identity.holder, at, begin, begin).to_document())
    run.ledger.append(StopCertificate(1, identity.holder, at, True, 143, "stopped", end, end).to_document())
    run.__dict__ |= {
        "request": RunRequest(mode=Mode.CUTOVER, groups=tuple(names)),
        "source": clusters[0],
        "target": clusters[1],
    }
    return run
