"""Rules of what a run leaves behind for `status` and `verdict`."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_migration.cli.main import main
from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, MirrorFailed
from kafka_migration.core.report.news import LastRun
from tests.airflow.tasks import BEFORE_START
from tests.airflow.world import World

FOREIGN = Finding(Code.TARGET_WRITTEN_BY_OTHERS, "orders[0]", "end 31", "end 30", "Look at it.")


def last_run(world: World) -> LastRun:
    document = world.run.news.last_run()
    assert document is not None
    return LastRun.from_document(document)


def refused(world: World, finding: Finding) -> None:
    """End an attempt of the run by a finding of `start_mirror`."""
    world.do("preflight", "reserve")
    world.run.refused("start_mirror", MirrorFailed([finding]))
    world.finish_fails(preflight="success", start_mirror="failed")


def test_refused_run_leaves_its_finding(world: World) -> None:
    """Also one whose file makes no sense, and which has mirrored nothing."""
    world.file.write_text("nonsense: [")
    world.refuses("preflight")
    world.finish_fails(preflight="failed")
    last = last_run(world)

    assert (world.run.identity.holder, "sync", "failed", "") == (last.run, last.mode, last.outcome, last.verdict)
    assert "MIGRATION_FILE_INVALID" == last.findings[0].code


def test_contradiction_stands_after_runs_that_looked_at_nothing(world: World) -> None:
    """A later run that is refused for something else hides nothing; one that mirrors and is judged good ends it."""
    refused(world, FOREIGN)
    world.dag_run.run_id = "manual__2"
    refused(world, Finding(Code.CONNECTION_MISSING, "x", "x", "x", "x"))
    assert ["TARGET_WRITTEN_BY_OTHERS"] == [each.code for each in last_run(world).contradictions]
    assert ["CONNECTION_MISSING"] == [finding.code for finding in last_run(world).findings]

    world.dag_run.run_id = "manual__3"
    world.do("preflight", "reserve")
    world.run.evidence.write(Kind.JUDGE, {"verdict": "PASS"})
    world.finish(preflight="success")
    assert last_run(world).contradictions

    world.dag_run.run_id = "manual__4"
    world.do("preflight", "reserve")
    world.run.evidence.write(Kind.START, {"started": True, "generation": 1})
    world.run.evidence.write(Kind.JUDGE, {"verdict": "PASS"})
    world.finish(preflight="success")
    assert () == last_run(world).contradictions


def test_steps_are_told_and_closed(world: World) -> None:
    """While a run holds the reservation its newest step is there; `finish` says that it goes on no more."""
    world.do(*BEFORE_START)
    before = world.run.news.progress()
    assert before is not None
    assert (world.run.identity.holder, "create_topics", None) == (
        before["run"],
        before["step"],
        before.get("ended_at"),
    )

    world.finish(preflight="success")
    after = world.run.news.progress()
    assert after is not None
    assert after["ended_at"]


def test_run_that_only_asks_for_the_reservation_hides_nobody(world: World) -> None:
    """Another run may be at work, whose step stays the one that is told."""
    world.run.news.tell_step("dag/other#1", "watch_lag", world.run.now())
    world.do("preflight", "reserve")
    world.finish(preflight="success")
    told = world.run.news.progress()

    assert told is not None
    assert ("dag/other#1", "watch_lag", None) == (told["run"], told["step"], told.get("ended_at"))


def test_news_that_cannot_be_written_fail_no_run(world: World) -> None:
    """With folders in their places the run ends as it would have."""
    for name in ("progress.json", "last-run.json"):
        place = Path(world.root) / "shop" / name / "full"
        place.mkdir(parents=True)
    world.do(*BEFORE_START)

    assert "success" == world.finish(preflight="success")["outcome"]


def test_command_line_reads_what_a_run_left(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """`status` shows the refusal, and `verdict` fails by what it contradicts."""
    refused(world, FOREIGN)

    assert 0 == main(["status", "shop", "--evidence-root", str(world.root)])
    assert f"Found         {FOREIGN}" in capsys.readouterr().out
    assert 1 == main(["verdict", "shop", "--evidence-root", str(world.root)])
