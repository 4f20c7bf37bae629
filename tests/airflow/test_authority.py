"""Rules of attacks by users who can write to the evidence root, or who answer without the right."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from kafka_migration.adapters.system.this_machine import service_login
from kafka_migration.core.evidence.digests import digest_of
from kafka_migration.core.evidence.evidence_documents import Kind, document_name
from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.report.alerts import Alert
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.orchestration.task.alerting import send
from kafka_migration.orchestration.task.failures import FailedForGood
from tests.airflow.notifying import with_alerts
from tests.airflow.world import World
from tests.steps.cutover import answer, approved, ask, configure, plan_and_ask, target_offsets

CALLED: list[str] = []


def evil(**_arguments: Any) -> None:
    """Any function that workers can import."""
    CALLED.append("evil")


FORGED = "tests.airflow.test_authority.evil"
NOTIFIER = """\
alerts:
  notifiers:
    - notifier: tests.airflow.notifying.Recorder
      arguments:
        text: {text}
"""
ALERT = Alert(AlertKind.ERROR, "shop", RunIdentity("dag", "run", 1), "now", "https://airflow.example", "nothing.")


def forge(world: World, more: str) -> None:
    """Add unchecked settings to the frozen file in the folder."""
    path = world.run.evidence.folder / "migration.yaml"
    path.write_text(path.read_text() + more)


def assert_nothing_written(world: World, act: Callable[[], object], code: str) -> None:
    with pytest.raises(FailedForGood, match=code):
        act()
    assert {} == target_offsets(world)
    assert code == world.refusal_codes[-1]


def sync(world: World) -> dict[str, Any]:
    return world.do("sync_offsets")


def test_approvers_are_not_taken_from_the_folder(scene: World, asked: list[dict[str, Any]]) -> None:
    """H2: approvers that were written into the frozen file are refused before a user is asked."""
    scene.do("plan_offsets")
    forge(scene, "cutover: {approvers: [mallory], four_eyes: false}\n")

    assert_nothing_written(scene, lambda: ask(scene), "EVIDENCE_CHANGED")
    assert [] == asked


def test_hooks_are_not_taken_from_the_folder(scene: World) -> None:
    """H2: a function that only the frozen file in the folder names is not called."""
    forge(scene, f"cutover:\n  hooks:\n    after_cutover:\n      callable: {FORGED}\n")

    assert_nothing_written(scene, lambda: scene.do("after_cutover"), "EVIDENCE_CHANGED")
    assert [] == CALLED


def test_notifiers_are_not_taken_from_the_folder(scene: World) -> None:
    """H2: an alert is sent to the notifiers of the checked file, not to those of the folder."""
    sent = with_alerts(scene, "")
    forge(scene, NOTIFIER.format(text="x"))
    send(scene.run, ALERT)
    scene.task_instance.kept.xcoms.clear()
    scene.task_instance.kept.states.clear()
    send(scene.run, ALERT)

    assert [] == sent


@pytest.mark.parametrize(
    "template", ["{{ conn.x.extra }}", "{{ var.value.x }}", "{{ macros.datetime.now() }}", "{{ ti.id }}"]
)
def test_templates_of_notifiers_see_the_alert_alone(
    scene: World, template: str, caplog: pytest.LogCaptureFixture
) -> None:
    """H2: a message cannot contain a connection, variable, macro or task of Airflow."""
    sent = with_alerts(scene, NOTIFIER.format(text=f"'{template}'"))
    scene.freeze()
    send(scene.run, ALERT)

    assert [] == sent
    assert "is undefined" in caplog.text


@pytest.mark.parametrize("number", [2, 9])
def test_answer_is_not_taken_from_the_folder(scene: World, number: int) -> None:
    """H2: an approval that was written next to the question is none, also if `approve` was marked as successful."""
    plan_and_ask(scene)
    folder = scene.run.evidence.folder
    question = json.loads((folder / document_name(Kind.APPROVE, 1)).read_text())
    forged = {**question, "answered_at": "now", "chosen": "Approve", "responded_by": {"id": "x", "name": "x"}}
    (folder / document_name(Kind.APPROVE, number)).write_text(json.dumps(forged))

    assert_nothing_written(scene, lambda: sync(scene), "EVIDENCE_CHANGED")


def test_task_that_is_marked_successful_gives_no_answer(scene: World) -> None:
    """A question without an answer is not approved if `approve` is marked as successful."""
    plan_and_ask(scene)

    assert_nothing_written(scene, lambda: sync(scene), "APPROVAL_STALE")


def test_answer_that_only_xcom_has_is_none(scene: World) -> None:
    """An approval that was written only to XCom is refused, because the evidence does not have it."""
    plan_and_ask(scene)
    question = scene.run.evidence.require(Kind.APPROVE)
    forged = {**question, "answered_at": "now", "chosen": "Approve", "responded_by": {"id": "x", "name": "x"}}
    keeper = scene.run.keeper
    assert keeper is not None
    keeper.keep_answer(forged)

    assert_nothing_written(scene, lambda: sync(scene), "EVIDENCE_CHANGED")


def test_hooks_are_not_taken_from_xcom(scene: World) -> None:
    """A migration file that was written to XCom with its digest is refused."""
    frozen = scene.file.read_text()
    forged = f"{frozen}cutover:\n  hooks:\n    after_cutover: {{callable: {__name__}.evil}}\n"
    keeper = scene.run.keeper
    assert keeper is not None
    keeper.keep_migration(forged, {"attempt-1/migration.yaml": digest_of(forged.encode())})

    assert_nothing_written(scene, lambda: scene.do("plan_offsets"), "EVIDENCE_CHANGED")


def test_answer_of_a_user_who_is_no_approver_is_refused(scene: World) -> None:
    """H6.1: if Airflow ignores the approvers (`simple_auth_manager_all_admins`), another user's answer is refused."""
    configure(scene, "  approvers: [grace]\n")
    plan_and_ask(scene)

    assert_nothing_written(scene, lambda: answer(scene, user="mallory"), "NOT_AN_APPROVER")
    assert_nothing_written(scene, lambda: sync(scene), "NOT_AN_APPROVER")


def test_other_approvers_are_not_asked_in_a_run_that_has_asked(scene: World, asked: list[dict[str, Any]]) -> None:
    """H6.2: a cleared run with other approvers does not ask, because Airflow keeps those of the first question."""
    plan_and_ask(scene)
    scene.dag_run.clear_number = 1
    configure(scene, "  approvers: [grace]\n")

    assert_nothing_written(scene, lambda: ask(scene), "APPROVAL_STALE")
    assert 1 == len(asked)


@pytest.mark.parametrize("approvers", ["[ada]", "[ada, mallory]"])
def test_user_who_was_removed_from_the_approvers_does_not_count(scene: World, approvers: str) -> None:
    """H6.2: neither a new nor an earlier answer of a user who is no longer an approver counts."""
    configure(scene, "  approvers: [grace]\n")
    path = scene.file
    before = path.read_text()
    plan_and_ask(scene)
    path.write_text(before.replace("[grace]", approvers))
    assert_nothing_written(scene, lambda: answer(scene), "NOT_AN_APPROVER")

    path.write_text(before)
    answer(scene)
    path.write_text(before.replace("[grace]", approvers))
    assert_nothing_written(scene, lambda: sync(scene), "NOT_AN_APPROVER")
    path.write_text(before)
    assert sync(scene)["moved"]


def test_user_who_was_added_to_the_approvers_does_not_count(scene: World) -> None:
    """A user who was not an approver when the run began cannot approve it."""
    configure(scene, "  approvers: [grace]\n")
    plan_and_ask(scene)
    scene.edit_file("[grace]", "[grace, mallory]")

    assert_nothing_written(scene, lambda: answer(scene, user="mallory"), "NOT_AN_APPROVER")
    answer(scene)
    assert sync(scene)["moved"]


def test_approvers_that_cannot_be_read_refuse_the_write(scene: World) -> None:
    """If the migration file cannot be read, the approvers are unknown, and nothing is written."""
    approved(scene)
    scene.file.write_text("version: [")

    assert_nothing_written(scene, lambda: sync(scene), "MIGRATION_FILE_INVALID")


def test_four_eyes_cover_runs_of_the_command_line(scene: World) -> None:
    """H6.3: with `four_eyes` a run that was triggered with Airflow's own login cannot be approved."""
    configure(scene, "  four_eyes: true\n")
    scene.dag_run.triggering_user_name = service_login()
    plan_and_ask(scene)

    assert_nothing_written(scene, lambda: answer(scene), "FOUR_EYES")


def test_four_eyes_may_be_added_during_the_run(scene: World) -> None:
    """The migration file may add `four_eyes` while the run is active."""
    plan_and_ask(scene)
    scene.extend_file("cutover: {four_eyes: true}\n")

    assert_nothing_written(scene, lambda: answer(scene, user="ada"), "FOUR_EYES")
