"""Rules of alerts: who is told of what, when, and what happens when nobody can be told."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.airflow_adapters import settings
from kafka_migration.airflow_adapters.notifiers import notify
from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.report.alerts import Alert
from kafka_migration.migration_file.loading import load_migration_file
from kafka_migration.orchestration import alerting
from kafka_migration.orchestration.alerting import deadlines, tell_of_lost_finish, too_long
from kafka_migration.orchestration.factory import migration_dags
from kafka_migration.orchestration.failing import FailedForGood
from kafka_migration.orchestration.operators.finish import FinishOperator
from tests.airflow.cutover import ask
from tests.airflow.notifying import Recorder, with_alerts
from tests.airflow.world import World

STALL = {
    "code": "MIRROR_STALLED",
    "subject": "orders-0",
    "found": "position 1 unchanged for 600 s",
    "expected": "movement within watch.stall_after",
    "remedy": "Mend the cause.",
}


@pytest.fixture
def sent(world: World) -> list[str]:
    """What is sent of runs of a migration whose file names a notifier that works, and before it one that does not."""
    return with_alerts(world)


def kinds(sent: list[str]) -> list[str]:
    return [text.partition(" · ")[0] for text in sent]


def failed(world: World, **states: str) -> None:
    world.finish_fails(**states)


def stalled(world: World) -> None:
    world.source.produce("orders", 0, (b"k", b"v"))
    world.start()
    event = world.watch_event("failed", findings=[STALL])
    with pytest.raises(FailedForGood):
        world.task("watch_lag").execute_complete(world.context(), event)


def test_refusal_is_told_with_code_run_and_what_to_do(world: World, sent: list[str]) -> None:
    """Who is told of a refusal reads its code, the migration, the run with a link, and the first thing to do."""
    world.connections.pop("spark")
    world.refuses("preflight")

    failed(world, preflight="failed", reserve="upstream_failed")

    (text,) = sent
    assert text.startswith("refused · [kafka-migration] shop: the run was refused (SPARK_CONNECTION_MISSING)")
    assert "What to do: Create it" in text
    assert "/dags/kafka_migration__shop/runs/manual__1" in text
    assert text.endswith(" · kafka_migration__shop / manual__1 (attempt 1)")


def test_run_with_an_unknown_field_is_a_test_of_the_alerts(world: World, sent: list[str]) -> None:
    """Whoever wants to see a message arrive triggers a run that cannot do anything."""
    world.params = {"mode": "sync", "test": "alert"}
    world.refuses("preflight")

    failed(world, preflight="failed", reserve="upstream_failed")

    assert ["refused"] == kinds(sent)
    assert "RUN_CONF_INVALID" in sent[0]


def test_stall_is_told_and_that_mirrormaker_was_stopped(world: World, sent: list[str]) -> None:
    """After a stall the message names the partition, and that no MirrorMaker is left."""
    stalled(world)
    world.do("stop_mirror")

    failed(world, preflight="success", watch_lag="failed", stop_mirror="success")

    assert ["stalled"] == kinds(sent)
    assert "MIRROR_STALLED · orders-0" in sent[0]
    assert "MirrorMaker: no process of this run is running" in sent[0]


def test_mirrormaker_that_may_run_is_told_before_everything_else(
    world: World, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody knows whether MirrorMaker has stopped, that is the message, whatever else went wrong."""
    stalled(world)

    def away() -> Any:
        raise TransientError("ssh: no route")

    monkeypatch.setattr(world.host, "status", away)
    failed(world, preflight="success", watch_lag="failed", stop_mirror="failed")

    assert ["not_stopped"] == kinds(sent)
    assert "MIRRORMAKER MAY STILL RUN" in sent[0]


def test_wrong_copy_is_told(world: World, sent: list[str]) -> None:
    """A verdict FAIL is a message of its own kind, with the verdict."""
    world.source.produce("orders", 0, (b"k", b"v"))
    world.copy({})
    world.validated(equal=False)
    world.refuses("judge")

    failed(world, preflight="success", judge="failed")

    assert ["failed"] == kinds(sent)


def test_good_run_tells_nobody(world: World, sent: list[str]) -> None:
    """A run that went well sends nothing."""
    world.do("preflight")

    world.finish(preflight="success")

    assert [] == sent


def test_failed_task_without_a_finding_is_told_by_its_name(world: World, sent: list[str]) -> None:
    """What nobody foresaw is an error, with the task whose log tells more."""
    world.do("preflight")

    failed(world, preflight="success", plan="failed")

    assert ["error"] == kinds(sent)
    assert "read the log of the task plan" in sent[0]


def test_broken_notifier_keeps_nobody_from_being_told(world: World, sent: list[str]) -> None:
    """A notifier that fails is recorded with its kind of error; the next is called, and the run ends as it would."""
    world.do("preflight")
    failed(world, preflight="success", plan="failed")

    (document,) = world.run.evidence.of_attempt(Kind.ALERT)

    assert {
        "0 tests.airflow.notifying.Broken": "ConnectionRefusedError",
        "1 tests.airflow.notifying.Recorder": "",
    } == document["told"]


def test_notifier_sends_only_its_kinds(world: World) -> None:
    """A notifier with `kinds` is not called for others."""
    sent = with_alerts(
        world,
        "alerts:\n  notifiers:\n    - notifier: tests.airflow.notifying.Recorder\n      arguments: {text: x}\n"
        "      kinds: [approval]\n",
    )
    world.do("preflight")

    failed(world, preflight="success", plan="failed")

    assert [] == sent


def test_notifier_that_changes_its_arguments_changes_no_later_alert(world: World) -> None:
    """The triggerer serves many runs; each alert has the arguments of the migration file."""
    sent = with_alerts(
        world,
        "alerts:\n  notifiers:\n    - notifier: tests.airflow.notifying.Adding\n      arguments: {people: [ada]}\n",
    )
    alert = Alert(AlertKind.ERROR, "shop", "run", "https://airflow.example", "nothing")
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
    """Nothing starts under the eyes of somebody who could not be told."""
    with_alerts(world, f"alerts:\n  notifiers:\n    - notifier: {notifier}\n      arguments: {arguments}\n")

    world.refuses("preflight", match=f"ALERTS_INVALID · alerts.notifiers.0.: {notifier}: found .*{found}")


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


def test_file_that_cannot_be_read_is_told_to_whom_the_configuration_names(world: World, alerts_file: Path) -> None:
    """A migration file that is no migration names nobody; those of the configuration are told of its runs."""
    world.file.write_text("nonsense: [")
    world.refuses("preflight")

    failed(world, preflight="failed")

    assert ["refused"] == Recorder.sent


def test_section_of_the_file_counts_before_the_configuration(world: World, alerts_file: Path) -> None:
    """Whoever says in a migration file who is told, says it for good."""
    with_alerts(world, "alerts:\n  notifiers: []\n")
    world.do("preflight")

    failed(world, preflight="success", plan="failed")

    assert [] == Recorder.sent


def test_wrong_alerts_file_refuses_the_run_and_leaves_the_dags(world: World, alerts_file: Path) -> None:
    """A mistake there is a finding that names it; no DAG is lost for it."""
    alerts_file.write_text("notifiers:\n  - notifyer: x\n")

    world.refuses("preflight", match=r"ALERTS_INVALID · alerts.yaml: notifiers.0.notifyer")

    assert "kafka_migration__shop" in migration_dags(world.migrations)


def test_approval_is_told_with_the_way_to_the_question(scene: World) -> None:
    """Who may approve is told when the plan waits, with the address of the question."""
    sent = with_alerts(scene)
    # The run's frozen copy is from before; it is what a run reads.
    scene.freeze()
    scene.do("plan_offsets")

    ask(scene)

    assert ["approval"] == kinds(sent)
    assert "/runs/manual__1/tasks/approve/required_actions" in sent[0]


def test_run_that_has_ended_is_not_too_long(world: World, sent: list[str]) -> None:
    """Airflow keeps the deadline of a run that failed; nobody is told twice."""
    with_alerts(world, "  too_long_after: 6h\n")
    (deadline,) = migration_dags(world.migrations)["kafka_migration__shop"].deadline

    asyncio.run(too_long(**deadline.callback.kwargs, context={"dag_run": dag_run(state="failed")}))

    assert [] == sent


def test_lost_finish_is_told_once(world: World, sent: list[str]) -> None:
    """The callback of the last task tells of its loss; after a message of how the run ended it tells nothing more."""
    world.do("preflight")
    context = {**world.context(), "task": FinishOperator(task_id="finish", migration="shop"), "exception": "killed"}

    tell_of_lost_finish(context)
    tell_of_lost_finish(context)

    assert ["error"] == kinds(sent)
    assert "Task finish: killed" in sent[0]


def test_mirrormaker_beside_a_foreign_reservation_is_told(world: World, sent: list[str]) -> None:
    """Where another run holds the reservation while MirrorMaker runs, nobody is told that it does not."""
    stalled(world)
    world.host.holder = "somebody/else#1"

    failed(world, preflight="success", watch_lag="failed", stop_mirror="failed")

    assert ["not_stopped"] == kinds(sent)


@pytest.mark.parametrize(
    "arguments", ["{to: !!binary aGVsbG8=}", "&x {to: [*x]}", "{to: .nan}", "{to: !!set {a, b}}", "{to: 2030-01-01}"]
)
def test_arguments_are_what_json_can_hold(world: World, arguments: str) -> None:
    """What Airflow cannot serialize would take every migration's DAGs away; it is refused, and the DAGs are there."""
    with_alerts(
        world, f"alerts:\n  too_long_after: 1h\n  notifiers:\n    - notifier: a.B\n      arguments: {arguments}\n"
    )

    dag = migration_dags(world.migrations)["kafka_migration__shop"]

    assert "invalid" in dag.tags
    assert not dag.deadline


def dag_run(**more: Any) -> dict[str, Any]:
    began = (datetime.now(UTC) - timedelta(hours=7)).isoformat()
    return {"dag_id": "d", "dag_run_id": "r", "run_type": "manual", "state": "running", "start_date": began, **more}


def test_run_that_takes_too_long_is_told(world: World, sent: list[str]) -> None:
    """The deadline of a DAG calls a function of ours with whom to tell, which tells them."""
    with_alerts(world, "  too_long_after: 6h\n")
    dag = migration_dags(world.migrations)["kafka_migration__shop"]
    (deadline,) = dag.deadline
    assert timedelta(hours=6) == deadline.interval

    asyncio.run(too_long(**deadline.callback.kwargs, context={"dag_run": dag_run()}))

    assert ["too_long"] == [text.partition(" · ")[0] for text in sent]
    assert "Still active 6h00m after it was queued" in sent[0]


def test_backfill_run_that_waits_its_turn_is_not_told(world: World, sent: list[str]) -> None:
    """The runs of a backfill are queued all at once; only one that goes on for too long itself counts."""
    with_alerts(world, "  too_long_after: 6h\n")
    (deadline,) = migration_dags(world.migrations)["kafka_nightly_sync__shop"].deadline
    queued = dag_run(run_type="backfill", start_date=None)
    begun = dag_run(run_type="backfill", start_date=datetime.now(UTC).isoformat())

    for run in (queued, begun):
        asyncio.run(too_long(**deadline.callback.kwargs, context={"dag_run": run}))

    assert [] == sent


def test_dags_without_alerts_have_no_deadline(world: World) -> None:
    """Where nobody is told, nothing is watched."""
    assert not migration_dags(world.migrations)["kafka_migration__shop"].deadline
    assert [] == deadlines("shop", None)


def test_alert_that_cannot_be_recorded_changes_nothing(
    world: World, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sending never raises."""
    world.do("preflight")
    monkeypatch.setattr(alerting, "alerts_of", lambda migration: 1 / 0)

    failed(world, preflight="success", plan="failed")

    assert [] == sent
