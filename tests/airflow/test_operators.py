"""Rules of the operators, as plain objects in a small world."""

from __future__ import annotations

from pathlib import Path

import pytest
from airflow.sdk.exceptions import TaskDeferred

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.ledger.judgements import ReadOffsets
from kafka_migration.core.validation.contract import POSITION_DIGEST
from kafka_migration.core.validation.coverage_rules import topic_verdict
from kafka_migration.orchestration.failing import FailedForGood
from kafka_migration.orchestration.operators.spark_job import zip_package
from kafka_migration.orchestration.operators.validate_topics import ValidateTopicsOperator
from kafka_migration.orchestration.sensors.watch_lag import MirrorLagSensor
from tests.airflow.tasks import BEFORE_START
from tests.airflow.world import AUDIT, P0, P1, World


def test_reservation_of_a_living_run_is_respected(world: World) -> None:
    """While the holder's run goes on, nobody takes its reservation."""
    world.host.reserve(f"{world.dag_run.dag_id}/other#1")
    world.task_instance.run_states["other"] = "running"
    world.do("preflight")

    world.refuses("reserve", match="RESERVED_BY")


@pytest.mark.parametrize("states", [{"other": "failed"}, {"other": "success"}, {}])
def test_reservation_of_a_finished_or_deleted_run_is_taken_over(world: World, states: dict[str, str]) -> None:
    """A holder whose run is over, or gone, gives way, and the take-over is recorded."""
    holder = f"{world.dag_run.dag_id}/other#1"
    world.host.reserve(holder)
    world.task_instance.run_states = states
    world.do("preflight")

    assert holder == world.do("reserve")["taken_over_from"]
    assert holder == world.run.evidence.require(Kind.RESERVE)["taken_over_from"]


def test_cleared_run_takes_over_from_its_earlier_attempt(world: World) -> None:
    """A cleared run is the same run: its next attempt goes on with the reservation."""
    world.do("preflight", "reserve")
    first = world.run.identity.holder
    world.dag_run.clear_number = 1

    assert first == world.do("reserve")["taken_over_from"]


def test_plan_freezes_goals_and_lists_topics_to_create(world: World) -> None:
    """The goal is the source's end now; later records belong to the next run."""
    world.source.produce("orders", 0, (b"a", b"1"), (b"b", b"2"))
    world.do("preflight", "reserve")

    summary = world.do("plan")
    world.source.produce("orders", 0, (b"c", b"3"))

    assert {"create": ["orders", "audit"], "grow": {}, "offsets_to_copy": 2} == summary
    assert 2 == world.run.plan_offsets().goals[P0]


def test_topics_are_created_once_and_recorded(world: World) -> None:
    """Created topics are in the ledger with their id and frozen settings; doing it twice changes nothing."""
    world.do(*BEFORE_START)
    world.do("create_topics")

    assert {"retention.ms": "-1", "retention.bytes": "-1"} == world.target.topics["orders"].configs
    assert {"retention.ms": "1000", "retention.bytes": None} == world.ledger.topics["orders"].frozen_configs
    assert world.target.topics["orders"].topic_id == world.ledger.topics["orders"].topic_id


def test_nothing_to_copy_starts_nothing(world: World) -> None:
    """With every position at its goal no MirrorMaker is started and the watch has nothing to do."""
    assert {"generation": None, "pid": None} == world.start()
    assert not world.host.status().is_running
    assert {"outcome": "drained", "progress": ""} == world.do("watch_lag")
    assert {"generation": None, "stopped": False} == world.do("stop_mirror")


def test_start_is_adopted_by_a_retry(world: World) -> None:
    """Tried again, start finds its own process and starts no second one."""
    world.source.produce("orders", 0, (b"a", b"1"))

    first = world.start()
    second = world.do("start_mirror")

    assert first == second
    assert [1] == [g.number for g in world.ledger.generations]


def test_watch_defers_with_an_absolute_deadline_and_no_secret(world: World) -> None:
    """The trigger holds ids and a deadline, nothing else."""
    world.source.produce("orders", 0, (b"a", b"1"))
    world.start()

    with pytest.raises(TaskDeferred) as deferred:
        world.do("watch_lag")

    _, arguments = deferred.value.trigger.serialize()
    assert {"run", "generation", "deadline"} == set(arguments)
    assert arguments["generation"] == 1


def test_watch_result_is_recorded_and_failures_fail(world: World) -> None:
    """What the trigger saw is evidence; anything but drained fails the task with its findings."""
    finding = {"code": "MIRROR_DEAD", "subject": "MirrorMaker", "found": "x", "expected": "y", "remedy": "z"}
    world.do("preflight")
    sensor = MirrorLagSensor(task_id="watch_lag", migration="shop")
    event = {
        "outcome": "failed",
        "progress": "Copy: 1/2",
        "findings": [finding],
        "generation": 1,
        "holder": world.run.identity.holder,
    }

    with pytest.raises(FailedForGood, match="MIRROR_DEAD"):
        sensor.execute_complete(world.context(), event)

    assert world.run.evidence.require(Kind.WATCH)["progress"] == "Copy: 1/2"
    assert ["MIRROR_DEAD"] == world.refusal_codes


def test_stop_certifies_the_generation(world: World) -> None:
    """The stop certificate holds positions and target ends; stopping again changes nothing."""
    world.source.produce("orders", 0, (b"a", b"1"), (b"b", b"2"))
    world.start()
    world.mirror({P0: 2})

    assert world.do("stop_mirror")["stopped"]
    stop = world.ledger.last_stop

    assert stop is not None
    assert (2, 0, 2) == (stop.mirror_positions[P0], stop.mirror_positions[P1], stop.target_end_offsets[P0])
    assert {"generation": 1, "stopped": False} == world.do("stop_mirror")


def test_proved_goal_counts_as_copied(world: World) -> None:
    """Where only markers follow the stored position, the proved goal is the certified position."""
    world.source.produce("orders", 0, (b"a", b"1"), (b"b", b"2"), (b"marker", None))
    world.start()
    world.mirror({P0: 2})
    proved = {"orders": {"0": 3, "1": 0}, "audit": {"0": 0}}
    world.run.evidence.write(Kind.WATCH, {"outcome": "drained", "generation": 1, "proved": proved})
    world.do("stop_mirror")
    stop = world.ledger.last_stop

    assert stop is not None
    assert stop.mirror_positions[P0] == 3
    assert world.do("plan")["offsets_to_copy"] == 0


def test_dead_generation_is_certified_before_the_next_start(world: World) -> None:
    """What a lost run left open is closed by the next run before it starts its own."""
    world.source.produce("orders", 0, (b"a", b"1"), (b"b", b"2"))
    world.start()
    world.mirror({P0: 1})
    world.host.log = "killed in the middle of a line"
    world.host.die(exit_code=137)
    lost = world.dag_run.run_id
    world.dag_run.run_id = "manual__2"
    world.task_instance.run_states[lost] = "failed"

    world.start()

    first, second = world.ledger.generations
    assert first.stop is not None
    assert not first.stop.graceful
    assert (1, 1) == (first.stop.mirror_positions[P0], second.start.mirror_positions[P0])


@pytest.mark.parametrize("task_id", ["plan", "start_mirror"])
def test_gap_refuses_before_the_start(world: World, task_id: str) -> None:
    """Records that the source deleted before they were copied refuse the run, in plan and right before the start."""
    world.source.produce("orders", 0, *[(b"k", b"%d" % n) for n in range(5)])
    world.copy({P0: 2})
    if task_id == "start_mirror":
        world.do("plan")
    world.source.purge("orders", 0, 4)

    world.refuses(task_id, match=r"GAP · orders\[0\].*2–3")


def test_position_beyond_the_end_is_refused(world: World) -> None:
    """A source topic that ends before MirrorMaker's position is not the one that was copied."""
    _mirrored(world)
    world.source.delete_topics(["orders"])
    world.source.create_topics([NewTopic("orders", 2, 1, {})])

    world.refuses("plan", match=r"POSITION_BEYOND_END · orders\[0\]")


def test_target_written_by_others_is_refused(world: World) -> None:
    """A target that grew while nothing of ours ran cannot be proved."""
    world.source.produce("orders", 0, (b"a", b"1"), (b"b", b"2"))
    world.copy({P0: 1})
    world.target.produce("orders", 0, (b"foreign", b"x"))

    world.refuses("plan", match="TARGET_WRITTEN_BY_OTHERS")


def _mirrored(world: World) -> None:
    world.source.produce("orders", 0, (b"a", b"1"))
    world.copy({P0: 1})


def test_judge_passes_equal_windows_and_adds_them_to_the_ledger(world: World) -> None:
    """Equal windows pass; the ledger then has nothing pending and a verdict on the whole topic."""
    _mirrored(world)
    world.validated()

    assert world.do("judge")["verdict"] == "PASS"
    assert () == world.ledger.pending_for("dag/next#1")
    assert topic_verdict(world.ledger, "orders") is Verdict.PASS


def test_judgement_says_which_offsets_it_is_about(world: World) -> None:
    """The ledger has the windows that were read, with the digests of both sides; idle partitions are left out."""
    _mirrored(world)
    world.judge()

    (judgement,) = world.ledger.judgements
    comparisons = judgement.comparisons
    assert (POSITION_DIGEST, {"audit", "orders"}) == (judgement.digest, set(comparisons))
    assert () == comparisons["audit"]
    (found,) = comparisons["orders"]
    assert (Verdict.PASS, 1, "0a", "0a") == (
        found.verdict,
        found.target_records,
        found.source_digest,
        found.target_digest,
    )
    assert (ReadOffsets(0, 1, 0, 1, 0, 1),) == found.windows


def test_judge_fails_what_differs_and_still_records_it(world: World) -> None:
    """A differing window fails the task and its verdict is in the ledger all the same."""
    _mirrored(world)
    world.validated(equal=False)

    world.refuses("judge", match="COPY_DIFFERS · topic audit, partition 0")

    assert topic_verdict(world.ledger, "orders") is Verdict.FAIL


def test_judge_refuses_a_result_that_leaves_a_window_out(world: World) -> None:
    """A window that was asked for and not measured is never a pass."""
    _mirrored(world)
    world.validated()
    result = world.run.evidence.require(Kind.VALIDATION_RESULT)
    world.run.evidence.write(Kind.VALIDATION_RESULT, {**result, "partitions": result["partitions"][1:]})

    world.refuses("judge", match="VALIDATION_RESULT_MISSING")


def test_nothing_new_over_a_bad_copy_is_a_warning(world: World) -> None:
    """A run with nothing to judge does not say PASS over a topic whose verdict is FAIL."""
    _mirrored(world)
    world.validated(equal=False)
    world.refuses("judge")
    world.dag_run.run_id, world.task_instance.run_states = "manual__2", {"manual__1": "failed"}
    world.do(*BEFORE_START)
    world.validated()

    assert world.do("judge")["verdict"] == "WARN"
    assert {"orders": "FAIL", "audit": "FAIL"} == {
        topic["topic"]: topic["whole_verdict"] for topic in world.run.evidence.require(Kind.JUDGE)["topics"]
    }


def test_validate_without_anything_to_read_does_not_start_spark(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only empty windows: the result is written at once, and it passes."""
    monkeypatch.setattr(ValidateTopicsOperator, "submit", lambda *a: pytest.fail("Spark was started"))
    world.start()

    operator = ValidateTopicsOperator(task_id="validate_topics", migration="shop")
    assert {"source_records": 0, "target_records": 0} == operator.execute(world.context())
    assert world.do("judge")["verdict"] == "PASS"


def test_validate_fails_when_spark_left_no_result(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Spark job that ends well without its document has not validated anything."""
    _mirrored(world)
    monkeypatch.setattr(ValidateTopicsOperator, "submit", lambda *a: None)
    operator = ValidateTopicsOperator(task_id="validate_topics", migration="shop")

    with pytest.raises(FailedForGood, match="VALIDATION_RESULT_MISSING"):
        operator.execute(world.context())


def test_digest_package_is_zipped_the_same_every_time(tmp_path: Path) -> None:
    """The zip that travels to the executors depends on the sources alone."""
    package = Path(__file__).parents[2] / "spark_jobs" / "kafka_digest"
    first, second = tmp_path / "1", tmp_path / "2"
    first.mkdir()
    second.mkdir()

    assert zip_package(package, first).read_bytes() == zip_package(package, second).read_bytes()


def test_transient_errors_are_left_to_airflows_retries(world: World) -> None:
    """A transport error is raised as it is, so that the task is tried again; it is no refusal."""
    world.do("preflight", "reserve")
    world.source.is_down = True

    with pytest.raises(TransientError):
        world.do("plan")

    assert [] == world.refusal_codes


def test_run_limited_to_one_topic_touches_no_other(world: World) -> None:
    """Topics that were not chosen are neither created nor planned."""
    world.params["topics"] = ["audit"]
    world.source.produce("orders", 0, (b"a", b"1"))
    world.source.produce("audit", 0, (None, b"1"))
    world.do(*BEFORE_START)

    assert {"audit"} == set(world.target.topics)
    assert {AUDIT: 1} == dict(world.run.plan_offsets().goals)


def test_validate_mode_reads_the_whole_copy_and_mirrors_nothing(world: World) -> None:
    """Mode validate re-reads from the first record to the target's present end and starts no MirrorMaker."""
    from kafka_migration.steps.validation.request import request_of

    _mirrored(world)
    world.judge()
    world.target.produce("orders", 0, (b"foreign", b"x"))
    world.dag_run.run_id, world.params["mode"] = "manual__2", "validate"
    world.task_instance.run_states["manual__1"] = "success"

    assert world.start()["generation"] is None
    windows = {
        (w.topic, w.partition): (w.source_start, w.source_end, w.target_end) for w in request_of(world.run).windows
    }
    assert windows["orders", 0] == (0, 1, 2)
