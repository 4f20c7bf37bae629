"""Consumers move on real parts after a MirrorMaker was killed: none skips a record, what is read again is planned."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.migration.settings import Phase
from sandbox.data.reading import read_records
from tests.live.conftest import LiveWorld
from tests.live.groups import approve, awaiting, committed, ends, read_on
from tests.live.migrations import LiveMigration
from tests.live.scenarios import Scenario
from tests.waiting import wait_until

pytestmark = pytest.mark.live

SOURCE_PARTITIONS, TARGET_PARTITIONS = 3, 5
GROUPS = ("early", "middle", "late")


def read_some(side: Mapping[str, str], topic: str, group: str, count: int) -> list[bytes]:
    """Let a group read about so many records on a side, in any order of partitions, commit and leave."""
    reader = Consumer({**side, "group.id": group, "enable.auto.commit": False, "auto.offset.reset": "earliest"})
    reader.subscribe([topic])
    values: list[bytes] = []
    positions = dict.fromkeys(ends(side, topic), 0) | committed(side, group, topic)

    def has_read_enough() -> bool:
        for message in reader.consume(count - len(values), timeout=1):
            assert message.error() is None, message.error()
            values.append(message.value())
            positions[message.partition()] = message.offset() + 1
        return len(values) >= count

    wait_until(has_read_enough, 120, f"{group} to read {count} records")
    reader.commit(offsets=[TopicPartition(topic, p, at) for p, at in positions.items()], asynchronous=False)
    reader.close()
    return values


def give_partitions(migration: LiveMigration, on_target: int) -> None:
    """Let the topic have more partitions on the source, and so many on the target."""
    source, target = AdminClient(migration.source), AdminClient(migration.target)
    source.create_partitions([NewPartitions(migration.name, SOURCE_PARTITIONS)])[migration.name].result(60)
    target.create_topics([NewTopic(migration.name, on_target, 1)])[migration.name].result(60)


def read_all(side: Mapping[str, str], topic: str) -> list[bytes]:
    """Return the values of all records that a topic holds."""
    placed = read_records(side["bootstrap.servers"], topic)
    return [each.record.value or b"" for records in placed.values() for each in records]


def planned(migration: LiveMigration, run_id: str) -> dict[str, dict[str, Any]]:
    """Return what the run's plan says of each group."""
    plan = migration.evidence(run_id).require(Kind.OFFSETS_PLAN)["plan"]
    return {group["group"]: group for group in plan["groups"]}


@pytest.mark.settings(mirror="  engine: mirrormaker1")
def test_groups_of_mirrormaker1_skip_nothing(live: LiveWorld, scenario: Scenario) -> None:
    """MirrorMaker 1 moves three partitions to five, and is killed: every group gets all records, again as planned."""
    give_partitions(scenario.migration, TARGET_PARTITIONS)
    read = copied_with_a_kill(scenario)
    plan = moved(live, scenario.migration)
    require_nothing_skipped(scenario.migration, read, plan)

    for group in plan.values():
        (move,) = group["moves"]
        assert move["is_minimal"]
    require_the_way_back(live, scenario.migration, read, plan, asks_without_leave=False)


@pytest.mark.campaign
def test_groups_of_mirrormaker2_skip_nothing(live: LiveWorld, scenario: Scenario) -> None:
    """MirrorMaker 2 keeps the partitions, and is killed: every group gets all records, again as planned."""
    give_partitions(scenario.migration, SOURCE_PARTITIONS)
    read = copied_with_a_kill(scenario)
    plan = moved(live, scenario.migration)
    require_nothing_skipped(scenario.migration, read, plan)
    require_the_way_back(live, scenario.migration, read, plan)


@pytest.mark.campaign
@pytest.mark.settings(mirror="  exactly_once: true")
def test_groups_of_an_exactly_once_copy_skip_nothing(live: LiveWorld, scenario: Scenario) -> None:
    """In transactions offsets of both sides do not run in step: every group gets all records, and none again."""
    give_partitions(scenario.migration, SOURCE_PARTITIONS)
    read = copied_with_a_kill(scenario)
    plan = moved(live, scenario.migration)
    require_nothing_skipped(scenario.migration, read, plan, is_sent_again=False)
    require_the_way_back(live, scenario.migration, read, plan)


def copied_with_a_kill(scenario: Scenario) -> dict[str, list[bytes]]:
    """Let MirrorMaker follow a producer, kill it, go on; let groups read anywhere. Return what each has read."""
    migration = scenario.migration
    scenario.follow()
    scenario.faults.kill_mirror()
    wait_until(lambda: len(migration.ledger.generations) > 1, 240, "MirrorMaker to be started again")
    scenario.wait_for_more_copied()
    assert "success" == scenario.end_following().state
    produced = sum(ends(migration.source, migration.name).values())
    counts = sorted(random.Random(5).sample(range(1, produced), len(GROUPS)))
    names = [f"{migration.name}-{name}" for name in GROUPS]
    chosen = zip(names, counts, strict=True)
    return {group: read_some(migration.source, migration.name, group, count) for group, count in chosen}


def moved(live: LiveWorld, migration: LiveMigration) -> dict[str, dict[str, Any]]:
    """Cut over; return what the plan says of each group."""
    run_id = awaiting(migration)
    plan = planned(migration, run_id)
    approve(live.api, migration, run_id)
    return plan


def require_nothing_skipped(
    migration: LiveMigration,
    read: Mapping[str, list[bytes]],
    plan: Mapping[str, Mapping[str, Any]],
    *,
    is_sent_again: bool = True,
) -> None:
    """What each group has read on both sides together is everything, and as much more as the plan says."""
    copies = len(read_all(migration.target, migration.name))
    assert (copies > len(read_all(migration.source, migration.name))) is is_sent_again
    everything = Counter(read_all(migration.source, migration.name))
    until = ends(migration.target, migration.name)
    for group, before in read.items():
        after = read_on(migration.target, group, migration.name, until)
        unread = everything - Counter(before)
        assert not unread - Counter(after), "records were skipped"
        assert len(after) == unread.total() + plan[group]["delivered_again"]


def half_of_the_rest(group: Mapping[str, Any]) -> int:
    """Return about half of the records that the target has for a group."""
    unread: int = sum(move["unread"] or 0 for move in group["moves"])
    delivered_again: int = group["delivered_again"]
    return (delivered_again + min(unread, 40)) // 2


def require_the_way_back(
    live: LiveWorld,
    migration: LiveMigration,
    read: Mapping[str, list[bytes]],
    plan: Mapping[str, Mapping[str, Any]],
    *,
    asks_without_leave: bool = True,
) -> None:
    """Groups read a part on the target and go back: what they read on both sides is everything, again as planned.

    Records that only the target has are counted; a rollback that is asked for without leave to lose them is refused.
    """
    target, topic, back = migration.target, migration.name, migration.way_back()
    before = {
        group: values + read_some(target, topic, group, half_of_the_rest(plan[group])) for group, values in read.items()
    }
    producer = Producer(target)
    for number in range(3):
        producer.produce(topic, b"only on the target", key=b"k%d" % number)
    assert producer.flush(60) == 0
    if asks_without_leave:
        refused = back.finished(back.trigger("fail_back"))
        assert ("failed", ["TARGET_ONLY_RECORDS"]) == (refused.state, back.codes(refused.run_id))

    run_id = awaiting(back, "fail_back", leave_records_of=[topic])
    rollback = back.evidence(run_id).require(Kind.ROLLBACK_PLAN)["plan"]
    approve(live.api, back, run_id)

    assert [3] == [told["records"] for told in rollback["target_only"]]
    assert Phase.ROLLED_BACK is migration.ledger.phase
    everything, until = Counter(read_all(migration.source, topic)), ends(migration.source, topic)
    planned_back = {group["group"]: group for group in rollback["groups"]}
    for group, values in before.items():
        after = read_on(migration.source, group, topic, until)
        (told,) = planned_back[group]["moves"]
        assert not (everything - Counter(values)) - Counter(after), "records were skipped"
        assert len(after) == told["unread"] + told["delivered_again"]
        resumes = {int(p): offset for p, (offset, _) in told["proposed"][topic].items()}
        assert (True, resumes) == (told["is_minimal"], dict(committed(migration.source, group, topic)))
