"""The parts of the walkthroughs that need no cluster, run as the pages show them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from kafka_migration.cli.main import main
from tests.walkthroughs import (
    FOLDER,
    PAGES,
    PEM,
    PREPARATION,
    REST,
    ExitCodes,
    Replaced,
    Step,
    managers,
    replaced,
    steps,
)

WITHOUT_CLUSTER = ("discover", "lint", "import", "check")
# What a person puts into the printed commands.
FILLED_IN = {
    "<USER>": "migration",
    "<PASSWORD>": "scram-password",
    "<CERTIFICATES OF THE AUTHORITY IN PEM>": PEM,
}
# A migration uses MirrorMaker 2 if its file does not say more.
LEFT_OUT_OF_IMPORT = {'  engine: "mirrormaker2"'}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a prepared Airflow, where the commands run."""
    (tmp_path / "include" / "migrations").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES)
def test_what_needs_no_cluster(
    page: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files are accepted, commands have the named exit codes, and connections to Kafka are those that are printed."""
    codes, printed, ran = ExitCodes(page), "", set[str]()
    with managers(folder) as table:
        for step in steps(page):
            words = shlex.split(step.text) if not step.file else []
            if step.file:
                write(folder / step.file, step.text)
            elif words[:3] == ["airflow", "connections", "add"] and '"http"' in step.text:
                monkeypatch.setenv(f"AIRFLOW_CONN_{words[3].upper()}", connection(step, table))
            elif words[:3] == ["airflow", "connections", "add"]:
                assert step.text in printed
            elif words[0] == "kafka-migration" and words[1] in WITHOUT_CLUSTER:
                assert codes.next_of(step.text) == main(words[1:]), step.text
                printed += filled(capsys.readouterr().out)
                ran.add(words[1])

    assert ran >= {"check"}
    assert ran & {"discover", "import"}


def write(path: Path, text: str) -> None:
    """Write a file of the page; a migration file that `import` wrote before loses nothing but comments."""
    if path.exists():
        proposed = {line for line in path.read_text().splitlines() if not line.startswith("#")}
        assert proposed - set(text.splitlines()) <= LEFT_OUT_OF_IMPORT
    path.write_text(text)


def connection(step: Step, table: Replaced) -> str:
    """Return the fields of a connection that a command creates."""
    words = shlex.split(replaced(step.text, table))
    return words[words.index("--conn-json") + 1]


def filled(printed: str) -> str:
    """Return what a command printed, as a person runs it: without the marks of comments and with all values."""
    for placeholder, value in FILLED_IN.items():
        printed = printed.replace(placeholder, value)
    return re.sub(r"^# (?=airflow connections add)", "", printed, flags=re.MULTILINE)


def test_every_page_is_followed() -> None:
    """There is a test that runs all commands of each page."""
    tests = (FOLDER.parents[1] / "tests" / "deploy" / "test_walkthroughs.py").read_text()

    assert {PREPARATION, REST, *PAGES} == {path.stem for path in FOLDER.glob("*.md")}
    assert set(PAGES) == set(re.findall(r'\.follow\("([a-z0-9-]+)"', tests))


@pytest.mark.parametrize("page", PAGES)
def test_pages_lead_to_what_all_end_with(page: str) -> None:
    """The last section of a walkthrough leads to the common page, whose steps follow its own."""
    last = (FOLDER / f"{page}.md").read_text().rpartition("\n## ")[2]

    assert f"]({REST}.md)" in last


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_short(page: str) -> None:
    """A walkthrough has at most 900 words."""
    assert len((FOLDER / f"{page}.md").read_text().split()) <= 900
