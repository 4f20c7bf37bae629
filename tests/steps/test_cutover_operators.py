"""Rules of `approve` and `sync_offsets`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from kafka_migration.adapters.store.evidence_store import RunEvidence
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, FindingsError, Refused, TransientError
from kafka_migration.core.kafka.offsets import CommittedOffset, TopicPartition
from kafka_migration.core.migration.settings import Phase
from kafka_migration.steps.groups.write_groups import SOURCE_CSV, TARGET_CSV
from tests.steps.cutover import BILLING, REPORTING, answer, approved, ask, configure, plan_and_ask, target_offsets
from tests.steps.world import P0, RECORD, World

MOVING_TASKS = pytest.mark.parametrize("task_id", ["approve", "sync_offsets", "confirm_cutover"])


@pytest.mark.parametrize("mode", ["sync", "validate", "rehearse"])
@MOVING_TASKS
def test_only_a_cutover_asks_and_writes(world: World, asked: list[Any], task_id: str, mode: str) -> None:
    """In any other mode the tasks that move groups skip themselves."""
    world.params = {"mode": mode}

    world.skips(task_id, match=mode)

    assert [] == asked


def test_plan_of_another_version_is_refused(scene: World, asked: list[Any]) -> None:
    """A plan of an unknown schema is refused, and no user is asked."""
    scene.do("plan_offsets")
    document = scene.run.evidence.require(Kind.OFFSETS_PLAN)
    plan = {name: value for name, value in document["plan"].items() if name != "mode"}
    scene.run.evidence.write(Kind.OFFSETS_PLAN, {**document, "plan": plan})

    with pytest.raises(FindingsError, match="EVIDENCE_UNREADABLE") as raised:
        scene.do("approve")

    assert "no mode" in str(raised.value)
    assert [] == asked


def test_approval_is_recorded(scene: World) -> None:
    """The evidence records the answer, the user and the time."""
    plan_and_ask(scene)

    assert answer(scene)["by"] == "grace"
    document = scene.run.evidence.require(Kind.APPROVE)
    assert ("Approve", "grace", "2030-01-01T00:00:00+00:00") == (
        document["chosen"],
        document["responded_by"]["id"],
        document["answered_at"],
    )


@pytest.mark.parametrize(("option", "code"), [("Reject", "APPROVAL_REFUSED"), (None, "APPROVAL_TIMED_OUT")])
def test_no_and_no_answer_end_the_run_with_nothing_written(scene: World, option: str | None, code: str) -> None:
    """A rejection or a time-out fails the task, says that nothing was written, and permits no write."""
    plan_and_ask(scene)

    with pytest.raises(FindingsError, match=rf"{code} .*Nothing was written") as raised:
        answer(scene, option)

    assert raised.value.__suppress_context__
    assert [code] == scene.refusal_codes
    assert option == scene.run.evidence.require(Kind.APPROVE)["chosen"]
    scene.refuses("sync_offsets", match="APPROVAL_STALE")
    assert {} == target_offsets(scene)


def test_same_plan_is_asked_about_again(scene: World, asked: list[Any]) -> None:
    """A retried or cleared `approve` asks again about the same plan, and only the new answer counts."""
    approved(scene)
    scene.dag_run.clear_number = 1
    plan_and_ask(scene)

    assert len(asked) == 2
    scene.refuses("sync_offsets", match=r"The request to approve plan \w+ has no answer\.")


def test_changed_plan_is_not_asked_about(scene: World, asked: list[Any]) -> None:
    """A new plan that differs from the first is refused, because Airflow would show the first plan's text."""
    approved(scene)
    scene.source.commit("reporting", {P0: 2})
    scene.dag_run.clear_number = 1
    scene.do("plan_offsets")

    scene.refuses("approve", match="APPROVAL_STALE")

    assert len(asked) == 1
    scene.refuses("sync_offsets", match="APPROVAL_STALE")
    assert {} == target_offsets(scene)


def test_cutover_that_moves_no_group_is_not_asked_about(scene: World, asked: list[Any]) -> None:
    """If every group must be left out, the run is refused and no user is asked."""
    for group in ("billing", "reporting"):
        scene.target.join(group)
    scene.do("plan_offsets")

    scene.refuses("approve", match="No group of the plan can be moved")

    assert [] == asked


def test_four_eyes(scene: World) -> None:
    """With `four_eyes` the user who triggered the run cannot approve it, and the write checks that again."""
    configure(scene, "  four_eyes: true\n")
    plan_and_ask(scene)

    with pytest.raises(FindingsError, match="FOUR_EYES"):
        answer(scene, user="ada")
    scene.refuses("sync_offsets", match="FOUR_EYES")

    assert {} == target_offsets(scene)
    ask(scene)
    answer(scene, user="grace")
    assert scene.do("sync_offsets")["moved"] == ["billing", "reporting"]


def test_writes_what_was_approved(scene: World) -> None:
    """Every planned group gets its translated offsets with the source's metadata, and they are read back."""
    approved(scene)

    assert {"moved": ["billing", "reporting"], "partly": False} == scene.do("sync_offsets")
    assert {"billing": BILLING, "reporting": REPORTING} == target_offsets(scene)
    assert scene.target.groups["billing"].commits[P0] == CommittedOffset(3, "note")
    result = scene.run.evidence.require(Kind.OFFSETS_RESULT)
    assert ["moved", "moved"] == [group["outcome"] for group in result["groups"]]
    assert result["groups"][0]["read_back"] == {"orders": {"0": 3, "1": 1}}


def test_saves_both_sides_before_the_first_write(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The offsets of both sides are saved before the first write, as a document and for Kafka's own tool."""
    scene.target.commit("billing", {P0: 0, TopicPartition("elsewhere", 0): 9})
    approved(scene)
    monkeypatch.setattr(scene.target, "alter_offsets", _fails(TransientError("lost")))
    scene.refuses("sync_offsets", match="OutcomeUnknown")

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


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda world: world.source.produce("orders", 0, RECORD), r"source end of orders\[0\]: 4 then, 5 now"),
        (
            lambda world: world.source.commit("reporting", {P0: 2}),
            r"group reporting, orders\[0\]: committed on the source 1 then, 2 now",
        ),
        (lambda world: world.target.produce("audit", 0, RECORD), r"target end of audit\[0\]: 0 then, 1 now"),
        (lambda world: world.target.join("billing"), "group billing: GROUP_ACTIVE now, may be moved then"),
        (lambda world: world.source.commit("late", {P0: 1}), "group late: new"),
    ],
    ids=["record", "commit", "foreign record", "member", "group"],
)
def test_anything_new_after_the_approval_writes_nothing(
    scene: World, change: Callable[[World], None], text: str
) -> None:
    """A change on either cluster after the approval refuses the write, and the finding names the change."""
    approved(scene)
    change(scene)
    before = target_offsets(scene)

    scene.refuses("sync_offsets", match=f"EVIDENCE_CHANGED .*{text}.*Nothing was written")

    assert before == target_offsets(scene)
    assert scene.run.evidence.newest(Kind.OFFSETS_BEFORE) is None


def test_another_cluster_after_the_approval_is_named_as_the_cause(scene: World) -> None:
    """If a connection was edited while the plan waited for its approval, that is named, and nothing is written."""
    approved(scene)
    scene.source, scene.target = scene.target, scene.source

    scene.refuses("sync_offsets", match="^CLUSTER_CHANGED")

    assert ["CLUSTER_CHANGED"] == scene.refusal_codes


def test_no_approval_writes_nothing(scene: World) -> None:
    """An `approve` that a user marked as successful is no approval."""
    scene.do("plan_offsets")

    scene.refuses("sync_offsets", match=r"APPROVAL_STALE · the approval: Plan \w+ has no approval\.")


@MOVING_TASKS
def test_reservation_of_another_run_refuses_every_task(scene: World, task_id: str) -> None:
    """While another run holds the reservation, nothing is asked, written or confirmed."""
    approved(scene)
    if task_id == "confirm_cutover":
        scene.do("sync_offsets")
    before = target_offsets(scene)
    scene.host.reserve("dag/other#1", take_over_from=scene.run.identity.holder)

    scene.refuses(task_id, match="NOT_RESERVED")

    assert before == target_offsets(scene)
    assert scene.ledger.phase is Phase.SYNCING


def test_cleared_task_takes_the_reservation_that_its_run_had_freed(scene: World) -> None:
    """A task that is cleared after the run's end takes the free reservation, even before `reserve` runs again."""
    approved(scene)
    scene.host.release(scene.run.identity.holder)
    scene.dag_run.clear_number = 1

    scene.do("sync_offsets")

    assert scene.host.status().holder == scene.run.identity.holder


def test_group_active_on_the_target_is_not_moved(scene: World) -> None:
    """A group that the plan leaves out is not written; the others are, and the result says so."""
    scene.target.join("billing", "app-7", "/10.0.0.7")
    approved(scene)

    assert {"moved": ["reporting"], "partly": True} == scene.do("sync_offsets")
    assert {"billing": {}, "reporting": REPORTING} == target_offsets(scene)
    (finding,) = scene.run.evidence.require(Kind.OFFSETS_RESULT)["left_behind"]["billing"]
    assert "app-7 on /10.0.0.7" in finding["found"]


def _before_write(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Let something happen after the plan was compared and before the first group is looked at."""
    publish = RunEvidence.publish

    def and_act(evidence: RunEvidence, files: Mapping[str, str]) -> None:
        publish(evidence, files)
        if TARGET_CSV in files:
            act()

    monkeypatch.setattr(RunEvidence, "publish", and_act)


def test_group_that_becomes_active_before_its_write_is_refused(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state of each group is read again before its write; an active one is refused, the others move."""
    approved(scene)
    _before_write(monkeypatch, lambda: scene.target.join("billing"))

    assert {"moved": ["reporting"], "partly": True} == scene.do("sync_offsets")
    outcomes = {g["group"]: g["outcome"] for g in scene.run.evidence.require(Kind.OFFSETS_RESULT)["groups"]}
    assert {"billing": "refused", "reporting": "moved"} == outcomes
    assert ["GROUP_ACTIVE"] == [w["code"] for w in scene.run.evidence.require(Kind.OFFSETS_RESULT)["warnings"]]


def test_offsets_of_another_client_are_kept(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group whose target offsets differ from the saved ones is refused."""
    approved(scene)
    _before_write(monkeypatch, lambda: scene.target.commit("billing", {P0: 2}))

    scene.do("sync_offsets")

    assert {"billing": {P0: 2}, "reporting": REPORTING} == target_offsets(scene)
    result = scene.run.evidence.require(Kind.OFFSETS_RESULT)
    assert ["TARGET_OFFSETS_CHANGED"] == [f["code"] for f in result["left_behind"]["billing"]]


def test_nothing_moved_fails(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """If no planned group could be moved, the task fails with each group's reason."""
    approved(scene)
    denied = Refused([Finding(Code.OFFSETS_NOT_WRITTEN, "group", "denied", "written", "Ask the admin.")])
    monkeypatch.setattr(scene.target, "alter_offsets", _fails(denied))

    scene.refuses("sync_offsets", match="No group of the plan is at its planned offsets")

    assert ["OFFSETS_NOT_WRITTEN"] * 3 == scene.refusal_codes
    assert {} == target_offsets(scene)


def test_write_without_an_answer_counts_if_it_is_read_back(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group whose write got no answer is moved if its offsets are read back."""
    approved(scene)
    write = scene.target.alter_offsets

    def loses_the_answer(group: str, offsets: Any) -> None:
        write(group, offsets)
        raise TransientError("no answer within 20 s")

    monkeypatch.setattr(scene.target, "alter_offsets", loses_the_answer)

    assert scene.do("sync_offsets")["moved"] == ["billing", "reporting"]


def test_unknown_outcome_fails_the_task(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write without an answer and without an effect is recorded as unknown, and the task is not retried."""
    approved(scene)
    write = scene.target.alter_offsets
    lost = {"billing"}

    def loses_one(group: str, offsets: Any) -> None:
        if group in lost:
            raise TransientError("no answer within 20 s")
        write(group, offsets)

    monkeypatch.setattr(scene.target, "alter_offsets", loses_one)
    scene.refuses("sync_offsets", match=r"OutcomeUnknown: the offsets of billing")

    outcomes = [g["outcome"] for g in scene.run.evidence.require(Kind.OFFSETS_RESULT)["groups"]]
    assert ["unknown", "moved"] == outcomes
    lost.clear()
    scene.dag_run.clear_number = 1
    assert {"moved": ["billing", "reporting"], "partly": False} == scene.do("sync_offsets")


def test_each_of_many_groups_is_accounted_for(scene: World) -> None:
    """Each of hundreds of groups is moved or reported, also active, denied and empty ones."""
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
            raise Refused([Finding(Code.OFFSETS_NOT_WRITTEN, group, "not authorized", "a written offset", "Grant.")])
        alter(group, offsets)

    scene.target.alter_offsets = guarded  # type: ignore[method-assign]
    summary = scene.do("sync_offsets")

    moved = {*names, "billing", "reporting"} - {*active, *denied, *empty}
    assert (moved, True) == (set(summary["moved"]), summary["partly"])
    result = scene.run.evidence.require(Kind.OFFSETS_RESULT)
    assert {*active, *denied} == set(result["left_behind"])
    assert moved == {name for name, group in scene.target.groups.items() if group.commits}


NO_RIGHT = Refused([Finding(Code.RIGHT_MISSING, "target", "not authorized", "a right", "Grant it.")])


def test_group_that_cannot_be_read_before_its_write_stops_no_other(
    scene: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: one group that the target did not let be read ended the writing of all."""
    approved(scene)
    _before_write(monkeypatch, lambda: scene.target.broken_groups.update(billing=NO_RIGHT))

    assert {"moved": ["reporting"], "partly": True} == scene.do("sync_offsets")
    (finding,) = scene.run.evidence.require(Kind.OFFSETS_RESULT)["left_behind"]["billing"]
    assert "RIGHT_MISSING" == finding["code"]


def test_group_that_cannot_be_read_back_is_unknown(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that may not be read back has an unknown outcome, and the others are recorded."""
    approved(scene)
    write = scene.target.alter_offsets

    def then_closes(group: str, offsets: Any) -> None:
        write(group, offsets)
        if group == "billing":
            scene.target.broken_groups["billing"] = NO_RIGHT

    monkeypatch.setattr(scene.target, "alter_offsets", then_closes)
    scene.refuses("sync_offsets", match=r"OutcomeUnknown: the offsets of billing")

    outcomes = [g["outcome"] for g in scene.run.evidence.require(Kind.OFFSETS_RESULT)["groups"]]
    assert ["unknown", "moved"] == outcomes


@pytest.mark.parametrize("is_read_again", [True, False])
def test_group_that_was_left_out_unread_stays_left_out(scene: World, is_read_again: bool) -> None:
    """Whether such a group can be read after the approval changes nothing for the others."""
    scene.source.broken_groups["billing"] = TransientError("no coordinator")
    approved(scene)
    if is_read_again:
        scene.source.broken_groups.clear()

    assert {"moved": ["reporting"], "partly": True} == scene.do("sync_offsets")
    (finding,) = scene.run.evidence.require(Kind.OFFSETS_RESULT)["left_behind"]["billing"]
    assert "GROUP_UNREADABLE" == finding["code"]


def test_group_that_cannot_be_read_after_the_approval_is_waited_for(scene: World) -> None:
    """What cannot be read for a moment is no change of the plan: the task is tried again."""
    approved(scene)
    scene.source.broken_groups["billing"] = TransientError("no coordinator")

    with pytest.raises(TransientError, match="group billing cannot be read now"):
        scene.do("sync_offsets")

    assert {} == target_offsets(scene)
    scene.source.broken_groups.clear()
    assert {"moved": ["billing", "reporting"], "partly": False} == scene.do("sync_offsets")
