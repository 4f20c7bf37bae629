"""Rules of a topic whose copy cannot be proved: it stays on the source with its groups, and the others go on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.migration.settings import Phase
from kafka_migration.steps.groups.cutover_end import arguments_of
from kafka_migration.steps.validation.spark_request import request_of
from tests.present import present
from tests.steps.cutover import answer, ask, target_offsets
from tests.steps.spark import validation_result
from tests.steps.world import AUDIT, P0, P1, RECORD, World

STEPS = ("judge", "drain_groups", "plan_offsets", "approve", "sync_offsets", "confirm_cutover")
DONE = dict.fromkeys(STEPS, "success")
REHEARSED = DONE | dict.fromkeys(STEPS[3:], "skipped")
UNREADABLE = {"source_unreadable": "the record at offset 0 cannot be read", "has_bad_record": True, "equal": True}
DIFFERENT = {"equal": False, "differing_blocks": 1, "target_digest": "0b"}
LEFT = {"auditing": ["group auditing, topic audit"], "both": ["group both, topic audit"]}


def measured(world: World, mode: str, **wrong: Mapping[str, Any]) -> None:
    """Copy a record of each topic, which three groups have read, and measure; `wrong` is what Spark found by topic."""
    world.params = {"mode": mode}
    world.source.produce("orders", 0, RECORD)
    world.source.produce("audit", 0, RECORD)
    world.source.commit("billing", {P0: 1})
    world.source.commit("auditing", {AUDIT: 1})
    world.source.commit("both", {P0: 1, AUDIT: 1})
    world.copy({P0: 1, AUDIT: 1})
    request = request_of(world.run)
    result = validation_result(request, equal=True)
    for row in result["partitions"]:
        row |= wrong.get(row["window"]["topic"], {})
    world.run.evidence.write(Kind.VALIDATION_REQUEST, request.to_document())
    world.run.evidence.write(Kind.VALIDATION_RESULT, result)


def planned(world: World) -> OffsetsPlan:
    world.do("plan_offsets")
    return OffsetsPlan.from_document(world.run.evidence.require(Kind.OFFSETS_PLAN)["plan"])


def refusals(plan: OffsetsPlan) -> dict[str, list[str]]:
    """Return the subjects of the refusals of each group that is left out, all of one code."""
    assert {Code.RECORDS_NOT_VERIFIABLE} == {f.code for group in plan.left_out for f in group.refusals}
    return {group.group: [finding.subject for finding in group.refusals] for group in plan.left_out}


def test_rehearsal_plans_the_groups_of_the_other_topics(world: World) -> None:
    """Only the groups that committed on the unproved topic are left out, each with a finding; the run is not good."""
    measured(world, "rehearse", audit=UNREADABLE)

    assert "NOT_VERIFIABLE" == world.do("judge")["verdict"]
    plan = planned(world)
    assert (("orders",), ["audit"], ["billing"]) == (plan.topics, [*plan.unproved], [g.group for g in plan.planned])
    assert LEFT == refusals(plan)
    world.finish_fails("RECORDS_NOT_VERIFIABLE · topic audit", **REHEARSED)
    assert "failed" == world.run_document["outcome"]
    assert not world.ledger.cutovers
    assert world.run_document["readiness"]["against"] == list(present(world.ledger.rehearsal).against)


@pytest.mark.usefixtures("asked")
def test_cutover_leaves_the_unproved_topic_on_the_source(world: World) -> None:
    """The approver sees the topic, and neither it nor a group that reads it counts as cut over."""
    measured(world, "cutover", audit=UNREADABLE)
    world.do("judge")
    assert LEFT == refusals(planned(world))
    ask(world)
    text = world.run.evidence.require(Kind.OFFSETS_PLAN)["markdown"]
    assert "### Topics that remain on the source" in text
    assert "**RECORDS_NOT_VERIFIABLE** · topic audit" in text
    answer(world)
    world.do("sync_offsets")
    summary = world.do("confirm_cutover")

    assert {"groups": ["billing"], "topics": ["orders"], "partly": True} == summary
    (entry,) = world.ledger.cutovers
    assert (("audit",), {"both": ("orders",)}) == (entry.remaining, entry.left)
    assert {"billing": {P0: 1, P1: 0}} == target_offsets(world)
    assert Phase.CUTTING_OVER is world.ledger.phase
    # What the hook `after_cutover` points clients to.
    assert ["orders"] == arguments_of(world.run)["topics"]
    steps = world.run.evidence.require(Kind.CUTOVER)["next_steps"]
    assert any("Start the producers of audit with the bootstrap servers of `old_kafka` again" in step for step in steps)
    assert "partly done" == world.finish(**DONE)["outcome"]
    assert "RECORDS_NOT_VERIFIABLE · topic audit" in world.report.replace("**", "")


def test_records_after_the_fence_of_an_unproved_topic_stop_nothing(world: World) -> None:
    """A producer may write to the topic that stays on the source; one that writes to a topic that moves may not."""
    measured(world, "cutover", audit=UNREADABLE)
    world.do("judge")
    world.source.produce("audit", 0, RECORD)
    assert ["billing"] == [group.group for group in planned(world).planned]

    world.source.produce("orders", 0, RECORD)
    world.refuses("plan_offsets", match="FENCE_MOVING · orders")


@pytest.mark.parametrize("mode", ["rehearse", "cutover"])
@pytest.mark.parametrize(
    "wrong",
    [{"audit": DIFFERENT}, {"audit": UNREADABLE, "orders": UNREADABLE}, {"audit": UNREADABLE, "orders": DIFFERENT}],
    ids=["differs", "nothing is proved", "both"],
)
def test_wrong_copy_stops_all(world: World, mode: str, wrong: Mapping[str, Mapping[str, Any]]) -> None:
    """No group is planned if a copy differs, or if no topic is proved."""
    measured(world, mode, **wrong)

    world.refuses("judge")
    assert "COPY_DIFFERS" in world.refuses("plan_offsets") or not any(row is DIFFERENT for row in wrong.values())


@pytest.mark.parametrize("mode", ["sync", "validate"])
def test_run_that_plans_no_group_fails_in_judge(world: World, mode: str) -> None:
    """Without a plan there is nothing to continue with."""
    measured(world, "sync", audit=UNREADABLE)
    if mode == "validate":
        world.params = {"mode": mode}

    world.refuses("judge", match="RECORD_UNREADABLE · topic audit")


@pytest.mark.usefixtures("asked")
def test_cutover_without_a_topic_is_partly_done_even_if_all_groups_moved(world: World) -> None:
    """The topic alone is enough: the operator asked for it."""
    measured(world, "cutover", audit=UNREADABLE)
    for group in LEFT:
        world.source.delete_group(group)
    world.do("judge", "plan_offsets")
    ask(world)
    answer(world)
    world.do("sync_offsets")

    assert {"groups": ["billing"], "topics": ["orders"], "partly": True} == world.do("confirm_cutover")
    assert "partly done" == world.finish(**DONE)["outcome"]


def test_copy_that_differed_in_an_earlier_run_stops_all(world: World) -> None:
    """The verdict of the run itself is good then, but something is wrong with the copy."""
    measured(world, "sync", audit=DIFFERENT)
    world.refuses("judge")
    world.next_run()
    world.params = {"mode": "rehearse"}
    world.source.produce("orders", 0, RECORD)
    world.copy({P0: 1})
    world.judge()

    world.refuses("plan_offsets", match="COPY_DIFFERS · topic audit")
