"""Rules of how often a plan of offsets asks each cluster, and that it depends only on the answers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.steps.groups.plan_groups import read_planning
from kafka_migration.steps.rollback.roll_back import read_rollback
from tests.contract.fake_cluster import FakeCluster
from tests.steps.cutover import approved, begin_rollback, cut_over
from tests.steps.world import P0, P1, World

GROUPS = 2
ROLLBACK = ("preflight", "reserve", "translate_back")


class Counting:
    """A cluster that counts its calls."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        """Count each call, and pass it on."""
        method = getattr(self._cluster, name)

        def call(*arguments: Any) -> Any:
            self.calls[name] += name != "close"
            return method(*arguments)

        return call


def counted(world: World, operator: Any) -> tuple[dict[str, int], dict[str, int]]:
    """Run a task; return the calls to the source and to the target."""
    sides = {"source": Counting(world.source), "target": Counting(world.target)}
    world.deployed["open_cluster"] = lambda side, cluster: sides[side]
    world.do(operator)
    del world.deployed["open_cluster"]
    return dict(+sides["source"].calls), dict(+sides["target"].calls)


# One side read once. Kafka answers about the commits of one group at a time.
ONCE = {
    "describe_topics": 1,
    "describe_groups": 1,
    "committed_offsets": GROUPS,
    "log_start_offsets": 1,
    "log_end_offsets": 1,
}
# One side of a plan: also how topics are compared, and the records at the committed offsets.
PLAN = {**ONCE, "effective_configs": 1, "records_at": 2}


def test_plan_of_a_cutover_asks_for_each_value_once(scene: World) -> None:
    """A plan reads each kind of value once, except the records that prove the offsets.

    One call reads the records at one committed offset per partition, so two groups on a partition need two calls.
    """
    scene.do("translate_offsets")
    source, target = counted(scene, "plan_offsets")

    assert {**PLAN, "list_groups": 1, "topic_names": 1, "probe": 1} == source
    assert PLAN == target


def test_write_plans_again_and_reads_each_group_three_times(scene: World) -> None:
    """The write plans again, and then saves, compares and reads back the offsets of each group."""
    scene.do("translate_offsets")
    approved(scene)
    source, target = counted(scene, "sync_offsets")

    assert {**PLAN, "committed_offsets": 2 * GROUPS, "list_groups": 1, "probe": 1, "facts": 1} == source
    groups = {"facts": 1, "describe_groups": 1 + GROUPS, "committed_offsets": 4 * GROUPS, "alter_offsets": GROUPS}
    assert {**PLAN, **groups} == target


@pytest.fixture
def moved(scene: World) -> World:
    """A cutover whose groups have read on, and a rollback before its plan."""
    cut_over(scene)
    scene.do("restore_settings")
    scene.target.commit("billing", {P0: 3, P1: 1})
    scene.target.commit("reporting", {P0: 2})
    begin_rollback(scene)
    return scene


def test_fail_back_asks_for_each_value_once(moved: World) -> None:
    """A fail-back reads each kind of value once, except ends and records after the copy."""
    moved.target.produce("orders", 0, (b"new", b"1"))
    moved.params = {"mode": "fail_back", "leave_records_of": ["orders"]}
    moved.do(*ROLLBACK)
    source, target = counted(moved, "plan_rollback")

    assert {**ONCE, "records_at": 2} == source
    after_the_copy = {"log_end_offsets": 2, "records_at": 2 + 1, "count_visible": 1}
    assert {**ONCE, **after_the_copy, "list_groups": 1, "effective_configs": 1} == target


def test_restore_asks_for_each_value_once(moved: World) -> None:
    """A restore reads each value once, compares no records, and knows the groups from the cutover's evidence."""
    moved.params = {"mode": "restore"}
    moved.do(*ROLLBACK)
    source, target = counted(moved, "plan_rollback")

    assert ONCE == source
    assert {**ONCE, "log_end_offsets": 2, "records_at": 1} == target


def change(world: World) -> None:
    """Change everything on both clusters that a plan reads."""
    for cluster in (world.source, world.target):
        cluster.produce("orders", 0, (b"late", b"record"))
        cluster.purge("orders", 0, 2)
        cluster.commit("billing", {P0: 1})
        cluster.commit("another", {P0: 1})
        cluster.delete_topics(["audit"])
        cluster.create_topics([NewTopic("audit", 3, 1, {})])
        cluster.is_down = True


def test_plan_is_a_function_of_the_snapshot(scene: World) -> None:
    """A plan depends only on what was read, not on later changes of the clusters."""
    scene.do("translate_offsets")
    planning = read_planning(scene.run, with_others=True)
    before = planning.plan()
    change(scene)

    assert before == type(planning)(planning.scope, planning.seen).plan()
    assert ["billing", "reporting"] == [group.group for group in before.planned]


@pytest.mark.parametrize("mode", ["restore", "fail_back"])
def test_rollback_is_a_function_of_the_snapshot(moved: World, mode: str) -> None:
    """A rollback's plan depends only on what was read, in both modes."""
    moved.params = {"mode": mode}
    moved.do(*ROLLBACK)
    planning = read_rollback(moved.run)
    before = planning.plan()
    change(moved)

    assert before == type(planning)(planning.scope, planning.seen).plan()
    assert ["billing", "reporting"] == [group.group for group in before.changed]
