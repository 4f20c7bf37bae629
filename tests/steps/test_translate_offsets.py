"""Rules of `translate_offsets` with MirrorMaker 1: what Spark is asked, and what follows from its answer."""

from __future__ import annotations

import pytest
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.kafka.offsets import TopicPartition
from tests.steps.cutover import BILLING, approved, judge_cutover, target_offsets
from tests.steps.engines import set_mirror
from tests.steps.tasks import BEFORE_START
from tests.steps.translating import TranslatingSpark, repartitioned
from tests.steps.world import P0, P1, World

TARGET = {0: 2, 1: 0, 2: 3}


@pytest.fixture
def spark(world: World, monkeypatch: pytest.MonkeyPatch) -> TranslatingSpark:
    """A cutover's copy by MirrorMaker 1 from two partitions to three, judged, and a group that has stopped."""
    return repartitioned(world, {"billing": BILLING})


def test_group_of_a_repartitioned_copy_moves(world: World, spark: TranslatingSpark) -> None:
    """The group's two source offsets become one per target partition, as Spark answers."""
    assert {"topics": 1, "vectors": 1} == world.do("translate_offsets")
    (topic,) = spark.requests[0]["topics"]
    approved(world)
    world.do("sync_offsets")

    assert ([{"0": 3, "1": 1}], True) == (topic["vectors"], topic["by_key"])
    assert {"0": [3, 4], "1": [1, 4]} == topic["source"]
    assert {"0": [0, 4], "1": [0, 0], "2": [0, 4]} == topic["target"]
    moved = {TopicPartition("orders", partition): offset for partition, offset in TARGET.items()}
    assert {"billing": moved} == target_offsets(world)


def test_group_that_read_on_is_not_moved(world: World, spark: TranslatingSpark) -> None:
    """In a cutover a translation is valid only for the offsets that Spark was asked about."""
    world.do("translate_offsets")
    world.source.commit("billing", {P0: 4, P1: 1})
    summary = world.do("plan_offsets")
    (group,) = world.run.evidence.require(Kind.OFFSETS_PLAN)["plan"]["groups"]

    assert (0, 1) == (summary["groups"], summary["left_out"])
    assert ["OFFSET_UNPROVED"] == [finding["code"] for finding in group["refusals"]]


def test_rehearsal_shows_a_group_that_reads_on(world: World, spark: TranslatingSpark) -> None:
    """A rehearsal shows a group with the offsets that Spark was asked about."""
    world.params["mode"] = "rehearse"
    world.do("translate_offsets")
    world.source.commit("billing", {P0: 4, P1: 1})
    world.do("plan_offsets")
    (group,) = world.run.evidence.require(Kind.OFFSETS_PLAN)["plan"]["groups"]

    assert {"orders": {"0": [3, "note"], "1": [1, "note"]}} == group["moves"][0]["committed"]


def test_group_that_read_on_after_the_approval_is_not_written(world: World, spark: TranslatingSpark) -> None:
    """A group that commits after the approval changes the evidence, so nothing is written."""
    world.do("translate_offsets")
    approved(world)
    world.source.commit("billing", {P0: 4, P1: 4})

    world.refuses("sync_offsets", match="EVIDENCE_CHANGED")
    assert {} == target_offsets(world)


def test_spark_is_not_started_without_need(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Offsets of a copy by position follow from the ledger, so the task starts no Spark."""
    judge_cutover(world)
    monkeypatch.setattr(SparkSubmitOperator, "execute", lambda *_: pytest.fail("Spark was started"))

    assert {"topics": 0, "vectors": 0} == world.do("translate_offsets")


def test_mode_without_groups_skips_it(world: World) -> None:
    """A sync skips the translation."""
    world.params["mode"] = "sync"
    world.do(*BEFORE_START)

    world.skips("translate_offsets")


def test_spark_without_an_answer_is_a_failure(world: World, spark: TranslatingSpark) -> None:
    """A job without a result fails the translation, and the plan is refused without one."""
    spark.there = {}

    world.refuses("translate_offsets", match="no result document")
    world.refuses("plan_offsets", match="EVIDENCE_MISSING")
    assert ["VALIDATION_RESULT_MISSING", "EVIDENCE_MISSING"] == world.refusal_codes


def test_answer_of_another_version_is_refused(world: World, spark: TranslatingSpark) -> None:
    """A result with another schema refuses the plan, with the task to clear in the finding."""
    world.do("translate_offsets")
    newest = world.run.evidence.require(Kind.TRANSLATION_RESULT)
    world.run.evidence.write(Kind.TRANSLATION_RESULT, {**newest, "schema": 7})

    world.refuses("plan_offsets", match=r"schema: expected one of 2, found 7.*Clear the task translate_offsets")


def test_request_without_its_commits_is_refused(world: World, spark: TranslatingSpark) -> None:
    """A rehearsal plans from the commits of the request; without them the finding says which task to clear."""
    world.params["mode"] = "rehearse"
    world.do("translate_offsets")
    request = world.run.evidence.require(Kind.TRANSLATION_REQUEST)
    world.run.evidence.write(Kind.TRANSLATION_REQUEST, {k: v for k, v in request.items() if k != "commits"})

    world.refuses("plan_offsets", match=r"commits.*Clear the task translate_offsets")


def test_group_moves_to_topics_of_other_names(world: World) -> None:
    """Offsets, and the file to restore them, have the target's topic names if these differ."""
    set_mirror(world, "topic_names: {naming: prefixed}")
    judge_cutover(world)
    there = TopicPartition("shop-source.orders", 0)
    world.target.commit("billing", {there: 1})
    world.do("translate_offsets")
    approved(world)
    world.do("sync_offsets")

    assert 3 == target_offsets(world)["billing"][there]
    assert {"shop-source.orders"} == {p.topic for offsets in target_offsets(world).values() for p in offsets}
    assert '"billing",shop-source.orders,0,1\n' == (world.run.evidence.folder / "offsets-before-target.csv").read_text()


@pytest.mark.parametrize("target", [{0: 2, 1: 0}, {**TARGET, 3: 1}], ids=["one is missing", "one does not exist"])
def test_answer_for_other_partitions_is_refused(world: World, spark: TranslatingSpark, target: dict[int, int]) -> None:
    """An answer for other partitions is refused: a partition without an offset would be read by `auto.offset.reset`."""
    spark.there = target
    world.do("translate_offsets")

    world.refuses("plan_offsets", match=r"VALIDATION_RESULT_MISSING.*topic orders: offsets of partitions")
