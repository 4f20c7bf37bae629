"""Rules of the tasks from `reserve` to `judge`."""

from __future__ import annotations

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.errors import FindingsError, TransientError
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.records import RecordPrint
from kafka_migration.core.ledger.generations import ReadOffsets
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.validation.validation_contract import POSITION_DIGEST
from kafka_migration.core.watching.watch import Outcome
from kafka_migration.steps.validation.spark_request import request_of
from tests.steps.tasks import BEFORE_START
from tests.steps.world import AUDIT, P0, P1, RECORD, World
from tests.stored_examples import watch_ended
from tests.topic_verdicts import topic_verdict


def test_reservation_of_a_living_run_is_respected(world: World) -> None:
    """A reservation whose run is active is not taken over."""
    world.host.reserve(f"{world.dag_run.dag_id}/other#1")
    world.task_instance.run_states["other"] = "running"
    world.do("preflight")

    world.refuses("reserve", match="RESERVED_BY")


@pytest.mark.parametrize("states", [{"other": "failed"}, {"other": "success"}, {}])
def test_reservation_of_a_finished_or_deleted_run_is_taken_over(world: World, states: dict[str, str]) -> None:
    """A reservation whose run has ended or was deleted is taken over, and that is recorded."""
    holder = f"{world.dag_run.dag_id}/other#1"
    world.host.reserve(holder)
    world.task_instance.run_states = states
    world.do("preflight")

    assert holder == world.do("reserve")["taken_over_from"]
    assert holder == world.run.evidence.require(Kind.RESERVE)["taken_over_from"]


def test_cleared_run_takes_over_from_its_earlier_attempt(world: World) -> None:
    """The next attempt of a cleared run takes over the reservation of the earlier one."""
    world.do("preflight", "reserve")
    first = world.run.identity.holder
    world.dag_run.clear_number = 1

    assert first == world.do("reserve")["taken_over_from"]


def test_plan_freezes_goals_and_lists_topics_to_create(world: World) -> None:
    """The goals are the ends of the source at the time of the plan."""
    world.source.produce("orders", 0, (b"a", b"1"), (b"b", b"2"))
    world.do("preflight", "reserve")

    summary = world.do("plan")
    world.source.produce("orders", 0, (b"c", b"3"))

    assert {"is_done": False, "create": ["orders", "audit"], "grow": {}, "offsets_to_copy": 2} == summary
    assert 2 == world.run.evidence.require(Stored.PLAN).goals[P0]


def test_topics_are_created_once_and_recorded(world: World) -> None:
    """The ledger has created topics with their ids and frozen settings, and a retry changes nothing."""
    world.do(*BEFORE_START)
    world.do("create_topics")

    assert {"retention.ms": "-1", "retention.bytes": "-1"} == world.target.topics["orders"].configs
    assert {"retention.ms": "1000", "retention.bytes": None} == world.ledger.topics["orders"].frozen_configs
    assert world.target.topics["orders"].topic_id == world.ledger.topics["orders"].topic_id


def test_refused_topic_does_not_hide_the_created_ones(world: World) -> None:
    """If the target refuses a topic, it is named, and the ledger has the others, whose retention is disabled."""
    world.edit_file("[orders, audit]", "[orders, {name: audit, replication_factor: 2}]")
    world.target.brokers = 2
    world.do("preflight", "reserve", "plan")
    world.target.brokers = 1
    world.refuses("create_topics", match="TOPIC_NOT_CREATED · topic audit: found too many replicas")

    assert ["TOPIC_NOT_CREATED"] == world.refusal_codes
    assert {"orders": {"retention.ms": "1000", "retention.bytes": None}} == {
        topic: created.frozen_configs for topic, created in world.ledger.topics.items()
    }
    world.target.brokers = 2
    world.do("create_topics")
    assert {"orders", "audit"} == world.ledger.topics.keys()


def test_topic_that_others_created_is_not_recorded(world: World) -> None:
    """A topic that appeared after the plan keeps its settings: the ledger does not call it created and frozen."""
    world.do("preflight", "reserve", "plan")
    world.target.create_topics([NewTopic("audit", 2, 1, {"retention.ms": "5"})])
    world.do("create_topics")

    assert {"orders"} == world.ledger.topics.keys()
    assert "5" == world.target.topics["audit"].configs["retention.ms"]


def test_target_is_asked_before_anything_is_created(world: World) -> None:
    """Preflight names a topic that the target would refuse, with the target's reason; nothing is created."""
    world.edit_file("[orders, audit]", "[orders, {name: audit, replication_factor: 2}]")
    world.refuses("preflight", match="TOPIC_NOT_CREATED · .* refuses to create topic audit: too many replicas")

    assert {} == world.target.topics


def test_partitions_of_the_source_are_followed_at_each_run(world: World) -> None:
    """A source topic that got more partitions gets them on the target in the next run, and again in the one after."""
    world.do(*BEFORE_START)
    for number, partitions in ((2, 3), (3, 5)):
        world.source.create_partitions({"orders": partitions})
        world.next_run(number)
        world.do(*BEFORE_START)

        assert partitions == len(world.target.topics["orders"].partitions)
    assert {"created": [], "grown": {"orders": 5}}.items() <= world.run.evidence.require(Kind.TOPICS).items()


def test_nothing_to_copy_starts_nothing(world: World) -> None:
    """If every position is at its goal, no MirrorMaker is started and the watch succeeds at once."""
    assert {"generation": None, "pid": None} == world.start()
    assert not world.host.status().is_running
    assert {"outcome": "drained", "progress": ""} == world.do("watch_lag")
    assert {"generation": None, "stopped": False} == world.do("stop_mirror")


def test_start_is_adopted_by_a_retry(world: World) -> None:
    """A retry of `start_mirror` finds the run's process and starts no second one."""
    world.source.produce("orders", 0, (b"a", b"1"))

    first = world.start()
    second = world.do("start_mirror")

    assert first == second
    assert [1] == [g.number for g in world.ledger.generations]


def test_watch_result_is_recorded_and_failures_fail(world: World) -> None:
    """The event of the trigger is recorded, and findings fail the task."""
    finding = {"code": "MIRROR_DEAD", "subject": "MirrorMaker", "found": "x", "expected": "y", "remedy": "z"}
    world.do("preflight")

    with pytest.raises(FindingsError, match="MIRROR_DEAD"):
        world.end_watch(world.watch_event("failed", findings=[finding]))

    assert world.run.evidence.require(Kind.WATCH)["progress"] == "Copy: 1/2"
    assert ["MIRROR_DEAD"] == world.refusal_codes


def test_stop_certifies_the_generation(world: World) -> None:
    """The stop certificate has positions and target ends, and a retry changes nothing."""
    world.source.produce("orders", 0, (b"a", b"1"), (b"b", b"2"))
    world.start()
    world.mirror({P0: 2})

    assert world.do("stop_mirror")["stopped"]
    stop = world.certified

    assert (2, 0, 2) == (stop.mirror_positions[P0], stop.mirror_positions[P1], stop.target_end_offsets[P0])
    assert {"generation": 1, "stopped": False} == world.do("stop_mirror")


def test_proved_goal_counts_as_copied(world: World) -> None:
    """If only markers follow the stored position, the proved goal is the certified position."""
    world.source.produce("orders", 0, (b"a", b"1"), (b"b", b"2"), (b"marker", None))
    world.start()
    world.mirror({P0: 2})
    world.run.evidence.write(Stored.WATCH, watch_ended(Outcome.DRAINED, proved={P0: 3, P1: 0, AUDIT: 0}))
    world.do("stop_mirror")

    assert world.certified.mirror_positions[P0] == 3
    assert world.do("plan")["offsets_to_copy"] == 0


def test_dead_generation_is_certified_before_the_next_start(world: World) -> None:
    """A run certifies the open generation of a lost run before it starts its own."""
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
    """Records that the source deleted before they were copied refuse the plan, and the start."""
    world.source.produce("orders", 0, *[(b"k", b"%d" % n) for n in range(5)])
    world.copy({P0: 2})
    if task_id == "start_mirror":
        world.do("plan")
    world.source.purge("orders", 0, 4)

    world.refuses(task_id, match=r"GAP · orders\[0\].*2–3")


def test_recreated_source_is_one_finding(mirrored: World) -> None:
    """A source topic that was created again refuses the plan; that it ends before the position only follows."""
    mirrored.source.delete_topics(["orders"])
    mirrored.source.create_topics([NewTopic("orders", 2, 1, {})])

    mirrored.refuses("plan", match="^SOURCE_TOPIC_RECREATED · topic orders: ")
    assert ["SOURCE_TOPIC_RECREATED"] == mirrored.refusal_codes


def test_position_beyond_the_end_is_refused(mirrored: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source topic that ends before MirrorMaker's position refuses the plan, also if its records prove nothing."""
    bad = RecordPrint(0, "", -1, "", unreadable="CRC")
    mirrored.source.topics["orders"].partitions[0].records.clear()
    monkeypatch.setattr(mirrored.source, "records_at", lambda offsets, _: dict.fromkeys(offsets, bad))

    mirrored.refuses("plan", match=r"^POSITION_BEYOND_END · orders\[0\]")


def test_target_written_by_others_is_refused(world: World) -> None:
    """A target that grew between two generations refuses the plan."""
    world.source.produce("orders", 0, (b"a", b"1"), (b"b", b"2"))
    world.copy({P0: 1})
    world.target.produce("orders", 0, (b"foreign", b"x"))

    world.refuses("plan", match="TARGET_WRITTEN_BY_OTHERS")


@pytest.fixture
def mirrored(world: World) -> World:
    """A run that has copied one record and has stopped MirrorMaker."""
    world.source.produce("orders", 0, RECORD)
    world.copy({P0: 1})
    return world


def test_judge_passes_equal_windows_and_adds_them_to_the_ledger(mirrored: World) -> None:
    """Equal windows pass, and the ledger then has no pending windows and a verdict on the whole topic."""
    assert mirrored.judge()["verdict"] == "PASS"
    assert () == mirrored.ledger.pending_for("dag/next#1")
    assert topic_verdict(mirrored.ledger, "orders") is Verdict.PASS


def test_judgement_says_which_offsets_it_is_about(mirrored: World) -> None:
    """The ledger has the windows that were compared, with the digests of both sides, but no empty ones."""
    mirrored.judge()

    (judgement,) = mirrored.ledger.judgements
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


def test_judge_fails_what_differs_and_still_records_it(mirrored: World) -> None:
    """A window that differs fails the task, and its verdict is in the ledger."""
    mirrored.validated(equal=False)

    mirrored.refuses("judge", match="COPY_DIFFERS · topic audit, partition 0")

    assert topic_verdict(mirrored.ledger, "orders") is Verdict.FAIL


def test_judge_refuses_a_result_that_leaves_a_window_out(mirrored: World) -> None:
    """A result without a requested window is refused."""
    mirrored.validated()
    result = mirrored.run.evidence.require(Kind.VALIDATION_RESULT)
    mirrored.run.evidence.write(Kind.VALIDATION_RESULT, {**result, "partitions": result["partitions"][1:]})

    mirrored.refuses("judge", match="VALIDATION_RESULT_MISSING")


def test_nothing_new_over_a_bad_copy_is_a_warning(mirrored: World) -> None:
    """A run with nothing to judge warns about a topic whose verdict is FAIL."""
    mirrored.validated(equal=False)
    mirrored.refuses("judge")
    mirrored.dag_run.run_id, mirrored.task_instance.run_states = "manual__2", {"manual__1": "failed"}
    mirrored.do(*BEFORE_START)
    assert mirrored.judge()["verdict"] == "WARN"
    assert {"orders": "FAIL", "audit": "FAIL"} == {
        topic["topic"]: topic["whole_verdict"] for topic in mirrored.run.evidence.require(Kind.JUDGE)["topics"]
    }


def test_validate_without_anything_to_read_does_not_start_spark(world: World) -> None:
    """If all windows are empty, the task writes the result itself, which passes."""
    world.start()

    assert {"source_records": 0, "target_records": 0} == world.do("validate_topics")
    assert world.do("judge")["verdict"] == "PASS"


def test_validate_fails_when_spark_left_no_result(mirrored: World) -> None:
    """A Spark job that succeeds without a result fails the task."""
    mirrored.spark_work = lambda job: None

    mirrored.refuses("validate_topics", match="VALIDATION_RESULT_MISSING")


def test_transient_errors_are_left_to_airflows_retries(world: World) -> None:
    """A transport error is raised unchanged, so that Airflow tries the task again."""
    world.do("preflight", "reserve")
    world.source.is_down = True

    with pytest.raises(TransientError):
        world.do("plan")

    assert [] == world.refusal_codes


def test_run_limited_to_one_topic_touches_no_other(world: World) -> None:
    """Topics that the run does not name are neither created nor planned."""
    world.params["topics"] = ["audit"]
    world.source.produce("orders", 0, (b"a", b"1"))
    world.source.produce("audit", 0, (None, b"1"))
    world.do(*BEFORE_START)

    assert {"audit"} == set(world.target.topics)
    assert {AUDIT: 1} == dict(world.run.evidence.require(Stored.PLAN).goals)


def test_validate_mode_reads_the_whole_copy_and_mirrors_nothing(mirrored: World) -> None:
    """Mode validate reads again from the first record to the target's present end, and starts no MirrorMaker."""
    mirrored.judge()
    mirrored.target.produce("orders", 0, (b"foreign", b"x"))
    mirrored.next_run()
    mirrored.params["mode"] = "validate"

    assert mirrored.start()["generation"] is None
    (window,) = [w for w in request_of(mirrored.run).windows if (w.topic, w.partition) == P0]
    assert (0, 1, 2) == (window.source_start, window.source_end, window.target_end)
