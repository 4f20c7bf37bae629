"""The places where a person reads a moment: each has the time of the migration's zone, and none has it in ISO 8601."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.cli.main import main
from kafka_migration.core.cutover.plan_page import approval_page, render_plan
from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.text.local_time import LocalTime
from kafka_migration.core.watching.producers_question import StopProducers, question_body
from kafka_migration.page.kept_in_airflow import KnownDag
from kafka_migration.report_formats.markdown_report import render_report
from tests.airflow.notifying import kinds, with_alerts
from tests.airflow.test_pages import DAG, PAGE, client, ended, shown, times
from tests.airflow.world import World
from tests.stored_examples import read_run
from tests.unit.cli.test_cli_json import lived
from tests.unit.cutover.test_approval_page import ASKING
from tests.unit.cutover.test_plan_page import PLAN

__all__ = ["client", "ended", "shown", "times"]
BERLIN = LocalTime("Europe/Berlin")
EARLIER = Path(__file__).parents[1] / "unit" / "report" / "earlier_runs" / "cutover.json"
# A moment that is no part of a run id.
ISO = re.compile(r"(?<!__)\b\d{4}-\d\d-\d\dT\d\d:\d\d")
HERE_AND_UTC = re.compile(r"\d\d:\d\d(:\d\d)? CES?T( on \d+ [A-Z][a-z]+)? \((\d{4}-\d\d-\d\d )?\d\d:\d\d(:\d\d)? UTC\)")


def is_for_people(text: str) -> bool:
    """Return whether a text has moments, and each of them as people read it."""
    return bool(HERE_AND_UTC.search(text)) and not ISO.search(text)


def stop(local: LocalTime) -> StopProducers:
    """Return an instruction to stop producers."""
    topics = [f"orders.{number}" for number in range(5_000)]
    return StopProducers("shop", topics, "old", datetime(2030, 1, 1, 22, 40, tzinfo=UTC), 3600, 60, local=local)


PLACES: dict[str, Callable[[], str]] = {
    "report": lambda: render_report(read_run({**json.loads(EARLIER.read_text()), "timezone": BERLIN.zone})),
    "approval": lambda: approval_page(replace(ASKING, local=BERLIN), render_plan(PLAN, "shop", BERLIN)),
    "question": lambda: question_body(stop(BERLIN)),
    "instruction": lambda: stop(BERLIN).instruction,
}


@pytest.mark.parametrize("place", PLACES)
def test_text_of_a_run_has_local_time(place: str) -> None:
    """Report, approval, question and instruction are in the zone that the run recorded."""
    assert is_for_people(PLACES[place]())


def test_instruction_names_deadline_and_ten_topics() -> None:
    """It says at once what to stop until when, here and in UTC; of 5,000 topics it names ten."""
    asked = stop(BERLIN)
    until = "00:40 CET on 2 January (2030-01-01 23:40 UTC)"

    assert f"Stop producers of 5,000 topics on old before {until}" == asked.instruction
    assert 10 == len(re.findall(r"orders\.\d+", question_body(asked)))
    assert "and 4,990 more" in question_body(asked)


@pytest.mark.parametrize(
    "verb", [["status", "shop"], ["verdict", "shop"], ["ready", "shop"], ["status", "--check"]], ids=" ".join
)
def test_command_has_the_zone_of_the_last_run(
    verb: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lines for people are in the zone that the newest run recorded; JSON has ISO 8601 in UTC."""
    lived(tmp_path)
    for name in ("last-run.json", "progress.json"):
        path = tmp_path / "shop" / name
        path.write_text(json.dumps({**json.loads(path.read_text()), "timezone": BERLIN.zone}))

    main([*verb, "--evidence-root", str(tmp_path)])
    lines = capsys.readouterr().out
    main([*verb, "-o", "json", "--evidence-root", str(tmp_path)])

    assert is_for_people(lines), lines
    assert not HERE_AND_UTC.search(capsys.readouterr().out)


def text_of(html: str) -> str:
    """Return what a page shows, without the attributes of its elements."""
    return unescape(re.sub(r"<[^>]*>", " ", html))


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> None:
    """An Airflow whose default time zone is not UTC, for a migration file without `nightly`."""
    monkeypatch.setattr(settings, "default_timezone", lambda: BERLIN.zone)


@pytest.mark.parametrize("path", [PAGE, "/"])
def test_page_has_local_time(
    berlin: None, shown: World, client: TestClient, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """The pages of the fleet, a migration and its run are in the zone of the migration."""
    monkeypatch.setattr(
        "kafka_migration.page.pages.known_dags", lambda: [KnownDag(DAG, "shop", datetime(2030, 1, 1, tzinfo=UTC))]
    )
    world = shown
    world.deployed = {**world.deployed, "timezone": BERLIN.zone}
    world.source.produce("orders", 0, (b"k", b"v"))
    world.params = {"mode": "rehearse"}
    world.copy_and_judge({})
    world.finish_fails(preflight="success", plan="failed")

    page = client.get(path)

    assert 200 == page.status_code
    assert is_for_people(text_of(page.text)), text_of(page.text)


def test_alerts_have_local_time(world: World) -> None:
    """The alerts of a run say when they were sent, in Airflow's zone if the file has none."""
    world.deployed = {**world.deployed, "timezone": BERLIN.zone}
    sent = with_alerts(world)
    world.do("preflight")
    world.finish_fails(preflight="success", plan="failed")

    assert ["error"] == kinds(sent)
    assert is_for_people(sent[0].replace(str(world.run.evidence.folder), ""))
    assert AlertKind.ERROR.first_step in sent[0]


@pytest.mark.parametrize("seconds", [0, 90 * 60])
def test_deadline_is_the_same_moment_in_both_zones(seconds: int) -> None:
    """Whichever of the two times a person reads, it is the deadline."""
    until = stop(BERLIN).until + timedelta(seconds=seconds)
    here, there = re.findall(r"(\d\d):(\d\d)", BERLIN.minute(until))

    assert 60 == (int(here[0]) * 60 + int(here[1]) - int(there[0]) * 60 - int(there[1])) % (24 * 60)
