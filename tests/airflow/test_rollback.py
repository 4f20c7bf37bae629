"""Rules of the way back in a small world: restoring the target's groups, and failing back to the source."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk.exceptions import TaskAwaitingInput

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.kafka.cluster import CommittedOffset, NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.migration.settings import Phase
from kafka_migration.orchestration.failing import FailedForGood
from kafka_migration.orchestration.operators.approve_rollback import ApproveRollbackOperator
from kafka_migration.orchestration.operators.confirm_cutover import ConfirmCutoverOperator
from kafka_migration.orchestration.operators.judge import JudgeOperator
from kafka_migration.orchestration.operators.plan_rollback import PlanRollbackOperator
from kafka_migration.orchestration.operators.preflight import PreflightOperator
from kafka_migration.orchestration.operators.reserve import ReserveOperator
from kafka_migration.orchestration.operators.restore_settings import RestoreSettingsOperator
from kafka_migration.orchestration.operators.roll_back import RollBackOperator
from kafka_migration.orchestration.operators.start_mirror import StartMirrorOperator
from kafka_migration.orchestration.operators.stop_mirror import StopMirrorOperator
from kafka_migration.orchestration.operators.sync_offsets import SyncOffsetsOperator
from kafka_migration.orchestration.operators.translate_back import TranslateBackOperator
from kafka_migration.orchestration.operators.translate_offsets import TranslateOffsetsOperator
from tests.airflow.conftest import World
from tests.airflow.cutover import answer, approved, cut_over, target_offsets
from tests.airflow.engines import lossy
from tests.airflow.running import BEFORE_START, do, finish, mirror, next_run, refusal_codes, spark_writes, validated

pytestmark = pytest.mark.airflow

P0, P1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
ROLLBACK_DAG_ID = "kafka_rollback__shop"
BEFORE_QUESTION = (PreflightOperator, ReserveOperator, TranslateBackOperator, PlanRollbackOperator)
TASKS = ("preflight", "reserve", "translate_back", "plan_rollback", "approve", "roll_back", "restore_settings")


@pytest.fixture
def moved(scene: World) -> World:
    """Two groups are cut over, of which one had an offset on the target before; the next run is a rollback."""
    scene.target.commit("reporting", {P0: 0}, metadata="old")
    do(scene, TranslateOffsetsOperator)
    cut_over(scene)
    do(scene, RestoreSettingsOperator)
    begin_rollback(scene)
    return scene


def begin_rollback(world: World, number: int = 2, **params: Any) -> None:
    """Let the run be over, and the next one be a run of the rollback DAG."""
    next_run(world, number)
    world.dag_run.other_dag_id = ROLLBACK_DAG_ID
    world.params = {"mode": "fail_back", **params}


def say_yes(world: World) -> None:
    """Ask for the approval of the rollback's plan, and answer with yes."""
    with pytest.raises(TaskAwaitingInput):
        do(world, ApproveRollbackOperator)
    answer(world)


def roll_back(world: World) -> dict[str, Any]:
    """Do a whole rollback; return what its writing step says."""
    do(world, *BEFORE_QUESTION)
    say_yes(world)
    summary = do(world, RollBackOperator)
    do(world, RestoreSettingsOperator)
    return summary


def source_offsets(world: World) -> dict[str, dict[TopicPartition, int]]:
    """Return every group's committed offsets on the source."""
    return {name: {p: c.offset for p, c in group.commits.items()} for name, group in world.source.groups.items()}


def test_fail_back_follows_the_groups(moved: World) -> None:
    """Each group goes on on the source with the record at which it stands on the target; the other side stays."""
    moved.target.commit("billing", {P0: 4, P1: 1})
    moved.target.commit("reporting", {P0: 2}, metadata="mine")
    before = target_offsets(moved)

    assert ["billing", "reporting"] == roll_back(moved)["groups"]
    assert {"billing": {P0: 4, P1: 1}, "reporting": {P0: 2}} == source_offsets(moved)
    assert CommittedOffset(2, "mine") == moved.source.groups["reporting"].commits[P0]
    assert before == target_offsets(moved)
    ledger = moved.run.ledger.read()
    assert (Phase.ROLLED_BACK, frozenset(), "fail_back") == (
        ledger.phase,
        ledger.moved_topics(),
        ledger.rollbacks[0].mode,
    )


def test_restore_puts_back_what_stood_there(moved: World) -> None:
    """A group that had an offset has it again, one that had none has none; the source is not touched."""
    before = source_offsets(moved)
    moved.params = {"mode": "restore"}

    roll_back(moved)

    assert {"reporting": {P0: 0}} == target_offsets(moved)
    assert "old" == moved.target.groups["reporting"].commits[P0].metadata
    assert before == source_offsets(moved)


def test_restore_takes_nothing_else_away(moved: World) -> None:
    """A group with offsets of other topics is not deleted for those that the cutover wrote; the plan says so."""
    moved.target.commit("billing", {TopicPartition("others", 0): 7})
    moved.params = {"mode": "restore"}

    roll_back(moved)

    assert {P0: 3, P1: 1, TopicPartition("others", 0): 7} == target_offsets(moved)["billing"]
    plan = moved.run.evidence.require(Kind.ROLLBACK_PLAN)["plan"]
    assert ["OFFSET_STAYS"] * 2 == [f["code"] for f in plan["groups"][0]["warnings"]]


def test_restore_tells_what_was_read_since(moved: World) -> None:
    """A group that has read on on the target reads that again on the source: whoever approves knows it."""
    moved.target.commit("billing", {P0: 4})
    moved.params = {"mode": "restore"}
    do(moved, *BEFORE_QUESTION)

    document = moved.run.evidence.require(Kind.ROLLBACK_PLAN)
    assert ["TARGET_OFFSETS_CHANGED"] == [f["code"] for f in document["plan"]["groups"][0]["warnings"]]
    assert "TARGET_OFFSETS_CHANGED" in document["markdown"]


@pytest.mark.parametrize("mode", ["fail_back", "restore"])
def test_records_on_the_target_only_are_never_lost_silently(moved: World, mode: str) -> None:
    """They are counted, with their first offsets, and refuse the rollback until a person lets go of their topic."""
    moved.target.produce("orders", 0, (b"new", b"1"), (b"new", b"2"))
    moved.params = {"mode": mode}

    with pytest.raises(FailedForGood, match="TARGET_ONLY_RECORDS"):
        do(moved, *BEFORE_QUESTION)
    (told,) = moved.run.evidence.require(Kind.ROLLBACK_PLAN)["plan"]["target_only"]
    assert {"topic": "orders", "first_offsets": {"orders": {"0": 4}}, "records": 2, "is_exact": True} == told
    assert "name: shop-back" in (moved.run.evidence.folder / "reverse-migration.yaml").read_text()

    begin_rollback(moved, 3, mode=mode, leave_records_of=["orders"])
    roll_back(moved)
    assert {"orders": 2} == moved.run.ledger.read().rollbacks[0].target_only


def test_topic_that_was_never_copied_is_no_topic_to_leave(moved: World) -> None:
    """A misspelt name lets go of nothing; it is refused before anything is planned."""
    moved.params["leave_records_of"] = ["orders", "ordres"]

    with pytest.raises(FailedForGood, match=r"RUN_CONF_INVALID · run conf field leave_records_of: found 'ordres'"):
        do(moved, *BEFORE_QUESTION)
    assert moved.run.evidence.newest(Kind.ROLLBACK_PLAN) is None


def test_group_that_has_read_all_goes_on_behind_the_copy(moved: World) -> None:
    """What it has read beyond the copy is on the target only: on the source it goes on where the copy ended."""
    moved.target.produce("orders", 0, (b"new", b"1"))
    moved.target.commit("billing", {P0: 5})
    moved.params["leave_records_of"] = ["orders"]
    moved.source.produce("orders", 0, (b"late", b"1"))

    roll_back(moved)

    assert {P0: 4, P1: 1} == source_offsets(moved)["billing"]


def test_active_groups_stay_and_are_told(moved: World) -> None:
    """A group with members on either side is left as it is; the others go back, and the report says who is left."""
    moved.source.join("billing")
    moved.target.commit("reporting", {P0: 2})

    summary = roll_back(moved)

    assert (["reporting"], ["billing"]) == (summary["groups"], summary["left"])
    finish(moved, **dict.fromkeys(TASKS, "success"))
    report = (moved.run.evidence.folder / "report.md").read_text()
    assert "GROUP_ACTIVE" in report
    assert "partly done" in report


def test_group_reset_on_the_target_goes_on_where_it_stopped(moved: World) -> None:
    """What a group has read on the source it has read, wherever it was put on the target since."""
    moved.target.commit("billing", {P0: 1})

    roll_back(moved)

    assert {P0: 3, P1: 1} == source_offsets(moved)["billing"]


def test_another_record_at_the_place_is_no_proof(moved: World) -> None:
    """Where the record at the place is another one on the source, the group is left as it is."""
    moved.target.commit("reporting", {P0: 2})
    moved.source.topics["orders"].partitions[0].records[2] = (b"other", b"record")

    assert ["reporting"] == roll_back(moved)["left"]


def test_records_that_the_source_has_deleted_hold_a_group_up(moved: World) -> None:
    """Unread records that only the target still has are not passed over."""
    moved.target.commit("reporting", {P0: 2})
    moved.source.purge("orders", 0, 3)

    assert ["reporting"] == roll_back(moved)["left"]


def expire(world: World) -> None:
    world.source.groups["billing"].commits.clear()


def purge(world: World) -> None:
    world.source.purge("orders", 0, 4)


@pytest.mark.parametrize(("change", "code"), [(expire, "GROUP_OFFSETS_LOST"), (purge, "OFFSET_UNPROVED")])
def test_restore_promises_only_what_the_source_still_has(moved: World, change: Any, code: str) -> None:
    """A group whose offsets or unread records are gone from the source would begin anywhere there: it stays."""
    change(moved)
    moved.params = {"mode": "restore"}
    do(moved, *BEFORE_QUESTION)

    (group, *_) = moved.run.evidence.require(Kind.ROLLBACK_PLAN)["plan"]["groups"]
    assert ("billing", {code}) == (group["group"], {f["code"] for f in group["refusals"]})


@pytest.mark.parametrize("mode", ["fail_back", "restore"])
@pytest.mark.parametrize("is_made_anew", [False, True])
def test_source_that_is_another_is_no_way_back(moved: World, mode: str, is_made_anew: bool) -> None:
    """A topic that was deleted on the source, or created anew there, refuses the rollback as a whole."""
    moved.source.delete_topics(["orders"])
    if is_made_anew:
        moved.source.create_topics([NewTopic("orders", 2, 1, {})])
    moved.params = {"mode": mode}

    with pytest.raises(FailedForGood, match="SOURCE_TOPIC_RECREATED" if is_made_anew else "SOURCE_TOPIC_MISSING"):
        do(moved, *BEFORE_QUESTION)


def test_group_that_no_cutover_moved_stays_where_it_is(scene: World) -> None:
    """A group that was left behind, and tried on the target, has unread records that nobody can tell: it stays."""
    scene.target.commit("reporting", {P0: 4})
    do(scene, TranslateOffsetsOperator)
    cut_over(scene)
    assert ("reporting",) == tuple(scene.run.ledger.read().cutovers[0].left)
    begin_rollback(scene)

    assert ["reporting"] == roll_back(scene)["left"]
    assert {P0: 1} == source_offsets(scene)["reporting"]


def test_group_without_any_offsets_left_is_told(moved: World) -> None:
    """A group whose offsets expired on both sides has nowhere to go on: that is said, and holds up nobody else."""
    moved.source.groups["billing"].commits.clear()
    moved.target.groups["billing"].commits.clear()
    moved.target.commit("reporting", {P0: 2})

    summary = roll_back(moved)

    assert (["reporting"], ["billing"]) == (summary["groups"], summary["left"])


def test_groups_that_lost_their_place_on_the_target_hold_nothing_up(moved: World) -> None:
    """Without offsets there they go on on the source where they had stopped: the topics are taken back all the same."""
    for group in ("billing", "reporting"):
        moved.target.groups[group].commits.clear()

    assert [] == roll_back(moved)["groups"]
    assert Phase.ROLLED_BACK is moved.run.ledger.read().phase


def test_partition_that_both_sides_got_since(moved: World) -> None:
    """A partition that was never copied holds other records on each side: the group begins with those of the source."""
    for side in (moved.source, moved.target):
        side.create_partitions({"orders": 3})
    added = TopicPartition("orders", 2)
    moved.target.produce("orders", 2, (b"new", b"1"))
    moved.target.commit("billing", {added: 1, P0: 4})
    moved.params["leave_records_of"] = ["orders"]

    roll_back(moved)

    assert {P0: 4, P1: 1, added: 0} == source_offsets(moved)["billing"]


def test_nothing_cut_over_is_nothing_to_roll_back(scene: World) -> None:
    """Before a cutover, and after one was taken back, a rollback is refused before it does anything."""
    begin_rollback(scene)

    with pytest.raises(FailedForGood, match="NOTHING_TO_ROLL_BACK"):
        do(scene, PreflightOperator)


def test_rollback_twice(moved: World) -> None:
    """What was taken back cannot be taken back again; a cleared writing step says what was done, and writes nothing."""
    roll_back(moved)
    done = source_offsets(moved)
    moved.dag_run.clear_number = 1
    assert ["billing", "reporting"] == do(moved, RollBackOperator)["groups"]
    assert done == source_offsets(moved)
    assert 1 == len(moved.run.ledger.read().rollbacks)
    for operator in (PreflightOperator, PlanRollbackOperator):
        with pytest.raises(FailedForGood, match="NOTHING_TO_ROLL_BACK"):
            do(moved, operator)


def test_change_after_the_approval_writes_nothing(moved: World) -> None:
    """A group that reads on after the approval makes another plan: nothing is written."""
    do(moved, *BEFORE_QUESTION)
    say_yes(moved)
    before = source_offsets(moved)
    moved.target.commit("reporting", {P0: 3})

    with pytest.raises(FailedForGood, match="EVIDENCE_CHANGED"):
        do(moved, RollBackOperator)
    assert before == source_offsets(moved)


def test_unapproved_rollback_writes_nothing(moved: World) -> None:
    """Without an answer nothing is written."""
    do(moved, *BEFORE_QUESTION)

    with pytest.raises(FailedForGood, match="APPROVAL_STALE"):
        do(moved, RollBackOperator)


def test_interrupted_restore_comes_to_the_same_end(moved: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after the first group was written, the step finds that and writes the rest."""
    moved.params = {"mode": "restore"}
    do(moved, *BEFORE_QUESTION)
    say_yes(moved)
    alter = moved.target.alter_offsets

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(moved.target, "alter_offsets", killed)
    with pytest.raises(KeyboardInterrupt):
        do(moved, RollBackOperator)
    assert "billing" not in target_offsets(moved)
    monkeypatch.setattr(moved.target, "alter_offsets", alter)

    assert ["billing", "reporting"] == do(moved, RollBackOperator)["groups"]
    assert {"reporting": {P0: 0}} == target_offsets(moved)


def test_settings_are_restored_and_frozen_again(moved: World) -> None:
    """After the cutover retention is what it was to be; mirrored again after a rollback, it is switched off anew."""
    assert {"retention.ms": "1000"} == moved.target.topics["orders"].configs
    assert {} == moved.target.topics["audit"].configs
    roll_back(moved)
    next_run(moved, 3)
    moved.dag_run.other_dag_id = ""
    moved.params = {"mode": "sync"}

    do(moved, *BEFORE_START)

    frozen = {"retention.ms": "-1", "retention.bytes": "-1"}
    assert [frozen] * 2 == [moved.target.topics[topic].configs for topic in ("orders", "audit")]
    assert all(topic.is_frozen for topic in moved.run.ledger.read().topics.values())


def test_settings_that_the_cluster_denies_are_told(scene: World) -> None:
    """Everything else is done, so nothing fails: the report says what is left to do by hand."""
    do(scene, TranslateOffsetsOperator)
    cut_over(scene)
    scene.target.delete_topics(["audit"])
    topics = dict(scene.target.topics)
    scene.target.describe_topics = lambda topics: {  # type: ignore[method-assign]
        name: scene.source.describe_topics([name])[name] for name in topics
    }
    for name, topic in scene.run.ledger.read().topics.items():
        scene.source.topics[name].topic_id = topic.topic_id

    assert ["orders"] == do(scene, RestoreSettingsOperator)["restored"]
    assert topics.keys() == scene.target.topics.keys()
    (warning,) = scene.run.evidence.require(Kind.SETTINGS)["warnings"]
    assert ("TOPIC_NOT_CONFIGURED", "topic audit") == (warning["code"], warning["subject"])
    known = scene.run.ledger.read().topics
    assert (False, True) == (known["orders"].is_frozen, known["audit"].is_frozen)


def test_settings_stay_frozen_while_topics_are_mirrored_again(moved: World) -> None:
    """A task of an old run that is cleared after the migration went on changes nothing."""
    roll_back(moved)
    next_run(moved, 3)
    moved.dag_run.other_dag_id = ""
    moved.params = {"mode": "sync"}
    do(moved, *BEFORE_START, StartMirrorOperator, StopMirrorOperator)
    moved.task_instance.run_states["manual__3"] = "success"
    for dag_id, run_id, mode in (("", "manual__1", "cutover"), (ROLLBACK_DAG_ID, "manual__2", "fail_back")):
        moved.host.holder = ""
        moved.dag_run.other_dag_id, moved.dag_run.run_id, moved.dag_run.clear_number = dag_id, run_id, 1
        moved.params = {"mode": mode}
        assert [] == do(moved, RestoreSettingsOperator)["restored"]

    assert "-1" == moved.target.topics["orders"].configs["retention.ms"]


def test_mirrored_again_and_cut_over_again(moved: World) -> None:
    """After a rollback over a target that nobody wrote to, the migration goes on to another cutover."""
    roll_back(moved)
    next_run(moved, 3)
    moved.dag_run.other_dag_id = ""
    moved.params = {"mode": "cutover"}
    moved.source.produce("orders", 0, (b"late", b"1"))
    do(moved, *BEFORE_START, StartMirrorOperator)
    mirror(moved, {P0: 1})
    do(moved, StopMirrorOperator)
    validated(moved)
    do(moved, JudgeOperator, TranslateOffsetsOperator)

    assert ["billing", "reporting"] == cut_over(moved)["groups"]
    assert Phase.CUT_OVER is moved.run.ledger.read().phase


class Spark:
    """A spark-submit that puts every vector at the same places of the source."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.requests: list[dict[str, Any]] = []

    def submit(self, operator: Any, _context: Any) -> None:
        """Do what the job does."""
        places = dict(zip(operator.application_args[::2], operator.application_args[1::2], strict=True))
        request = json.loads(Path(places["--request"].removeprefix("file://")).read_text())
        self.requests.append(request)
        topics = [
            {
                "topic": topic["topic"],
                "translations": [self._found(n, vector, topic) for n, vector in enumerate(topic["vectors"])],
            }
            for topic in request["topics"]
        ]
        answer = {"schema": 2, "kind": "translation-result", "id": request["id"], "spark_version": "4"}
        spark_writes(self.world, operator.application_args, {**answer, "topics": topics})

    def _found(self, number: int, vector: Mapping[str, int], topic: Mapping[str, Any]) -> dict[str, Any]:
        is_back = self.requests[-1]["is_back"]
        at = {"0": 2, "1": 3} if is_back else {"0": 0, "1": 0, "2": 1}
        read = {"read": topic["read"][number]} if is_back else {}
        return {
            **read,
            "vector": vector,
            "goes_on_at": at,
            "unread": 2,
            "delivered": 3,
            "missing": {},
            "is_minimal": True,
        }


def moved_by_mirrormaker1(
    world: World, monkeypatch: pytest.MonkeyPatch, groups: Mapping[str, dict[TopicPartition, int]]
) -> Spark:
    """Cut groups over that MirrorMaker 1 moved from two partitions to three; they read on, and a rollback begins."""
    records = [(b"k", b"%d" % n) for n in range(4)]
    engine, spark = lossy(world, monkeypatch), Spark(world)
    monkeypatch.setattr(SparkSubmitOperator, "execute", lambda operator, context: spark.submit(operator, context))
    world.params["mode"] = "cutover"
    world.target.create_topics([NewTopic("orders", 3, 1, {}), NewTopic("audit", 1, 1, {})])
    for partition in (0, 1):
        world.source.produce("orders", partition, *records)
    for group, commits in groups.items():
        world.source.commit(group, commits)
    do(world, *BEFORE_START, StartMirrorOperator)
    for partition in (0, 2):
        world.target.produce("orders", partition, *records)
    engine.positions |= {P0: 4, P1: 4}
    do(world, StopMirrorOperator)
    validated(world)
    do(world, JudgeOperator, TranslateOffsetsOperator)
    approved(world)
    do(world, SyncOffsetsOperator, ConfirmCutoverOperator)
    for group in groups:
        world.target.commit(group, {P0: 2, P1: 0, TopicPartition("orders", 2): 3})
    begin_rollback(world)
    return spark


def test_partitions_chosen_anew_are_asked_of_spark(
    world: World, monkeypatch: pytest.MonkeyPatch, asked: list[dict[str, Any]]
) -> None:
    """Where the copy chose other partitions, the records themselves tell where a group goes on on the source."""
    spark = moved_by_mirrormaker1(world, monkeypatch, {"billing": {P0: 1, P1: 1}})

    roll_back(world)

    (topic,) = spark.requests[-1]["topics"]
    assert spark.requests[-1]["is_back"]
    assert ([{"0": 2, "1": 0, "2": 3}], [{"0": 1, "1": 1}]) == (topic["vectors"], topic["read"])
    assert {"0": [1, 4], "1": [1, 4]} == topic["source"]
    assert {"0": [0, 4], "1": [0, 0], "2": [0, 4]} == topic["target"]
    assert {P0: 2, P1: 3} == source_offsets(world)["billing"]
    assert refusal_codes(world) == []


def test_answer_without_a_partition_of_the_source_is_refused(
    world: World, monkeypatch: pytest.MonkeyPatch, asked: list[dict[str, Any]]
) -> None:
    """A group would go on in that partition by its `auto.offset.reset`: such an answer gives no plan."""
    spark = moved_by_mirrormaker1(world, monkeypatch, {"billing": {P0: 1, P1: 1}})
    monkeypatch.setattr(spark, "_found", lambda *of: {**Spark._found(spark, *of), "goes_on_at": {"0": 2}})

    with pytest.raises(FailedForGood, match=r"VALIDATION_RESULT_MISSING.*topic orders: offsets of partitions \[0\]"):
        do(world, *BEFORE_QUESTION)


def test_interrupted_fail_back_comes_to_the_same_end(
    world: World, monkeypatch: pytest.MonkeyPatch, asked: list[dict[str, Any]]
) -> None:
    """Regression: what a killed try had written on the source made the next one look for another answer of Spark."""
    spark = moved_by_mirrormaker1(world, monkeypatch, {"billing": {P0: 1, P1: 1}, "reporting": {P0: 0, P1: 2}})
    do(world, *BEFORE_QUESTION)
    say_yes(world)
    alter = world.source.alter_offsets

    def killed(group: str, offsets: Any) -> None:
        if group == "reporting":
            raise KeyboardInterrupt
        alter(group, offsets)

    monkeypatch.setattr(world.source, "alter_offsets", killed)
    with pytest.raises(KeyboardInterrupt):
        do(world, RollBackOperator)
    assert {P0: 2, P1: 3} == source_offsets(world)["billing"]
    monkeypatch.setattr(world.source, "alter_offsets", alter)

    assert ["billing", "reporting"] == do(world, RollBackOperator)["groups"]
    assert 2 == len(spark.requests)


def test_records_that_go_between_approval_and_write_stop_it(
    world: World, monkeypatch: pytest.MonkeyPatch, asked: list[dict[str, Any]]
) -> None:
    """A place that Spark found must still be held by the source when it is written."""
    moved_by_mirrormaker1(world, monkeypatch, {"billing": {P0: 1, P1: 1}})
    do(world, *BEFORE_QUESTION)
    say_yes(world)
    world.source.purge("orders", 0, 4)

    with pytest.raises(FailedForGood, match="EVIDENCE_CHANGED"):
        do(world, RollBackOperator)
    assert {P0: 1, P1: 1} == source_offsets(world)["billing"]
