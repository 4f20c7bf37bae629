"""Rules of the way back in a small world: restoring the target's groups, and failing back to the source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import CommittedOffset, TopicPartition
from kafka_migration.core.migration.settings import Phase
from tests.steps.cutover import ROLLBACK_DAG_ID, answer, begin_rollback, cut_over, target_offsets
from tests.steps.tasks import BEFORE_START
from tests.steps.translating import TranslatingSpark, repartitioned
from tests.steps.world import P0, P1, World

BEFORE_QUESTION = ("preflight", "reserve", "translate_back", "plan_rollback")
TASKS = (*BEFORE_QUESTION, "approve", "roll_back", "restore_settings")
P2 = TopicPartition("orders", 2)


@pytest.fixture
def moved(scene: World) -> World:
    """Two groups are cut over, one of which had an offset on the target before; the next run is a rollback."""
    scene.target.commit("reporting", {P0: 0}, metadata="old")
    cut_over(scene)
    scene.do("restore_settings")
    begin_rollback(scene)
    return scene


def approved(world: World) -> None:
    """Plan the rollback, ask for approval, and approve."""
    world.do(*BEFORE_QUESTION)
    with pytest.raises(world.waits):
        world.do("approve_rollback")
    answer(world)


def roll_back(world: World) -> dict[str, Any]:
    """Do a whole rollback; return the summary of the task that writes."""
    approved(world)
    summary = world.do("roll_back")
    world.do("restore_settings")
    return summary


def planned(world: World) -> dict[str, Any]:
    """Return the rollback's plan."""
    plan: dict[str, Any] = world.run.evidence.require(Kind.ROLLBACK_PLAN)["plan"]
    return plan


def source_offsets(world: World) -> dict[str, dict[TopicPartition, int]]:
    """Return every group's committed offsets on the source."""
    return {name: {p: c.offset for p, c in group.commits.items()} for name, group in world.source.groups.items()}


def test_fail_back_follows_the_groups(moved: World) -> None:
    """Each group continues on the source at the record that it would read next on the target."""
    moved.target.commit("billing", {P0: 4, P1: 1})
    moved.target.commit("reporting", {P0: 2}, metadata="mine")
    before = target_offsets(moved)

    assert ["billing", "reporting"] == roll_back(moved)["groups"]
    assert {"billing": {P0: 4, P1: 1}, "reporting": {P0: 2}} == source_offsets(moved)
    assert CommittedOffset(2, "mine") == moved.source.groups["reporting"].commits[P0]
    assert before == target_offsets(moved)
    ledger = moved.ledger
    assert (Phase.ROLLED_BACK, frozenset(), "fail_back") == (
        ledger.phase,
        ledger.moved_topics(),
        ledger.rollbacks[0].mode,
    )


def test_partition_that_stays_unset_on_the_source_is_named(moved: World) -> None:
    """A group without an offset on either cluster may miss records on the source as well."""
    moved.do(*BEFORE_QUESTION)

    document = moved.run.evidence.require(Kind.ROLLBACK_PLAN)
    (reporting,) = (group for group in document["plan"]["groups"] if group["group"] == "reporting")
    assert ["OFFSET_NEVER_COMMITTED"] == [warning["code"] for warning in reporting["warnings"]]
    assert "group reporting may miss records that are written to orders" in document["markdown"]


def test_restore_writes_the_saved_target_offsets(moved: World) -> None:
    """Each group has the target offsets from before the cutover, or none; the source stays as it is."""
    before = source_offsets(moved)
    moved.params = {"mode": "restore"}

    roll_back(moved)

    assert {"reporting": {P0: 0}} == target_offsets(moved)
    assert "old" == moved.target.groups["reporting"].commits[P0].metadata
    assert before == source_offsets(moved)


def test_restore_keeps_offsets_of_other_topics(moved: World) -> None:
    """A group with offsets of other topics is not deleted, keeps those that the cutover wrote, and the plan warns."""
    moved.target.commit("billing", {TopicPartition("others", 0): 7})
    moved.params = {"mode": "restore"}

    roll_back(moved)

    assert {P0: 3, P1: 1, TopicPartition("others", 0): 7} == target_offsets(moved)["billing"]
    assert ["OFFSET_STAYS"] * 2 == [f["code"] for f in planned(moved)["groups"][0]["warnings"]]


def test_restore_warns_of_records_that_are_read_twice(moved: World) -> None:
    """The plan warns that a group will read on the source again what it has read on the target since the cutover."""
    moved.target.commit("billing", {P0: 4})
    moved.params = {"mode": "restore"}
    moved.do(*BEFORE_QUESTION)

    document = moved.run.evidence.require(Kind.ROLLBACK_PLAN)
    assert ["TARGET_OFFSETS_CHANGED"] == [f["code"] for f in document["plan"]["groups"][0]["warnings"]]
    assert "TARGET_OFFSETS_CHANGED" in document["markdown"]


@pytest.mark.parametrize("mode", ["fail_back", "restore"])
def test_records_on_the_target_only_are_never_lost_silently(moved: World, mode: str) -> None:
    """Records that only the target has are counted, and refuse the rollback unless the form names their topic."""
    moved.target.produce("orders", 0, (b"new", b"1"), (b"new", b"2"))
    moved.params = {"mode": mode}

    moved.refuses(*BEFORE_QUESTION, match="TARGET_ONLY_RECORDS")
    (found,) = planned(moved)["target_only"]
    assert {"topic": "orders", "first_offsets": {"orders": {"0": 4}}, "records": 2, "is_exact": True} == found
    assert 'name: "shop-back"' in (moved.run.evidence.folder / "reverse-migration.yaml").read_text()

    begin_rollback(moved, 3, mode=mode, leave_records_of=["orders"])
    roll_back(moved)
    assert {"orders": 2} == moved.ledger.rollbacks[0].target_only


def test_unknown_topic_in_leave_records_of_is_refused(moved: World) -> None:
    """A misspelt topic in `leave_records_of` is refused before anything is planned."""
    moved.params["leave_records_of"] = ["orders", "ordres"]

    moved.refuses(*BEFORE_QUESTION, match=r"RUN_CONF_INVALID · .* field leave_records_of .* accepts: 'ordres'")
    assert moved.run.evidence.newest(Kind.ROLLBACK_PLAN) is None


def test_group_that_has_read_everything_continues_after_the_copy(moved: World) -> None:
    """A group that has read records that only the target has continues on the source at the end of the copy."""
    moved.target.produce("orders", 0, (b"new", b"1"))
    moved.target.commit("billing", {P0: 5})
    moved.params["leave_records_of"] = ["orders"]
    moved.source.produce("orders", 0, (b"late", b"1"))

    roll_back(moved)

    assert {P0: 4, P1: 1} == source_offsets(moved)["billing"]


def test_active_groups_stay_and_are_reported(moved: World) -> None:
    """A group with members on either side is left as it is; the others go back, and the report names it."""
    moved.source.join("billing")
    moved.target.commit("reporting", {P0: 2})

    summary = roll_back(moved)

    assert (["reporting"], ["billing"]) == (summary["groups"], summary["left"])
    moved.finish(**dict.fromkeys(TASKS, "success"))
    report = moved.report
    assert "GROUP_ACTIVE" in report
    assert "partly done" in report


def test_group_reset_on_the_target_continues_where_it_stopped(moved: World) -> None:
    """A group whose offsets were reset on the target does not read again what it had read on the source."""
    moved.target.commit("billing", {P0: 1})

    roll_back(moved)

    assert {P0: 3, P1: 1} == source_offsets(moved)["billing"]


def replace_record(world: World) -> None:
    world.source.topics["orders"].partitions[0].records[2] = (b"other", b"record")


@pytest.mark.parametrize("change", [replace_record, lambda world: world.source.purge("orders", 0, 3)])
def test_group_without_its_record_on_the_source_is_left(moved: World, change: Callable[[World], None]) -> None:
    """A group stays on the target if its next record is another one on the source, or is deleted there."""
    moved.target.commit("reporting", {P0: 2})
    change(moved)

    assert ["reporting"] == roll_back(moved)["left"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda world: world.source.groups["billing"].commits.clear(), "GROUP_OFFSETS_LOST"),
        (lambda world: world.source.purge("orders", 0, 4), "OFFSET_UNPROVED"),
    ],
)
def test_restore_promises_only_what_the_source_still_has(
    moved: World, change: Callable[[World], None], code: str
) -> None:
    """A group whose offsets or unread records are gone from the source is refused by a restore."""
    change(moved)
    moved.params = {"mode": "restore"}
    moved.do(*BEFORE_QUESTION)

    group = planned(moved)["groups"][0]
    assert ("billing", {code}) == (group["group"], {f["code"] for f in group["refusals"]})


@pytest.mark.parametrize("mode", ["fail_back", "restore"])
@pytest.mark.parametrize("is_recreated", [False, True])
def test_deleted_or_recreated_source_topic_refuses_the_rollback(moved: World, mode: str, is_recreated: bool) -> None:
    """A topic that was deleted or created again on the source refuses the whole rollback."""
    moved.source.delete_topics(["orders"])
    if is_recreated:
        moved.source.create_topics([NewTopic("orders", 2, 1, {})])
    moved.params = {"mode": mode}

    moved.refuses(*BEFORE_QUESTION, match="SOURCE_TOPIC_RECREATED" if is_recreated else "SOURCE_TOPIC_MISSING")


def test_group_that_no_cutover_moved_stays_where_it_is(scene: World) -> None:
    """A group that no cutover moved stays, because its unread records on the target are not known."""
    scene.target.commit("reporting", {P0: 4})
    cut_over(scene)
    assert ["reporting"] == list(scene.ledger.cutovers[0].left)
    begin_rollback(scene)

    assert ["reporting"] == roll_back(scene)["left"]
    assert {P0: 1} == source_offsets(scene)["reporting"]


def test_group_without_any_offsets_is_left(moved: World) -> None:
    """A group whose offsets have expired on both sides is left; the other groups go back."""
    moved.source.groups["billing"].commits.clear()
    moved.target.groups["billing"].commits.clear()
    moved.target.commit("reporting", {P0: 2})

    summary = roll_back(moved)

    assert (["reporting"], ["billing"]) == (summary["groups"], summary["left"])


def test_groups_without_target_offsets_do_not_block_the_rollback(moved: World) -> None:
    """Groups without offsets on the target keep their source offsets, and the topics are rolled back."""
    for group in ("billing", "reporting"):
        moved.target.groups[group].commits.clear()

    assert [] == roll_back(moved)["groups"]
    assert Phase.ROLLED_BACK is moved.ledger.phase


def test_partition_that_was_added_on_both_sides(moved: World) -> None:
    """In a partition that was never copied the group starts with the first record of the source."""
    for side in (moved.source, moved.target):
        side.create_partitions({"orders": 3})
    moved.target.produce("orders", 2, (b"new", b"1"))
    moved.target.commit("billing", {P2: 1, P0: 4})
    moved.params["leave_records_of"] = ["orders"]

    roll_back(moved)

    assert {P0: 4, P1: 1, P2: 0} == source_offsets(moved)["billing"]


def test_nothing_cut_over_is_nothing_to_roll_back(scene: World) -> None:
    """Without a cutover a rollback is refused by its preflight."""
    begin_rollback(scene)

    scene.refuses("preflight", match="NOTHING_TO_ROLL_BACK")


def test_rollback_twice(moved: World) -> None:
    """A second rollback is refused; the cleared task that wrote returns its summary again and writes nothing."""
    roll_back(moved)
    done = source_offsets(moved)
    moved.dag_run.clear_number = 1
    assert ["billing", "reporting"] == moved.do("roll_back")["groups"]
    assert done == source_offsets(moved)
    assert 1 == len(moved.ledger.rollbacks)
    for operator in ("preflight", "plan_rollback"):
        moved.refuses(operator, match="NOTHING_TO_ROLL_BACK")


def test_change_after_the_approval_writes_nothing(moved: World) -> None:
    """A group that reads on after the approval changes the plan, so nothing is written."""
    approved(moved)
    before = source_offsets(moved)
    moved.target.commit("reporting", {P0: 3})

    moved.refuses("roll_back", match="EVIDENCE_CHANGED")
    assert before == source_offsets(moved)


def test_unapproved_rollback_writes_nothing(moved: World) -> None:
    """Without an approval nothing is written."""
    moved.do(*BEFORE_QUESTION)

    moved.refuses("roll_back", match="APPROVAL_STALE")


def test_interrupted_restore_is_completed(moved: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A try after one that was killed after the first group writes the other groups."""
    moved.params = {"mode": "restore"}
    approved(moved)
    alter = moved.target.alter_offsets

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(moved.target, "alter_offsets", killed)
    with pytest.raises(KeyboardInterrupt):
        moved.do("roll_back")
    assert "billing" not in target_offsets(moved)
    monkeypatch.setattr(moved.target, "alter_offsets", alter)

    assert ["billing", "reporting"] == moved.do("roll_back")["groups"]
    assert {"reporting": {P0: 0}} == target_offsets(moved)


def test_settings_are_restored_and_frozen_again(moved: World) -> None:
    """A cutover restores retention; the next sync after a rollback turns it off again."""
    assert {"retention.ms": "1000"} == moved.target.topics["orders"].configs
    assert {} == moved.target.topics["audit"].configs
    roll_back(moved)
    moved.next_run(3)
    moved.dag_run.other_dag_id = ""
    moved.params = {"mode": "sync"}

    moved.do(*BEFORE_START)

    frozen = {"retention.ms": "-1", "retention.bytes": "-1"}
    assert [frozen] * 2 == [moved.target.topics[topic].configs for topic in ("orders", "audit")]
    assert all(topic.is_frozen for topic in moved.ledger.topics.values())


def test_settings_that_the_cluster_denies_are_a_warning(scene: World) -> None:
    """A setting that cannot be restored is a warning, and the other settings are restored."""
    cut_over(scene)
    scene.target.delete_topics(["audit"])
    topics = dict(scene.target.topics)
    scene.target.describe_topics = lambda topics: {  # type: ignore[method-assign]
        name: scene.source.describe_topics([name])[name] for name in topics
    }
    for name, topic in scene.ledger.topics.items():
        scene.source.topics[name].topic_id = topic.topic_id

    assert ["orders"] == scene.do("restore_settings")["restored"]
    assert topics.keys() == scene.target.topics.keys()
    (warning,) = scene.run.evidence.require(Kind.SETTINGS)["warnings"]
    assert ("TOPIC_NOT_CONFIGURED", "topic audit") == (warning["code"], warning["subject"])
    known = scene.ledger.topics
    assert (False, True) == (known["orders"].is_frozen, known["audit"].is_frozen)


def test_settings_stay_frozen_while_topics_are_mirrored_again(moved: World) -> None:
    """A `restore_settings` of an old run that is cleared during a later sync changes nothing."""
    roll_back(moved)
    moved.next_run(3)
    moved.dag_run.other_dag_id = ""
    moved.params = {"mode": "sync"}
    moved.do(*BEFORE_START, "start_mirror", "stop_mirror")
    moved.task_instance.run_states["manual__3"] = "success"
    for dag_id, run_id, mode in (("", "manual__1", "cutover"), (ROLLBACK_DAG_ID, "manual__2", "fail_back")):
        moved.host.holder = ""
        moved.dag_run.other_dag_id, moved.dag_run.run_id, moved.dag_run.clear_number = dag_id, run_id, 1
        moved.params = {"mode": mode}
        assert [] == moved.do("restore_settings")["restored"]

    assert "-1" == moved.target.topics["orders"].configs["retention.ms"]


def test_mirrored_again_and_cut_over_again(moved: World) -> None:
    """After a rollback with an unchanged target, the topics can be mirrored and cut over again."""
    roll_back(moved)
    moved.next_run(3)
    moved.dag_run.other_dag_id = ""
    moved.params = {"mode": "cutover"}
    moved.source.produce("orders", 0, (b"late", b"1"))
    moved.copy_and_judge({P0: 1})

    assert ["billing", "reporting"] == cut_over(moved)["groups"]
    assert Phase.CUT_OVER is moved.ledger.phase


@pytest.fixture
def spark(world: World, monkeypatch: pytest.MonkeyPatch, asked: list[Any]) -> TranslatingSpark:
    """Two groups are cut over after a copy from two partitions to three; they read on, and a rollback begins."""
    groups = {"billing": {P0: 1, P1: 1}, "reporting": {P0: 0, P1: 2}}
    made = repartitioned(world, groups)
    made.there = {0: 0, 1: 0, 2: 1}
    cut_over(world)
    for group in groups:
        world.target.commit(group, {P0: 2, P1: 0, P2: 3})
    begin_rollback(world)
    return made


def test_offsets_of_a_repartitioned_copy_are_translated_by_spark(world: World, spark: TranslatingSpark) -> None:
    """If the copy has other partitions, Spark finds in the records where a group continues on the source."""
    roll_back(world)

    (topic,) = spark.requests[-1]["topics"]
    assert spark.requests[-1]["is_back"]
    assert [{"0": 2, "1": 0, "2": 3}] * 2 == topic["vectors"]
    assert [{"0": 0, "1": 2}, {"0": 1, "1": 1}] == topic["read"]
    assert {"0": [0, 4], "1": [1, 4]} == topic["source"]
    assert {"0": [0, 4], "1": [0, 0], "2": [0, 4]} == topic["target"]
    assert {P0: 2, P1: 3} == source_offsets(world)["billing"]
    assert world.refusal_codes == []


def test_answer_without_a_partition_of_the_source_is_refused(world: World, spark: TranslatingSpark) -> None:
    """An answer without a partition is refused: there the group would start by its `auto.offset.reset`."""
    spark.back = {0: 2}

    world.refuses(*BEFORE_QUESTION, match=r"VALIDATION_RESULT_MISSING.*topic orders: offsets of partitions \[0\]")


def test_interrupted_fail_back_is_completed(
    world: World, spark: TranslatingSpark, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: after a killed try had written on the source, the next try looked for another answer of Spark."""
    approved(world)
    alter = world.source.alter_offsets

    def killed(group: str, offsets: Any) -> None:
        if group == "reporting":
            raise KeyboardInterrupt
        alter(group, offsets)

    monkeypatch.setattr(world.source, "alter_offsets", killed)
    with pytest.raises(KeyboardInterrupt):
        world.do("roll_back")
    assert {P0: 2, P1: 3} == source_offsets(world)["billing"]
    monkeypatch.setattr(world.source, "alter_offsets", alter)

    assert ["billing", "reporting"] == world.do("roll_back")["groups"]
    assert 2 == len(spark.requests)


def test_records_that_are_deleted_after_the_approval_refuse_the_write(world: World, spark: TranslatingSpark) -> None:
    """The records at the offsets that Spark found must still be on the source when they are written."""
    approved(world)
    world.source.purge("orders", 0, 4)

    world.refuses("roll_back", match="EVIDENCE_CHANGED")
    assert {P0: 1, P1: 1} == source_offsets(world)["billing"]
