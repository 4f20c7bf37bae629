"""Rules of a cutover in waves: some topics and groups now, the others later."""

from __future__ import annotations

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.migration.settings import Phase
from tests.steps.cutover import cut_over, target_offsets
from tests.steps.world import AUDIT, FOUR_RECORDS, P0, P1, World


def run(world: World, mode: str, copied: dict[TopicPartition, int], topics: list[str] | None = None) -> None:
    """Do a run until its verdict, and in a cutover the tasks after it."""
    world.params = {"mode": mode, "topics": topics}
    world.copy_and_judge(copied)
    if mode == "cutover":
        cut_over(world)


@pytest.fixture
def first(world: World) -> World:
    """The topic `orders` and the group that reads only it are cut over; `audit` and two other groups are not."""
    world.source.produce("orders", 0, *FOUR_RECORDS)
    world.source.produce("audit", 0, *FOUR_RECORDS)
    world.source.commit("billing", {P0: 3})
    world.source.commit("reporting", {P0: 1, AUDIT: 2})
    world.source.commit("archive", {AUDIT: 1})
    run(world, "cutover", {P0: 4}, ["orders"])
    world.next_run()
    return world


def test_first_wave_moves_its_topics_only(first: World) -> None:
    """A wave moves the groups that read only its topics, and the ledger has the remaining topics."""
    ledger = first.ledger

    assert {"billing": {P0: 3, P1: 0}} == target_offsets(first)
    assert (Phase.CUTTING_OVER, ("audit",)) == (ledger.phase, ledger.cutovers[0].remaining)


def test_other_topics_are_still_mirrored(first: World) -> None:
    """A sync between two waves does not copy the moved topics, which have producers on the target."""
    first.target.produce("orders", 0, (b"new", b"there"))
    run(first, "sync", {AUDIT: 4})

    assert {"audit"} == first.ledger.generations[-1].topics


def test_last_wave_moves_the_remaining_groups(first: World) -> None:
    """The last wave moves the remaining groups on all their topics, and does not change groups that have moved."""
    first.target.produce("orders", 0, (b"new", b"there"))
    first.target.commit("billing", {P0: 5})
    run(first, "cutover", {AUDIT: 4})

    offsets = {"billing": {P0: 5, P1: 0}, "reporting": {P0: 1, P1: 0, AUDIT: 2}, "archive": {AUDIT: 1}}
    assert offsets == target_offsets(first)
    assert Phase.CUT_OVER is first.ledger.phase
    first.next_run(3)
    first.params = {"mode": "sync"}
    first.refuses("preflight", match="ALREADY_CUT_OVER")


def test_cleared_cutover_mirrors_nothing_again(first: World) -> None:
    """Regression: a cleared run that had cut its topics over started MirrorMaker for them."""
    first.dag_run.run_id, first.dag_run.clear_number = "manual__1", 1
    first.params = {"mode": "cutover", "topics": ["orders"]}

    for operator in ("preflight", "plan", "start_mirror"):
        first.refuses(operator, match="ALREADY_CUT_OVER")


@pytest.mark.parametrize("change", ["record", "partition", "recreated"])
def test_moved_topic_that_changed_blocks_only_groups_that_read_it(first: World, change: str) -> None:
    """If a moved topic has changed on either side, a group that reads it stays, and the others move."""
    if change == "record":
        first.source.produce("orders", 0, (b"late", b"record"))
    elif change == "partition":
        first.target.create_partitions({"orders": 3})
    else:
        first.target.delete_topics(["orders"])
        first.target.create_topics([NewTopic("orders", 2, 1, {})])
    run(first, "cutover", {AUDIT: 4})

    assert {"billing", "archive"} == set(target_offsets(first))
    groups = first.run.evidence.require(Kind.OFFSETS_PLAN)["plan"]["groups"]
    (group,) = [group for group in groups if group["group"] == "reporting"]
    assert "MOVED_TOPIC_CHANGED" in [finding["code"] for finding in group["refusals"]]


def test_group_without_its_commits_on_a_moved_topic_is_not_moved(first: World) -> None:
    """A remaining group whose commits on a moved topic are gone is reported and not moved."""
    del first.source.groups["reporting"].commits[P0]
    run(first, "cutover", {AUDIT: 4})

    assert {"billing", "archive"} == set(target_offsets(first))
    assert ("reporting",) == tuple(first.ledger.cutovers[0].left)
    result = first.run.evidence.require(Kind.OFFSETS_RESULT)
    assert ["GROUP_OFFSETS_LOST"] == [finding["code"] for finding in result["left_behind"]["reporting"]]
