"""Rules of tasks that only Airflow shows: errors, questions, events, deferrals and triggers of the use cases."""

from __future__ import annotations

import asyncio
import errno
import os
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk.exceptions import TaskDeferred

from kafka_migration.adapters.store import local_files
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.orchestration.operators.spark_submission import zip_package
from kafka_migration.orchestration.task.alerting import send
from kafka_migration.orchestration.task.failures import FailedForGood, FailedForNow
from kafka_migration.orchestration.task.note_writer import NOTE_KEY
from kafka_migration.orchestration.triggers import mirror_lag
from kafka_migration.orchestration.triggers.mirror_lag import MirrorLagTrigger
from kafka_migration.steps.run.alert_sending import producers_alert, stop_producers
from tests.airflow.cutover import time_limit_s
from tests.airflow.driving import TriggerLog, deferred_by, event_of, let_time_pass, revived
from tests.airflow.notifying import kinds, with_alerts
from tests.airflow.tasks import TASKS
from tests.airflow.world import World
from tests.steps.cutover import approved, begin_rollback, configure, cut_over, plan_and_ask
from tests.steps.tasks import BEFORE_START
from tests.steps.watching import Scene, started
from tests.steps.world import FOUR_RECORDS

ALWAYS = {"preflight", "stop_mirror", "finish"}


def test_cutover_and_its_rollback(scene: World) -> None:
    """The operators do what their use cases do, from the plan of the offsets to the end of a rollback."""
    scene.do("drain_groups")
    cut_over(scene)
    scene.do("restore_settings")
    assert "cut_over" == scene.ledger.phase
    begin_rollback(scene, mode="restore")
    scene.do("preflight", "reserve", "translate_back", "plan_rollback")
    with pytest.raises(scene.waits):
        scene.do("approve_rollback")
    scene.answer()
    scene.do("roll_back", "restore_settings")

    assert "rolled_back" == scene.ledger.phase
    assert {} == {name: group.commits for name, group in scene.target.groups.items() if group.commits}


@pytest.mark.parametrize("task_id", sorted(set(TASKS) - ALWAYS))
def test_each_task_refuses_changed_evidence_for_good(scene: World, task_id: str) -> None:
    """Every operator surrounds its use case with the check of the evidence, and translates the refusal."""
    path = scene.run.evidence.folder / "migration.yaml"
    path.write_text(path.read_text() + "\n")

    with pytest.raises(FailedForGood, match=r"EVIDENCE_CHANGED · document attempt-1/migration\.yaml"):
        scene.do(task_id)


def test_full_disk_fails_a_task_for_now(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Airflow may retry a task whose documents the store does not take; the run's note has the reason."""
    world.source.produce("orders", 0, *FOUR_RECORDS)
    world.do(*BEFORE_START[:-1])

    def refuse(file: Any, text: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(local_files, "_write_flushed", refuse)
    with pytest.raises(FailedForNow) as failed:
        world.do("create_topics")
    world.finish_fails(preflight="success", reserve="success", create_topics="failed")

    assert not isinstance(failed.value, FailedForGood)
    assert Code.EVIDENCE_NOT_WRITABLE in world.task_instance.xcoms[NOTE_KEY]


def test_asks_with_the_plan_and_without_a_default(scene: World, asked: list[dict[str, Any]]) -> None:
    """The question shows the plan and has no default answer, and the plan's digest is recorded before it is asked."""
    waiting = plan_and_ask(scene)

    plan = scene.run.evidence.require(Kind.OFFSETS_PLAN)
    (question,) = asked
    assert question["body"].endswith(plan["markdown"])
    assert "## Verdict on the copy: PASS" in question["body"]
    assert (None, ["Approve", "Reject"]) == (question["defaults"], question["options"])
    assert time_limit_s(waiting) == 24 * 3600
    assert plan["digest"] == scene.run.evidence.require(Kind.APPROVE)["digest"]


def test_asks_the_approvers_of_the_file_within_its_time(scene: World, asked: list[dict[str, Any]]) -> None:
    """Approvers and time limit are those of the frozen file."""
    configure(scene, "  approvers: [grace]\n  approval_time_limit: 5m\n")
    waiting = plan_and_ask(scene)

    assert [{"id": "grace", "name": "grace"}] == asked[0]["assigned_users"]
    assert time_limit_s(waiting) == 300


@pytest.mark.parametrize(("option", "code"), [("Reject", "APPROVAL_REFUSED"), (None, "TIMED_OUT")])
def test_answer_that_is_no_approval_fails_for_good(scene: World, option: str | None, code: str) -> None:
    """A rejection and a time-out, which the provider reports by its own exceptions, end as findings."""
    plan_and_ask(scene)

    with pytest.raises(FailedForGood, match=code):
        scene.answer(option)


@pytest.mark.parametrize("option", ["Approve", "Reject", None])
def test_wait_for_an_approval_is_sent_to_monitors(scene: World, option: str | None) -> None:
    """A run waits for a person from the question to the answer, whatever that is."""
    waits: list[float] = []
    scene.deployed["send_metrics"] = lambda *sent: waits.extend(each.value for each in sent if each.of == "approval")

    plan_and_ask(scene)
    asked_at = waits.copy()
    with nullcontext() if option == "Approve" else pytest.raises(FailedForGood):
        scene.answer(option)

    assert 1 == len(asked_at)
    assert asked_at[0] > 0
    assert [*asked_at, 0] == waits


def test_confirm_sends_an_asset_event_per_topic(scene: World) -> None:
    """Every topic gets an event on its own asset, through the alias of the task."""
    approved(scene)
    scene.do("sync_offsets")
    operator = scene.task("confirm_cutover")
    operator.execute(scene.context())

    events = scene.outlet_events[operator.outlets[0]].asset_alias_events
    assert ["kafka://a:1/orders", "kafka://a:1/audit"] == [event.dest_asset_key.uri for event in events]
    assert {"kafka_migration__shop"} == {event.source_alias_name for event in events}


@pytest.mark.parametrize(
    ("params", "timeout"),
    [({}, None), ({"follow_until": "2030-01-01T05:00:00+00:00"}, timedelta(hours=5, minutes=10))],
)
def test_following_has_no_time_limit_of_its_own(
    world: World, params: dict[str, Any], timeout: timedelta | None
) -> None:
    """The trigger has no deadline; Airflow's time limit is later than `follow_until`, or there is none."""
    started(world, {"mode": "follow", **params})
    deferred = deferred_by(world.task("watch_lag"), world.context())

    assert deferred.trigger.serialize()[1]["deadline"] is None
    assert timeout == deferred.timeout


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> TriggerLog:
    """The log of the watch's trigger."""
    log = TriggerLog()
    monkeypatch.setattr(MirrorLagTrigger, "log", log)
    return log


def triggered(scene: Scene, world: World, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the trigger of a scene's watch, whose polls follow each other on the scene's clock."""
    let_time_pass(monkeypatch, mirror_lag, scene.clock, lambda: scene.script(scene))
    return revived(deferred_by(world.task("watch_lag"), world.context()).trigger)


def test_kill_stops_the_newest_generation(world: World, monkeypatch: pytest.MonkeyPatch, log: TriggerLog) -> None:
    """A watch that a user ends in Airflow stops the newest generation, not the first one."""
    scene = started(world, {"mode": "sync"}, records=5)
    acts = iter([world.host.die, lambda: None, lambda: None, scene.copy])
    scene.script = lambda now: next(acts, lambda: None)()
    trigger = triggered(scene, world, monkeypatch)
    event_of(trigger)
    asyncio.run(trigger.on_kill())

    assert "stopped" == world.host.processes[2].exit_reason


def test_late_kill_does_not_hit_the_next_attempt(
    world: World, monkeypatch: pytest.MonkeyPatch, log: TriggerLog
) -> None:
    """The kill of a cleared task's earlier attempt is refused by the host."""
    trigger = triggered(started(world, {"mode": "sync"}, records=5), world, monkeypatch)
    world.dag_run.clear_number = 1
    world.do("reserve")

    asyncio.run(trigger.on_kill())

    assert any("RESERVED_BY" in line for line in log.infos)
    assert world.host.status().is_running


def test_announcement_sends_one_alert(world: World, monkeypatch: pytest.MonkeyPatch, log: TriggerLog) -> None:
    """The announcement sends one alert, also after a restart of the triggerer, and the log has it as a warning."""
    scene = started(world, {"mode": "cutover"})
    sent = with_alerts(world)
    world.freeze()

    event_of(triggered(scene, world, monkeypatch))
    run = world.run
    send(run, producers_alert(run, stop_producers(run, run.clock.now())))

    assert ["producers"] == kinds(sent)
    assert sent[0].startswith("producers · Stop producers of 2 topics on old_kafka before 00:10 UTC (10 minutes).")
    assert "orders, audit" in sent[0]
    assert "/tasks/stop_producers/required_actions" in sent[0]
    assert log.warnings[0].startswith("Stop producers of 2 topics on old_kafka before 00:10 UTC (10 minutes).")


def test_watch_defers_with_an_absolute_deadline_and_no_secret(world: World) -> None:
    """The trigger holds only ids and a deadline."""
    world.source.produce("orders", 0, (b"a", b"1"))
    world.start()

    with pytest.raises(TaskDeferred) as deferred:
        world.do("watch_lag")

    _, arguments = deferred.value.trigger.serialize()
    assert {"run", "generation", "deadline"} == set(arguments)
    assert arguments["generation"] == 1


def test_event_of_an_earlier_attempt_is_waited_past(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: a cleared watch failed with the event of the earlier attempt's trigger."""
    scene = started(world, {"mode": "sync"}, records=5)
    scene.copy()
    event = event_of(triggered(scene, world, monkeypatch))
    world.dag_run.clear_number = 1
    world.do("reserve")

    with pytest.raises(TaskDeferred):
        world.end_watch(event)


def test_finding_has_lines_of_its_own(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """Every part of a finding is an ERROR line, and the task ends with a `SystemExit`, which Airflow does not trace."""
    del world.connections["old_kafka"], world.connections["spark"]

    with pytest.raises(SystemExit) as failed:
        world.do("preflight")

    errors = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    subjects = [line for line in errors if "CONNECTION_MISSING · " in line]
    assert len(subjects) == 2
    assert len([line for line in errors if line.startswith("  Create it (airflow connections add ")]) == 2
    assert str(failed.value).count("CONNECTION_MISSING") == 2


def test_unknown_outcome_fails_the_task_for_good(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write without an answer whose effect cannot be known is not retried; the text says what to do first."""
    approved(scene)

    def lost(group: str, offsets: Any) -> None:
        raise TransientError("no answer within 20 s")

    monkeypatch.setattr(scene.target, "alter_offsets", lost)

    said = scene.refuses("sync_offsets", match="^OUTCOME UNKNOWN: the offsets of billing")
    assert said.endswith("Check the actual state before you retry.")


def test_digest_package_is_zipped_the_same_every_time(tmp_path: Path) -> None:
    """The zip for the executors depends only on the sources."""
    package = Path(__file__).parents[2] / "spark_jobs" / "kafka_digest"
    first, second = tmp_path / "1", tmp_path / "2"
    first.mkdir()
    second.mkdir()

    assert zip_package(package, first).read_bytes() == zip_package(package, second).read_bytes()
