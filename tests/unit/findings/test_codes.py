"""Rules of the codes, and of the pages on which a person looks them up."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.report.alerts import Ended, ended_alert
from kafka_migration.core.run.run_identity import RunIdentity
from tests.present import present
from tests.syntax import nodes_of

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "plugins" / "kafka_migration"
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text()
# Texts and rules of one use of a few codes, which do not belong to the codes themselves.
OF_ONE_USE = {
    "core/backfill/backfill_answers.py": "the sentences of the answers for an interval",
    "core/mirror/diagnosis.py": "what the log of MirrorMaker may explain",
    "core/mirror/mirrorctl_protocol.py": "the sentences of the refusals of a host, which sends a code only",
    "core/spark/spark_target.py": "the sentences for the ends of a Spark job",
    "core/validation/difference_words.py": "the sentences of the good verdicts on a copy that differs",
}
# A rule may name two codes of the same cause.
MOST_TOGETHER = 2
# The names of one entry, before its answer.
ENTRY = re.compile(r"^- \*\*(?:… )?(.*?)\*\*", re.MULTILINE | re.DOTALL)
QUESTIONS = ENTRY.findall(RUNBOOK)
# What the runbook writes in capitals beside codes: verdicts, and settings.
NO_CODES = {"PASS", "WARN", "FAIL", "NOT_VERIFIABLE", "AIRFLOW_HOME", "KAFKA_MIGRATION_HOME"}
# At night one line is not enough for these.
NEED_AN_ENTRY = {
    Code.ALERTS_INVALID,
    Code.CLUSTER_UNREACHABLE,
    Code.COPY_DIFFERS,
    Code.EVIDENCE_CHANGED,
    Code.EVIDENCE_MISSING,
    Code.GAP,
    Code.GAP_DURING_RUN,
    Code.MIGRATION_UNKNOWN,
    Code.MIRROR_NOT_STOPPED,
    Code.MOVED_TOPIC_CHANGED,
    Code.OFFSETS_NOT_WRITTEN,
    Code.SSH_UNREACHABLE,
    Code.TARGET_OFFSETS_CHANGED,
    Code.TARGET_ONLY_RECORDS,
    Code.VALIDATION_RESULT_MISSING,
}


@pytest.mark.parametrize("code", Code)
def test_a_code_is_said_in_short_sentences(code: Code) -> None:
    """Meaning and first step are there, the first step is a few short sentences, and the value is the name."""
    assert code.name == code.value
    for text in filter(None, (code.meaning, code.act, code.accepted)):
        assert text == text.strip()
        assert text.endswith(".")
        assert text.count("`") % 2 == 0
    assert 0 < len(code.act) <= 230
    assert code.meaning


def test_a_code_has_no_second_home() -> None:
    """What is the same for all findings of a code is in its row, not in a table or a set of another module."""
    home = PACKAGE / "core" / "findings" / "codes.py"
    tables = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if path != home
        for node in nodes_of(path)
        if len(_codes_in(node)) > MOST_TOGETHER
    }

    assert set(OF_ONE_USE) == tables


def _codes_in(node: ast.AST) -> set[str]:
    """Return the codes that a set or the keys of a dictionary name."""
    members = node.keys if isinstance(node, ast.Dict) else node.elts if isinstance(node, ast.Set) else []
    return {m.attr for m in members if isinstance(m, ast.Attribute) and ast.unparse(m.value) == "Code"}


def test_every_code_of_the_runbook_exists() -> None:
    """What the runbook writes like a code is one."""
    named = set(re.findall(r"`([A-Z][A-Z0-9_]{3,})`", RUNBOOK))

    assert set() == named - set(map(str, Code)) - NO_CODES


@pytest.mark.parametrize("code", Code)
def test_a_code_names_the_section_that_explains_it(code: Code) -> None:
    """The section of the runbook whose bold text names the code is the one of its row."""
    sections = [
        part.partition("\n")[0].lower().replace(" ", "-")
        for part in RUNBOOK.split("\n## ")[1:]
        for entry in ENTRY.findall(part)
        if f"`{code}`" in entry
    ]

    assert [code.explained] == sections if code.explained else [] == sections


def test_codes_that_need_more_than_a_line_have_one_entry() -> None:
    """The bold text of an entry names them, where a search of the page finds it, and no code has two entries."""
    named = re.findall(r"`([A-Z][A-Z0-9_]+)`", " ".join(QUESTIONS))

    assert set() == NEED_AN_ENTRY - set(named)
    assert [] == sorted({code for code in named if named.count(code) > 1})


def test_the_alert_of_a_mirrormaker_that_may_run_leads_to_its_entry() -> None:
    """The alert names the section of the runbook whose first entry is about it."""
    ended = Ended("failed", release_problem="no answer", may_run=True)
    alert = present(ended_alert("shop", RunIdentity("dag", "run", 1), "now", "", ended))

    assert AlertKind.NOT_STOPPED is alert.kind
    (section,) = re.findall(r"section \"(.*?)\"", alert.next_act)
    entries = RUNBOOK.partition(f"\n## {section}\n")[2]
    assert "`not_stopped`" in next(ENTRY.finditer(entries))[0]


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.md")), ids=lambda p: p.name)
def test_links_into_the_runbook_lead_to_a_heading(path: Path) -> None:
    """A part of the runbook that a page names by its heading is there."""
    headings = {heading.lower().replace(" ", "-") for heading in re.findall(r"^## (.*)$", RUNBOOK, re.MULTILINE)}
    text = path.read_text()
    links = set(re.findall(r"runbook\.md#([\w-]+)", text))
    if path.name == "runbook.md":
        links |= set(re.findall(r"\]\(#([\w-]+)\)", text))

    assert set() == links - headings
