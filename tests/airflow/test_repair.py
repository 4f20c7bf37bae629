"""How a wrong copy is repaired: the topic is copied again by a migration file with another name."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest
from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import TaskAwaitingInput

from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.orchestration.context import run_of
from kafka_migration.orchestration.failing import FailedForGood
from kafka_migration.orchestration.operators.approve import ApproveOperator
from kafka_migration.orchestration.operators.confirm_cutover import ConfirmCutoverOperator
from kafka_migration.orchestration.operators.judge import JudgeOperator
from kafka_migration.orchestration.operators.plan_offsets import PlanOffsetsOperator
from kafka_migration.orchestration.operators.start_mirror import StartMirrorOperator
from kafka_migration.orchestration.operators.stop_mirror import StopMirrorOperator
from kafka_migration.orchestration.operators.sync_offsets import SyncOffsetsOperator
from kafka_migration.steps.run import MigrationRun
from tests.airflow import cutover
from tests.airflow.conftest import World
from tests.airflow.running import BEFORE_START, mirror, next_run, refusal_codes, validated
from tests.contract.fake_mirror_host import FakeMirrorHost

pytestmark = pytest.mark.airflow

ORDERS, AUDIT = TopicPartition("orders", 0), TopicPartition("audit", 0)


class Second(World):
    """The same two clusters, seen from the migration `shop-2`."""

    @property
    def run(self) -> MigrationRun:
        """The run as a task sees it."""
        return run_of(self.context(), "shop-2")


def second(world: World) -> Second:
    made = Second(**{field.name: getattr(world, field.name) for field in fields(World)})
    made.host = FakeMirrorHost("shop-2")
    made.dag_run.other_dag_id = "kafka_migration__shop-2"
    return made


def do(world: World, *operators: type[BaseOperator]) -> Any:
    """Run operators in order for the world's own migration."""
    for operator in operators:
        summary = operator(task_id=operator.__name__, migration=world.run.name).execute(world.context())
    return summary


def copy(world: World, copied: dict[TopicPartition, int]) -> Any:
    """Copy, stop and judge; return the verdict."""
    do(world, *BEFORE_START, StartMirrorOperator)
    mirror(world, copied)
    do(world, StopMirrorOperator)
    validated(world)
    return do(world, JudgeOperator)["verdict"]


def approve(world: World) -> None:
    """Ask, and answer with yes, for the world's own migration."""
    with pytest.raises(TaskAwaitingInput):
        do(world, ApproveOperator)
    event = {
        "chosen_options": ["Approve"],
        "params_input": {},
        "responded_at": datetime(2030, 1, 1, tzinfo=UTC),
        "responded_by_user": {"id": "grace", "name": "grace"},
        "timedout": False,
    }
    operator = ApproveOperator(task_id="approve", migration=world.run.name)
    operator.execute_complete(world.context(), event)


@pytest.fixture
def spoilt(world: World) -> World:
    """A copy of two topics, read by one group, into one of which somebody else wrote."""
    for topic in ("orders", "audit"):
        for number in range(4):
            world.source.produce(topic, 0, (b"k%d" % number, b"v"))
    world.source.commit("billing", {ORDERS: 3, AUDIT: 2})
    world.params = {"mode": "sync"}
    assert copy(world, {ORDERS: 4, AUDIT: 4}) == "PASS"
    world.target.produce("orders", 0, (b"foreign", b"v"))
    next_run(world)
    return world


def test_a_spoilt_copy_goes_no_further(spoilt: World) -> None:
    """Foreign records refuse every later run of the migration, before anything is started."""
    with pytest.raises(FailedForGood, match="TARGET_WRITTEN_BY_OTHERS"):
        do(spoilt, *BEFORE_START)


def test_deleting_the_topic_alone_repairs_nothing(spoilt: World) -> None:
    """The ledger knows what was copied: an empty topic of the same name is not that copy, and nothing is started."""
    del spoilt.target.topics["orders"]

    with pytest.raises(FailedForGood):
        do(spoilt, *BEFORE_START, StartMirrorOperator)

    assert refusal_codes(spoilt)


def test_topic_is_copied_again_under_another_name(
    spoilt: World, asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the runbook says: out of the old file, deleted on the target, copied by a new file; both are then cut over.

    The rest of the old migration is not copied again, and a group that reads topics of both moves with both.
    """
    path = spoilt.migrations / "shop.yaml"
    text = path.read_text()
    del spoilt.target.topics["orders"]
    path.write_text(text.replace("[orders, audit]", "[audit]"))
    (spoilt.migrations / "shop-2.yaml").write_text(
        text.replace("name: shop", "name: shop-2").replace("[orders, audit]", "[orders]")
    )
    again = second(spoilt)
    hosts = {"shop": spoilt.host, "shop-2": again.host}
    spoilt.deployed["open_host"] = lambda migration, connection: hosts[migration]

    for world, copied in ((again, {ORDERS: 4}), (spoilt, {})):
        world.params = {"mode": "cutover"}
        world.dag_run.other_dag_id = f"kafka_migration__{world.run.name}"
        assert copy(world, copied) == "PASS"
        do(world, PlanOffsetsOperator)
        approve(world)
        do(world, SyncOffsetsOperator, ConfirmCutoverOperator)
        next_run(world, 3)

    assert 2 == len(asked)
    assert {"billing": {ORDERS: 3, AUDIT: 2}} == cutover.target_offsets(spoilt)
    assert 4 == len(spoilt.target.topics["orders"].partitions[0].records)
