"""`python -m bench.group_sync`: records that groups read again after MirrorMaker 2's group sync, and after this one's.

A real MirrorMaker 2 with `sync.group.offsets.enabled` copies three partitions while a producer writes. It is killed
midway and restarted, so that the target has duplicate records. Groups stop at random offsets, and MirrorMaker's sync
gets all the time that it needs. The table also shows the minimum of records delivered again, which this package plans.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka import Consumer, Producer, TopicPartition

from sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from kafka_migration.core.kafka.cluster import KafkaCluster
    from kafka_migration.core.mirror.host import MirrorLaunch

PARTITIONS, RECORDS, BATCHES = 3, 60_000, 12
GROUPS, INTERVAL_S, SETTLING_S = 6, 1, 90
_FILE = """\
version: 1
name: group-sync
source:
  connection: bench_source
target:
  connection: bench_target
  replication_factor: 1
topics: [orders]
mirror:
  connection: bench_host
  tasks: 1
validation:
  spark_connection: bench_spark
"""


def main() -> None:
    """Run, and print a row per group."""
    with (
        tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder,
        Sandbox(Path(folder) / "sandbox", airflow=False, java_options=()) as sandbox,
    ):
        source, target = sandbox.state.source_bootstrap, sandbox.state.target_bootstrap
        stops = _copied(Path(folder), source, target, sandbox.state.environment)
        _print(source, target, stops)


def _copied(folder: Path, source: str, target: str, environment: Mapping[str, str]) -> dict[str, dict[int, int]]:
    """Let MirrorMaker copy, with a kill; return where each group stopped on the source."""
    from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
    from kafka_migration.core.kafka.cluster import NewTopic
    from tests.live.real_mirror import RealMirror

    clusters = [ConfluentCluster("bench", {"bootstrap.servers": at}) for at in (source, target)]
    for cluster in clusters:
        cluster.create_topics([NewTopic("orders", PARTITIONS, 1, {})])
    launch = _launch(clusters, source, target)
    (folder / "first").mkdir()
    (folder / "second").mkdir()
    mirror = RealMirror(folder / "first", launch, environment)
    rng = random.Random(11)
    stands = {f"group-{number}": dict.fromkeys(range(PARTITIONS), 0) for number in range(GROUPS)}
    for batch in range(BATCHES):
        _produce(source, batch)
        for name, stand in stands.items():
            # Each group continues in each partition by a random number of records.
            stand |= {p: rng.randint(at, _in_batches(batch)) for p, at in stand.items() if rng.random() < 0.2}
            _commit(source, name, stand)
        if batch == BATCHES // 2:
            _wait_for(target, _in_batches(batch) * PARTITIONS // 2, mirror)
            mirror.kill()
            mirror = RealMirror(folder / "second", launch, environment)
        time.sleep(1)
    _wait_for(target, RECORDS, mirror)
    # The sync does not report completion, so it gets many times its interval.
    time.sleep(SETTLING_S)
    mirror.stop()
    return stands


def _launch(clusters: Sequence[KafkaCluster], source: str, target: str) -> MirrorLaunch:
    from kafka_migration.core.mirror.engine import DEFAULT_MAX_MESSAGE_BYTES, LaunchFacts
    from kafka_migration.engines.mirrormaker2 import PROPERTIES_FILE, MirrorMaker2
    from kafka_migration.migration_file.loading import load_migration

    engine = MirrorMaker2(load_migration(_FILE, where="bench"), clusters[0], clusters[1])
    old, new = ({"bootstrap.servers": at} for at in (source, target))
    launch = engine.launch(1, LaunchFacts(old, new, DEFAULT_MAX_MESSAGE_BYTES, PARTITIONS))
    ours = [line for line in launch.files[PROPERTIES_FILE].splitlines() if not _is_of_groups(line)]
    theirs = (
        "group-sync-source->group-sync-target.groups = group-.*",
        "sync.group.offsets.enabled = true",
        f"sync.group.offsets.interval.seconds = {INTERVAL_S}",
        f"emit.checkpoints.interval.seconds = {INTERVAL_S}",
        f"refresh.groups.interval.seconds = {INTERVAL_S}",
    )
    return replace(launch, files={**launch.files, PROPERTIES_FILE: "\n".join([*ours, *theirs, ""])})


def _is_of_groups(line: str) -> bool:
    return any(name in line for name in (".groups", "sync.group", "emit.checkpoints", "refresh.groups"))


def _in_batches(batch: int) -> int:
    """Return the number of records of each partition after a batch."""
    return RECORDS // BATCHES // PARTITIONS * (batch + 1)


def _produce(bootstrap: str, batch: int) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20})
    each = RECORDS // BATCHES // PARTITIONS
    for number in range(batch * each, (batch + 1) * each):
        for partition in range(PARTITIONS):
            producer.produce("orders", b"%d %d" % (partition, number), partition=partition)
        producer.poll(0)
    assert producer.flush(60) == 0


def _commit(bootstrap: str, group: str, offsets: Mapping[int, int]) -> None:
    reader = Consumer({"bootstrap.servers": bootstrap, "group.id": group, "enable.auto.commit": False})
    reader.commit(offsets=[TopicPartition("orders", p, at) for p, at in offsets.items()], asynchronous=False)
    reader.close()


def _wait_for(bootstrap: str, records: int, mirror: object) -> None:
    deadline = time.monotonic() + 300
    while sum(len(log) for log in _read(bootstrap).values()) < records:
        assert mirror.is_alive, mirror.log()[-2000:]  # type: ignore[attr-defined]
        assert time.monotonic() < deadline, "the copy is incomplete"
        time.sleep(0.5)


def _read(bootstrap: str) -> dict[int, list[bytes]]:
    from sandbox.data.reading import read_records

    placed = read_records(bootstrap, "orders")
    return {p: [each.record.value or b"" for each in log] for p, log in placed.items()}


def _print(source: str, target: str, stops: Mapping[str, Mapping[int, int]]) -> None:
    from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster

    here, there = _read(source), _read(target)
    cluster = ConfluentCluster("bench", {"bootstrap.servers": target})
    sent = sum(map(len, there.values())) - sum(map(len, here.values()))
    print(f"{sent:,} records sent twice\n")
    print("group    unread  own sync delivers again  the least")
    for group, stop in stops.items():
        synced = {p.partition: commit.offset for p, commit in cluster.committed_offsets(group).items()}
        unread = sum(len(here[p]) - at for p, at in stop.items())
        delivered = sum(len(log) - synced.get(p, 0) for p, log in there.items())
        least = sum(len(there[p]) - _last_copy(here[p], there[p], at) for p, at in stop.items())
        missing = f" ({PARTITIONS - len(synced)} partitions not synced)" if len(synced) < PARTITIONS else ""
        print(f"{group}  {unread:>6,}  {delivered - unread:>23,}  {least - unread:>9,}{missing}")


def _last_copy(log: list[bytes], copy: list[bytes], at: int) -> int:
    """Return the place of the last copy of the record at an offset; the end if everything is read."""
    if at == len(log):
        return len(copy)
    return len(copy) - 1 - copy[::-1].index(log[at])


if __name__ == "__main__":
    main()
