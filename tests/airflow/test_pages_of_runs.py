"""What the page of a migration says about its runs: an active one, and the newest rehearsal."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from fastapi.testclient import TestClient

from kafka_migration.adapters.store.document_files import rooted
from kafka_migration.adapters.store.run_status_store import NewsStore
from kafka_migration.core.report.run_document import GroupResult, RunDocument
from kafka_migration.core.run.task_steps import DagKind, steps_of
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.page import screen
from kafka_migration.page.kept_in_airflow import TaskTimes
from kafka_migration.page.kept_run import KeptRun
from kafka_migration.page.screen_sections import facts_of, phase_rows, sections_of
from tests.airflow.test_pages import DAG, PAGE, client, ended, shown, times, words
from tests.airflow.world import World
from tests.conftest import MIGRATION_TEXT
from tests.connect_files import CONNECT_TEXT

__all__ = ["client", "ended", "shown", "times"]


def test_active_run_casts_no_doubt_on_the_last_result(ended: World, client: TestClient) -> None:
    """An active run adds to the ledger before it has a result; the answer is no for the run alone."""
    path = ended.root / "shop" / "last-run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"at": "2020-01-01T00:00:00+00:00"}))
    NewsStore(rooted(ended.root), "shop").tell_step(f"{DAG}/manual__2#1", "watch_lag", datetime.now(UTC).isoformat())
    text = words(client.get(PAGE).text)

    assert "older than the newest entry of the ledger" not in text
    assert re.search(r"May the migration be cut over\? No: .* No run is active NOT MET", text)


def test_phases_that_the_mode_skips_are_no_later_phases(
    ended: World, times: list[TaskTimes], client: TestClient
) -> None:
    """While a sync is active, the phases of a cutover are shown as skipped, not as later."""
    now = datetime.now(UTC)
    steps = [TaskTimes(step.task, None, None, None) for step in steps_of(DagKind.MANUAL)]
    times[:] = [TaskTimes("preflight", "running", now, None), *steps[1:]]
    news = NewsStore(rooted(ended.root), "shop")
    news.tell_progress(
        {"schema": 1, "run": f"{DAG}/manual__2#1", "step": "plan", "mode": "sync", "at": now.isoformat()}
    )
    text = words(client.get(PAGE).text)

    assert "Validate later" in text
    for phase in ("Plan the groups", "Wait for approval", "Write the groups"):
        assert f"{phase} skipped" in text


def seen_run() -> tuple[screen.Screen, KeptRun, RunDocument]:
    """Return the page's values with the last run and its document."""
    seen = screen.screen_of("shop", None, lambda _: True, datetime.now(UTC))
    assert isinstance(seen, screen.Screen)
    assert seen.run
    assert seen.run.document
    return seen, seen.run, seen.run.document


def test_run_that_only_validates_copies_nothing(ended: World) -> None:
    """The tasks of its copy succeed at once, so the phases are shown as skipped, not as done."""
    seen, run, document = seen_run()
    now = datetime.now(UTC)
    tasks = tuple(TaskTimes(step.task, "success", now, now) for step in steps_of(DagKind.MANUAL))
    validated = replace(run, tasks=tasks, document=replace(document, mode="validate"))
    rows = phase_rows(replace(seen, run=validated))

    assert ["Copy", "Stop MirrorMaker"] == [row.name for row in rows if row.state == "skipped" and row.seconds is None]


def test_run_without_a_plan_shows_that_of_the_newest_rehearsal(ended: World) -> None:
    """The groups of the rehearsal are shown with its time; a plan of the run itself comes first."""
    seen, run, document = seen_run()
    groups = (GroupResult("app", "move", "not written", 2, 0, 0, ()),)
    planned = replace(run, document=replace(document, groups=groups, finished_at="2030-01-01T00:00:00"))
    of_rehearsal = section(replace(seen, rehearsed=planned))
    own = section(replace(seen, run=planned, rehearsed=planned))

    assert "has no plan of its groups" in section(seen)
    assert "The rehearsal that ended at 2030-01-01T00:00:00 made this one." in of_rehearsal
    assert "app" in of_rehearsal
    assert "app" in own
    assert "rehearsal" not in own


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MIGRATION_TEXT, "mirrormaker2 on mirror_host; without a renewal MirrorMaker stops itself after 10m00s"),
        (CONNECT_TEXT, "connect on shop_connect; no lease: it copies until a run or kafka-migration stop stops it"),
    ],
)
def test_page_says_what_ends_mirrormaker_without_airflow(ended: World, text: str, expected: str) -> None:
    """A host ends it when its lease expires; a Connect cluster keeps no lease."""
    seen = replace(seen_run()[0], filed=load_migration(text, where="shop.yaml"))

    assert expected == dict(facts_of(seen))["Engine"]


def section(seen: screen.Screen) -> str:
    (found,) = (each for each in sections_of(seen) if each.title == "Consumer groups")
    return str(found)
