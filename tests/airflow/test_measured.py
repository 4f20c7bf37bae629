"""Rules of what a run measures and judges: limited to some topics, after another's leavings, cleared by itself."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.groups.rules import unproved_copy_findings
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.validation.coverage_rules import topic_verdict
from kafka_migration.orchestration.failing import FailedForGood
from kafka_migration.orchestration.operators.judge import JudgeOperator
from kafka_migration.orchestration.operators.plan_offsets import PlanOffsetsOperator
from kafka_migration.orchestration.operators.start_mirror import StartMirrorOperator
from kafka_migration.orchestration.operators.stop_mirror import StopMirrorOperator
from tests.airflow.conftest import World
from tests.airflow.running import BEFORE_START, do, finish, mirror, validated

pytestmark = pytest.mark.airflow

P0, AUDIT = TopicPartition("orders", 0), TopicPartition("audit", 0)
RECORD = (b"k", b"v")


def begin(world: World, run_id: str, mode: str = "sync", topics: tuple[str, ...] = ()) -> None:
    """Let the world's run be a new one; the run before it is over, and its reservation is taken over."""
    world.task_instance.run_states[world.dag_run.run_id] = "success"
    world.dag_run.run_id, world.dag_run.clear_number = run_id, 0
    world.params = {"mode": mode, "topics": list(topics)}


def start(world: World, *partitions: TopicPartition) -> None:
    """Start MirrorMaker with one new record in each partition, and copy these."""
    for partition in partitions:
        world.source.produce(*partition, RECORD)
    do(world, *BEFORE_START, StartMirrorOperator)
    mirror(world, dict.fromkeys(partitions, 1))


def judge(world: World) -> None:
    validated(world)
    do(world, JudgeOperator)


def ledger(world: World) -> Ledger:
    return world.run.ledger.read()


def pending(world: World) -> dict[int, frozenset[str]]:
    return {generation.number: generation.topics for generation in ledger(world).pending_generations}


def windows(world: World) -> list[Any]:
    """Return what the run asked to have measured: topic and source offsets of each window that has any."""
    request = world.run.evidence.require(Kind.VALIDATION_REQUEST)
    spans = [(w["topic"], w["source_start"], w["source_end"]) for w in request["windows"]]
    return [span for span in spans if span[1] < span[2]]


@pytest.mark.parametrize("mode", ["sync", "validate"])
def test_limited_run_leaves_the_other_topics_pending(world: World, mode: str) -> None:
    """What a run that was limited to some topics did not measure is pending, until a whole run measures just that."""
    start(world, P0, AUDIT)
    do(world, StopMirrorOperator)

    begin(world, "limited", mode, topics=("orders",))
    do(world, *BEFORE_START, StartMirrorOperator, StopMirrorOperator)
    judge(world)
    assert [("orders", 0, 1)] == windows(world)
    assert ({1: frozenset({"audit"})}, None) == (pending(world), topic_verdict(ledger(world), "audit"))

    begin(world, "whole")
    do(world, *BEFORE_START, StartMirrorOperator, StopMirrorOperator)
    judge(world)
    assert [("audit", 0, 1)] == windows(world)
    assert ({}, Verdict.PASS) == (pending(world), topic_verdict(ledger(world), "audit"))


@pytest.mark.usefixtures("asked")
def test_cutover_is_refused_until_pending_topics_are_validated(world: World) -> None:
    """A topic with a good verdict from before, and records since that nobody judged, is no proved copy."""
    start(world, P0, AUDIT)
    do(world, StopMirrorOperator)
    judge(world)
    begin(world, "not validated")
    start(world, P0, AUDIT)
    do(world, StopMirrorOperator)
    begin(world, "limited", topics=("orders",))
    do(world, *BEFORE_START, StartMirrorOperator, StopMirrorOperator)
    judge(world)

    (finding,) = unproved_copy_findings(ledger(world), ("orders", "audit"))
    assert (Code.RECORDS_NOT_VERIFIABLE, "topic audit") == (finding.code, finding.subject)
    assert Verdict.PASS is topic_verdict(ledger(world), "audit")
    begin(world, "cutover", "cutover")
    do(world, *BEFORE_START, StartMirrorOperator, StopMirrorOperator)
    world.run.evidence.write(Kind.JUDGE, {"verdict": "PASS"})
    with pytest.raises(FailedForGood, match=r"RECORDS_NOT_VERIFIABLE · topic audit"):
        do(world, PlanOffsetsOperator)
    judge(world)
    assert () == unproved_copy_findings(ledger(world), ("orders", "audit"))


def test_limited_run_certifies_all_that_was_left_open(world: World) -> None:
    """Who closes another run's generation certifies what that copied, whichever topics it is limited to itself."""
    start(world, P0, AUDIT)
    world.host.expire()

    begin(world, "limited", topics=("orders",))
    start(world, P0)
    do(world, StopMirrorOperator)
    judge(world)
    left_open, own = ledger(world).generations
    assert left_open.stop is not None
    assert (1, 1) == (left_open.stop.mirror_positions[AUDIT], left_open.stop.target_end_offsets[AUDIT])
    assert {"orders", "audit"} == left_open.topics
    assert {"orders"} == own.topics
    assert {1: {"audit"}} == pending(world)

    begin(world, "whole")
    start(world, AUDIT)
    do(world, StopMirrorOperator)
    judge(world)
    assert [("audit", 0, 2)] == windows(world)
    assert ({}, Verdict.PASS) == (pending(world), topic_verdict(ledger(world), "audit"))


def test_whole_run_certifies_no_more_than_a_limited_one_left_open(world: World) -> None:
    """A topic that a generation did not copy has no window in it, whoever closes it."""
    start(world, P0, AUDIT)
    do(world, StopMirrorOperator)
    judge(world)
    begin(world, "limited", topics=("orders",))
    start(world, P0)
    world.host.expire()

    begin(world, "whole")
    start(world, AUDIT)
    do(world, StopMirrorOperator)
    judge(world)

    assert [{"orders", "audit"}, {"orders"}, {"orders", "audit"}] == [g.topics for g in ledger(world).generations]
    assert [("audit", 1, 2), ("orders", 1, 2)] == windows(world)


def two_nights(world: World) -> None:
    """Judge a first run, leave what a second one copied pending, and come back to a cleared `judge` of the first."""
    start(world, P0)
    do(world, StopMirrorOperator)
    judge(world)
    finish(world, preflight="success", judge="success")
    begin(world, "second")
    start(world, P0)
    do(world, StopMirrorOperator)
    world.task_instance.run_states["second"] = "running"


def clear_first(world: World) -> None:
    world.dag_run.run_id, world.dag_run.clear_number = "manual__1", 1


def test_cleared_judge_judges_what_its_own_validation_measured(world: World) -> None:
    """What was copied since was not measured by it, and stays pending."""
    two_nights(world)
    world.host.release(world.run.identity.holder)
    clear_first(world)
    do(world, JudgeOperator)

    assert [2] == list(pending(world))
    assert [(1,)] == [judgement.generations for judgement in ledger(world).judgements]


def test_cleared_judge_holds_the_reservation_and_finish_frees_it(world: World) -> None:
    """It takes what is free before it writes to the ledger, and the run's end leaves nothing behind."""
    two_nights(world)
    world.host.release(world.run.identity.holder)
    clear_first(world)
    do(world, JudgeOperator)
    held = world.host.status().holder
    finish(world, preflight="success", judge="success")

    assert (world.run.identity.holder, "") == (held, world.host.status().holder)


def test_cleared_judge_writes_nothing_while_another_run_acts(world: World) -> None:
    """The ledger belongs to the run that holds the reservation."""
    two_nights(world)
    before = world.run.ledger.read()
    clear_first(world)

    with pytest.raises(FailedForGood, match="NOT_RESERVED"):
        do(world, JudgeOperator)

    assert before == world.run.ledger.read()
