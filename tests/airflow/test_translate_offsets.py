"""Rules of `translate_offsets` in a small world with MirrorMaker 1: what Spark is asked, and what its answer does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk.exceptions import AirflowSkipException

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.orchestration.failing import FailedForGood
from kafka_migration.orchestration.operators.judge import JudgeOperator
from kafka_migration.orchestration.operators.plan_offsets import PlanOffsetsOperator
from kafka_migration.orchestration.operators.start_mirror import StartMirrorOperator
from kafka_migration.orchestration.operators.stop_mirror import StopMirrorOperator
from kafka_migration.orchestration.operators.sync_offsets import SyncOffsetsOperator
from kafka_migration.orchestration.operators.translate_offsets import TranslateOffsetsOperator
from tests.airflow.conftest import World
from tests.airflow.cutover import answer, approved, ask, judge_cutover, target_offsets
from tests.airflow.engines import lossy, set_mirror
from tests.airflow.running import BEFORE_START, do, refusal_codes, spark_writes, validated

pytestmark = pytest.mark.airflow

P0, P1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
RECORDS = [(b"k", b"%d" % n) for n in range(4)]
BILLING = {P0: 3, P1: 1}
TARGET = {0: 2, 1: 0, 2: 3}


@dataclass
class Spark:
    """A spark-submit that answers every vector alike; without `target` it ends well and writes nothing."""

    world: World
    target: Mapping[int, int] | None = field(default_factory=lambda: TARGET)
    requests: list[dict[str, Any]] = field(default_factory=list)
    clients: dict[str, dict[str, str]] = field(default_factory=dict)

    def submit(self, operator: Any, _context: Any) -> None:
        """Do what the job does."""
        places = dict(zip(operator.application_args[::2], operator.application_args[1::2], strict=True))
        request = json.loads(Path(places["--request"].removeprefix("file://")).read_text())
        self.requests.append(request)
        self.clients = json.loads(Path(places["--clients-once"]).read_text())
        assert operator.application.endswith("/spark_jobs/translate_offsets.py")
        if self.target is not None:
            spark_writes(self.world, operator.application_args, self._answer(request))

    def _answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        target = {str(partition): offset for partition, offset in (self.target or {}).items()}
        found = {"goes_on_at": target, "unread": 2, "delivered": 3, "missing": {}, "is_minimal": True}
        topics = [
            {"topic": topic["topic"], "translations": [{"vector": vector, **found} for vector in topic["vectors"]]}
            for topic in request["topics"]
        ]
        found_by = {"id": request["id"], "spark_version": "4"}
        return {"schema": 2, "kind": "translation-result", **found_by, "topics": topics}


@pytest.fixture
def spark(world: World, monkeypatch: pytest.MonkeyPatch, asked: list[dict[str, Any]]) -> Spark:
    """A cutover's copy by MirrorMaker 1 from two partitions to three, judged, and a group that has stopped."""
    engine = lossy(world, monkeypatch)
    world.params["mode"] = "cutover"
    world.target.create_topics([NewTopic("orders", 3, 1, {}), NewTopic("audit", 1, 1, {})])
    for partition in (0, 1):
        world.source.produce("orders", partition, *RECORDS)
    world.source.commit("billing", BILLING, metadata="note")
    do(world, *BEFORE_START, StartMirrorOperator)
    world.target.produce("orders", 0, *RECORDS)
    world.target.produce("orders", 2, *RECORDS)
    engine.positions |= {P0: 4, P1: 4}
    do(world, StopMirrorOperator)
    validated(world)
    do(world, JudgeOperator)
    fake = Spark(world)
    monkeypatch.setattr(SparkSubmitOperator, "execute", lambda operator, context: fake.submit(operator, context))
    return fake


def test_group_of_a_repartitioned_copy_moves(world: World, spark: Spark) -> None:
    """Its two offsets become one for each partition of the target, by the answer of Spark, approved and written."""
    assert {"topics": 1, "vectors": 1} == do(world, TranslateOffsetsOperator)
    (topic,) = spark.requests[0]["topics"]
    do(world, PlanOffsetsOperator)
    ask(world)
    answer(world)
    do(world, SyncOffsetsOperator)

    assert ([{"0": 3, "1": 1}], True) == (topic["vectors"], topic["by_key"])
    assert {"0": [3, 4], "1": [1, 4]} == topic["source"]
    assert {"0": [0, 4], "1": [0, 0], "2": [0, 4]} == topic["target"]
    assert "kafka-migration-offsets-shop" == spark.clients["source"]["kafka.client.id"]
    moved = {TopicPartition("orders", partition): offset for partition, offset in TARGET.items()}
    assert {"billing": moved} == target_offsets(world)


def test_group_that_read_on_is_not_moved(world: World, spark: Spark) -> None:
    """In a cutover the answer holds for just the offsets that Spark was asked about."""
    do(world, TranslateOffsetsOperator)
    world.source.commit("billing", {P0: 4, P1: 1})
    summary = do(world, PlanOffsetsOperator)
    (group,) = world.run.evidence.require(Kind.OFFSETS_PLAN)["plan"]["groups"]

    assert (0, 1) == (summary["groups"], summary["left_out"])
    assert ["OFFSET_UNPROVED"] == [finding["code"] for finding in group["refusals"]]


def test_rehearsal_shows_a_group_that_reads_on(world: World, spark: Spark) -> None:
    """There it is shown as it stood when Spark was asked."""
    world.params["mode"] = "rehearse"
    do(world, TranslateOffsetsOperator)
    world.source.commit("billing", {P0: 4, P1: 1})
    do(world, PlanOffsetsOperator)
    (group,) = world.run.evidence.require(Kind.OFFSETS_PLAN)["plan"]["groups"]

    assert {"orders": {"0": [3, "note"], "1": [1, "note"]}} == group["moves"][0]["committed"]


def test_group_that_read_on_after_the_approval_is_not_written(world: World, spark: Spark) -> None:
    """What was approved is no longer so."""
    do(world, TranslateOffsetsOperator, PlanOffsetsOperator)
    ask(world)
    answer(world)
    world.source.commit("billing", {P0: 4, P1: 4})

    with pytest.raises(FailedForGood, match="EVIDENCE_CHANGED"):
        do(world, SyncOffsetsOperator)
    assert {} == target_offsets(world)


def test_spark_is_not_started_without_need(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Offsets of a plain copy follow from the ledger; the task says that there was nothing for it to do."""
    judge_cutover(world)
    monkeypatch.setattr(SparkSubmitOperator, "execute", lambda *_: pytest.fail("Spark was started"))

    assert {"topics": 0, "vectors": 0} == do(world, TranslateOffsetsOperator)


def test_mode_without_groups_skips_it(world: World) -> None:
    """A sync translates nothing."""
    world.params["mode"] = "sync"
    do(world, *BEFORE_START)

    with pytest.raises(AirflowSkipException):
        do(world, TranslateOffsetsOperator)


def test_spark_without_an_answer_is_a_failure(world: World, spark: Spark) -> None:
    """Silence is no translation; and the plan asks for one."""
    spark.target = None

    with pytest.raises(FailedForGood, match="no result document"):
        do(world, TranslateOffsetsOperator)
    with pytest.raises(FailedForGood, match="EVIDENCE_MISSING"):
        do(world, PlanOffsetsOperator)
    assert ["VALIDATION_RESULT_MISSING", "EVIDENCE_MISSING"] == refusal_codes(world)


def test_answer_of_another_version_is_one_line(world: World, spark: Spark) -> None:
    """What an older or newer job wrote may mean something else: the plan asks for it to be made anew."""
    do(world, TranslateOffsetsOperator)
    newest = world.run.evidence.require(Kind.TRANSLATION_RESULT)
    world.run.evidence.write(Kind.TRANSLATION_RESULT, {**newest, "schema": 7})

    with pytest.raises(FailedForGood, match=r"schema 2, found .*7.*Clear translate_offsets"):
        do(world, PlanOffsetsOperator)


def test_request_without_its_commits_is_one_line(world: World, spark: Spark) -> None:
    """A rehearsal plans from the commits of the request, and asks for a new one if it has none."""
    world.params["mode"] = "rehearse"
    do(world, TranslateOffsetsOperator)
    request = world.run.evidence.require(Kind.TRANSLATION_REQUEST)
    world.run.evidence.write(Kind.TRANSLATION_REQUEST, {k: v for k, v in request.items() if k != "commits"})

    with pytest.raises(FailedForGood, match=r"commits.*Clear translate_offsets"):
        do(world, PlanOffsetsOperator)


def test_group_moves_to_topics_of_other_names(world: World, asked: list[dict[str, Any]]) -> None:
    """Under other names the offsets are written where the topics really are, and so is the file that restores them."""
    set_mirror(world, "topic_names: {naming: prefixed}")
    judge_cutover(world)
    there = TopicPartition("shop-source.orders", 0)
    world.target.commit("billing", {there: 1})
    do(world, TranslateOffsetsOperator)
    approved(world)
    do(world, SyncOffsetsOperator)

    assert 3 == target_offsets(world)["billing"][there]
    assert {"shop-source.orders"} == {p.topic for offsets in target_offsets(world).values() for p in offsets}
    assert '"billing",shop-source.orders,0,1\n' == (world.run.evidence.folder / "offsets-before-target.csv").read_text()


@pytest.mark.parametrize("target", [{0: 2, 1: 0}, {**TARGET, 3: 1}], ids=["one is missing", "one does not exist"])
def test_answer_for_other_partitions_is_refused(world: World, spark: Spark, target: dict[int, int]) -> None:
    """A target partition without an offset would be read by `auto.offset.reset`: such an answer gives no plan."""
    spark.target = target
    do(world, TranslateOffsetsOperator)

    with pytest.raises(FailedForGood, match=r"VALIDATION_RESULT_MISSING.*topic orders: offsets of partitions"):
        do(world, PlanOffsetsOperator)
