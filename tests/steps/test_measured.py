"""Rules of what a run compares and judges: limited to topics, after another run, or cleared."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.groups.unproved import unproved_copies
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.stored.stored_documents import Stored
from tests.steps.tasks import BEFORE_START
from tests.steps.world import AUDIT, P0, RECORD, World
from tests.stored_examples import judged
from tests.topic_verdicts import topic_verdict


def begin(world: World, run_id: str, mode: str = "sync", topics: tuple[str, ...] = ()) -> None:
    """End the run, and begin another one."""
    world.task_instance.run_states[world.dag_run.run_id] = "success"
    world.dag_run.run_id, world.dag_run.clear_number = run_id, 0
    world.params = {"mode": mode, "topics": list(topics)}


def start_with(world: World, *partitions: TopicPartition) -> None:
    """Start MirrorMaker with one new record in each partition, and copy these."""
    for partition in partitions:
        world.source.produce(*partition, RECORD)
    world.start()
    world.mirror(dict.fromkeys(partitions, 1))


def copy_new_and_judge(world: World, *partitions: TopicPartition) -> None:
    """Copy one new record in each partition, and judge."""
    start_with(world, *partitions)
    world.do("stop_mirror")
    world.judge()


def judge_only(world: World) -> None:
    """Judge what is pending, in a run that has nothing to copy."""
    world.do(*BEFORE_START, "start_mirror", "stop_mirror")
    world.judge()


def pending(world: World) -> dict[int, frozenset[str]]:
    return {generation.number: generation.topics for generation in world.ledger.pending_generations}


def windows(world: World) -> list[Any]:
    """Return topic and source offsets of each requested window that is not empty."""
    request = world.run.evidence.require(Kind.VALIDATION_REQUEST)
    spans = [(w["topic"], w["source_start"], w["source_end"]) for w in request["windows"]]
    return [span for span in spans if span[1] < span[2]]


@pytest.mark.parametrize("mode", ["sync", "validate"])
def test_limited_run_leaves_the_other_topics_pending(world: World, mode: str) -> None:
    """Topics that a limited run did not compare stay pending, and the next whole run compares just them."""
    start_with(world, P0, AUDIT)
    world.do("stop_mirror")

    begin(world, "limited", mode, topics=("orders",))
    judge_only(world)
    assert [("orders", 0, 1)] == windows(world)
    assert ({1: frozenset({"audit"})}, None) == (pending(world), topic_verdict(world.ledger, "audit"))

    begin(world, "whole")
    judge_only(world)
    assert [("audit", 0, 1)] == windows(world)
    assert ({}, Verdict.PASS) == (pending(world), topic_verdict(world.ledger, "audit"))


@pytest.mark.usefixtures("asked")
def test_cutover_is_refused_until_pending_topics_are_validated(world: World) -> None:
    """A cutover is refused while a topic has records that were copied and not validated."""
    copy_new_and_judge(world, P0, AUDIT)
    begin(world, "not validated")
    start_with(world, P0, AUDIT)
    world.do("stop_mirror")
    begin(world, "limited", topics=("orders",))
    judge_only(world)

    (finding,) = unproved_copies(world.ledger, ("orders", "audit")).values()
    assert (Code.RECORDS_NOT_VERIFIABLE, "topic audit") == (finding.code, finding.subject)
    assert Verdict.PASS is topic_verdict(world.ledger, "audit")
    begin(world, "cutover", "cutover")
    world.do(*BEFORE_START, "start_mirror", "stop_mirror")
    world.run.evidence.write(Stored.JUDGE, judged())
    world.refuses("plan_offsets", match=r"RECORDS_NOT_VERIFIABLE · topic audit")
    world.judge()
    assert {} == unproved_copies(world.ledger, ("orders", "audit"))


def test_limited_run_certifies_all_that_was_left_open(world: World) -> None:
    """A limited run that certifies another run's generation certifies all topics of that generation."""
    start_with(world, P0, AUDIT)
    world.host.expire()

    begin(world, "limited", topics=("orders",))
    copy_new_and_judge(world, P0)
    left_open, own = world.ledger.generations
    assert left_open.stop is not None
    assert (1, 1) == (left_open.stop.mirror_positions[AUDIT], left_open.stop.target_end_offsets[AUDIT])
    assert {"orders", "audit"} == left_open.topics
    assert {"orders"} == own.topics
    assert {1: {"audit"}} == pending(world)

    begin(world, "whole")
    copy_new_and_judge(world, AUDIT)
    assert [("audit", 0, 2)] == windows(world)
    assert ({}, Verdict.PASS) == (pending(world), topic_verdict(world.ledger, "audit"))


def test_whole_run_certifies_no_more_than_a_limited_one_left_open(world: World) -> None:
    """A whole run that certifies the generation of a limited run certifies only its topics."""
    copy_new_and_judge(world, P0, AUDIT)
    begin(world, "limited", topics=("orders",))
    start_with(world, P0)
    world.host.expire()

    begin(world, "whole")
    copy_new_and_judge(world, AUDIT)

    assert [{"orders", "audit"}, {"orders"}, {"orders", "audit"}] == [g.topics for g in world.ledger.generations]
    assert [("audit", 1, 2), ("orders", 1, 2)] == windows(world)


def two_nights(world: World) -> None:
    """Judge a first run, and copy in a second one that is still active and not validated."""
    copy_new_and_judge(world, P0)
    world.finish(preflight="success", judge="success")
    begin(world, "second")
    start_with(world, P0)
    world.do("stop_mirror")
    world.task_instance.run_states["second"] = "running"


def clear_first(world: World) -> None:
    world.dag_run.run_id, world.dag_run.clear_number = "manual__1", 1


def test_cleared_judge_judges_what_its_own_validation_measured(world: World) -> None:
    """A cleared `judge` judges only what its run compared; records that were copied since stay pending."""
    two_nights(world)
    world.host.release(world.run.identity.holder)
    clear_first(world)
    world.do("judge")

    assert [2] == list(pending(world))
    assert [(1,)] == [judgement.generations for judgement in world.ledger.judgements]


def test_cleared_judge_holds_the_reservation_and_finish_frees_it(world: World) -> None:
    """A cleared `judge` takes the free reservation, and `finish` frees it."""
    two_nights(world)
    world.host.release(world.run.identity.holder)
    clear_first(world)
    world.do("judge")
    held = world.host.status().holder
    world.finish(preflight="success", judge="success")

    assert (world.run.identity.holder, "") == (held, world.host.status().holder)


def test_judge_of_the_run_that_the_ledger_knows_asks_no_host(world: World) -> None:
    """The ledger refuses a writer that another run has replaced, so `judge` needs no answer of the host."""
    copy_new_and_judge(world, P0)
    begin(world, "second")
    start_with(world, P0)
    world.do("stop_mirror")
    world.host.errors = [TransientError("no route to host")]

    assert world.judge()["verdict"] == "PASS"


def test_cleared_judge_writes_nothing_while_another_run_acts(world: World) -> None:
    """A cleared `judge` writes nothing while another run holds the reservation."""
    two_nights(world)
    before = world.ledger
    clear_first(world)

    world.refuses("judge", match="NOT_RESERVED")

    assert before == world.ledger
