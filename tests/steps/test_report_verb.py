"""`kafka-migration report` prints the report of a run, and says whether it is the one that the run wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.cli.main import main
from kafka_migration.cli.shell.airflow_server import PASSWORD, SERVER, USER
from kafka_migration.core.evidence.evidence_documents import Kind, document_name
from kafka_migration.core.run.run_names import run_name
from kafka_migration.report_formats.report_format import ReportFormat
from kafka_migration.steps.answers.kept_migration import MigrationStore
from kafka_migration.steps.answers.run_folders import run_folder
from tests.contract import airflow_server
from tests.contract.airflow_server import AirflowServer
from tests.json_fields import undocumented
from tests.steps.kept import KEY
from tests.steps.test_tampering import cutover, until
from tests.steps.world import World

__all__ = ["cutover"]

FIRST, SECOND = "manual__2030-01-01T00:00:00+00:00", "manual__2030-01-02T00:00:00+00:00"


@pytest.fixture
def ended(cutover: World) -> World:
    """A run that was refused, and a cutover after it."""
    cutover.dag_run.run_id = FIRST
    cutover.do("preflight")
    cutover.finish_fails(preflight="failed")
    cutover.next_run()
    cutover.dag_run.run_id = SECOND
    until(cutover, "")
    cutover.finish(sync_offsets="success", judge="success")
    return cutover


@pytest.fixture
def server(ended: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[AirflowServer]:
    """An Airflow with what the tasks of the runs stored, and with values of other tasks, which are many."""
    with AirflowServer() as made:
        for (run, task, key), value in ended.task_instance.kept.xcoms.items():
            made.xcoms[(*run.split(" "), task, key, -1)] = value  # type: ignore[index]
        dag_id, run_id = ended.dag_run.dag_id, ended.dag_run.run_id
        for number in range(150):
            made.xcoms[dag_id, run_id, "another", "return_value", number] = number
        for name, value in ((SERVER, made.url), (USER, airflow_server.USER), (PASSWORD, airflow_server.PASSWORD)):
            monkeypatch.setenv(name, value)
        yield made


def reported(world: World, *words: str) -> int:
    return main(["report", "shop", *words, "--evidence-root", str(world.root)])


def folder(world: World) -> Path:
    """Return the folder of the newest run's attempt."""
    return Path(str(world.run.evidence.folder))


@pytest.mark.parametrize("form", ReportFormat)
def test_report_is_the_file_of_the_run(ended: World, form: ReportFormat, capsys: pytest.CaptureFixture[str]) -> None:
    """Each format is printed byte for byte as the run wrote it, by default that of the run that ended last."""
    assert 0 == reported(ended, "--format", str(form))
    assert ((folder(ended) / form.file).read_bytes().decode(), "") == capsys.readouterr()


def test_report_of_an_earlier_version_is_made(ended: World, capsys: pytest.CaptureFixture[str]) -> None:
    """A format that the run did not write is made of its `run.json`, which is said on standard error."""
    for form in ReportFormat:
        path = folder(ended) / form.file
        text = path.read_bytes().decode()
        path.unlink()
        assert 0 == reported(ended, "--format", str(form))
        out, err = capsys.readouterr()
        assert (text, f"The run wrote no {form.file}; this one is made of its run.json.\n") == (out, err)


def test_json_is_the_document_of_the_run(ended: World, capsys: pytest.CaptureFixture[str]) -> None:
    """`-o json` prints `run.json`."""
    assert 0 == reported(ended, "-o", "json")
    assert (folder(ended) / "run.json").read_text() == capsys.readouterr().out


def test_report_on_a_terminal_cannot_control_it(
    ended: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal control characters are escaped; into a file the report goes as it is."""
    (folder(ended) / "report.md").write_text("a\x1b[31m\nb\n")
    assert 0 == reported(ended)
    assert "a\x1b[31m\nb\n" == capsys.readouterr().out

    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert 0 == reported(ended)
    assert "a\\u001b[31m\nb\n" == capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        f"kafka_migration__shop/{FIRST}#1",
        f"kafka_migration__shop/{FIRST}",
        FIRST,
        "2030-01-01T00:00:00+00:00",
        "2030-01-01",
        run_name(FIRST),
        "manual 1 Jan 2030 00:00:00",
        "manual__2030-01-01…",
        "manual…01T00:00:00",
        "manual__2030-01-01T00_00_00_00_00-8b9618c38bfd0a88",
    ],
)
def test_run_is_named_whole_or_by_a_part(ended: World, text: str) -> None:
    """A run is found by its name in the ledger, by its id, or by a part of the id that no other run has."""
    assert run_folder(MigrationStore(ended.root, "shop"), text).folder.name.startswith("manual__2030-01-01T00_00_00")


def test_whole_id_wins_over_a_part_of_another(ended: World) -> None:
    """A run whose id is a part of another run's id can be named."""
    other = ended.root / "shop" / "manual__2030-01-01T00_00_00_00_00__again-0123456789abcdef" / "attempt-1"
    other.mkdir(parents=True)

    assert run_folder(MigrationStore(ended.root, "shop"), FIRST).run_id == FIRST


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("manual", "several runs with manual: manual__2030-01-02"),
        ("manual 1 Jan 00:00, attempt 2", "has no run.json in "),
        ("scheduled__1", "no run scheduled__1"),
        ("", "an empty value"),
        ("../ledger", "no run ../ledger"),
        ("x\x1b[31m", "no run x\\u001b[31m"),
        ("kafka_migration__shop/manual__9", "has no run.json in "),
        (f"{FIRST}#2", "no run "),
        (f"kafka_migration__shop/{FIRST}#2", "has no run.json in "),
    ],
)
def test_run_that_is_not_there_is_refused(
    ended: World, text: str, found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown or ambiguous run is refused with the newest runs; a run without a report with the reason."""
    try:
        code = reported(ended, text)
    except SystemExit as error:
        code = int(str(error.code))
    out, err = capsys.readouterr()

    assert (2 if not text else 3, "") == (code, out)
    assert found in err
    newest = "manual__2030-01-02T00_00_00_00_00, manual__2030-01-01T00_00_00_00_00"
    assert err.startswith("RUN_UNKNOWN") == (newest in err)


@pytest.mark.parametrize("words", [["--server", "http://localhost:1"], ["--format", "markdown", "-o", "json"]])
def test_options_that_do_not_fit_are_refused(ended: World, words: list[str]) -> None:
    """An option without an effect is wrong usage."""
    with pytest.raises(SystemExit, match="2"):
        reported(ended, *words)


@pytest.mark.parametrize("words", [[], ["--format", "markdown"], ["-o", "json"], ["--verify"]])
def test_unreadable_evidence_has_its_exit_code(ended: World, words: list[str]) -> None:
    """A report that cannot be read ends with 3, which no check of a readable one does."""
    (ended.root / "shop" / "ledger").rename(ended.root / "ledger")
    for name in ("report.md", "run.json"):
        (folder(ended) / name).unlink()
        (folder(ended) / name).mkdir()

    assert 3 == reported(ended, *words)


def test_check_asks_the_given_airflow(ended: World, server: AirflowServer, capsys: pytest.CaptureFixture[str]) -> None:
    """With the address of Airflow everything is checked; the lines name the run and who keeps the digests."""
    assert 0 == reported(ended, "--verify")
    lines = capsys.readouterr().out.splitlines()
    files = len(list(folder(ended).iterdir()))

    assert f"Run        kafka_migration__shop/{SECOND}#1" == lines[1]
    assert f"Verified   {files} files by the digests in Airflow" == lines[4]
    assert "Report     UNCHANGED: every file is the one that the run wrote" == lines[5]
    assert len(lines) == 6
    asked = [path for path in server.asked if "/~/" not in path]
    assert all(KEY in path for path in asked)
    assert asked


def test_check_names_each_wrong_file(ended: World, server: AirflowServer, capsys: pytest.CaptureFixture[str]) -> None:
    """Changed, missing and added files are in a table, and the exit code is 1."""
    judged, stopped, added = (document_name(kind, n) for kind, n in ((Kind.JUDGE, 1), (Kind.STOP, 1), (Kind.JUDGE, 2)))
    (folder(ended) / judged).write_text("{}")
    (folder(ended) / stopped).unlink()
    (folder(ended) / added).write_text("{}")

    assert 1 == reported(ended, "--verify")
    lines = capsys.readouterr().out.splitlines()
    assert "Report     CHANGED: do not rely on this report" == lines[5]
    assert [
        ["STATE", "FILE", "FOUND"],
        ["missing", f"attempt-1/{stopped}", "no file"],
        ["changed", f"attempt-1/{judged}", "2 bytes with SHA-256 44136fa355b3"],
        ["added", f"attempt-1/{added}", "2 bytes with SHA-256 44136fa355b3"],
    ] == [re.split(r"  +", line) for line in lines[7:]]


def test_check_without_airflow_says_what_it_could_not_check(ended: World, capsys: pytest.CaptureFixture[str]) -> None:
    """Without an Airflow that confirms the digests the exit code is 5, and the reason is said."""
    assert 5 == reported(ended, "--verify", "-o", "json")
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert set() == undocumented("report", answer)
    (reason,) = answer["not_checked"]

    assert "not fully checked" == answer["answer"]
    assert {"the ledger", "run.json"} == {*answer["verified_by"]}
    assert "run.json itself. Airflow was not asked, which needs --server or --connection." in reason


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ((403, "{}"), "itself. Airflow refused the question: a user without the right to do this"),
        ((500, ""), "itself. Airflow did not answer: "),
        ((0, ""), "itself. Airflow did not answer: "),
        ((200, '{"xcom_entries": 3}'), "itself. Airflow refused the question: XCom entries that are no list"),
    ],
)
def test_airflow_that_refuses_is_named(
    ended: World, server: AirflowServer, fault: tuple[int, str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """If Airflow does not answer the question, what it would confirm is not checked."""
    server.faults += [fault] * 9

    assert 5 == reported(ended, "--verify")
    assert reason in capsys.readouterr().out


def test_migration_that_is_not_there_is_refused(ended: World, capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown migration is refused as by the other verbs."""
    assert 3 == main(["report", "audit", "--evidence-root", str(ended.root)])
    assert capsys.readouterr().err.startswith("MIGRATION_UNKNOWN")


def test_newest_run_does_not_need_the_result_of_the_last_run(ended: World, capsys: pytest.CaptureFixture[str]) -> None:
    """Without `last-run.json` the newest run by its id counts; without any report there is nothing to show."""
    (ended.root / "shop" / "last-run.json").unlink()
    assert 0 == reported(ended)
    assert SECOND in capsys.readouterr().out

    for path in ended.root.glob("shop/*/attempt-1/run.json"):
        path.unlink()
    assert 3 == reported(ended)
    assert capsys.readouterr().err.startswith("REPORT_MISSING")
