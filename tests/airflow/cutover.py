"""A cutover in the small world, from its verdict on: what tests of the steps that move groups share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from airflow.sdk.exceptions import TaskAwaitingInput

from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.orchestration.operators.approve import ApproveOperator
from kafka_migration.orchestration.operators.confirm_cutover import ConfirmCutoverOperator
from kafka_migration.orchestration.operators.judge import JudgeOperator
from kafka_migration.orchestration.operators.plan_offsets import PlanOffsetsOperator
from kafka_migration.orchestration.operators.start_mirror import StartMirrorOperator
from kafka_migration.orchestration.operators.stop_mirror import StopMirrorOperator
from kafka_migration.orchestration.operators.sync_offsets import SyncOffsetsOperator
from tests.airflow.conftest import World
from tests.airflow.running import BEFORE_START, do, mirror, validated

P0, P1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
BILLING, REPORTING = {P0: 3, P1: 1}, {P0: 1}


def judge_cutover(world: World) -> None:
    """Bring a cutover to its plan: copied, stopped, judged, with two groups that have stopped on the source."""
    world.params = {"mode": "cutover"}
    for number in range(4):
        world.source.produce("orders", 0, (b"k%d" % number, b"v"))
    world.source.produce("orders", 1, (b"k", b"v"))
    world.source.commit("billing", BILLING, metadata="note")
    world.source.commit("reporting", REPORTING)
    do(world, *BEFORE_START, StartMirrorOperator)
    mirror(world, {P0: 4, P1: 1})
    do(world, StopMirrorOperator)
    validated(world)
    do(world, JudgeOperator)


def ask(world: World) -> None:
    """Run approve until it waits for an answer."""
    with pytest.raises(TaskAwaitingInput):
        do(world, ApproveOperator)


def answer(world: World, option: str | None = "Approve", user: str = "grace") -> dict[str, Any]:
    """Resume approve with an answer, as Airflow does; no option is a time-out."""
    event: dict[str, Any] = {"error": "too late", "error_type": "timeout"}
    if option:
        event = {
            "chosen_options": [option],
            "params_input": {},
            "responded_at": datetime(2030, 1, 1, tzinfo=UTC),
            "responded_by_user": {"id": user, "name": user},
            "timedout": False,
        }
    operator = ApproveOperator(task_id="approve", migration="shop")
    return operator.execute_complete(world.context(), event)


def approved(world: World) -> None:
    """Plan, ask, and answer with yes."""
    do(world, PlanOffsetsOperator)
    ask(world)
    answer(world)


def target_offsets(world: World) -> dict[str, dict[TopicPartition, int]]:
    """Return every group's committed offsets on the target."""
    return {
        name: {p: commit.offset for p, commit in group.commits.items()} for name, group in world.target.groups.items()
    }


def configure(world: World, text: str) -> None:
    """Give the file a cutover section, and freeze it into the running attempt as if it had always had that."""
    path = world.migrations / "shop.yaml"
    path.write_text(path.read_text() + f"cutover:\n{text}")
    world.freeze(path.read_text())


def cut_over(world: World) -> dict[str, Any]:
    """Plan, approve, write and confirm; return the summary of the last."""
    approved(world)
    return do(world, SyncOffsetsOperator, ConfirmCutoverOperator)
