"""Rules of the codes, and of the pages on which a person looks them up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_migration.core.findings.code_acts import ACTS
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.report.alerts import Ended, ended_alert
from tests.present import present

ROOT = Path(__file__).parents[3]
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text()
# The names of one entry, before its answer.
QUESTIONS = re.findall(r"^- \*\*… (.*?)\*\*", RUNBOOK, re.MULTILINE | re.DOTALL)
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


def test_every_code_says_what_to_do_first() -> None:
    """No code is left without an act, in the order in which the codes are."""
    assert list(Code) == list(ACTS)


@pytest.mark.parametrize("code", Code)
def test_acts_are_short_sentences(code: Code) -> None:
    """The first step is a few short sentences."""
    act = ACTS[code]

    assert act == act.strip()
    assert act.endswith(".")
    assert len(act) <= 230
    assert act.count("`") % 2 == 0


def test_every_code_of_the_runbook_exists() -> None:
    """What the runbook writes like a code is one."""
    named = set(re.findall(r"`([A-Z][A-Z0-9_]{3,})`", RUNBOOK))

    assert set() == named - set(map(str, Code)) - NO_CODES


def test_codes_that_need_more_than_a_line_have_one_entry() -> None:
    """The bold text of an entry names them, where a search of the page finds it, and no code has two entries."""
    named = re.findall(r"`([A-Z][A-Z0-9_]+)`", " ".join(QUESTIONS))

    assert set() == NEED_AN_ENTRY - set(named)
    assert [] == sorted({code for code in named if named.count(code) > 1})


def test_the_alert_of_a_mirrormaker_that_may_run_leads_to_its_entry() -> None:
    """The alert names the entry by words that are in its bold text."""
    ended = Ended("failed", release_problem="no answer", may_run=True)
    alert = present(ended_alert("shop", "run", "", ended))

    assert AlertKind.NOT_STOPPED is alert.kind
    (entry,) = re.findall(r"section \"(.*?)\"", alert.next_act)
    assert 1 == len([question for question in QUESTIONS if entry in question])


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.md")), ids=lambda p: p.name)
def test_links_into_the_runbook_lead_to_a_heading(path: Path) -> None:
    """A part of the runbook that a page names by its heading is there."""
    headings = {heading.lower().replace(" ", "-") for heading in re.findall(r"^## (.*)$", RUNBOOK, re.MULTILINE)}
    text = path.read_text()
    links = set(re.findall(r"runbook\.md#([\w-]+)", text))
    if path.name == "runbook.md":
        links |= set(re.findall(r"\]\(#([\w-]+)\)", text))

    assert set() == links - headings
