"""Rules of confirming a cutover, of what is allowed after it, and of how the run ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.migration.settings import Phase
from kafka_migration.orchestration.operators.confirm_cutover import ConfirmCutoverOperator
from tests.airflow.cutover import approved, cut_over, target_offsets
from tests.airflow.world import P0, World


def test_confirm_writes_the_ledger_and_says_what_is_next(scene: World) -> None:
    """The ledger says cut over, with the groups that moved; the next steps are evidence."""
    summary = cut_over(scene)

    (entry,) = scene.ledger.cutovers
    assert (Phase.CUT_OVER, ("billing", "reporting"), ("orders", "audit")) == (
        scene.ledger.phase,
        entry.groups,
        entry.topics,
    )
    assert {"groups": ["billing", "reporting"], "topics": ["orders", "audit"], "partly": False} == summary
    assert any("`new_kafka`" in step for step in scene.run.evidence.require(Kind.CUTOVER)["next_steps"])


def test_confirm_sends_an_asset_event_per_topic(scene: World) -> None:
    """Every topic has an event on its own asset, through the alias that the task list can name without the file."""
    approved(scene)
    scene.do("sync_offsets")
    operator = ConfirmCutoverOperator(task_id="confirm_cutover", migration="shop")
    operator.execute(scene.context())

    events = scene.outlet_events[operator.outlets[0]].asset_alias_events
    assert ["kafka://a:1/orders", "kafka://a:1/audit"] == [event.dest_asset_key.uri for event in events]
    assert {"kafka_migration__shop"} == {event.source_alias_name for event in events}


def test_after_the_cutover_only_validate_is_allowed(scene: World) -> None:
    """A run that would mirror or move again is refused before it reserves; reading the copy is not."""
    cut_over(scene)
    scene.target.produce("orders", 0, (b"new", b"v"))
    scene.dag_run.run_id = "manual__2"
    scene.task_instance.run_states["manual__1"] = "success"
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
    """A cutover that left a group behind is green and says that it is done in part; the report names the group."""
    if is_active:
        scene.target.join("billing")
    cut_over(scene)

    path = Path(scene.finish(**DONE)["evidence"])

    run, report = json.loads(path.read_text()), (path.parent / "report.md").read_text()
    assert outcome == run["outcome"]
    assert ("billing", "not written" if is_active else "moved") == (
        run["groups"][0]["group"],
        run["groups"][0]["outcome"],
    )
    assert "## Consumer groups" in report
    assert "## What to do next" in report
    assert ("GROUP_ACTIVE" in report) == is_active


def test_group_that_never_committed_is_not_left_behind(scene: World) -> None:
    """A group without any offset has nothing to move: the cutover is done, not done in part."""
    scene.source.commit("archive", {})

    assert not cut_over(scene)["partly"]
    assert scene.finish(**DONE)["outcome"] == "success"


def test_finish_forgives_what_the_mode_skips(world: World) -> None:
    """In a rehearsal the moving steps are skipped and the run is green; a skipped plan is not forgiven."""
    world.params = {"mode": "rehearse"}
    world.do("preflight", "reserve")
    states = DONE | dict.fromkeys(STEPS[3:], "skipped")

    assert world.finish(**states)["outcome"] == "success"
    world.finish_fails("task plan_offsets: found skipped", **(states | {"plan_offsets": "skipped"}))


def test_rehearsal_touches_no_group(scene: World) -> None:
    """A rehearsal plans every group and leaves both sides as they were."""
    scene.params = {"mode": "rehearse"}
    source = {name: dict(group.commits) for name, group in scene.source.groups.items()}
    scene.do("plan_offsets")

    for operator in ("approve", "sync_offsets", "confirm_cutover"):
        scene.skips(operator)

    assert {} == target_offsets(scene)
    assert source == {name: dict(group.commits) for name, group in scene.source.groups.items()}
    states = DONE | dict.fromkeys(STEPS[3:], "skipped")
    run = json.loads(Path(scene.finish(**states)["evidence"]).read_text())
    assert [("billing", "not written"), ("reporting", "not written")] == [
        (group["group"], group["outcome"]) for group in run["groups"]
    ]
