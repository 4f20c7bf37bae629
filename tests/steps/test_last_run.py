"""Rules of what a run writes for the commands `status` and `verdict`."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_migration.cli.main import main
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, MirrorFailed
from kafka_migration.core.report.run_status import LastRun
from kafka_migration.core.stored.stored_documents import MirrorStarted, Stored
from tests.steps.tasks import BEFORE_START
from tests.steps.world import World
from tests.stored_examples import judged

FOREIGN = Finding(Code.TARGET_WRITTEN_BY_OTHERS, "orders[0]", "end 31", "end 30", "Look at it.")


def last_run(world: World) -> LastRun:
    document = world.run.news.last_run()
    assert document is not None
    return LastRun.from_document(document)


def step(world: World) -> tuple[Any, Any, Any]:
    """Return the run, the task and the end that were written last."""
    progress = world.run.news.progress()
    assert progress is not None
    return progress["run"], progress["step"], progress.get("ended_at")


def refused(world: World, finding: Finding) -> None:
    """End a run with a finding of `start_mirror`."""
    world.do("preflight", "reserve")
    world.run.refused("start_mirror", MirrorFailed([finding]))
    world.finish_fails(preflight="success", start_mirror="failed")


def test_refused_run_writes_its_finding(world: World) -> None:
    """A run that is refused for an invalid file writes its finding."""
    world.file.write_text("nonsense: [")
    world.refuses("preflight")
    world.finish_fails(preflight="failed")
    last = last_run(world)

    assert (world.run.identity.holder, "sync", "failed", "") == (last.run, last.mode, last.outcome, last.verdict)
    assert "MIGRATION_FILE_INVALID" == last.findings[0].code


@pytest.mark.parametrize("task_id", ["stop_producers", "sync_offsets", "after_cutover"])
def test_task_that_skips_itself_is_no_step(world: World, task_id: str) -> None:
    """A rehearsal never says that it is at a task of a cutover, which runs beside the watch and skips itself."""
    world.params["mode"] = "rehearse"
    world.start()
    before = step(world)

    world.skips(task_id)

    assert "start_mirror" == before[1]
    assert before == step(world)


def test_contradiction_remains_until_a_good_copy(world: World) -> None:
    """A contradiction remains until a run has mirrored and its copy has passed."""
    refused(world, FOREIGN)
    world.dag_run.run_id = "manual__2"
    refused(world, Finding(Code.CONNECTION_MISSING, "x", "x", "x", "x"))
    assert ["TARGET_WRITTEN_BY_OTHERS"] == [each.code for each in last_run(world).contradictions]
    assert ["CONNECTION_MISSING"] == [finding.code for finding in last_run(world).findings]

    world.dag_run.run_id = "manual__3"
    world.do("preflight", "reserve")
    world.run.evidence.write(Stored.JUDGE, judged())
    world.finish(preflight="success")
    assert last_run(world).contradictions

    world.dag_run.run_id = "manual__4"
    world.do("preflight", "reserve")
    world.run.evidence.write(Stored.START, MirrorStarted("now", 1, 4711))
    world.run.evidence.write(Stored.JUDGE, judged())
    world.finish(preflight="success")
    assert () == last_run(world).contradictions


def test_newest_task_is_written_until_the_run_ends(world: World) -> None:
    """While a run holds the reservation its newest task is written; `finish` writes the end."""
    world.do(*BEFORE_START)
    assert (world.run.identity.holder, "create_topics", None) == step(world)

    world.finish(preflight="success")
    assert step(world)[2]


def test_run_without_the_reservation_does_not_write_its_task(world: World) -> None:
    """A run that does not get the reservation does not replace the task of the run that holds it."""
    world.run.news.tell_step("dag/other#1", "watch_lag", world.run.now())
    world.do("preflight", "reserve")
    world.finish(preflight="success")

    assert ("dag/other#1", "watch_lag", None) == step(world)


def test_files_that_cannot_be_written_fail_no_run(world: World) -> None:
    """A run whose files for `status` cannot be written ends as any other."""
    for name in ("progress.json", "progress-series.json", "last-run.json"):
        (world.root / "shop" / name / "full").mkdir(parents=True)
    world.do(*BEFORE_START)

    assert "success" == world.finish(preflight="success")["outcome"]


def test_command_line_reads_what_a_run_wrote(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """`status` shows a contradiction, and `verdict` fails because of it."""
    refused(world, FOREIGN)

    assert 0 == main(["status", "shop", "--evidence-root", str(world.root)])
    assert f"Found         {FOREIGN}" in capsys.readouterr().out
    assert 1 == main(["verdict", "shop", "--evidence-root", str(world.root)])
