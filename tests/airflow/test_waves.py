"""Rules of a cutover in waves: some topics and groups now, the rest later, mirrored on until then."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.migration.settings import Phase
from tests.airflow.cutover import cut_over, target_offsets
from tests.airflow.world import AUDIT, P0, World

VALUES = [(b"k", b"%d" % n) for n in range(4)]


def run(world: World, mode: str, copied: dict[TopicPartition, int], topics: list[str] | None = None) -> None:
    """Do a run up to its verdict, and the cutover's steps after it."""
    world.params = {"mode": mode, "topics": topics}
    world.copy_and_judge(copied)
    if mode == "cutover":
        cut_over(world)


@pytest.fixture
def first(world: World, asked: list[dict[str, Any]]) -> World:
    """Topic `orders` and the group that reads nothing else are cut over; `audit` and two other groups are not."""
    world.source.produce("orders", 0, *VALUES)
    world.source.produce("audit", 0, *VALUES)
    world.source.commit("billing", {P0: 3})
    world.source.commit("reporting", {P0: 1, AUDIT: 2})
    world.source.commit("archive", {AUDIT: 1})
    run(world, "cutover", {P0: 4}, ["orders"])
    world.next_run()
    return world


def test_first_wave_moves_its_topics_only(first: World) -> None:
    """A group that reads only them moves; one that reads others as well stays whole. The ledger knows what is left."""
    ledger = first.ledger

    assert {"billing": {P0: 3}} == target_offsets(first)
    assert (Phase.CUTTING_OVER, ("audit",)) == (ledger.phase, ledger.cutovers[0].remaining)


def test_the_rest_goes_on_being_mirrored(first: World) -> None:
    """A sync between the waves leaves the moved topics, which have producers on the target now, alone."""
    first.target.produce("orders", 0, (b"new", b"there"))
    run(first, "sync", {AUDIT: 4})
    generation = first.ledger.last_generation

    assert generation is not None
    assert {"audit"} == set(generation.topics)


def test_last_wave_moves_whoever_is_left(first: World) -> None:
    """Groups that stayed behind move now, on the topics of the first wave too; those that moved stay where they are."""
    first.target.produce("orders", 0, (b"new", b"there"))
    first.target.commit("billing", {P0: 5})
    run(first, "cutover", {AUDIT: 4})

    assert {
        "billing": {P0: 5},
        "reporting": {P0: 1, AUDIT: 2},
        "archive": {AUDIT: 1},
    } == target_offsets(first)
    assert Phase.CUT_OVER is first.ledger.phase
    first.next_run(3)
    first.params = {"mode": "sync"}
    first.refuses("preflight", match="ALREADY_CUT_OVER")


def test_cleared_cutover_mirrors_nothing_again(first: World) -> None:
    """Regression: a run that has cut its topics over, and is cleared, starts no MirrorMaker for them."""
    first.dag_run.run_id, first.dag_run.clear_number = "manual__1", 1
    first.params = {"mode": "cutover", "topics": ["orders"]}

    for operator in ("preflight", "plan", "start_mirror"):
        first.refuses(operator, match="ALREADY_CUT_OVER")


@pytest.mark.parametrize("change", ["record", "partition", "recreated"])
def test_moved_topic_that_changed_holds_up_only_groups_that_read_it(first: World, change: str) -> None:
    """Nobody would read what was added behind the copy: such a group stays, and all others move."""
    if change == "record":
        first.source.produce("orders", 0, (b"late", b"record"))
    elif change == "partition":
        first.target.create_partitions({"orders": 3})
    else:
        first.target.delete_topics(["orders"])
        first.target.create_topics([NewTopic("orders", 2, 1, {})])
    run(first, "cutover", {AUDIT: 4})

    assert {"billing", "archive"} == set(target_offsets(first))
    (group,) = [
        group
        for group in first.run.evidence.require(Kind.OFFSETS_PLAN)["plan"]["groups"]
        if group["group"] == "reporting"
    ]
    assert "MOVED_TOPIC_CHANGED" in [finding["code"] for finding in group["refusals"]]


def test_group_left_behind_is_not_forgotten(first: World) -> None:
    """Where its commits on a moved topic are gone, the next wave says so instead of moving the rest of it."""
    del first.source.groups["reporting"].commits[P0]
    run(first, "cutover", {AUDIT: 4})

    assert {"billing", "archive"} == set(target_offsets(first))
    assert ("reporting",) == tuple(first.ledger.cutovers[0].left)
    result = first.run.evidence.require(Kind.OFFSETS_RESULT)
    assert ["GROUP_OFFSETS_LOST"] == [finding["code"] for finding in result["left_behind"]["reporting"]]
