"""Rules of a run's note in Airflow, and of its link *Report*."""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.models import import_all_models
from airflow.models.base import Base
from airflow.models.dagrun import DagRun, DagRunNote
from airflow.models.xcom import XComModel
from fastapi.testclient import TestClient
from sqlalchemy import create_engine, select
from sqlalchemy.orm import Session

from kafka_migration.adapters.store.digest_keeper import KEY
from kafka_migration.adapters.store.document_files import rooted
from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.core.evidence.root import not_readable
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.report.run_status import joined_notes, run_note
from kafka_migration.orchestration.report_link import ReportLink
from kafka_migration.orchestration.task import note_writer as note_module
from kafka_migration.orchestration.task.note_writer import NOTE_KEY, RunNoteListener
from kafka_migration.page import kept_files, kept_in_airflow, report_page
from kafka_migration.page.report_page import NO_FORMAT, NOT_KEPT, page_of
from kafka_migration.report_formats.report_format import ReportFormat
from kafka_migration_plugin import KafkaMigrationPlugin
from tests.airflow.visiting import visitor
from tests.airflow.world import World
from tests.odd_files import make_socket
from tests.unit.report.test_report_of_a_run import TOPIC, WHOLE, run_of

DAG, RUN = "kafka_migration__shop", "manual__1"
BIG = {**TOPIC, "whole": {**WHOLE, "target_records": 260_000}}
MOVING = Finding(Code.FENCE_MOVING, "orders[0]", "5", "4", "Stop the producer.").to_document()


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"topics": [BIG], "note": "CHG-1234"}, "cutover · PASS · 260,000 records · CHG-1234"),
        ({"outcome": "partly done"}, "cutover · PASS · partly done · 200 records"),
        (
            {"outcome": "failed", "verdict": None, "topics": [], "findings": [MOVING] * 2},
            "cutover · failed: FENCE_MOVING",
        ),
        ({"outcome": "failed", "verdict": None, "topics": []}, "cutover · failed"),
        ({"note": "two\nlines"}, "cutover · PASS · 200 records · two lines"),
    ],
)
def test_note_of_a_run(changes: dict[str, Any], note: str) -> None:
    """The note has mode, verdict, outcome, number of records and the form's note on one line."""
    assert note == run_note(run_of("cutover", **changes))


def test_note_is_short() -> None:
    """A note has at most 1,000 characters, the limit of Airflow."""
    assert len(run_note(run_of("cutover", note="x" * 500))) == 300
    assert len(joined_notes("cutover · PASS", "x" * 5000)) == 1000


def test_note_has_a_link_to_the_report() -> None:
    """The link is part of our line, so it goes with it; a very long one is left out."""
    run = run_of("cutover")
    note = run_note(run, "http://airflow/report/a%28b")

    assert f"{run_note(run)} · [report](http://airflow/report/a%28b)" == note
    assert "cutover · PASS\n\nours" == joined_notes("cutover · PASS", f"{note}\n\nours")
    assert run_note(run) == run_note(run, "x" * 301)


@pytest.mark.parametrize(
    ("present", "joined"),
    [
        (None, "sync · PASS"),
        ("", "sync · PASS"),
        ("ours to keep", "sync · PASS\n\nours to keep"),
        ("sync · failed: BEHIND", "sync · PASS"),
        ("cutover · failed\n\nours to keep", "sync · PASS\n\nours to keep"),
    ],
)
def test_note_of_a_user_is_kept(present: str | None, joined: str) -> None:
    """A cleared run replaces its own line, and a user's note stays below it."""
    assert joined == joined_notes("sync · PASS", present)


def test_finish_writes_the_note(world: World) -> None:
    """A failed run has a note."""
    world.connections["spark"] = "ssh"
    world.refuses("preflight")
    world.finish_fails(preflight="failed")

    note = world.task_instance.xcoms[NOTE_KEY]
    assert note.startswith("sync · failed: ")
    assert note.endswith("/kafka-migration/report/kafka_migration__shop/manual__1)")


def test_note_that_cannot_be_written_fails_no_run(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run whose note cannot be written to XCom succeeds."""

    push = world.task_instance.xcom_push

    def broken(key: str, value: Any) -> None:
        if key == NOTE_KEY:
            raise RuntimeError("no XCom")
        push(key, value)

    monkeypatch.setattr(world.task_instance, "xcom_push", broken)

    assert world.finish(preflight="success")["outcome"] == "success"


def test_listener_sets_the_note(monkeypatch: pytest.MonkeyPatch) -> None:
    """The listener sets the note of `finish` on our runs, and ignores runs of other DAGs."""
    monkeypatch.setattr(note_module, "_left_by_finish", lambda dag_run: "sync · PASS")
    ours = SimpleNamespace(dag_id="kafka_migration__shop", run_id="r", dag_run_note=None, note=None)
    written = SimpleNamespace(content="by a person")
    noted = SimpleNamespace(dag_id="kafka_rollback__shop", run_id="r", dag_run_note=written, note=None)
    theirs = SimpleNamespace(dag_id="etl", run_id="r")

    for run in (ours, noted, theirs):
        RunNoteListener().on_dag_run_success(run)

    assert ("sync · PASS", "sync · PASS\n\nby a person") == (ours.note, written.content)


@pytest.fixture
def metadata() -> Iterator[Session]:
    """Airflow's tables, with one run for which `finish` has written a note."""
    import_all_models()
    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    now = datetime(2030, 1, 1, tzinfo=UTC)
    with Session(engine) as session:
        run = DagRun(dag_id="kafka_migration__shop", run_id="r", run_type="manual", state="running", run_after=now)
        session.add(run)
        session.flush()
        place = {"dag_run_id": run.id, "dag_id": run.dag_id, "run_id": "r", "task_id": "finish", "map_index": -1}
        session.add(XComModel(**place, key=NOTE_KEY, value=json.dumps("sync · PASS"), timestamp=now))
        session.commit()
        yield session


@pytest.mark.parametrize("present", [None, "by a person"])
def test_note_is_written_to_airflows_tables(metadata: Session, present: str | None) -> None:
    """The note is written in the scheduler's transaction, replaces an earlier one, and keeps a user's."""
    run = metadata.scalars(select(DagRun)).one()
    run.note = present
    metadata.commit()

    for _ in range(2):
        RunNoteListener().on_dag_run_failed(run)
        metadata.commit()

    expected = "sync · PASS" if present is None else "sync · PASS\n\nby a person"
    assert expected == metadata.scalar(select(DagRunNote.content))


def test_listener_never_raises(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """An error of the listener, which runs in the scheduler, is only logged."""

    def broken(_: Any) -> str:
        raise RuntimeError("no database")

    monkeypatch.setattr(note_module, "_left_by_finish", broken)

    RunNoteListener().on_dag_run_failed(SimpleNamespace(dag_id="kafka_migration__shop", run_id="r"))

    assert "was not set" in caplog.text


def test_plugin_registers_link_page_and_listener() -> None:
    """The plugin registers the link, the page and the listener."""
    assert ["Report"] == [link.name for link in KafkaMigrationPlugin.operator_extra_links]
    assert ["/kafka-migration"] == [app["url_prefix"] for app in KafkaMigrationPlugin.fastapi_apps]
    assert 1 == len(KafkaMigrationPlugin.listeners)


def test_link_quotes_what_airflow_allows_in_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """The link quotes the characters of run ids, and is absolute if Airflow has a base URL."""
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "https://airflow.example/team/")

    link = ReportLink().get_link(None, ti_key=SimpleNamespace(dag_id="kafka_migration__shop", run_id="a/b+c:d"))

    assert "https://airflow.example/team/kafka-migration/report/kafka_migration__shop/a%2Fb%2Bc%3Ad" == link


@pytest.fixture
def reported(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A run with a report."""

    def stored(dag_id: str, run_id: str) -> list[Any]:
        kept = world.task_instance.kept.xcoms
        return [value for (run, _, key), value in kept.items() if run == f"{dag_id} {run_id}" and key == KEY]

    monkeypatch.setattr(kept_in_airflow, "stored_by_tasks", stored)
    monkeypatch.setattr(settings, "evidence_root", lambda: rooted(world.root))
    world.finish(preflight="success")
    return world


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """The pages, for a user who may see only the DAG `kafka_migration__shop`."""
    with visitor(monkeypatch, "kafka_migration__shop") as client:
        yield client


def test_report_is_served_with_its_own_policy(reported: World, client: TestClient) -> None:
    """The report is HTML that may use the style in it and nothing else, because topics and groups may have any name."""
    answer = client.get(f"/report/{DAG}/{RUN}")
    style = answer.text.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()

    assert (200, "text/html; charset=utf-8") == (answer.status_code, answer.headers["content-type"])
    assert "nosniff" == answer.headers["x-content-type-options"]
    policy = answer.headers["content-security-policy"]
    assert f"default-src 'none'; style-src 'sha256-{digest}'; " in policy
    assert policy.endswith("; sandbox")
    assert answer.text.startswith("<!doctype html>")


@pytest.mark.parametrize("wanted", ReportFormat)
def test_each_format_is_saved_under_a_name(reported: World, client: TestClient, wanted: ReportFormat) -> None:
    """A format that is asked for is downloaded as a file with the names of the migration and the run."""
    answer = client.get(f"/report/{DAG}/{RUN}", params={"format": str(wanted)})

    assert (200, wanted.media_type) == (answer.status_code, answer.headers["content-type"].partition(";")[0])
    assert f'attachment; filename="shop-{RUN}-{wanted.file}"' == answer.headers["content-disposition"]
    assert "default-src 'none'; frame-ancestors 'self'; sandbox" == answer.headers["content-security-policy"]
    assert answer.content == (reported.run.evidence.folder / wanted.file).read_bytes()


@pytest.mark.parametrize("wanted", ["pdf", "../run.json", "HTML", "\0"])
def test_other_formats_are_refused(reported: World, client: TestClient, wanted: str) -> None:
    """A format that is none leads to no file, and the answer names the formats."""
    answer = client.get(f"/report/{DAG}/{RUN}", params={"format": wanted})

    assert (404, NO_FORMAT.text) == (answer.status_code, answer.text)
    assert "html, markdown, junit, csv" in answer.text


def test_run_that_wrote_only_markdown_is_shown_as_text(
    reported: World, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report of a version without HTML is shown as plain text; the other formats of that run do not exist."""
    names = {each.file for each in ReportFormat} - {ReportFormat.MARKDOWN.file}
    stored = kept_in_airflow.stored_by_tasks

    def earlier(*ids: str) -> list[Any]:
        return [
            {**value, "digests": {k: v for k, v in value["digests"].items() if k.rpartition("/")[2] not in names}}
            for value in stored(*ids)
        ]

    monkeypatch.setattr(kept_in_airflow, "stored_by_tasks", earlier)
    answer = client.get(f"/report/{DAG}/{RUN}")

    assert (200, "text/plain; charset=utf-8") == (answer.status_code, answer.headers["content-type"])
    assert answer.text.startswith("# shop: ")
    assert NOT_KEPT == page_of(DAG, RUN, "csv")


def test_report_needs_access_to_its_dag(reported: World, client: TestClient) -> None:
    """A request needs access to its DAG; what Airflow serves of an application besides is not there."""
    assert 403 == client.get("/report/kafka_rollback__shop/manual__1").status_code
    assert {404} == {client.get(path).status_code for path in ("/docs", "/redoc", "/openapi.json", "/report")}


@pytest.mark.parametrize(
    ("dag_id", "run_id"),
    [
        ("kafka_migration__shop", "manual__2"),
        ("kafka_migration__shop", ".."),
        ("kafka_migration__shop", "../../other"),
        ("kafka_migration__shop", "manual__1\0"),
        ("kafka_migration__..", "manual__1"),
        ("kafka_migration__", "manual__1"),
        ("kafka_migration__other", "manual__1"),
        ("etl", "manual__1"),
        ("~", "manual__1"),
    ],
)
def test_nothing_but_reports_of_runs_is_read(reported: World, tmp_path: Path, dag_id: str, run_id: str) -> None:
    """No DAG id or run id leads to another file than the report of a run."""
    (reported.root / "shop" / "report.html").write_text("not a run's")
    (tmp_path / "attempt-1").mkdir()
    (tmp_path / "attempt-1" / "report.html").write_text("outside")

    assert NOT_KEPT == page_of(dag_id, run_id)


def page(_: World) -> report_page.Page:
    return page_of(DAG, RUN)


def report_file(world: World) -> Path:
    return Path(str(world.run.evidence.folder / ReportFormat.HTML.file))


def test_report_of_the_newest_attempt_with_a_digest_is_shown(reported: World) -> None:
    """After a clear the earlier report is shown until `finish` has written the next one; a planted one never is."""
    first = page(reported)
    planted = reported.run.evidence.folder.parent / "attempt-10"
    planted.mkdir()
    (planted / "report.html").write_text("the tenth")
    assert first == page(reported)

    reported.dag_run.clear_number = 1
    assert first == page(reported)
    reported.finish(preflight="success")

    assert page(reported).text == report_file(reported).read_text()
    assert "attempt 2" in page(reported).text
    assert "attempt 2" in page_of(DAG, RUN, "markdown").text


SECRET = "CANARY-OF-ANOTHER-FILE"


def _large(path: Path) -> None:
    path.touch()
    os.truncate(path, 200 << 20)


IN_PLACE_OF_REPORT: dict[str, tuple[Callable[[Path, Path], object], str]] = {
    "changed": (lambda path, other: path.write_text("# shop: PASS"), "was changed"),
    "deleted": (lambda path, other: None, "was deleted"),
    "link": (lambda path, other: path.symlink_to(other), "a symbolic link instead of the regular file report.html"),
    "dangling": (lambda path, other: path.symlink_to("nowhere"), "a symbolic link instead"),
    "loop": (lambda path, other: path.symlink_to(path), "a symbolic link instead"),
    "environment": (lambda path, other: path.symlink_to("/proc/self/environ"), "a symbolic link instead"),
    "endless": (lambda path, other: path.symlink_to("/dev/zero"), "a symbolic link instead"),
    "hard link": (lambda path, other: path.hardlink_to(other), "was changed"),
    "pipe": (lambda path, other: os.mkfifo(path), "a pipe instead of the regular file report.html"),
    "socket": (lambda path, other: make_socket(path), "a socket instead of the regular file report.html"),
    "folder": (lambda path, other: path.mkdir(), "a folder instead of the regular file report.html"),
    "large": (lambda path, other: _large(path), "more than 8,388,608 bytes"),
    "binary": (lambda path, other: path.write_bytes(b"\xff\xfe"), "was changed"),
}


@pytest.mark.parametrize(("put", "why"), IN_PLACE_OF_REPORT.values(), ids=IN_PLACE_OF_REPORT)
def test_only_the_report_that_finish_wrote_is_served(
    reported: World, client: TestClient, tmp_path: Path, put: Callable[[Path, Path], object], why: str
) -> None:
    """Whatever is in the report's place, its content is not served; the answer says why and what to do."""
    other = tmp_path / "airflow.cfg"
    other.write_text(SECRET)
    report_file(reported).unlink()
    put(report_file(reported), other)

    answer = client.get("/report/kafka_migration__shop/manual__1")

    assert (409, "text/plain; charset=utf-8") == (answer.status_code, answer.headers["content-type"])
    assert why in answer.text
    assert "Find out who changed it" in answer.text
    assert SECRET not in answer.text


@pytest.mark.parametrize("above", ["attempt", "run", "migration"])
def test_report_below_a_linked_folder_is_not_served(reported: World, above: str, tmp_path: Path) -> None:
    """A folder that was replaced by a link is refused, even if it leads to the unchanged report."""
    attempt = report_file(reported).parent
    folder = {"attempt": attempt, "run": attempt.parent, "migration": attempt.parent.parent}[above]
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")

    assert 409 == page(reported).status
    assert f"a symbolic link instead of the folder {folder.name}" in page(reported).text


def test_report_below_a_linked_root_is_served(reported: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An administrator may set a link, or a path below links, as evidence root."""
    (tmp_path / "link").symlink_to(reported.root)
    monkeypatch.setattr(settings, "evidence_root", lambda: rooted(tmp_path / "link"))

    assert 200 == page(reported).status


def test_report_of_an_earlier_version_is_not_served(reported: World, client: TestClient) -> None:
    """A run whose report has no digest in Airflow has a page that says so."""
    reported.task_instance.kept.xcoms.clear()

    answer = client.get("/report/kafka_migration__shop/manual__1")

    assert (404, NOT_KEPT.text) == (answer.status_code, answer.text)


def test_unreachable_evidence_is_named(reported: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that does not answer is no changed report."""

    def broken(*_: object) -> bytes:
        raise not_readable("root", OSError(errno.EIO, "Input/output error"))

    monkeypatch.setattr(kept_files, "read_whole", broken)

    assert 503 == page(reported).status
    assert "Input/output error" in page(reported).text


@pytest.mark.parametrize(
    "value",
    [
        None,
        "s3://bucket/value",
        {"migration": "shop"},
        {"migration": "shop", "digests": "text"},
        {"migration": "other", "digests": {"attempt-9/report.md": "0"}},
        {"migration": "shop", "digests": {"attempt-9/report.md": ""}},
        {"migration": "shop", "digests": dict.fromkeys(("attempt-09/report.md", "attempt-٩/report.md"), "0")},
        {"migration": "shop", "digests": {"../attempt-9/report.md": "0", "attempt-9/../report.md": "0", "9": 1}},
    ],
)
def test_odd_values_in_xcom_lead_nowhere(reported: World, monkeypatch: pytest.MonkeyPatch, value: Any) -> None:
    """What is no digest of a report of this migration has no effect on the page."""
    stored = kept_in_airflow.stored_by_tasks
    monkeypatch.setattr(kept_in_airflow, "stored_by_tasks", lambda *ids: [*stored(*ids), value])

    assert 200 == page(reported).status


def test_digests_are_read_from_airflows_tables(metadata: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page reads what the tasks of this run, and no other run, stored in XCom under the key of evidence."""
    run = metadata.scalars(select(DagRun)).one()
    value, now = {"migration": "shop", "digests": {"attempt-1/report.md": "ab"}}, datetime(2030, 1, 1, tzinfo=UTC)
    place = {"dag_run_id": run.id, "dag_id": run.dag_id, "run_id": "r", "map_index": -1}
    metadata.add(XComModel(**place, task_id="finish", key=KEY, value=value, timestamp=now))
    metadata.commit()
    monkeypatch.setattr("airflow.utils.session.create_session", lambda: nullcontext(metadata))

    assert [value] == kept_in_airflow.stored_by_tasks("kafka_migration__shop", "r")
    assert [] == kept_in_airflow.stored_by_tasks("kafka_migration__shop", "other")
    assert [] == kept_in_airflow.stored_by_tasks("kafka_rollback__shop", "r")
