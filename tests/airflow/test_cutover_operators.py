"""Rules of approving and writing the groups' offsets, as plain objects in a small world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowSkipException, TaskAwaitingInput

from kafka_migration.adapters.evidence import RunEvidence
from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.cluster import CommittedOffset
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.migration.settings import Phase
from kafka_migration.orchestration.failing import FailedForGood
from kafka_migration.orchestration.operators.approve import ApproveOperator
from kafka_migration.orchestration.operators.confirm_cutover import ConfirmCutoverOperator
from kafka_migration.orchestration.operators.plan_offsets import PlanOffsetsOperator
from kafka_migration.orchestration.operators.sync_offsets import SyncOffsetsOperator
from kafka_migration.steps.groups.writing import SOURCE_CSV, TARGET_CSV
from tests.airflow.conftest import World
from tests.airflow.cutover import (
    BILLING,
    P0,
    REPORTING,
    answer,
    approved,
    ask,
    configure,
    target_offsets,
)
from tests.airflow.running import do

pytestmark = pytest.mark.airflow


def codes(world: World) -> list[str]:
    return [f["code"] for r in world.run.evidence.of_attempt(Kind.REFUSAL) for f in r["findings"]]


@pytest.mark.parametrize("mode", ["sync", "validate", "rehearse"])
@pytest.mark.parametrize("operator", [ApproveOperator, SyncOffsetsOperator, ConfirmCutoverOperator])
def test_only_a_cutover_asks_and_writes(world: World, asked: list[Any], operator: Any, mode: str) -> None:
    """In any other mode the steps that move groups skip themselves before they look at anything."""
    world.params = {"mode": mode}

    with pytest.raises(AirflowSkipException, match=mode):
        do(world, operator)

    assert [] == asked


def test_asks_with_the_plan_and_without_a_default(scene: World, asked: list[dict[str, Any]]) -> None:
    """The question shows the plan as it is, has no default, and its digest was recorded before it was asked."""
    do(scene, PlanOffsetsOperator)
    with pytest.raises(TaskAwaitingInput) as waiting:
        do(scene, ApproveOperator)

    plan = scene.run.evidence.require(Kind.OFFSETS_PLAN)
    (question,) = asked
    assert question["body"].endswith(plan["markdown"])
    assert "## Verdict on the copy: PASS" in question["body"]
    assert (None, ["Approve", "Reject"]) == (question["defaults"], question["options"])
    assert waiting.value.timeout.total_seconds() == 24 * 3600
    assert plan["digest"] == scene.run.evidence.require(Kind.APPROVE)["digest"]


def test_asks_the_approvers_of_the_file_within_its_time(scene: World, asked: list[dict[str, Any]]) -> None:
    """Approvers and time limit are those of the frozen file."""
    configure(scene, "  approvers: [grace]\n  approval_time_limit: 5m\n")
    do(scene, PlanOffsetsOperator)
    with pytest.raises(TaskAwaitingInput) as waiting:
        do(scene, ApproveOperator)

    assert [{"id": "grace", "name": "grace"}] == asked[0]["assigned_users"]
    assert waiting.value.timeout.total_seconds() == 300


def test_plan_of_another_version_is_refused(scene: World, asked: list[Any]) -> None:
    """A plan whose form this version does not know ends the run with its code, and no user is asked."""
    do(scene, PlanOffsetsOperator)
    document = scene.run.evidence.require(Kind.OFFSETS_PLAN)
    plan = {name: value for name, value in document["plan"].items() if name != "mode"}
    scene.run.evidence.write(Kind.OFFSETS_PLAN, {**document, "plan": plan})

    with pytest.raises(FailedForGood, match="EVIDENCE_UNREADABLE") as raised:
        do(scene, ApproveOperator)

    assert "no mode" in str(raised.value)
    assert [] == asked


def test_approval_is_recorded(scene: World) -> None:
    """Who approved what and when is evidence."""
    do(scene, PlanOffsetsOperator)
    ask(scene)

    assert answer(scene)["by"] == "grace"
    document = scene.run.evidence.require(Kind.APPROVE)
    assert ("Approve", "grace", "2030-01-01T00:00:00+00:00") == (
        document["chosen"],
        document["responded_by"]["id"],
        document["answered_at"],
    )


@pytest.mark.parametrize(("option", "code"), [("Reject", "APPROVAL_REFUSED"), (None, "APPROVAL_TIMED_OUT")])
def test_no_and_no_answer_end_the_run_with_nothing_written(scene: World, option: str | None, code: str) -> None:
    """A rejection and a time-out fail the task, say that nothing was written, and open nothing below it."""
    do(scene, PlanOffsetsOperator)
    ask(scene)

    with pytest.raises(FailedForGood, match=rf"{code} .*Nothing was written") as raised:
        answer(scene, option)

    assert raised.value.__suppress_context__
    assert [code] == codes(scene)
    assert option == scene.run.evidence.require(Kind.APPROVE)["chosen"]
    with pytest.raises(FailedForGood, match="APPROVAL_STALE"):
        do(scene, SyncOffsetsOperator)
    assert {} == target_offsets(scene)


def test_same_plan_is_asked_about_again(scene: World, asked: list[Any]) -> None:
    """A retried or cleared question about the same plan is asked anew, and only the new answer counts."""
    approved(scene)
    scene.dag_run.clear_number = 1
    do(scene, PlanOffsetsOperator)
    ask(scene)

    assert len(asked) == 2
    with pytest.raises(FailedForGood, match="no answer to the approval request"):
        do(scene, SyncOffsetsOperator)


def test_changed_plan_is_not_asked_about(scene: World, asked: list[Any]) -> None:
    """A plan that was cleared and came out otherwise is refused: Airflow would show the first plan's text."""
    approved(scene)
    scene.source.commit("reporting", {P0: 2})
    scene.dag_run.clear_number = 1
    do(scene, PlanOffsetsOperator)

    with pytest.raises(FailedForGood, match="APPROVAL_STALE"):
        do(scene, ApproveOperator)

    assert len(asked) == 1
    with pytest.raises(FailedForGood, match="APPROVAL_STALE"):
        do(scene, SyncOffsetsOperator)
    assert {} == target_offsets(scene)


def test_cutover_that_moves_no_group_is_not_asked_about(scene: World, asked: list[Any]) -> None:
    """When every group must be left out, the run is refused before anybody is asked."""
    for group in ("billing", "reporting"):
        scene.target.join(group)
    do(scene, PlanOffsetsOperator)

    with pytest.raises(FailedForGood, match="none that can be moved"):
        do(scene, ApproveOperator)

    assert [] == asked


def test_four_eyes(scene: World) -> None:
    """Where the file asks for it, the one who triggered the run cannot approve it, not even past approve."""
    configure(scene, "  four_eyes: true\n")
    do(scene, PlanOffsetsOperator)
    ask(scene)

    with pytest.raises(FailedForGood, match="FOUR_EYES"):
        answer(scene, user="ada")
    with pytest.raises(FailedForGood, match="FOUR_EYES"):
        do(scene, SyncOffsetsOperator)

    assert {} == target_offsets(scene)
    ask(scene)
    answer(scene, user="grace")
    assert do(scene, SyncOffsetsOperator)["moved"] == ["billing", "reporting"]


def test_writes_what_was_approved(scene: World) -> None:
    """Every planned group stands at its translated offsets with the source's metadata, and is read back."""
    approved(scene)

    assert {"moved": ["billing", "reporting"], "partly": False} == do(scene, SyncOffsetsOperator)
    assert {"billing": BILLING, "reporting": REPORTING} == target_offsets(scene)
    assert scene.target.groups["billing"].commits[P0] == CommittedOffset(3, "note")
    result = scene.run.evidence.require(Kind.OFFSETS_RESULT)
    assert ["moved", "moved"] == [group["outcome"] for group in result["groups"]]
    assert result["groups"][0]["read_back"] == {"orders": {"0": 3, "1": 1}}


def test_saves_both_sides_before_the_first_write(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stood on both sides is saved before anything is written, for a person and for Kafka's own tool."""
    scene.target.commit("billing", {P0: 0, TopicPartition("elsewhere", 0): 9})
    approved(scene)
    monkeypatch.setattr(scene.target, "alter_offsets", _fails(TransientError("lost")))
    with pytest.raises(FailedForGood, match="OUTCOME UNKNOWN"):
        do(scene, SyncOffsetsOperator)

    document, folder = scene.run.evidence.require(Kind.OFFSETS_BEFORE), scene.run.evidence.folder
    assert {"billing": {"orders": {"0": [0, ""]}}, "reporting": {}} == document["target"]
    assert document["source"]["billing"] == {"orders": {"0": [3, "note"], "1": [1, "note"]}}
    assert (folder / TARGET_CSV).read_text() == '"billing",orders,0,0\n'
    lines = ['"billing",orders,0,3', '"billing",orders,1,1', '"reporting",orders,0,1']
    assert lines == (folder / SOURCE_CSV).read_text().splitlines()


def _fails(error: Exception) -> Callable[..., Any]:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise error

    return fail


def _record(world: World) -> None:
    world.source.produce("orders", 0, (b"late", b"v"))


def _commit(world: World) -> None:
    world.source.commit("reporting", {P0: 2})


def _foreign(world: World) -> None:
    world.target.produce("audit", 0, (b"foreign", b"v"))


def _join(world: World) -> None:
    world.target.join("billing", "app-7")


def _new_group(world: World) -> None:
    world.source.commit("late", {P0: 1})


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (_record, r"source end of orders\[0\]: 4 then, 5 now"),
        (_commit, r"group reporting, orders\[0\]: committed on the source 1 then, 2 now"),
        (_foreign, r"target end of audit\[0\]: 0 then, 1 now"),
        (_join, "group billing: GROUP_ACTIVE now, may be moved then"),
        (_new_group, "group late: new"),
    ],
)
def test_anything_new_after_the_approval_writes_nothing(
    scene: World, change: Callable[[World], None], text: str
) -> None:
    """A record, a commit, a foreign write, a member or a group after the approval: refused, with what changed."""
    approved(scene)
    change(scene)
    before = target_offsets(scene)

    with pytest.raises(FailedForGood, match=f"EVIDENCE_CHANGED .*{text}.*Nothing was written"):
        do(scene, SyncOffsetsOperator)

    assert before == target_offsets(scene)
    assert scene.run.evidence.newest(Kind.OFFSETS_BEFORE) is None


def test_no_approval_writes_nothing(scene: World) -> None:
    """A task set to success by hand is no approval."""
    do(scene, PlanOffsetsOperator)

    with pytest.raises(FailedForGood, match="APPROVAL_STALE · the approval: found no approval"):
        do(scene, SyncOffsetsOperator)


@pytest.mark.parametrize("operator", [ApproveOperator, SyncOffsetsOperator, ConfirmCutoverOperator])
def test_another_runs_reservation_stops_every_step(scene: World, operator: Any) -> None:
    """While another run holds the reservation, nothing is asked, written or confirmed."""
    approved(scene)
    if operator is ConfirmCutoverOperator:
        do(scene, SyncOffsetsOperator)
    before = target_offsets(scene)
    scene.host.reserve("dag/other#1", take_over_from=scene.run.identity.holder)

    with pytest.raises(FailedForGood, match="NOT_RESERVED"):
        do(scene, operator)

    assert before == target_offsets(scene)
    assert scene.run.ledger.read().phase is Phase.SYNCING


def test_cleared_step_takes_the_reservation_that_its_run_had_freed(scene: World) -> None:
    """Cleared after the run's end, a step may come before the cleared reserve does."""
    approved(scene)
    scene.host.release(scene.run.identity.holder)
    scene.dag_run.clear_number = 1

    do(scene, SyncOffsetsOperator)

    assert scene.host.status().holder == scene.run.identity.holder


def test_group_active_on_the_target_is_left_behind(scene: World) -> None:
    """A group that the plan left out is not written, the others are, and the result says so."""
    scene.target.join("billing", "app-7", "/10.0.0.7")
    approved(scene)

    assert {"moved": ["reporting"], "partly": True} == do(scene, SyncOffsetsOperator)
    assert {"billing": {}, "reporting": REPORTING} == target_offsets(scene)
    (finding,) = scene.run.evidence.require(Kind.OFFSETS_RESULT)["left_behind"]["billing"]
    assert "app-7 on /10.0.0.7" in finding["found"]


def _before_write(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Let something happen after the plan was compared and before the first group is looked at."""
    publish = RunEvidence.publish

    def and_act(evidence: RunEvidence, name: str, text: str) -> str:
        path = publish(evidence, name, text)
        if name == TARGET_CSV:
            act()
        return path

    monkeypatch.setattr(RunEvidence, "publish", and_act)


def test_member_that_joins_right_before_the_write_is_respected(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """State is read again right before each write: a group that became active is refused, the others move."""
    approved(scene)
    _before_write(monkeypatch, lambda: scene.target.join("billing"))

    assert {"moved": ["reporting"], "partly": True} == do(scene, SyncOffsetsOperator)
    outcomes = {g["group"]: g["outcome"] for g in scene.run.evidence.require(Kind.OFFSETS_RESULT)["groups"]}
    assert {"billing": "refused", "reporting": "moved"} == outcomes
    assert ["GROUP_ACTIVE"] == [w["code"] for w in scene.run.evidence.require(Kind.OFFSETS_RESULT)["warnings"]]


def test_offsets_that_somebody_else_wrote_are_respected(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group whose target offsets are no longer those recorded before is refused."""
    approved(scene)
    _before_write(monkeypatch, lambda: scene.target.commit("billing", {P0: 2}))

    do(scene, SyncOffsetsOperator)

    assert {"billing": {P0: 2}, "reporting": REPORTING} == target_offsets(scene)
    result = scene.run.evidence.require(Kind.OFFSETS_RESULT)
    assert ["TARGET_OFFSETS_CHANGED"] == [f["code"] for f in result["left_behind"]["billing"]]


def test_nothing_moved_fails(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """When groups were planned and none moved, the task fails with each group's reason and the run is not cut over."""
    approved(scene)
    denied = Refused([Finding(Code.OFFSETS_NOT_WRITTEN, "group", "denied", "written", "Ask the admin.")])
    monkeypatch.setattr(scene.target, "alter_offsets", _fails(denied))

    with pytest.raises(FailedForGood, match="none moved"):
        do(scene, SyncOffsetsOperator)

    assert ["OFFSETS_NOT_WRITTEN"] * 3 == codes(scene)
    assert {} == target_offsets(scene)


def test_lost_answer_whose_effect_is_seen_is_moved(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write without an answer counts as moved when it can be read back."""
    approved(scene)
    write = scene.target.alter_offsets

    def loses_the_answer(group: str, offsets: Any) -> None:
        write(group, offsets)
        raise TransientError("no answer within 20 s")

    monkeypatch.setattr(scene.target, "alter_offsets", loses_the_answer)

    assert do(scene, SyncOffsetsOperator)["moved"] == ["billing", "reporting"]


def test_unknown_outcome_stops_for_a_person(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write without an answer and without an effect may still come: recorded as unknown, and never retried."""
    approved(scene)
    write = scene.target.alter_offsets
    lost = {"billing"}

    def loses_one(group: str, offsets: Any) -> None:
        if group in lost:
            raise TransientError("no answer within 20 s")
        write(group, offsets)

    monkeypatch.setattr(scene.target, "alter_offsets", loses_one)
    with pytest.raises(FailedForGood, match=r"OUTCOME UNKNOWN: the offsets of billing"):
        do(scene, SyncOffsetsOperator)

    outcomes = [g["outcome"] for g in scene.run.evidence.require(Kind.OFFSETS_RESULT)["groups"]]
    assert ["unknown", "moved"] == outcomes
    lost.clear()
    scene.dag_run.clear_number = 1
    assert {"moved": ["billing", "reporting"], "partly": False} == do(scene, SyncOffsetsOperator)


def test_each_of_many_groups_is_accounted_for(scene: World) -> None:
    """Of hundreds of groups some are active, some denied by the broker, some never committed: none is lost sight of."""
    names = [f"group-{number:03}" for number in range(300)]
    for name in names:
        scene.source.commit(name, {P0: 2})
    active, denied, empty = names[::50], names[1::50], names[2::50]
    for name in active:
        scene.source.join(name)
    for name in empty:
        scene.source.groups[name].commits.clear()
    approved(scene)
    alter = scene.target.alter_offsets

    def guarded(group: str, offsets: Any) -> None:
        if group in denied:
            finding = Finding(
                Code.OFFSETS_NOT_WRITTEN, f"group {group}", "not authorized", "a written offset", "Grant."
            )
            raise Refused([finding])
        alter(group, offsets)

    scene.target.alter_offsets = guarded  # type: ignore[method-assign]
    summary = do(scene, SyncOffsetsOperator)

    moved = {*names, "billing", "reporting"} - {*active, *denied, *empty}
    assert (moved, True) == (set(summary["moved"]), summary["partly"])
    result = scene.run.evidence.require(Kind.OFFSETS_RESULT)
    assert {*active, *denied} == set(result["left_behind"])
    assert moved == {name for name, group in scene.target.groups.items() if group.commits}
