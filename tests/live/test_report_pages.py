"""The reports of real runs of every kind, as people see and print them, in a real browser."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from confluent_kafka import Producer

from tests.axe import serious_faults
from tests.browser import Browser, browser
from tests.live.bad_ends import damage, end_early
from tests.live.conftest import LiveWorld
from tests.live.groups import approve, awaiting, commit, ends, read_on
from tests.live.migrations import LiveMigration

pytestmark = [pytest.mark.live, pytest.mark.campaign]

THEMES = ("light", "dark")
MANY_PARTITIONS = 1_000
RECORDS = 300
# What a browser fetched beside the page.
FETCHED = "return performance.getEntriesByType('resource').map((each) => 'fetched: ' + each.name)"

# A migration, its run, and a text that the report of this run must show.
Reported = tuple[LiveMigration, str, str]


@pytest.fixture(scope="module")
def reports(live: LiveWorld) -> dict[str, Reported]:
    """Runs of each kind, one after the other, by name."""
    found: dict[str, Reported] = {}
    for runs in (passed, behind, differing, refused, cut_over_and_back, of_many_partitions):
        found |= runs(live)
    return found


def passed(live: LiveWorld) -> dict[str, Reported]:
    """A sync that copies everything."""
    migration = live.migration("reported")
    migration.produce(RECORDS)
    return {"passed": (migration, synced(migration), "PASS")}


def synced(migration: LiveMigration) -> str:
    run_id = migration.trigger()
    assert "success" == migration.finished(run_id).state
    return run_id


def behind(live: LiveWorld) -> dict[str, Reported]:
    """A sync whose first generation is ended before it has copied all."""
    migration = live.migration("reported-behind")
    migration.produce(RECORDS)
    return {"behind": (migration, end_early(live, migration), "BEHIND")}


def differing(live: LiveWorld) -> dict[str, Reported]:
    """A run on whose target another program writes a record while MirrorMaker runs."""
    migration = live.migration("reported-differs")
    migration.produce(RECORDS)
    run_id = damage(live, migration)
    assert "failed" == migration.state(run_id)
    return {"differs": (migration, run_id, "COPY_DIFFERS")}


def refused(live: LiveWorld) -> dict[str, Reported]:
    """A run of a topic that the source lacks."""
    migration = live.migration("reported-refused", more_topics=", reported-nowhere")
    run_id = migration.trigger()
    assert "failed" == migration.finished(run_id).state
    return {"refused": (migration, run_id, "reported-nowhere")}


def cut_over_and_back(live: LiveWorld) -> dict[str, Reported]:
    """A cutover, after which the group reads on the target, and its rollback."""
    migration = live.migration("reported-cutover")
    migration.produce(RECORDS)
    group, topic = f"{migration.name}-g", migration.name
    commit(migration.source, group, topic, ends(migration.source, topic))
    there = approved(live, migration, "cutover")
    migration_back = migration.way_back()
    producer = Producer(migration.target)
    producer.produce(topic, b"only on the target")
    assert 0 == producer.flush(60)
    read_on(migration.target, group, topic, ends(migration.target, topic))
    back = approved(live, migration_back, "fail_back", leave_records_of=[topic])
    return {
        "cutover": (migration, there, group),
        "rollback": (migration_back, back, group),
    }


def approved(live: LiveWorld, migration: LiveMigration, mode: str, **conf: object) -> str:
    run_id = awaiting(migration, mode, **conf)
    approve(live.api, migration, run_id)
    return run_id


def of_many_partitions(live: LiveWorld) -> dict[str, Reported]:
    """A sync of a topic with 1,000 partitions."""
    wide = "reported-wide"
    migration = live.migration("reported-many", more_topics=f", {wide}")
    migration.create_topic(wide, MANY_PARTITIONS)
    migration.produce(RECORDS, topic=wide)
    return {"1,000 partitions": (migration, synced(migration), wide)}


def test_reports_of_real_runs_are_seen_and_printed(
    live: LiveWorld, reports: dict[str, Reported], tmp_path: Path
) -> None:
    """In light and dark axe-core finds nothing serious and the browser fetches nothing else; each report prints."""
    with browser() as page:
        page.log_in(str(live.sandbox.state.airflow_url), live.api.token())
        found = [
            f"{name}, {theme}: {fault}"
            for (name, report), theme in itertools.product(reports.items(), THEMES)
            for fault in faults(live, page, report, theme, tmp_path / f"{name}-{theme}")
        ]
    assert [] == found


def faults(live: LiveWorld, page: Browser, report: Reported, theme: str, picture: Path) -> Iterator[str]:
    """Keep the report as a picture and as a PDF; yield what is wrong with it."""
    migration, run_id, text = report
    page.prefer(theme)
    # The page is in a sandbox where no script runs, so axe-core looks at the run's own file.
    page.open((migration.evidence(run_id).folder / "report.html").as_uri())
    yield from serious_faults(page)
    page.open(f"{live.sandbox.state.airflow_url}/kafka-migration/report/{migration.dag_id}/{quote(run_id, safe='')}")
    yield from page.run(FETCHED)
    page.shoot(picture.with_suffix(".png"), text)
    printed = page.printed()
    picture.with_suffix(".pdf").write_bytes(printed)
    if not (printed.startswith(b"%PDF") and b"/Type /Page" in printed):
        yield f"printed as {len(printed):,} bytes that are no PDF with a page"
