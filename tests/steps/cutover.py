"""Cutovers and rollbacks in the small world: what tests of the tasks that move groups share."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_migration.core.kafka.offsets import TopicPartition
from tests.steps.world import P0, P1, World

ROLLBACK_DAG_ID = "kafka_rollback__shop"
BILLING, REPORTING = {P0: 3, P1: 1}, {P0: 1}


def judge_cutover(world: World) -> None:
    """Copy and judge in a cutover, with two groups that have stopped on the source."""
    world.params = {"mode": "cutover"}
    for number in range(4):
        world.source.produce("orders", 0, (b"k%d" % number, b"v"))
    world.source.produce("orders", 1, (b"k", b"v"))
    world.source.commit("billing", BILLING, metadata="note")
    world.source.commit("reporting", REPORTING)
    world.copy_and_judge({P0: 4, P1: 1})


def ask(world: World) -> Any:
    """Run approve until it waits for an answer, and return how it waits."""
    with pytest.raises(world.waits) as waiting:
        world.do("approve")
    return waiting.value


def plan_and_ask(world: World) -> Any:
    """Plan the offsets, run approve until it waits for an answer, and return how it waits."""
    world.do("plan_offsets")
    return ask(world)


def answer(world: World, option: str | None = "Approve", user: str = "grace") -> dict[str, Any]:
    """Answer the question of approve; no option is a time-out."""
    return world.answer(option, user)


def approved(world: World) -> None:
    """Plan, ask, and approve."""
    plan_and_ask(world)
    answer(world)


def target_offsets(world: World) -> dict[str, dict[TopicPartition, int]]:
    """Return every group's committed offsets on the target."""
    return {
        name: {p: commit.offset for p, commit in group.commits.items()} for name, group in world.target.groups.items()
    }


def configure(world: World, text: str) -> None:
    """Add a section `cutover` to the file, and let the run have it as if it had always been there."""
    world.extend_file(f"cutover:\n{text}")
    world.freeze()


def cut_over(world: World) -> dict[str, Any]:
    """Translate, plan, approve, write and confirm; return the summary of the last."""
    world.do("translate_offsets")
    approved(world)
    return world.do("sync_offsets", "confirm_cutover")


def begin_rollback(world: World, number: int = 2, **params: Any) -> None:
    """End the run, and begin a run of the rollback DAG."""
    world.next_run(number)
    world.dag_run.other_dag_id = ROLLBACK_DAG_ID
    world.params = {"mode": "fail_back", **params}
