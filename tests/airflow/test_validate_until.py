"""Rules of `nightly.validate_until`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowException, AirflowSkipException

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.validation.validation_contract import ValidationResult
from kafka_migration.orchestration.operators import spark_submission
from kafka_migration.orchestration.operators.spark_submission import SparkSubmission
from kafka_migration.orchestration.task.failures import FailedForGood
from tests.airflow.world import World, result_in
from tests.steps.clock import FakeClock
from tests.steps.nights import at_night, begin, finish_night, night_fails
from tests.steps.world import P0

TOO_LATE_S = 7 * 3600


@pytest.fixture
def clock(world: World) -> FakeClock:
    """The clock of a nightly run that has copied one record and stopped MirrorMaker."""
    return copied_at_night(world)


def copied_at_night(world: World, more: str = "") -> FakeClock:
    clock = at_night(world, more)
    world.source.produce("orders", 0, (b"a", b"1"))
    begin(world, clock)
    world.copy({P0: 1})
    return clock


class Spark(SparkSubmission):
    """A submission with a Spark application of the test."""

    work: Callable[[Spark], None]
    submitted: Sequence[str]

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.killed = threading.Event()

    def submit(self, *arguments: Any) -> None:
        self.submitted = ["--result", arguments[-1].result]
        type(self).work(self)

    def on_kill(self) -> None:
        self.killed.set()


def run_spark(world: World, work: Callable[[Spark], None]) -> dict[str, Any]:
    """Run the task with this Spark application."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Spark, "work", work, raising=False)
        patch.setattr(spark_submission, "SparkSubmission", Spark)
        return dict(world.task("validate_topics").execute(world.context()))


def until_killed(spark: Spark) -> None:
    assert spark.killed.wait(30)
    raise AirflowException("Error code is: 137.")


def never(spark: Spark) -> None:
    pytest.fail("Spark was started")


def test_validation_does_not_begin_after_its_end(world: World, clock: FakeClock) -> None:
    """After the limit the task starts no Spark, skips itself, and records what is pending."""
    clock.elapsed_s = TOO_LATE_S

    with pytest.raises(AirflowSkipException, match="the time for validation ended at 2030-01-01 07:00:00"):
        run_spark(world, never)

    document = world.run.evidence.require(Kind.PENDING)
    assert (1, 1) == (document["windows"], document["source_offsets"])


def test_validation_is_stopped_at_its_end(world: World, clock: FakeClock) -> None:
    """At the limit a running Spark application is stopped, and the windows stay pending."""
    clock.elapsed_s = TOO_LATE_S - 0.05

    with pytest.raises(AirflowSkipException):
        run_spark(world, until_killed)

    assert [1] == [generation.number for generation in world.ledger.pending_generations]


def test_result_that_came_in_time_counts(world: World, clock: FakeClock) -> None:
    """The result of a Spark application counts if it was written before the application was stopped."""
    clock.elapsed_s = TOO_LATE_S - 0.05

    def done_and_killed(spark: Spark) -> None:
        assert spark.killed.wait(30)
        world.validated(result=result_in(spark.submitted))
        raise AirflowException("Error code is: 137.")

    run_spark(world, done_and_killed)

    assert world.run.evidence.newest(Kind.PENDING) is None
    assert "PASS" == world.do("judge")["verdict"]


def test_failure_before_the_end_is_a_failure(world: World, clock: FakeClock) -> None:
    """A Spark failure before the limit fails the task."""

    def fail(spark: Spark) -> None:
        raise AirflowException("Error code is: 1.")

    with pytest.raises(AirflowException, match="Error code is: 1"):
        run_spark(world, fail)

    assert world.run.evidence.newest(Kind.PENDING) is None


def test_nothing_to_read_is_never_too_late(world: World) -> None:
    """A run with empty windows validates also after the limit."""
    clock = at_night(world)
    begin(world, clock)
    world.start()
    clock.elapsed_s = TOO_LATE_S

    assert 0 == run_spark(world, never)["source_records"]


def test_cleared_validation_has_no_end(world: World, clock: FakeClock) -> None:
    """A cleared validation has no limit."""
    world.dag_run.clear_number = 1
    clock.elapsed_s = TOO_LATE_S + 3600
    runs: list[str] = []

    def measure(spark: Spark) -> None:
        runs.append("spark")
        world.validated(result=result_in(spark.submitted))

    run_spark(world, measure)

    assert ["spark"] == runs


def pending_night(world: World, clock: FakeClock) -> dict[str, Any]:
    """End a nightly run whose validation was too late."""
    clock.elapsed_s = TOO_LATE_S
    with pytest.raises(AirflowSkipException):
        run_spark(world, never)
    return finish_night(world, validate_topics="skipped", judge="skipped")


def test_pending_validation_fails_the_run_and_the_next_one_does_it(world: World, clock: FakeClock) -> None:
    """A run with pending validation fails with its windows, and the next run validates them together with its own."""
    found = "VALIDATION_PENDING · migration shop: The validation did not finish: 1 window with 1 source offsets remain"
    with pytest.raises(FailedForGood, match=found) as raised:
        pending_night(world, clock)
    assert "TASK_NOT_SUCCESSFUL" not in str(raised.value)

    world.source.produce("orders", 0, (b"b", b"2"))
    begin(world, clock, day=2)
    world.copy_and_judge({P0: 1})
    windows = ValidationResult.from_document(world.run.evidence.require(Kind.VALIDATION_RESULT)).partitions
    (window,) = [r.window for r in windows if r.window.topic == "orders" and r.window.partition == 0]

    assert (0, 2) == (window.source_start, window.source_end)
    assert () == world.ledger.pending_generations
    assert "success" == finish_night(world)["outcome"]


def test_pending_validation_may_warn(world: World) -> None:
    """With `when_late: warn` a run with pending validation succeeds with a warning."""
    clock = copied_at_night(world, "  when_late: warn\n")

    assert "validation pending" == pending_night(world, clock)["outcome"]
    run = world.run_document
    assert ["VALIDATION_PENDING"] == [warning["code"] for warning in run["warnings"]]


def test_skipped_validation_without_a_reason_fails_the_run(world: World, clock: FakeClock) -> None:
    """A run that was marked as failed before its validation does not count as late."""
    night_fails(world, "TASK_NOT_SUCCESSFUL · task validate_topics", validate_topics="skipped", judge="skipped")


def test_spark_that_has_not_begun_is_not_killed_by_a_hook_of_its_own(world: World) -> None:
    """A stop before Spark was submitted creates no hook, which would submit without its settings."""
    submission = SparkSubmission.of(world.task("validate_topics"), {})
    submission.stop()

    assert submission._hook is None
