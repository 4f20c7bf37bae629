"""Rules of the documentation."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_migration.cli.files.explanations import explanations
from kafka_migration.cli.main import parser
from kafka_migration.core.connections.java_properties import java_properties
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.migration_file.loading import load_migration
from tests.documents import blocks, commands

ROOT = Path(__file__).parents[3]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_generated_pages_are_current() -> None:
    """The reference pages say what the code says."""
    done = subprocess.run([sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True)

    assert (0, "") == (done.returncode, done.stderr)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_make_commands_exist(path: Path) -> None:
    """Every `make` command that a document names is a target of the Makefile."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(
        re.findall(r"`make ([a-z-]+)", path.read_text()) + re.findall(r"^make ([a-z-]+)", path.read_text(), re.M)
    )

    assert set() == named - targets


def cli_verbs() -> dict[str, argparse.ArgumentParser]:
    verbs = next(action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    return dict(verbs.choices)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_commands_of_the_command_line_exist(path: Path) -> None:
    """Every `kafka-migration` command that a document names has a verb that exists."""
    named = re.findall(r"(?:`|^)(?:kafka-migration|python -m kafka_migration) ([a-z][a-z-]*)", path.read_text(), re.M)

    assert set() == set(named) - set(cli_verbs())


# What may stand before a command: spaces, variables, the container or the folder in which it runs.
_CALLED_BY = re.compile(r"^\s*(?:[A-Z_]+=\S+ )*(?:docker compose exec (?:-T )?\S+ )?(?:\.venv/bin/)?")


def shown_commands(program: str) -> list[list[str]]:
    """Return the words of every command of a program that any page shows in a block of its own."""
    lines = [line for path in DOCUMENTS for line in commands(path.read_text(), "", "sh")]
    calls = (_CALLED_BY.sub("", line).replace("python -m kafka_migration ", "kafka-migration ") for line in lines)
    # What follows the sign for a file is for the shell.
    found = [shlex.split(line.partition(" > ")[0])[1:] for line in calls if line.startswith(f"{program} ")]
    assert found, program
    return found


def test_shown_commands_can_be_called() -> None:
    """Each command of Airflow's and of ours that a page shows is understood by the program itself."""
    from airflow.cli import cli_parser

    for words in shown_commands("airflow"):
        cli_parser.get_parser().parse_args(words)
    for words in shown_commands("kafka-migration"):
        parser().parse_args(words)


def test_every_verb_and_option_is_documented() -> None:
    """The page of the command line has each verb with all of its options."""
    page = (ROOT / "docs" / "reference" / "cli.md").read_text()
    sections = {section.split("`")[1]: section for section in page.split("\n## ")[1:] if section.startswith("`")}

    assert set(cli_verbs()) == set(sections)
    for name, verb in cli_verbs().items():
        shown = [action for action in verb._actions if action.help != argparse.SUPPRESS]
        options = {option for action in shown for option in action.option_strings} - {"-h", "--help"}
        assert set() == {option for option in options if f"`{option}" not in sections[name] + page.split("\n## ")[0]}


INSTALLATION = (ROOT / "docs" / "installation.md").read_text()


def test_every_setting_is_documented() -> None:
    """The installation page has a row for each setting of the section, with its environment variable."""
    code = (ROOT / "plugins" / "kafka_migration" / "airflow_adapters" / "airflow_settings.py").read_text()
    rows = re.findall(r"^\| `(\w+)` \| `AIRFLOW__KAFKA_MIGRATION__(\w+)`", INSTALLATION, re.MULTILINE)

    assert [(name, name.upper()) for name in re.findall(r'conf\.get\w*\(SECTION, "(\w+)"', code)] == rows


def test_the_connections_of_the_installation_page_are_accepted() -> None:
    """Each example is whole JSON, and one of a Kafka connection translates for MirrorMaker and Spark."""
    connections = [json.loads(text) for text in blocks(INSTALLATION, "json")]

    for connection in connections:
        if connection["conn_type"] == "kafka":
            java_properties("shop_source", connection["extra"])
    known = {"aws", "google_cloud_platform", "http", "kafka", "spark", "ssh", "wasb"}
    assert known == {connection["conn_type"] for connection in connections}


def test_the_migration_file_of_the_installation_page_is_valid() -> None:
    """The smallest migration file that is shown can be read."""
    (text,) = blocks(INSTALLATION, "yaml")

    assert "shop" == load_migration(text, where="docs/installation.md").name


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_relative_links_lead_somewhere(path: Path) -> None:
    """Every relative link of a document names a file of the repository."""
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", path.read_text())

    assert [] == [link for link in links if not (path.parent / link).exists()]


def of_github(heading: str) -> str:
    """Return the anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def of_mkdocs(heading: str) -> str:
    """Return the anchor that MkDocs gives to a heading, with the rule of Python-Markdown."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def headings(path: Path) -> list[str]:
    """Return the texts of the headings of a page, as a reader sees them, and its other anchors."""
    shown = re.sub(r"^( *)```.*?^\1```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    texts = re.findall(r"^#+ (.*)$", shown, re.MULTILINE) + re.findall(r'<a id="([^"]+)"></a>', shown)
    return [re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", text) for text in texts]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_to_headings(path: Path) -> None:
    """The part of a page that a link names is a heading there, on the site and on GitHub."""
    links = re.findall(r"\]\((?!https?://)([^)#\s]*\.md|)#([^)\s]+)\)", path.read_text())
    pages = {page: headings(path.parent / page if page else path) for page, _ in links}

    for anchor in (of_github, of_mkdocs):
        assert [] == [(page, part) for page, part in links if part not in map(anchor, pages[page])]


@pytest.mark.parametrize(
    ("page", "kinds"),
    [
        ("error-codes.md", {"error code"}),
        ("reference/lint.md", {"lint code"}),
        ("reference/labels.md", {"alert", "label", "verdict"}),
    ],
)
def test_every_name_has_an_anchor(page: str, kinds: set[str]) -> None:
    """Each name that `explain` knows is a heading of its page, whose anchor is the name in small letters."""
    shown = headings(ROOT / "docs" / page)
    names = [each.name for each in explanations() if each.kind.partition(",")[0] in kinds]

    assert set(names) <= set(shown)
    for anchor in (of_github, of_mkdocs):
        anchors = [anchor(heading) for heading in shown]
        assert len(anchors) == len(set(anchors))
        assert {name.lower() for name in names} == {anchor(name) for name in names}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_named_tests_exist(path: Path) -> None:
    """Every test that a document names by its file is in that file."""
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", path.read_text())

    assert [] == [test for test in named if f"def {test[1]}(" not in (ROOT / test[0]).read_text()]


def test_every_code_is_used() -> None:
    """A code that nothing raises is not documented as if it could happen."""
    sources = "\n".join(
        p.read_text()
        for p in (ROOT / "plugins").rglob("*")
        if (p.suffix == ".py" and p.name != "codes.py") or p.suffix == ".sh"
    )

    assert set() == set(map(str, Code)) - set(re.findall(r"\w+", sources))


BASES = {"PatientTrigger", "MigrationOperator", "MigrationSensor", "SparkJobOperator"}


def test_every_operator_is_documented() -> None:
    """Each operator, sensor and trigger stands on the operators' page, and can be imported from one module."""
    page = (ROOT / "docs" / "reference" / "operators.md").read_text()
    folder = ROOT / "plugins" / "kafka_migration" / "orchestration"
    classes = [
        name
        for sub in ("cutover", "operators", "sensors", "triggers")
        for path in (folder / sub).glob("*.py")
        for name in re.findall(r"^class (\w+(?:Operator|Sensor|Trigger))\(", path.read_text(), re.M)
    ]

    public = [name for name in classes if name not in BASES]
    exported = (folder.parent / "operators.py").read_text()

    assert [] == [name for name in public if f"`{name}`" not in page or f'"{name}"' not in exported]


@pytest.mark.parametrize("name", ["nightly-sync", "cutover"])
def test_sections_of_the_how_to_pages_can_be_read(name: str, migration_text: str) -> None:
    """The section that the page shows is valid in a migration file."""
    (example,) = blocks((ROOT / "docs" / "howto" / f"{name}.md").read_text(), "yaml")
    section = example.partition(":")[0]
    kept = re.sub(rf"^{section}:\n(?: .*\n)*", "", migration_text, flags=re.MULTILINE)

    assert load_migration(kept + example, where=f"docs/howto/{name}.md").topics


def test_alerts_of_the_documentation_can_be_read(migration_text: str) -> None:
    """The example of the section `alerts` is valid, and the table names every kind."""
    page = (ROOT / "docs" / "alerts.md").read_text()
    (example,) = blocks(page, "yaml")

    alerts = load_migration(migration_text + example, where="docs/alerts.md").alerts

    assert alerts is not None
    assert 2 == len(alerts.notifiers)
    unlinked = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", page)
    for kind in AlertKind:
        assert f"\n| `{kind}` | {kind.meaning} |\n" in unlinked
    runbook = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", (ROOT / "docs/runbook.md").read_text())
    table = "".join(f"| `{kind}` | {kind.urgency} | {kind.first_step} |\n" for kind in AlertKind)
    section = runbook.partition("\n## ")[2].partition("\n## ")[0]
    assert f"\n\n| Alert | Act | First step |\n|---|---|---|\n{table}\n" in section
