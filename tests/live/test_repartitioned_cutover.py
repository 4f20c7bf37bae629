"""Consumers of a copy with other partitions move on real parts: none skips a record, all reads again are planned."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from kafka_migration.core.evidence import Kind
from tests.live.conftest import LiveWorld
from tests.live.groups import awaiting, ends, read_on
from tests.live.migrations import LiveMigration
from tests.live.scenarios import Scenario
from tests.waiting import wait_until

pytestmark = pytest.mark.live

SOURCE_PARTITIONS, TARGET_PARTITIONS = 3, 5
GROUPS = ("early", "middle", "late")


def read_some(migration: LiveMigration, group: str, count: int) -> list[bytes]:
    """Let a group read about so many records on the source, in any order of partitions, commit and leave."""
    reader = Consumer(
        {**migration.source, "group.id": group, "enable.auto.commit": False, "auto.offset.reset": "earliest"}
    )
    reader.subscribe([migration.name])
    values: list[bytes] = []
    positions = dict.fromkeys(ends(migration.source, migration.name), 0)

    def has_read_enough() -> bool:
        for message in reader.consume(count - len(values), timeout=1):
            assert message.error() is None, message.error()
            values.append(message.value())
            positions[message.partition()] = message.offset() + 1
        return len(values) >= count

    wait_until(has_read_enough, 120, f"{group} to read {count} records")
    reader.commit(offsets=[TopicPartition(migration.name, p, at) for p, at in positions.items()], asynchronous=False)
    reader.close()
    return values


def give_partitions(migration: LiveMigration) -> None:
    """Let the topic have other partitions on each side."""
    source, target = AdminClient(migration.source), AdminClient(migration.target)
    source.create_partitions([NewPartitions(migration.name, SOURCE_PARTITIONS)])[migration.name].result(30)
    target.create_topics([NewTopic(migration.name, TARGET_PARTITIONS, 1)])[migration.name].result(30)


def planned(migration: LiveMigration, run_id: str) -> dict[str, dict[str, Any]]:
    """Return what the run's plan says of each group."""
    plan = migration.evidence(run_id).require(Kind.OFFSETS_PLAN)["plan"]
    return {group["group"]: group for group in plan["groups"]}


@pytest.mark.settings(mirror="  engine: mirrormaker1")
def test_groups_of_mirrormaker1_skip_nothing(live: LiveWorld, scenario: Scenario):
    """MirrorMaker 1 moves three partitions to five and is killed in the middle, so that records are there twice. Groups
    that stopped anywhere go on: what each read on both sides is everything, and what it reads again is as planned."""
    migration = scenario.migration
    give_partitions(migration)
    scenario.follow()
    scenario.faults.kill_mirror()
    wait_until(lambda: len(migration.ledger.generations) > 1, 240, "MirrorMaker to be started again")
    scenario.wait_for_more_copied()
    assert "success" == scenario.end_following().state
    produced = sum(ends(migration.source, migration.name).values())
    chance = random.Random(5)
    read = {
        f"{migration.name}-{name}": read_some(migration, f"{migration.name}-{name}", count)
        for name, count in zip(GROUPS, sorted(chance.sample(range(1, produced), 3)), strict=True)
    }

    run_id = awaiting(migration)
    plan = planned(migration, run_id)
    live.api.answer(migration.dag_id, run_id, "approve", "Approve")
    assert "success" == migration.finished(run_id).state

    everything = Counter(f"value {n}".encode() for n in range(produced))
    until = ends(migration.target, migration.name)
    for group, before in read.items():
        (topic_plan,) = plan[group]["topics"]
        after = read_on(migration.target, group, migration.name, until)
        assert everything == everything & Counter({*before, *after})
        assert len(after) == topic_plan["unread"] + topic_plan["delivered_again"]
        assert len(everything - Counter(before)) == topic_plan["unread"]
        assert topic_plan["is_minimal"]
    assert sum(until.values()) > produced, "nothing was copied twice"
