"""Rules of backfill runs that only answer and copy nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.errors import FindingsError
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.ledger.cutovers import Reserved
from tests.steps.clock import FakeClock
from tests.steps.nights import at_night, begin
from tests.steps.tasks import BEFORE_START
from tests.steps.world import P0, World


@pytest.fixture
def clock(world: World) -> FakeClock:
    """The clock of a migration with nights until 05:30."""
    return at_night(world)


def produce(world: World, day: int) -> None:
    """Produce a record of the interval that ends with the tick of a day of January 2030."""
    timestamp_ms = int(datetime(2030, 1, day, tzinfo=UTC).timestamp() * 1000)
    world.source.produce("orders", 0, (b"k", b"v"), timestamp_ms=timestamp_ms)


def answer(world: World) -> str:
    """Run the tasks after the plan of a run that copies nothing; return its verdict."""
    assert {"generation": None, "pid": None} == world.do("create_topics", "start_mirror")
    assert "drained" == world.do("watch_lag")["outcome"]
    world.do("stop_mirror")
    return str(world.judge()["verdict"])


def test_backfill_that_waited_until_its_window_was_over_only_answers(world: World, clock: FakeClock) -> None:
    """A backfill that gets its reservation after the window plans, creates and starts nothing."""
    produce(world, day=1)
    begin(world, clock, run_type="backfill")
    world.do("preflight")
    clock.elapsed_s = 6 * 3600
    world.do("reserve", "plan")

    plan = world.run.evidence.require(Kind.PLAN)
    assert (0, []) == (plan["offsets_to_copy"], plan["create"])
    with pytest.raises(FindingsError, match=r"INTERVAL_NOT_COPIED · topic orders.*not started: the window for"):
        answer(world)
    assert {} == world.target.topics


def test_backfill_that_is_behind_does_not_say_that_it_did_not_start(world: World, clock: FakeClock) -> None:
    """If MirrorMaker ran until the end of the window, the finding does not say that it was not started."""
    produce(world, day=1)
    produce(world, day=1)
    begin(world, clock, run_type="backfill")
    world.start()
    world.mirror({P0: 1})
    clock.elapsed_s = 6 * 3600
    world.do("stop_mirror")
    world.validated()

    world.refuses("judge", match=r"offsets \[1, 2\) are not copied\.")


def copied_in_one_night(world: World, clock: FakeClock) -> None:
    """Copy and judge the records of two intervals in the night after both."""
    produce(world, day=1)
    produce(world, day=2)
    begin(world, clock, day=2)
    world.copy_and_judge({P0: 2})
    world.task_instance.run_states["scheduled__2"] = "success"


def test_answer_is_written_under_the_reservation(world: World, clock: FakeClock) -> None:
    """A cleared `judge` writes no answer while another run holds the reservation."""
    copied_in_one_night(world, clock)
    begin(world, clock, day=1, run_type="backfill")
    world.do("preflight", "reserve", "plan")
    mine, other = world.run.identity.holder, "dag/other#1"
    world.host.reserve(other, take_over_from=mine)
    world.run.ledger.append(Reserved(other, world.run.now(), mine).to_document())
    world.validated()

    world.refuses("judge", match="NOT_RESERVED")

    assert {} == world.ledger.answers


def recreate_target(world: World) -> None:
    world.target.delete_topics(["audit"])
    world.target.create_topics([NewTopic("audit", 1, 1, {})])


def truncate_source(world: World) -> None:
    """Remove the last record, so that MirrorMaker's position is beyond the end."""
    world.source.topics["orders"].partitions[0].records.pop()


@pytest.mark.parametrize(
    ("change", "code"),
    [(recreate_target, "TARGET_TOPIC_RECREATED"), (truncate_source, "SOURCE_TRUNCATED")],
)
def test_what_refuses_a_copy_is_a_warning_to_one_that_only_answers(
    world: World, clock: FakeClock, change: Callable[[World], None], code: str
) -> None:
    """Findings that would refuse a copy are warnings for a backfill that only answers."""
    copied_in_one_night(world, clock)
    change(world)

    begin(world, clock, day=1, run_type="backfill")
    world.do("preflight", "reserve", "plan")
    assert code in [warning["code"] for warning in world.run.evidence.require(Kind.PLAN)["warnings"]]
    assert "PASS" == answer(world)

    begin(world, clock, day=3)
    world.refuses(*BEFORE_START, match=code)
