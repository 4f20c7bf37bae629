"""Rules of backfill runs that copy nothing and only answer."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.orchestration.failing import FailedForGood
from kafka_migration.orchestration.operators.create_topics import CreateTopicsOperator
from kafka_migration.orchestration.operators.judge import JudgeOperator
from kafka_migration.orchestration.operators.plan import PlanOperator
from kafka_migration.orchestration.operators.preflight import PreflightOperator
from kafka_migration.orchestration.operators.reserve import ReserveOperator
from kafka_migration.orchestration.operators.start_mirror import StartMirrorOperator
from kafka_migration.orchestration.operators.stop_mirror import StopMirrorOperator
from kafka_migration.orchestration.sensors.watch_lag import MirrorLagSensor
from tests.airflow.conftest import World
from tests.airflow.driving import FakeClock
from tests.airflow.nights import P0, at_night, begin
from tests.airflow.running import BEFORE_START, do, mirror, validated

pytestmark = pytest.mark.airflow


@pytest.fixture
def clock(world: World, monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """The clock of a migration with nights until 05:30."""
    return at_night(world, monkeypatch)


def produce(world: World, day: int) -> None:
    """Produce a record of the interval that ends with the tick of a day of January 2030."""
    timestamp_ms = int(datetime(2030, 1, day, tzinfo=UTC).timestamp() * 1000)
    world.source.produce("orders", 0, (b"k", b"v"), timestamp_ms=timestamp_ms)


def answer(world: World) -> str:
    """Take a run past its plan that mirrors nothing; return its verdict."""
    assert {"generation": None, "pid": None} == do(world, CreateTopicsOperator, StartMirrorOperator)
    assert "drained" == do(world, MirrorLagSensor)["outcome"]
    do(world, StopMirrorOperator)
    validated(world)
    return str(do(world, JudgeOperator)["verdict"])


def test_backfill_that_waited_until_its_window_was_over_only_answers(world: World, clock: FakeClock) -> None:
    """It goes by the time at which it has the reservation: nothing is planned, created or started any more."""
    produce(world, day=1)
    begin(world, clock, run_type="backfill")
    do(world, PreflightOperator)
    clock.elapsed_s = 6 * 3600
    do(world, ReserveOperator, PlanOperator)

    plan = world.run.evidence.require(Kind.PLAN)
    assert (0, []) == (plan["offsets_to_copy"], plan["create"])
    with pytest.raises(FailedForGood, match=r"INTERVAL_NOT_COPIED · topic orders.*not started: the window for"):
        answer(world)
    assert {} == world.target.topics


def test_backfill_that_did_not_get_through_does_not_say_that_it_did_not_start(world: World, clock: FakeClock) -> None:
    """Where MirrorMaker ran until the window's end, the finding blames no window for a start that there was."""
    produce(world, day=1)
    produce(world, day=1)
    begin(world, clock, run_type="backfill")
    do(world, *BEFORE_START, StartMirrorOperator)
    mirror(world, {P0: 1})
    clock.elapsed_s = 6 * 3600
    do(world, StopMirrorOperator)
    validated(world)

    with pytest.raises(FailedForGood, match=r"offsets \[1, 2\) are not copied; expected"):
        do(world, JudgeOperator)


def copied_in_one_night(world: World, clock: FakeClock) -> None:
    """Copy and judge the records of two intervals in the night after both."""
    produce(world, day=1)
    produce(world, day=2)
    begin(world, clock, day=2)
    do(world, *BEFORE_START, StartMirrorOperator)
    mirror(world, {P0: 2})
    do(world, StopMirrorOperator)
    validated(world)
    do(world, JudgeOperator)
    world.task_instance.run_states["scheduled__2"] = "success"


def test_answer_is_written_under_the_reservation(world: World, clock: FakeClock) -> None:
    """While another run acts, a cleared `judge` puts no answer into the ledger."""
    copied_in_one_night(world, clock)
    begin(world, clock, day=1, run_type="backfill")
    do(world, PreflightOperator, ReserveOperator, PlanOperator)
    world.host.reserve("dag/other#1", take_over_from=world.run.identity.holder)
    validated(world)

    with pytest.raises(FailedForGood, match="NOT_RESERVED"):
        do(world, JudgeOperator)

    assert {} == world.run.ledger.read().answers


def recreate_target(world: World) -> None:
    world.target.delete_topics(["audit"])
    world.target.create_topics([NewTopic("audit", 1, 1, {})])


def recreate_source(world: World) -> None:
    """Leave MirrorMaker's position beyond the end of a topic that is a new one, and its last record another."""
    world.source.topics["orders"].partitions[0].records.pop()


@pytest.mark.parametrize(
    ("change", "code"),
    [(recreate_target, "TARGET_TOPIC_RECREATED"), (recreate_source, "POSITION_BEYOND_END")],
)
def test_what_refuses_a_copy_is_a_warning_to_one_that_only_answers(
    world: World, clock: FakeClock, change: Callable[[World], None], code: str
) -> None:
    """The ledger knows what became of the records, whatever would be in the way of copying more."""
    copied_in_one_night(world, clock)
    change(world)

    begin(world, clock, day=1, run_type="backfill")
    do(world, PreflightOperator, ReserveOperator, PlanOperator)
    assert code in [warning["code"] for warning in world.run.evidence.require(Kind.PLAN)["warnings"]]
    assert "PASS" == answer(world)

    begin(world, clock, day=3)
    with pytest.raises(FailedForGood, match=code):
        do(world, *BEFORE_START)
