"""Rules of `confirm_cutover`, of what is allowed after a cutover, and of how its run ends."""

from __future__ import annotations

import pytest

from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.ledger.cutovers import Rehearsed
from kafka_migration.core.migration.settings import Phase
from kafka_migration.core.run.stand_still import PhaseTime, StandStill, Still, StillPhase
from kafka_migration.steps.groups.write_groups import standing_still
from tests.present import present
from tests.steps.cutover import cut_over, plan_and_ask, target_offsets
from tests.steps.world import P0, World


def test_confirm_writes_the_ledger_and_the_next_steps(scene: World) -> None:
    """The ledger has the cutover with its groups, and the evidence has the next steps."""
    summary = cut_over(scene)

    (entry,) = scene.ledger.cutovers
    assert (Phase.CUT_OVER, ("billing", "reporting"), ("orders", "audit")) == (
        scene.ledger.phase,
        entry.groups,
        entry.topics,
    )
    assert {"groups": ["billing", "reporting"], "topics": ["orders", "audit"], "partly": False} == summary
    assert any("`new_kafka`" in step for step in scene.run.evidence.require(Kind.CUTOVER)["next_steps"])


def test_after_the_cutover_only_validate_is_allowed(scene: World) -> None:
    """After a cutover a run that would mirror or move is refused, but not one that validates."""
    cut_over(scene)
    scene.target.produce("orders", 0, (b"new", b"v"))
    scene.next_run()
    for mode in ("rehearse", "sync", "cutover"):
        scene.params = {"mode": mode}
        scene.refuses("preflight", match="ALREADY_CUT_OVER")

    scene.params = {"mode": "validate"}
    scene.start()
    scene.validated()
    windows = scene.run.evidence.require(Kind.VALIDATION_REQUEST)["windows"]
    assert {"orders": 4} == {w["topic"]: w["target_end"] for w in windows if (w["topic"], w["partition"]) == P0}
    assert scene.do("judge")["verdict"] == "PASS"


STEPS = ("judge", "drain_groups", "plan_offsets", "approve", "sync_offsets", "confirm_cutover")
DONE = dict.fromkeys(STEPS, "success")


@pytest.mark.parametrize(("is_active", "outcome"), [(False, "success"), (True, "partly done")])
def test_finish_tells_done_from_partly_done(scene: World, is_active: bool, outcome: str) -> None:
    """A cutover that did not move a group is partly done, and the report names the group."""
    if is_active:
        scene.target.join("billing")
    cut_over(scene)

    assert outcome == scene.finish(**DONE)["outcome"] == scene.run_document["outcome"]
    billing = scene.run_document["groups"][0]
    assert ("billing", "not written" if is_active else "moved") == (billing["group"], billing["outcome"])
    assert "## Consumer groups" in scene.report
    assert "## What to do next" in scene.report
    assert ("GROUP_ACTIVE" in scene.report) == is_active


def test_group_that_never_committed_has_nothing_to_move(scene: World) -> None:
    """A group without committed offsets does not make a cutover partly done."""
    scene.source.commit("archive", {})

    assert not cut_over(scene)["partly"]
    assert scene.finish(**DONE)["outcome"] == "success"


def test_finish_accepts_only_the_skips_of_the_mode(world: World) -> None:
    """A rehearsal succeeds with its moving tasks skipped, but not with its plan skipped."""
    world.params = {"mode": "rehearse"}
    world.do("preflight", "reserve")
    states = DONE | dict.fromkeys(STEPS[3:], "skipped")

    assert world.finish(**states)["outcome"] == "success"
    world.finish_fails("task plan_offsets: it ended as skipped", **(states | {"plan_offsets": "skipped"}))


def test_rehearsal_touches_no_group(scene: World) -> None:
    """A rehearsal plans every group and changes none."""
    scene.params = {"mode": "rehearse"}
    source = {name: dict(group.commits) for name, group in scene.source.groups.items()}
    scene.do("plan_offsets")

    for task_id in ("approve", "sync_offsets", "confirm_cutover"):
        scene.skips(task_id)

    assert {} == target_offsets(scene)
    assert source == {name: dict(group.commits) for name, group in scene.source.groups.items()}
    states = DONE | dict.fromkeys(STEPS[3:], "skipped")
    scene.finish(**states)
    outcomes = {group["group"]: group["outcome"] for group in scene.run_document["groups"]}
    assert {"billing": "not written", "reporting": "not written"} == outcomes


def rehearse(scene: World) -> None:
    """Plan the groups in mode `rehearse`."""
    scene.params = {"mode": "rehearse"}
    scene.do("drain_groups", "plan_offsets")


REHEARSED = DONE | dict.fromkeys(STEPS[3:], "skipped")


def test_rehearsal_is_in_the_ledger(scene: World) -> None:
    """The entry has what the report says about a cutover, and the digest of the file that was rehearsed."""
    rehearse(scene)
    scene.finish(**REHEARSED)
    found, document = present(scene.ledger.rehearsal), scene.run_document

    assert (scene.run.identity.holder, document["migration_digest"]) == (found.run, found.migration_digest)
    assert document["readiness"] == {"against": list(found.against), "notes": list(found.notes)}


def test_rehearsal_forecasts_how_long_clients_stand_still(scene: World) -> None:
    """The entry has the times that the report has; what a rehearsal does not do is not measured."""
    rehearse(scene)
    scene.finish(**REHEARSED)
    found = present(present(scene.ledger.rehearsal).stand_still)

    assert scene.run_document["stood_still"] == found.to_document()
    assert (StillPhase.WRITING,) == found.consumers.unknown
    assert {StillPhase.FENCE, StillPhase.WRITING} <= set(found.producers.unknown)


@pytest.mark.usefixtures("clock")
def test_cutover_keeps_how_long_clients_stood_still(scene: World) -> None:
    """Consumers stood still from the end of `drain_groups` until the offsets were written, without the approval."""
    scene.do("drain_groups")
    cut_over(scene)
    scene.finish(**DONE)
    found = StandStill.from_document(scene.run_document["stood_still"])

    assert () == found.consumers.unknown
    assert None not in (found.consumers.began_at, found.consumers.ended_at, found.consumers.person_s)
    assert found.producers.ended_at == scene.run.evidence.require(Kind.CUTOVER)["at"]


def test_approver_sees_since_when_clients_stand_still(scene: World) -> None:
    """The question says since when this run's clients stand still, and what the newest rehearsal measured."""
    still = Still(None, None, (PhaseTime(StillPhase.PLAN, 61),), None)
    rehearsed = Rehearsed("r", "2030-01-01T00:00:00+00:00", "d", (), (), {}, StandStill(still, still))
    scene.run.ledger.append(rehearsed.to_document())
    scene.do("drain_groups")
    plan_and_ask(scene)
    drained_at = scene.run.evidence.require(Kind.DRAINED)["at"]
    said = standing_still(scene.run)

    assert f"Consumers stand still since {scene.run.local.second(drained_at)}." in said
    assert "Consumers would stand still for 1m01s (plan 1m01s)." == said[-1]


def test_other_modes_are_no_rehearsal(scene: World) -> None:
    """A run in mode `sync` leaves the newest rehearsal as it is."""
    scene.params = {"mode": "sync"}
    scene.finish(**(REHEARSED | {"plan_offsets": "skipped"}))

    assert scene.ledger.rehearsal is None


def test_ledger_that_cannot_be_written_keeps_no_reservation(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rehearsal whose entry cannot be written frees the reservation and ends as any other."""
    rehearse(scene)

    def full(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(LedgerStore, "append", full)

    assert "success" == scene.finish(**REHEARSED)["outcome"]
    assert "" == scene.host.holder
    assert scene.ledger.rehearsal is None
