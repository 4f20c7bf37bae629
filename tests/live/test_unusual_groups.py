"""Groups that are not as usual, planned and written on real brokers: partitions without a commit, no id, lost records.

The test writes the copy as MirrorMaker would write it, so that no whole run is needed.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import cast
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as ClientPartition
from confluent_kafka.admin import AdminClient

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.cutover.plan_page import render_plan
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.groups.group_writes import CUTOVER, Write
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.ledger.generations import GenerationStart, StopCertificate
from kafka_migration.core.migration.settings import Migration, Mode, Uncommitted
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.steps.groups.plan_groups import make_offsets_plan
from kafka_migration.steps.groups.write_groups import move_group
from kafka_migration.steps.run.migration_run import MigrationRun
from sandbox.sandbox import Sandbox
from tests.folded import fold
from tests.live.groups import commit, ends
from tests.live.raw_commit import NO_ERROR, commit_raw
from tests.waiting import wait_until

pytestmark = pytest.mark.live

RECORDS, DELETED = 6, 50


@dataclass
class Copied:
    """A topic on both clusters, of which everything is copied.

    Partition 0 holds records. Partition 1 held records that the source has deleted since. Partition 2 holds an aborted
    transaction. Of partition 3 the source had deleted 50 records before the copy, and holds 6.
    """

    name: str
    sides: dict[str, dict[str, str]]
    migration: Migration
    copied_to: Offsets
    target_ends: Offsets

    def plan(self, uncommitted: Uncommitted | None = None) -> OffsetsPlan:
        """Plan every group that has the topic's name in its own."""
        cutover = replace(self.migration.cutover, groups=(f".*{self.name}.*",), uncommitted=uncommitted)
        migration = replace(self.migration.of_topics((self.name,)), cutover=cutover)
        start = {partition: DELETED if partition.partition == 3 else 0 for partition in self.copied_to}
        begin = GenerationStart(1, "r", "t", start, dict.fromkeys(start, 0))
        stop = StopCertificate(1, "r", "t", True, 143, "stopped", self.copied_to, self.target_ends)
        ledger = fold([begin.to_document(), stop.to_document()])
        run = SimpleNamespace(
            now=lambda: "2030-01-01T00:00:00+00:00",
            source=self.cluster("source"),
            target=self.cluster("target"),
            migration=migration,
            whole_migration=migration,
            moved_topics=frozenset(),
            ledger=SimpleNamespace(known=lambda: ledger),
            identity=RunIdentity("dag", "run", 1),
            request=SimpleNamespace(mode=Mode.CUTOVER, groups=()),
        )
        return make_offsets_plan(cast("MigrationRun", run), with_others=True)

    def cluster(self, side: str) -> ConfluentCluster:
        """Return a cluster as a run uses it."""
        return ConfluentCluster(side, self.sides[side])


def send(side: dict[str, str], topic: str, counts: dict[int, int], value: str = "record") -> None:
    """Write so many records to partitions of a topic."""
    producer = Producer(side)
    for partition, count in counts.items():
        for number in range(count):
            # The copy has the timestamps of its records.
            producer.produce(topic, f"{value} {number}", partition=partition, timestamp=1_700_000_000_000 + number)
    assert producer.flush(60) == 0


def abort(side: dict[str, str], topic: str, partition: int) -> None:
    """Leave an aborted transaction in a partition."""
    producer = Producer({**side, "transactional.id": f"abort-{topic}"})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce(topic, b"never", partition=partition)
    assert producer.flush(60) == 0
    producer.abort_transaction(60)


def delete(side: dict[str, str], topic: str, starts: dict[int, int]) -> None:
    """Delete everything before these offsets."""
    wanted = [ClientPartition(topic, partition, start) for partition, start in starts.items()]
    admin = AdminClient(side)
    for future in admin.delete_records(wanted, request_timeout=60, operation_timeout=60).values():
        future.result(60)


@pytest.fixture
def copied(brokers: Sandbox, migration: Migration) -> Copied:
    """A topic, copied."""
    name = f"unusual-{uuid4().hex[:8]}"
    sides = {side: {"bootstrap.servers": address} for side, address in brokers.bootstraps.items()}
    for side, settings in sides.items():
        # The records are years old: by default, the brokers delete them within seconds.
        ConfluentCluster(side, settings).create_topics([NewTopic(name, 4, 1, {"retention.ms": "-1"})])
        if side == "source":
            send(settings, name, {3: DELETED}, "gone")
        send(settings, name, dict.fromkeys((0, 1, 3), RECORDS))
    abort(sides["source"], name, 2)
    delete(sides["source"], name, {1: RECORDS, 3: DELETED})
    copied_to, target_ends = (
        {TopicPartition(name, partition): end for partition, end in ends(settings, name).items()}
        for settings in sides.values()
    )
    return Copied(name, sides, migration, copied_to, target_ends)


def test_group_with_latest_misses_nothing_after_the_cutover(copied: Copied) -> None:
    """Regression: a group that never committed on an empty partition skipped what was written before it read there.

    The producers start before the consumers, whose `auto.offset.reset` is `latest`. What the source deleted before the
    group read it is reported.
    """
    group, target = f"{copied.name}-billing", copied.sides["target"]
    commit(copied.sides["source"], group, copied.name, {0: 3, 3: 10})
    plan = copied.plan()

    (planned,) = plan.planned
    assert {0: 3, 1: RECORDS, 2: 0, 3: 0} == {p.partition: at.offset for p, at in planned.proposed.items()}
    assert {TopicPartition(copied.name, 3): DELETED - 10} == planned.purged
    assert "The source deleted up to 40 offsets of " in render_plan(plan, "shop")
    assert Write.MOVED is move_group(copied.cluster("target"), CUTOVER, group, planned.proposed, {}).outcome
    send(target, copied.name, {1: 1, 2: 1}, "new")

    unread = (RECORDS - 3) + 1 + 1 + RECORDS
    values: list[bytes] = []
    settings = {"group.id": group, "auto.offset.reset": "latest", "enable.auto.commit": False}
    with closing(Consumer({**target, **settings})) as reader:
        reader.subscribe([copied.name])

        def has_read_all() -> bool:
            values.extend(message.value() for message in reader.consume(100, timeout=1) if message.error() is None)
            return len(values) >= unread

        wait_until(has_read_all, 60, "the group to read what was written before it started")
    assert (unread, 2) == (len(values), values.count(b"new 0"))


@pytest.mark.parametrize(("rule", "expected"), [(None, None), ("earliest", 0), ("latest", RECORDS)])
def test_partition_with_records_is_as_the_file_says(
    copied: Copied, rule: Uncommitted | None, expected: int | None
) -> None:
    """A partition without a commit that holds records is unset with a warning, or begins where the file says."""
    commit(copied.sides["source"], f"{copied.name}-half", copied.name, {0: RECORDS})
    plan = copied.plan(rule)

    (planned,) = plan.planned
    offsets = {partition.partition: at.offset for partition, at in planned.proposed.items()}
    assert {0: RECORDS, 1: RECORDS, 2: 0} | ({} if expected is None else {3: expected}) == offsets
    assert ([Code.OFFSET_NEVER_COMMITTED] if rule is None else []) == [warning.code for warning in planned.warnings]
    assert (rule is None) is ("Start the group's consumers before the producers" in render_plan(plan, "shop"))


def test_unusual_groups_stop_no_ordinary_one(copied: Copied) -> None:
    """The group without an id cannot be moved, one of Kafka Connect and one of Kafka Streams are named; all the others
    are planned."""
    source, name = copied.sides["source"], copied.name
    everything = dict.fromkeys((0, 1, 2, 3), RECORDS) | {2: 0, 3: DELETED}
    groups = [f"{name}-{number}" for number in range(10)] + [f"connect-{name}", f"{name}-streams"]
    for group in groups:
        commit(source, group, name, everything)
    copied.cluster("source").create_topics([NewTopic(f"{name}-streams-totals-changelog", 1, 1, {})])
    address = source["bootstrap.servers"]
    wait_until(lambda: commit_raw(address, b"", name, {0: 3}) == {0: NO_ERROR}, 60, "the commit without an id")
    plan = copied.plan()

    assert sorted(groups) == [group.group for group in plan.planned]
    assert {f"connect-{name}", f"{name}-streams"} == {
        group.group for group in plan.planned for each in group.warnings if each.code is Code.OFFSETS_KEPT_ELSEWHERE
    }
    assert [""] == [*plan.others.unsupported]
    assert "cannot be moved: its id is the empty text" in render_plan(plan, "shop")
    copied.cluster("source").delete_group("")
