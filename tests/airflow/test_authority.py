"""Attacks of somebody who can write to the evidence root, or answers without the right: what the reviews proved."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from kafka_migration.adapters.logins import service_login
from kafka_migration.core.evidence.documents import Kind, document_name
from kafka_migration.core.evidence.kept import digest_of
from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.migration.settings import HookName
from kafka_migration.core.report.alerts import Alert
from kafka_migration.orchestration.alerting import send
from kafka_migration.orchestration.failing import FailedForGood
from kafka_migration.orchestration.operators.hook import HookOperator
from tests.airflow.cutover import answer, approved, ask, configure, plan_and_ask, target_offsets
from tests.airflow.notifying import with_alerts
from tests.airflow.world import World

CALLED: list[str] = []


def evil(**_arguments: Any) -> None:
    """Stand for any function of the workers."""
    CALLED.append("evil")


FORGED = "tests.airflow.test_authority.evil"
NOTIFIER = """\
alerts:
  notifiers:
    - notifier: tests.airflow.notifying.Recorder
      arguments:
        text: {text}
"""
ALERT = Alert(AlertKind.ERROR, "shop", "run", "https://airflow.example", "nothing.")


def forge(world: World, more: str) -> None:
    """Add to the frozen file in the folder what nobody has checked."""
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
    """H2: whoever writes other approvers into the frozen file is refused before anybody is asked."""
    scene.do("plan_offsets")
    forge(scene, "cutover: {approvers: [mallory], four_eyes: false}\n")

    assert_nothing_written(scene, lambda: ask(scene), "EVIDENCE_CHANGED")
    assert [] == asked


def test_hooks_are_not_taken_from_the_folder(scene: World) -> None:
    """H2: a function that only the frozen file in the folder names is never called."""
    forge(scene, f"cutover:\n  hooks:\n    after_cutover:\n      callable: {FORGED}\n")
    operator = HookOperator(task_id="after_cutover", migration="shop", hook=HookName.AFTER_CUTOVER)

    assert_nothing_written(scene, lambda: operator.execute(scene.context()), "EVIDENCE_CHANGED")
    assert [] == CALLED


def test_notifiers_are_not_taken_from_the_folder(scene: World) -> None:
    """H2: an alert is sent to those whom the checked file names, whatever the folder says since."""
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
    """H2: nothing of Airflow's context reaches a message: no connection, variable, macro or task."""
    sent = with_alerts(scene, NOTIFIER.format(text=f"'{template}'"))
    scene.freeze()
    send(scene.run, ALERT)

    assert [] == sent
    assert "is undefined" in caplog.text


@pytest.mark.parametrize("number", [2, 9])
def test_answer_is_not_taken_from_the_folder(scene: World, number: int) -> None:
    """H2: a yes that somebody wrote beside the question, with `approve` marked as successful, is none."""
    plan_and_ask(scene)
    folder = scene.run.evidence.folder
    question = json.loads((folder / document_name(Kind.APPROVE, 1)).read_text())
    forged = {**question, "answered_at": "now", "chosen": "Approve", "responded_by": {"id": "x", "name": "x"}}
    (folder / document_name(Kind.APPROVE, number)).write_text(json.dumps(forged))

    assert_nothing_written(scene, lambda: sync(scene), "EVIDENCE_CHANGED")


def test_task_that_is_marked_successful_gives_no_answer(scene: World) -> None:
    """A question that nobody answered is not approved by a state that somebody set."""
    plan_and_ask(scene)

    assert_nothing_written(scene, lambda: sync(scene), "APPROVAL_STALE")


def test_answer_that_only_xcom_has_is_none(scene: World) -> None:
    """A yes that was put into Airflow's XCom, with `approve` marked as successful, is not in the evidence as well."""
    plan_and_ask(scene)
    question = scene.run.evidence.require(Kind.APPROVE)
    forged = {**question, "answered_at": "now", "chosen": "Approve", "responded_by": {"id": "x", "name": "x"}}
    keeper = scene.run.keeper
    assert keeper is not None
    keeper.keep_answer(forged)

    assert_nothing_written(scene, lambda: sync(scene), "EVIDENCE_CHANGED")


def test_hooks_are_not_taken_from_xcom(scene: World) -> None:
    """A file that was put into XCom with its digest, beside that of the file that `preflight` froze, is refused."""
    frozen = scene.file.read_text()
    forged = f"{frozen}cutover:\n  hooks:\n    after_cutover: {{callable: {__name__}.evil}}\n"
    keeper = scene.run.keeper
    assert keeper is not None
    keeper.keep_migration(forged)
    keeper.keep({"attempt-1/migration.yaml": digest_of(forged.encode())})

    assert_nothing_written(scene, lambda: scene.do("plan_offsets"), "EVIDENCE_CHANGED")


def test_airflow_may_let_anybody_answer_and_we_do_not(scene: World) -> None:
    """H6.1: where Airflow ignores the list (`simple_auth_manager_all_admins`), the answer of another is refused."""
    configure(scene, "  approvers: [grace]\n")
    plan_and_ask(scene)

    assert_nothing_written(scene, lambda: answer(scene, user="mallory"), "NOT_AN_APPROVER")
    assert_nothing_written(scene, lambda: sync(scene), "NOT_AN_APPROVER")


def test_other_approvers_are_not_asked_in_a_run_that_has_asked(scene: World, asked: list[dict[str, Any]]) -> None:
    """H6.2: Airflow keeps to whom a run's first question was put, so a cleared run with another list does not ask."""
    plan_and_ask(scene)
    scene.dag_run.clear_number = 1
    configure(scene, "  approvers: [grace]\n")

    assert_nothing_written(scene, lambda: ask(scene), "APPROVAL_STALE")
    assert 1 == len(asked)


@pytest.mark.parametrize("approvers", ["[ada]", "[ada, mallory]"])
def test_person_who_was_taken_out_of_the_list_does_not_count(scene: World, approvers: str) -> None:
    """H6.2: whoever is no approver any more approves nothing, neither with the answer nor with one given before."""
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


def test_person_who_was_added_to_the_list_does_not_count(scene: World) -> None:
    """Who was no approver when the run began is none for this run."""
    configure(scene, "  approvers: [grace]\n")
    plan_and_ask(scene)
    scene.edit_file("[grace]", "[grace, mallory]")

    assert_nothing_written(scene, lambda: answer(scene, user="mallory"), "NOT_AN_APPROVER")
    answer(scene)
    assert sync(scene)["moved"]


def test_approvers_that_cannot_be_read_are_nobody(scene: World) -> None:
    """Without a file that can be read it is not known who may approve."""
    approved(scene)
    scene.file.write_text("version: [")

    assert_nothing_written(scene, lambda: sync(scene), "MIGRATION_FILE_INVALID")


def test_four_eyes_cover_runs_of_the_command_line(scene: World) -> None:
    """H6.3: a run that was triggered under Airflow's own login names no person, so nobody is the second one."""
    configure(scene, "  four_eyes: true\n")
    scene.dag_run.triggering_user_name = service_login()
    plan_and_ask(scene)

    assert_nothing_written(scene, lambda: answer(scene), "FOUR_EYES")


def test_four_eyes_may_be_asked_for_while_the_run_goes_on(scene: World) -> None:
    """The live file may ask for more than the frozen one."""
    plan_and_ask(scene)
    scene.extend_file("cutover: {four_eyes: true}\n")

    assert_nothing_written(scene, lambda: answer(scene, user="ada"), "FOUR_EYES")
