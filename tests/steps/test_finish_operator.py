"""Rules of `finish`: the reservation, the evidence and the state of the run."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.watching.watch import Announced, Outcome
from kafka_migration.steps.run.guards import hold_reservation
from tests.steps.nights import at_night, begin, finish_night, night_fails
from tests.steps.tasks import BEFORE_START
from tests.steps.world import World
from tests.stored_examples import watch_ended


@pytest.fixture
def reserved(world: World) -> World:
    """A run that holds the reservation."""
    world.do("preflight", "reserve")
    return world


def test_finish_frees_the_reservation_and_assembles_the_evidence(reserved: World) -> None:
    """After a successful run the reservation is free, and the run's folder has `run.json` and `report.md`."""
    summary = reserved.finish(preflight="success", reserve="success")

    assert ("success", "") == (summary["outcome"], reserved.host.status().holder)
    assert str(reserved.run.evidence.folder / "run.json") == summary["evidence"]
    assert {"preflight": "success", "reserve": "success"} == reserved.run_document["tasks"]
    assert reserved.report.startswith("# shop: no verdict (success)")


@pytest.mark.parametrize("state", ["failed", "upstream_failed", "skipped", None])
def test_finish_fails_the_run_when_work_did_not_happen(reserved: World, state: str | None) -> None:
    """A task that was skipped, as after mark-failed, or did not run fails the run as a failed one does."""
    reserved.finish_fails("TASK_NOT_SUCCESSFUL · task judge", preflight="success", judge=state)

    assert reserved.host.status().holder == ""


def test_finish_repeats_the_findings_of_the_refusal(world: World) -> None:
    """After a refusal `finish` fails with the findings of the refusal."""
    world.target.is_down = True
    world.refuses("preflight")

    world.finish_fails("CLUSTER_UNREACHABLE", preflight="failed", reserve="upstream_failed")


def test_finish_after_an_invalid_file_still_writes_the_evidence(world: World) -> None:
    """A run whose file was never frozen has a `run.json`."""
    world.file.write_text("nonsense: [")
    world.refuses("preflight")

    world.finish_fails("MIGRATION_FILE_INVALID", preflight="failed")

    run = world.run_document
    assert ("failed", "not frozen", None) == (run["outcome"], run["migration_digest"], run["verdict"])


def test_finish_frees_what_a_task_took_by_itself(world: World) -> None:
    """`finish` frees the reservation that a task took without `reserve`."""
    world.do("preflight")
    hold_reservation(world.run)

    world.finish(preflight="success")

    assert world.host.status().holder == ""


def test_watch_that_was_marked_successful_does_not_break_finish(world: World) -> None:
    """The evidence is assembled also if the newest document of the watch has no outcome."""
    world.params = {"mode": "cutover"}
    world.do(*BEFORE_START)
    world.run.evidence.write(Stored.WATCH, Announced(at="then", generation=1, announced_at="then", lag="0"))

    states = {"preflight": "success", "watch_lag": "success", "judge": "upstream_failed"}
    world.finish_fails("TASK_NOT_SUCCESSFUL · task judge", **states)

    assert world.run_document["outcome"] == "failed"


def test_manual_run_that_is_behind_fails_whatever_when_late_is(world: World) -> None:
    """A manual run that was stopped before its goals fails, because `nightly.when_late` is about nightly runs."""
    at_night(world, "  when_late: warn\n")
    world.params = {"mode": "sync"}
    world.do(*BEFORE_START)
    behind = watch_ended(Outcome.BEHIND, lag=500, reason="asked to stop by ada")
    world.run.evidence.write(Stored.WATCH, behind)

    found = "BEHIND · migration shop: Mirroring ended with 500 offsets left to copy"
    world.finish_fails(found, preflight="success", watch_lag="success")


def pending_run(world: World, when_late: str) -> dict[str, Any]:
    """Run a night whose validation is pending until `finish`, and clear it; return the states of its last tasks."""
    clock = at_night(world, f"  when_late: {when_late}\n")
    begin(world, clock)
    world.do(*BEFORE_START)
    world.run.evidence.write(Kind.PENDING, {"at": "then", "reason": "too late", "windows": 1, "source_offsets": 3})
    world.dag_run.clear_number = 1
    return {"validate_topics": "skipped", "judge": "skipped"}


def test_finish_that_is_cleared_alone_fails_as_before(world: World) -> None:
    """A cleared `finish` fails for the pending validation of the earlier attempt, not for the skipped tasks."""
    states = pending_run(world, "fail")

    night_fails(world, r"^VALIDATION_PENDING · .*1 window with 3 source offsets", **states)


def test_finish_that_is_cleared_alone_warns_as_before(world: World) -> None:
    """With `when_late: warn` a cleared `finish` succeeds as before."""
    states = pending_run(world, "warn")

    assert "validation pending" == finish_night(world, **states)["outcome"]


def test_cleared_run_that_is_marked_failed_fails_whatever_was_pending(world: World) -> None:
    """A new attempt that a user marks as failed fails, although the earlier one left validation pending."""
    states = pending_run(world, "warn")
    world.do(*BEFORE_START)

    night_fails(world, "TASK_NOT_SUCCESSFUL", **states)


@pytest.mark.parametrize("holder", ["alice", "a/b#x", "dag/run#1\x1b[2J", "{}", "x" * 10_000])
def test_nothing_acts_beside_a_stranger(reserved: World, holder: str) -> None:
    """A task that needs the reservation refuses with its code if a holder that is no run has it."""
    reserved.host.holder = holder

    with pytest.raises(Refused, match="NOT_RESERVED") as refused:
        hold_reservation(reserved.run)

    (finding,) = refused.value.findings
    assert (True, True) == (finding.found.isprintable(), len(finding.found) < 500)
