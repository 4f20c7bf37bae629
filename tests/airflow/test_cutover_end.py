"""Rules of confirming a cutover, of what is allowed after it, and of how the run ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from airflow.sdk.exceptions import AirflowSkipException

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.migration.settings import Phase
from kafka_migration.orchestration.failing import FailedForGood
from kafka_migration.orchestration.operators.approve import ApproveOperator
from kafka_migration.orchestration.operators.confirm_cutover import ConfirmCutoverOperator
from kafka_migration.orchestration.operators.judge import JudgeOperator
from kafka_migration.orchestration.operators.plan_offsets import PlanOffsetsOperator
from kafka_migration.orchestration.operators.preflight import PreflightOperator
from kafka_migration.orchestration.operators.reserve import ReserveOperator
from kafka_migration.orchestration.operators.start_mirror import StartMirrorOperator
from kafka_migration.orchestration.operators.sync_offsets import SyncOffsetsOperator
from tests.airflow.conftest import World
from tests.airflow.cutover import (
    P0,
    approved,
    cut_over,
    target_offsets,
)
from tests.airflow.running import BEFORE_START, do, finish, validated

pytestmark = pytest.mark.airflow


def test_confirm_writes_the_ledger_and_says_what_is_next(scene: World) -> None:
    """The ledger says cut over, with the groups that moved; the next steps are evidence."""
    summary = cut_over(scene)

    (entry,) = scene.run.ledger.read().cutovers
    assert (Phase.CUT_OVER, ("billing", "reporting"), ("orders", "audit")) == (
        scene.run.ledger.read().phase,
        entry.groups,
        entry.topics,
    )
    assert {"groups": ["billing", "reporting"], "topics": ["orders", "audit"], "partly": False} == summary
    assert any("`new_kafka`" in step for step in scene.run.evidence.require(Kind.CUTOVER)["next_steps"])


def test_confirm_sends_an_asset_event_per_topic(scene: World) -> None:
    """Every topic has an event on its own asset, through the alias that the task list can name without the file."""
    approved(scene)
    do(scene, SyncOffsetsOperator)
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
        with pytest.raises(FailedForGood, match="ALREADY_CUT_OVER"):
            do(scene, PreflightOperator)

    scene.params = {"mode": "validate"}
    do(scene, *BEFORE_START, StartMirrorOperator)
    validated(scene)
    windows = scene.run.evidence.require(Kind.VALIDATION_REQUEST)["windows"]
    assert {"orders": 4} == {w["topic"]: w["target_end"] for w in windows if (w["topic"], w["partition"]) == P0}
    assert do(scene, JudgeOperator)["verdict"] == "PASS"


STEPS = ("judge", "drain_groups", "plan_offsets", "approve", "sync_offsets", "confirm_cutover")
DONE = dict.fromkeys(STEPS, "success")


@pytest.mark.parametrize(("is_active", "outcome"), [(False, "success"), (True, "partly done")])
def test_finish_tells_done_from_partly_done(scene: World, is_active: bool, outcome: str) -> None:
    """A cutover that left a group behind is green and says that it is done in part; the report names the group."""
    if is_active:
        scene.target.join("billing")
    cut_over(scene)

    path = Path(finish(scene, **DONE)["evidence"])

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
    assert finish(scene, **DONE)["outcome"] == "success"


def test_finish_forgives_what_the_mode_skips(world: World) -> None:
    """In a rehearsal the moving steps are skipped and the run is green; a skipped plan is not forgiven."""
    world.params = {"mode": "rehearse"}
    do(world, PreflightOperator, ReserveOperator)
    states = DONE | dict.fromkeys(STEPS[3:], "skipped")

    assert finish(world, **states)["outcome"] == "success"
    with pytest.raises(FailedForGood, match="task plan_offsets: found skipped"):
        finish(world, **(states | {"plan_offsets": "skipped"}))


def test_rehearsal_touches_no_group(scene: World) -> None:
    """A rehearsal plans every group and leaves both sides as they were."""
    scene.params = {"mode": "rehearse"}
    source = {name: dict(group.commits) for name, group in scene.source.groups.items()}
    do(scene, PlanOffsetsOperator)

    for operator in (ApproveOperator, SyncOffsetsOperator, ConfirmCutoverOperator):
        with pytest.raises(AirflowSkipException):
            do(scene, operator)

    assert {} == target_offsets(scene)
    assert source == {name: dict(group.commits) for name, group in scene.source.groups.items()}
    states = DONE | dict.fromkeys(STEPS[3:], "skipped")
    run = json.loads(Path(finish(scene, **states)["evidence"]).read_text())
    assert [("billing", "not written"), ("reporting", "not written")] == [
        (group["group"], group["outcome"]) for group in run["groups"]
    ]
