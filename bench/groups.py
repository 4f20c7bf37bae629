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
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from bench.results import Arm, Row, compared
from bench.sizes import Groups as Size
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from sandbox.sandbox import Sandbox

PARTITIONS = 10
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


def rows(size: Size) -> Iterator[Row]:
    """Plan and write for few groups, for many, and for few of one partition; yield the figures."""
    with tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder:
        os.environ["AIRFLOW_HOME"] = folder
        with Sandbox(Path(folder) / "sandbox", airflow=False, java_options=()) as sandbox:
            sides = (sandbox.state.source_bootstrap, sandbox.state.target_bootstrap)
            move = partial(_moved, sides=sides, records=size.records)
            few_names, many_names = range(size.few), range(size.few, size.few + size.many)
            narrow, _ = move(Path(folder) / "narrow", topic="narrow", partitions=1, numbers=few_names)
            few, few_s = move(Path(folder) / "few", topic="wide", partitions=PARTITIONS, numbers=few_names)
            many, many_s = move(Path(folder) / "many", topic="wide", partitions=PARTITIONS, numbers=many_names)
    names = f"{size.many:,} groups", f"{size.few:,} groups"
    yield compared(
        "offsets of groups planned and written, 1,000 ÷ 100 groups", Arm(names[0], many_s), Arm(names[1], few_s)
    )
    yield compared(
        "calls for the offsets of groups, 1,000 ÷ 100 groups", Arm(names[0], many, "calls"), Arm(names[1], few, "calls")
    )
    yield compared(
        "calls for the offsets of groups, 10 ÷ 1 partitions",
        Arm("10 partitions", few, "calls"),
        Arm("1 partition", narrow, "calls"),
    )


def _moved(
    folder: Path, sides: tuple[str, str], records: int, topic: str, partitions: int, numbers: range
) -> tuple[int, float]:
    """Move groups of a topic; return the number of calls and the seconds."""
    from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
    from kafka_migration.steps.groups.plan_groups import make_offsets_plan
    from kafka_migration.steps.groups.write_groups import write_plan

    clusters = [ConfluentCluster("bench", {"bootstrap.servers": at}) for at in sides]
    _fill(clusters, sides, topic, partitions, records)
    names = [f"{topic}-{number:04}" for number in numbers]
    _commit(clusters[0], topic, partitions, names, records)
    ends = {TopicPartition(topic, p): records for p in range(partitions)}
    run = _run(folder, topic, ends, [Counting(cluster) for cluster in clusters], names)
    began = time.perf_counter()
    plan = make_offsets_plan(run, with_others=True)
    result = write_plan(run, plan)
    seconds = time.perf_counter() - began
    left = [group.refusals for group in plan.left_out] + [m for m in result.groups if not m.outcome.is_moved]
    assert len(result.groups) == len(names), left[:1]
    assert not left, left[0]
    return sum(sum(cluster.calls.values()) for cluster in (run.source, run.target)), seconds


def _fill(clusters: list[Any], sides: tuple[str, str], topic: str, partitions: int, records: int) -> None:
    from kafka_migration.core.kafka.cluster import NewTopic

    if topic in clusters[0].topic_names():
        return
    for cluster, bootstrap in zip(clusters, sides, strict=True):
        cluster.create_topics([NewTopic(topic, partitions, 1, {})])
        producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20, "enable.idempotence": True})
        for number in range(records):
            for partition in range(partitions):
                producer.produce(topic, b"%d" % number, partition=partition, timestamp=1_700_000_000_000)
        assert producer.flush(60) == 0


def _commit(source: Any, topic: str, partitions: int, names: list[str], records: int) -> None:
    from kafka_migration.adapters.system.deadlines import of_each
    from kafka_migration.core.kafka.offsets import CommittedOffset

    rng = random.Random(3)
    stands = {
        name: {TopicPartition(topic, p): CommittedOffset(rng.randrange(records)) for p in range(partitions)}
        for name in names
    }
    of_each(names, lambda name: source.alter_offsets(name, stands[name]))


def _run(folder: Path, topic: str, end: Offsets, clusters: list[Counting], names: list[str]) -> Any:
    """Return a cutover run whose ledger has one generation that copied everything."""
    from kafka_migration.adapters.store.ledger_store import LedgerStore
    from kafka_migration.core.ledger.generations import GenerationStart, StopCertificate
    from kafka_migration.core.migration.settings import Mode
    from kafka_migration.core.run.run_identity import RunIdentity
    from kafka_migration.orchestration.task.context import deployment
    from kafka_migration.steps.run.migration_run import MigrationRun
    from kafka_migration.steps.run.run_request import RunRequest

    identity, at = RunIdentity("kafka_migration__groups", "bench", 1), "2030-01-01T00:00:00+00:00"
    run = MigrationRun("groups", identity, {}, replace(deployment(), evidence_root=folder))
    # No Airflow is running that could keep the head of the ledger.
    run.ledger = LedgerStore(folder, "groups")
    run.evidence.freeze_migration(_FILE.format(topic=topic))
    begin = dict.fromkeys(end, 0)
    run.ledger.append(GenerationStart(1, identity.holder, at, begin, begin).to_document())
    run.ledger.append(StopCertificate(1, identity.holder, at, True, 143, "stopped", end, end).to_document())
    run.__dict__ |= {
        "request": RunRequest(mode=Mode.CUTOVER, groups=tuple(names)),
        "source": clusters[0],
        "target": clusters[1],
    }
    return run
