"""Rules of what a run measures and judges: limited to some topics, after another's leavings, cleared by itself."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.groups.rules import unproved_copy_findings
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.validation.coverage_rules import topic_verdict
from tests.airflow.tasks import BEFORE_START
from tests.airflow.world import AUDIT, P0, RECORD, World


def begin(world: World, run_id: str, mode: str = "sync", topics: tuple[str, ...] = ()) -> None:
    """Let the world's run be a new one; the run before it is over, and its reservation is taken over."""
    world.task_instance.run_states[world.dag_run.run_id] = "success"
    world.dag_run.run_id, world.dag_run.clear_number = run_id, 0
    world.params = {"mode": mode, "topics": list(topics)}


def start_with(world: World, *partitions: TopicPartition) -> None:
    """Start MirrorMaker with one new record in each partition, and copy these."""
    for partition in partitions:
        world.source.produce(*partition, RECORD)
    world.start()
    world.mirror(dict.fromkeys(partitions, 1))


def pending(world: World) -> dict[int, frozenset[str]]:
    return {generation.number: generation.topics for generation in world.ledger.pending_generations}


def windows(world: World) -> list[Any]:
    """Return what the run asked to have measured: topic and source offsets of each window that has any."""
    request = world.run.evidence.require(Kind.VALIDATION_REQUEST)
    spans = [(w["topic"], w["source_start"], w["source_end"]) for w in request["windows"]]
    return [span for span in spans if span[1] < span[2]]


@pytest.mark.parametrize("mode", ["sync", "validate"])
def test_limited_run_leaves_the_other_topics_pending(world: World, mode: str) -> None:
    """What a run that was limited to some topics did not measure is pending, until a whole run measures just that."""
    start_with(world, P0, AUDIT)
    world.do("stop_mirror")

    begin(world, "limited", mode, topics=("orders",))
    world.do(*BEFORE_START, "start_mirror", "stop_mirror")
    world.judge()
    assert [("orders", 0, 1)] == windows(world)
    assert ({1: frozenset({"audit"})}, None) == (pending(world), topic_verdict(world.ledger, "audit"))

    begin(world, "whole")
    world.do(*BEFORE_START, "start_mirror", "stop_mirror")
    world.judge()
    assert [("audit", 0, 1)] == windows(world)
    assert ({}, Verdict.PASS) == (pending(world), topic_verdict(world.ledger, "audit"))


@pytest.mark.usefixtures("asked")
def test_cutover_is_refused_until_pending_topics_are_validated(world: World) -> None:
    """A topic with a good verdict from before, and records since that nobody judged, is no proved copy."""
    start_with(world, P0, AUDIT)
    world.do("stop_mirror")
    world.judge()
    begin(world, "not validated")
    start_with(world, P0, AUDIT)
    world.do("stop_mirror")
    begin(world, "limited", topics=("orders",))
    world.do(*BEFORE_START, "start_mirror", "stop_mirror")
    world.judge()

    (finding,) = unproved_copy_findings(world.ledger, ("orders", "audit"))
    assert (Code.RECORDS_NOT_VERIFIABLE, "topic audit") == (finding.code, finding.subject)
    assert Verdict.PASS is topic_verdict(world.ledger, "audit")
    begin(world, "cutover", "cutover")
    world.do(*BEFORE_START, "start_mirror", "stop_mirror")
    world.run.evidence.write(Kind.JUDGE, {"verdict": "PASS"})
    world.refuses("plan_offsets", match=r"RECORDS_NOT_VERIFIABLE · topic audit")
    world.judge()
    assert () == unproved_copy_findings(world.ledger, ("orders", "audit"))


def test_limited_run_certifies_all_that_was_left_open(world: World) -> None:
    """Who closes another run's generation certifies what that copied, whichever topics it is limited to itself."""
    start_with(world, P0, AUDIT)
    world.host.expire()

    begin(world, "limited", topics=("orders",))
    start_with(world, P0)
    world.do("stop_mirror")
    world.judge()
    left_open, own = world.ledger.generations
    assert left_open.stop is not None
    assert (1, 1) == (left_open.stop.mirror_positions[AUDIT], left_open.stop.target_end_offsets[AUDIT])
    assert {"orders", "audit"} == left_open.topics
    assert {"orders"} == own.topics
    assert {1: {"audit"}} == pending(world)

    begin(world, "whole")
    start_with(world, AUDIT)
    world.do("stop_mirror")
    world.judge()
    assert [("audit", 0, 2)] == windows(world)
    assert ({}, Verdict.PASS) == (pending(world), topic_verdict(world.ledger, "audit"))


def test_whole_run_certifies_no_more_than_a_limited_one_left_open(world: World) -> None:
    """A topic that a generation did not copy has no window in it, whoever closes it."""
    start_with(world, P0, AUDIT)
    world.do("stop_mirror")
    world.judge()
    begin(world, "limited", topics=("orders",))
    start_with(world, P0)
    world.host.expire()

    begin(world, "whole")
    start_with(world, AUDIT)
    world.do("stop_mirror")
    world.judge()

    assert [{"orders", "audit"}, {"orders"}, {"orders", "audit"}] == [g.topics for g in world.ledger.generations]
    assert [("audit", 1, 2), ("orders", 1, 2)] == windows(world)


def two_nights(world: World) -> None:
    """Judge a first run, leave what a second one copied pending, and come back to a cleared `judge` of the first."""
    start_with(world, P0)
    world.do("stop_mirror")
    world.judge()
    world.finish(preflight="success", judge="success")
    begin(world, "second")
    start_with(world, P0)
    world.do("stop_mirror")
    world.task_instance.run_states["second"] = "running"


def clear_first(world: World) -> None:
    world.dag_run.run_id, world.dag_run.clear_number = "manual__1", 1


def test_cleared_judge_judges_what_its_own_validation_measured(world: World) -> None:
    """What was copied since was not measured by it, and stays pending."""
    two_nights(world)
    world.host.release(world.run.identity.holder)
    clear_first(world)
    world.do("judge")

    assert [2] == list(pending(world))
    assert [(1,)] == [judgement.generations for judgement in world.ledger.judgements]


def test_cleared_judge_holds_the_reservation_and_finish_frees_it(world: World) -> None:
    """It takes what is free before it writes to the ledger, and the run's end leaves nothing behind."""
    two_nights(world)
    world.host.release(world.run.identity.holder)
    clear_first(world)
    world.do("judge")
    held = world.host.status().holder
    world.finish(preflight="success", judge="success")

    assert (world.run.identity.holder, "") == (held, world.host.status().holder)


def test_cleared_judge_writes_nothing_while_another_run_acts(world: World) -> None:
    """The ledger belongs to the run that holds the reservation."""
    two_nights(world)
    before = world.ledger
    clear_first(world)

    world.refuses("judge", match="NOT_RESERVED")

    assert before == world.ledger
