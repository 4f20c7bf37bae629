"""Rules of alerts: which event sends which alert, and what happens if it cannot be sent."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.airflow_adapters.notifiers import notify
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.report.alerts import Alert
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.migration_file.loading import load_alerts_file, load_migration_file
from kafka_migration.orchestration.factory import migration_dags
from kafka_migration.orchestration.operators.finish import FinishOperator
from kafka_migration.orchestration.task import alerting
from kafka_migration.orchestration.task.alerting import deadlines, tell_of_lost_finish, too_long
from kafka_migration.orchestration.task.failures import FailedForGood
from tests.airflow.notifying import Recorder, kinds, with_alerts
from tests.airflow.world import World
from tests.steps.cutover import plan_and_ask

STALL = {
    "code": "MIRROR_STALLED",
    "subject": "orders-0",
    "found": "position 1 unchanged for 600 s",
    "expected": "movement within watch.stall_after",
    "remedy": "Mend the cause.",
}


@pytest.fixture
def sent(world: World) -> list[str]:
    """The alerts of a migration whose file names two notifiers, of which the first fails."""
    return with_alerts(world)


def fail(world: World) -> None:
    """End a run whose task `plan` has failed without a finding."""
    world.do("preflight")
    world.finish_fails(preflight="success", plan="failed")


def stalled(world: World) -> None:
    world.source.produce("orders", 0, (b"k", b"v"))
    world.start()
    with pytest.raises(FailedForGood):
        world.end_watch(world.watch_event("failed", findings=[STALL]))


def test_alert_of_a_refusal_has_code_run_and_remedy(world: World, sent: list[str]) -> None:
    """The alert of a refusal has its code, the migration, the run with a link, and the remedy."""
    world.connections.pop("spark")
    world.refuses("preflight")

    world.finish_fails(preflight="failed", reserve="upstream_failed")

    (text,) = sent
    assert text.startswith("refused · [kafka-migration] shop: the run was refused (SPARK_CONNECTION_MISSING)")
    assert "What to do: Create it" in text
    assert "/dags/kafka_migration__shop/runs/manual__1" in text
    assert text.endswith(" · kafka_migration__shop / manual__1 (attempt 1)")


def test_run_with_an_unknown_field_is_a_test_of_the_alerts(world: World, sent: list[str]) -> None:
    """A run with an unknown field is refused and sends an alert, so a user can test the notifiers with it."""
    world.params = {"mode": "sync", "test": "alert"}
    world.refuses("preflight")

    world.finish_fails(preflight="failed", reserve="upstream_failed")

    assert ["refused"] == kinds(sent)
    assert "RUN_CONF_INVALID" in sent[0]


def test_alert_of_a_stall_says_that_mirrormaker_was_stopped(world: World, sent: list[str]) -> None:
    """The alert of a stall names the partition, and says that no MirrorMaker process is running."""
    stalled(world)
    world.do("stop_mirror")

    world.finish_fails(preflight="success", watch_lag="failed", stop_mirror="success")

    assert ["stalled"] == kinds(sent)
    assert "MIRROR_STALLED · orders-0" in sent[0]
    assert "MirrorMaker: no process of this run is running" in sent[0]


def test_mirrormaker_that_may_still_run_is_the_kind_of_the_alert(
    world: World, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it is unknown whether MirrorMaker has stopped, the alert is about that, whatever else failed."""
    stalled(world)

    def away() -> Any:
        raise TransientError("ssh: no route")

    monkeypatch.setattr(world.host, "status", away)
    world.finish_fails(preflight="success", watch_lag="failed", stop_mirror="failed")

    assert ["not_stopped"] == kinds(sent)
    assert "MIRRORMAKER MAY STILL RUN" in sent[0]


def test_wrong_copy_sends_an_alert(world: World, sent: list[str]) -> None:
    """A verdict FAIL sends an alert of its own kind."""
    world.source.produce("orders", 0, (b"k", b"v"))
    world.copy({})
    world.validated(equal=False)
    world.refuses("judge")

    world.finish_fails(preflight="success", judge="failed")

    assert ["failed"] == kinds(sent)


def test_successful_run_sends_nothing(world: World, sent: list[str]) -> None:
    """A successful run sends no alert."""
    world.do("preflight")

    world.finish(preflight="success")

    assert [] == sent


def test_alert_of_a_failure_without_a_finding_names_the_task(world: World, sent: list[str]) -> None:
    """A failure without a finding sends an alert that names the task whose log to read."""
    fail(world)

    assert ["error"] == kinds(sent)
    assert "Task plan: failed" in sent[0]
    assert "What to do: Read the log of the task that the alert names" in sent[0]


def test_failing_notifier_does_not_stop_the_next_one(world: World, sent: list[str]) -> None:
    """The error of a failing notifier is recorded, and the next notifier is called."""
    fail(world)

    (document,) = world.run.evidence.of_attempt(Kind.ALERT)

    assert {
        "0 tests.airflow.notifying.Broken": "ConnectionRefusedError",
        "1 tests.airflow.notifying.Recorder": "",
    } == document["told"]


def test_notifier_sends_only_its_kinds(world: World) -> None:
    """A notifier with `kinds` is called only for these."""
    sent = with_alerts(
        world,
        "alerts:\n  notifiers:\n    - notifier: tests.airflow.notifying.Recorder\n      arguments: {text: x}\n"
        "      kinds: [approval]\n",
    )
    fail(world)

    assert [] == sent


def test_notifier_that_changes_its_arguments_changes_no_later_alert(world: World) -> None:
    """Each alert is sent with the arguments of the migration file, as the triggerer serves many runs."""
    sent = with_alerts(
        world,
        "alerts:\n  notifiers:\n    - notifier: tests.airflow.notifying.Adding\n      arguments: {people: [ada]}\n",
    )
    alert = Alert(AlertKind.ERROR, "shop", RunIdentity("dag", "run", 1), "now", "https://airflow.example", "nothing")
    for _ in range(2):
        _, migration = load_migration_file(world.file)
        assert migration.alerts is not None
        assert "" == notify(migration.alerts.notifiers[0], alert)

    assert ["ada, operator"] * 2 == sent


@pytest.mark.parametrize(
    ("notifier", "arguments", "found"),
    [
        ("tests.airflow.notifying.Missing", "{}", "ImportError"),
        ("tests.airflow.notifying.Recorder", "{txt: x}", "TypeError"),
        ("builtins.dict", "{}", "not a subclass of Airflow's BaseNotifier"),
        ("tests.airflow.notifying.Recorder", "{text: '{{ ti.task_id }}'}", "UndefinedError"),
    ],
)
def test_notifier_that_cannot_be_made_refuses_the_run(world: World, notifier: str, arguments: str, found: str) -> None:
    """The run does not start if a notifier is misconfigured."""
    with_alerts(world, f"alerts:\n  notifiers:\n    - notifier: {notifier}\n      arguments: {arguments}\n")

    said = f"{notifier}: The notifier cannot be created: .*{found}"
    world.refuses("preflight", match=f"ALERTS_INVALID · alerts.notifiers.0.: {said}")


@pytest.fixture
def alerts_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that Airflow's configuration names."""
    path = tmp_path / "alerts.yaml"
    path.write_text(
        "notifiers:\n  - notifier: tests.airflow.notifying.Recorder\n    arguments: {text: '{{ alert.kind }}'}\n"
    )
    monkeypatch.setattr(settings, "alerts_file", lambda: path)
    Recorder.sent.clear()
    return path


def test_invalid_migration_file_uses_the_notifiers_of_the_configuration(world: World, alerts_file: Path) -> None:
    """Alerts about an invalid migration file go to the notifiers of Airflow's configuration."""
    world.file.write_text("nonsense: [")
    world.refuses("preflight")

    world.finish_fails(preflight="failed")

    assert ["refused"] == Recorder.sent


def test_alerts_of_the_migration_file_replace_those_of_the_configuration(world: World, alerts_file: Path) -> None:
    """A section `alerts` of the migration file replaces the notifiers of the configuration."""
    with_alerts(world, "alerts:\n  notifiers: []\n")
    fail(world)

    assert [] == Recorder.sent


def test_wrong_alerts_file_refuses_the_run_and_leaves_the_dags(world: World, alerts_file: Path) -> None:
    """A mistake in the alerts file refuses the run with its place, and the DAGs still exist."""
    alerts_file.write_text("notifiers:\n  - notifyer: x\n")

    world.refuses("preflight", match=r"ALERTS_INVALID · alerts.yaml: notifiers.0.notifyer")

    assert "kafka_migration__shop" in migration_dags(world.migrations)


def test_alert_of_an_approval_has_the_link_to_the_question(scene: World) -> None:
    """A plan that waits for approval sends an alert with the link to the question."""
    sent = with_alerts(scene)
    scene.freeze()

    plan_and_ask(scene)

    assert ["approval"] == kinds(sent)
    assert "/runs/manual__1/tasks/approve/required_actions" in sent[0]


def test_lost_finish_sends_one_alert(world: World, sent: list[str]) -> None:
    """The callback of a lost `finish` sends an alert, but none after an alert about the end of the run."""
    world.do("preflight")
    context = {**world.context(), "task": FinishOperator(task_id="finish", migration="shop"), "exception": "killed"}

    tell_of_lost_finish(context)
    tell_of_lost_finish(context)

    assert ["error"] == kinds(sent)
    assert "Task finish: killed" in sent[0]


def test_mirrormaker_under_the_reservation_of_another_run_is_reported(world: World, sent: list[str]) -> None:
    """If MirrorMaker runs while another run holds the reservation, the alert says that it may still run."""
    stalled(world)
    world.host.holder = "somebody/else#1"

    world.finish_fails(preflight="success", watch_lag="failed", stop_mirror="failed")

    assert ["not_stopped"] == kinds(sent)


@pytest.mark.parametrize(
    "arguments", ["{to: !!binary aGVsbG8=}", "&x {to: [*x]}", "{to: .nan}", "{to: !!set {a, b}}", "{to: 2030-01-01}"]
)
def test_arguments_are_what_json_can_hold(world: World, arguments: str) -> None:
    """Arguments that JSON cannot hold make the file invalid, because Airflow could not serialize its DAGs."""
    with_alerts(
        world, f"alerts:\n  too_long_after: 1h\n  notifiers:\n    - notifier: a.B\n      arguments: {arguments}\n"
    )

    dag = migration_dags(world.migrations)["kafka_migration__shop"]

    assert "invalid" in dag.tags
    assert not dag.deadline


def reach_deadline(world: World, kind: str = "kafka_migration", **run: Any) -> None:
    """Call what Airflow calls at the deadline of a DAG, for an active run that began seven hours ago."""
    world.extend_file("  too_long_after: 6h\n")
    (deadline,) = migration_dags(world.migrations)[f"{kind}__shop"].deadline
    assert timedelta(hours=6) == deadline.interval
    began = (datetime.now(UTC) - timedelta(hours=7)).isoformat()
    dag_run = {"dag_id": "d", "dag_run_id": "r", "run_type": "manual", "state": "running", "start_date": began, **run}
    asyncio.run(too_long(**deadline.callback.kwargs, context={"dag_run": dag_run}))


def test_run_that_takes_too_long_sends_an_alert(world: World, sent: list[str]) -> None:
    """The deadline of a DAG calls a function that sends the alert."""
    reach_deadline(world)

    assert ["too_long"] == kinds(sent)
    assert "Still active 6h00m after it was queued" in sent[0]


def test_run_that_has_ended_is_not_too_long(world: World, sent: list[str]) -> None:
    """The deadline of a run that has failed sends no alert."""
    reach_deadline(world, state="failed")

    assert [] == sent


@pytest.mark.parametrize("start_date", [None, datetime.now(UTC).isoformat()], ids=["queued", "started just now"])
def test_backfill_run_that_waits_for_its_turn_sends_nothing(
    world: World, sent: list[str], start_date: str | None
) -> None:
    """A backfill queues all its runs at once, so only the time since a run's start counts."""
    reach_deadline(world, "kafka_nightly_sync", run_type="backfill", start_date=start_date)

    assert [] == sent


def test_dags_without_alerts_have_no_deadline(world: World) -> None:
    """Without alerts the DAGs have no deadline."""
    assert not migration_dags(world.migrations)["kafka_migration__shop"].deadline
    assert [] == deadlines("shop", None)


def test_alerts_file_is_checked_once_until_it_changes(tmp_path: Path) -> None:
    """Parsing needs the alerts file for each DAG; equal text is checked once per process, other text again."""
    path = tmp_path / "alerts.yaml"
    path.write_text("notifiers: [{notifier: a.B}]\ntoo_long_after: 2h\n")
    first = load_alerts_file(path)

    assert first is load_alerts_file(path)
    path.write_text("notifiers: [{notifier: a.B}]\ntoo_long_after: 3h\n")
    assert (7200.0, 10800.0) == (first.too_long_after_s, load_alerts_file(path).too_long_after_s)


def test_error_while_alerting_does_not_change_the_end_of_the_run(
    world: World, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error in the code that sends alerts does not change how the run ends."""
    world.do("preflight")
    monkeypatch.setattr(alerting, "alerts_of", lambda migration: 1 / 0)

    world.finish_fails(preflight="success", plan="failed")

    assert [] == sent
