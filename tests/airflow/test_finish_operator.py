"""Rules of `finish`: the reservation, the evidence, the end of the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.orchestration.failing import FailedForGood
from kafka_migration.steps.guards import hold_reservation
from tests.airflow.conftest import DAG_ID
from tests.airflow.nights import at_night, begin, finish_night
from tests.airflow.tasks import BEFORE_START
from tests.airflow.world import World


def test_finish_frees_the_reservation_and_assembles_the_evidence(world: World) -> None:
    """After a good run the reservation is free and `run.json` and `report.md` lie in the run's folder."""
    world.do("preflight", "reserve")

    summary = world.finish(preflight="success", reserve="success")
    folder = Path(summary["evidence"]).parent

    assert summary["outcome"] == "success"
    assert world.host.status().holder == ""
    assert json.loads((folder / "run.json").read_text())["tasks"] == {"preflight": "success", "reserve": "success"}
    assert (folder / "report.md").read_text().startswith("# shop: no verdict (success)")


@pytest.mark.parametrize("state", ["failed", "upstream_failed", "skipped", None])
def test_finish_fails_the_run_when_work_did_not_happen(world: World, state: str | None) -> None:
    """A task that was skipped (as after mark-failed) or never ran fails the run like one that failed."""
    world.do("preflight", "reserve")

    world.finish_fails("TASK_NOT_SUCCESSFUL · task judge", preflight="success", judge=state)

    assert world.host.status().holder == ""


def test_finish_repeats_the_findings_of_the_refusal(world: World) -> None:
    """After a refusal the last task's log has the reason, not just the name of the task."""
    world.target.is_down = True
    world.refuses("preflight")

    world.finish_fails("CLUSTER_UNREACHABLE", preflight="failed", reserve="upstream_failed")


def test_finish_after_an_invalid_file_still_writes_the_evidence(world: World) -> None:
    """Also a run whose file was never frozen leaves its `run.json`."""
    world.file.write_text("nonsense: [")
    world.refuses("preflight")

    world.finish_fails("MIGRATION_FILE_INVALID", preflight="failed")

    run = world.run_document
    assert ("failed", "not frozen", None) == (run["outcome"], run["migration_digest"], run["verdict"])


def test_finish_leaves_another_runs_reservation_alone(world: World) -> None:
    """A run that lost its reservation frees nothing."""
    world.do("preflight", "reserve")
    world.host.reserve("dag/other#1", take_over_from=world.run.identity.holder)

    world.finish(preflight="success")

    assert world.host.status().holder == "dag/other#1"


def test_finish_frees_what_an_earlier_attempt_still_holds(world: World) -> None:
    """The host was away when the attempt before ended; cleared, finish frees what that could not."""
    world.do("preflight", "reserve")
    world.dag_run.clear_number = 1

    world.finish(preflight="success")

    assert world.host.status().holder == ""


def test_finish_frees_what_a_task_took_by_itself(world: World) -> None:
    """A task that came without a `reserve` before it has reserved for the run; its end leaves nothing behind."""
    world.do("preflight")
    hold_reservation(world.run)

    world.finish(preflight="success")

    assert world.host.status().holder == ""


def test_finish_leaves_a_later_attempts_reservation_alone(world: World) -> None:
    """A task of an attempt that was cleared meanwhile takes nothing from the attempt that acts now."""
    world.do("preflight", "reserve")
    later = f"{DAG_ID}/manual__1#2"
    world.host.reserve(later, take_over_from=world.run.identity.holder)

    world.finish(preflight="success")

    assert world.host.status().holder == later


def test_host_that_does_not_answer_is_told(world: World) -> None:
    """Who holds the reservation is then not known, so the run does not end as if it were free."""
    world.do("preflight", "reserve")
    world.host.errors = [TransientError("no route to host")]

    world.finish_fails("The reservation was not freed: no route to host", preflight="success", reserve="success")


def test_finish_of_a_watch_that_was_set_to_success_by_hand(world: World) -> None:
    """The newest document is then that of a stage, without an outcome; the evidence is assembled all the same."""
    world.params = {"mode": "cutover"}
    world.do(*BEFORE_START)
    world.run.evidence.write(Kind.WATCH, {"stage": "announced", "announced_at": "then", "lag": 0})

    with pytest.raises(FailedForGood, match="TASK_NOT_SUCCESSFUL · task judge"):
        world.finish(preflight="success", watch_lag="success", judge="upstream_failed")

    assert world.run_document["outcome"] == "failed"


BEHIND = {"outcome": "behind", "lag": 500, "rate": None, "reason": "asked to stop by ada", "progress": ""}


def test_manual_run_is_late_whatever_the_nights_say(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """`nightly.when_late` is about nights: a run by hand that was told to stop before its goals fails."""
    at_night(world, monkeypatch, "  when_late: warn\n")
    world.params = {"mode": "sync"}
    world.do(*BEFORE_START)
    world.run.evidence.write(Kind.WATCH, BEHIND)

    with pytest.raises(FailedForGood, match="BEHIND · migration shop: found 500 offsets left to copy"):
        world.finish(preflight="success", watch_lag="success")


def pending_run(world: World, monkeypatch: pytest.MonkeyPatch, when_late: str) -> dict[str, Any]:
    """Bring a night whose validation is pending up to its end; return the states of its last tasks."""
    clock = at_night(world, monkeypatch, f"  when_late: {when_late}\n")
    begin(world, clock)
    world.do(*BEFORE_START)
    world.run.evidence.write(Kind.PENDING, {"at": "then", "reason": "too late", "windows": 1, "source_offsets": 3})
    return {"validate_topics": "skipped", "judge": "skipped"}


def test_finish_that_is_cleared_alone_fails_as_before(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an earlier attempt left pending is still why the run ended as it did, and not that a task was skipped."""
    states = pending_run(world, monkeypatch, "fail")
    world.dag_run.clear_number = 1

    with pytest.raises(FailedForGood, match=r"^VALIDATION_PENDING · .*1 windows with 3 source offsets"):
        finish_night(world, **states)


def test_finish_that_is_cleared_alone_warns_as_before(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `when_late: warn` the run stays green, however often its end is asked for."""
    states = pending_run(world, monkeypatch, "warn")
    world.dag_run.clear_number = 1

    assert "validation pending" == finish_night(world, **states)["outcome"]


def test_cleared_run_marked_failed_is_not_forgiven_what_was_pending(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An attempt that began anew and was then ended by a person fails, whatever the one before left pending."""
    states = pending_run(world, monkeypatch, "warn")
    world.dag_run.clear_number = 1
    world.do(*BEFORE_START)

    with pytest.raises(FailedForGood, match="TASK_NOT_SUCCESSFUL"):
        finish_night(world, **states)
