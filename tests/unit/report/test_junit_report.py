"""Rules of the report as JUnit XML: its counts agree with the run, and no result looks better than it is."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.report_formats.junit_report import render_junit
from tests.stored_examples import read_run
from tests.unit.report.test_hostile_report import HOSTILE, whole_run
from tests.unit.report.test_report_of_a_run import READY, TOPIC, WHOLE, document_of, run_of, with_step

# The attributes and the order of the elements that the schemas of Ant and Jenkins both allow.
SUITE = {"id", "name", "package", "hostname", "timestamp", "tests", "failures", "errors", "skipped", "time"}
ODD = "".join(map(chr, [*range(32), 0x7F, 0x85, 0x2028, 0xFFFE, 0xFFFF, 0xD800])) + "]]>&<\"'"


def suites_of(run: Any) -> dict[str, ElementTree.Element]:
    root = ElementTree.fromstring(render_junit(run).encode())
    return {suite.attrib["name"]: suite for suite in root}


def results(run: Any, suite: str) -> dict[str, str]:
    """Return {test case: tag of its result}; the tag of a case that passed is empty."""
    cases = suites_of(run)[suite].iter("testcase")
    return {case.attrib["name"]: case[0].tag if len(case) else "" for case in cases}


def check(name: str, state: str, *codes: Code) -> dict[str, Any]:
    """Return the document of a check of preflight."""
    findings = [Finding(code, "s", "f", "e", "r", happened="h", matters="m").to_document() for code in codes]
    reason = "why" if state == "not applicable" else None
    return {"check": name, "state": state, "reason": reason, "findings": findings, "warnings": [], "accepted": []}


def test_form_is_that_of_the_usual_schemas() -> None:
    """Suites have properties, then test cases, then two streams, with the attributes that the schemas know."""
    for suite in suites_of(read_run(whole_run())).values():
        tags = [element.tag for element in suite]
        cases = [element for element in suite if element.tag == "testcase"]

        assert ["properties", *["testcase"] * len(cases), "system-out", "system-err"] == tags
        assert set(suite.attrib) == SUITE
        assert all({"name", "classname", "time"} == set(case.attrib) and len(case) <= 1 for case in cases)
        for found in (element for case in cases for element in case):
            assert {"message"} == found.attrib.keys() - ({"type"} if found.tag != "skipped" else set())


def test_counts_agree_with_the_run() -> None:
    """Each check, topic and group is one test case, and each suite counts what is in it."""
    checks = [check("a", "passed"), check("b", "failed", Code.GAP), check("c", "not applicable")]
    topics = [{**TOPIC, "topic": str(number)} for number in range(3)]
    groups = [{**READY, "group": str(number)} for number in range(2)]
    run = read_run(with_step(document_of(topics=topics, groups=groups), preflight={"checks": checks}))

    found = suites_of(run)
    assert {"run": 1, "preflight": 3, "topics": 3, "groups": 2} == {
        name: len(list(suite.iter("testcase"))) for name, suite in found.items()
    }
    for suite in found.values():
        counts = {tag: len(list(suite.iter(tag))) for tag in ("failure", "error", "skipped")}
        wanted = {"failure": "failures", "error": "errors", "skipped": "skipped"}
        assert counts == {tag: int(suite.attrib[name]) for tag, name in wanted.items()}
        assert len(list(suite.iter("testcase"))) == int(suite.attrib["tests"])


def test_results_of_checks() -> None:
    """A check that found something failed, one without an answer is an error, one that was not run is skipped."""
    checks = [
        *(check("a", "passed"), check("b", "accepted"), check("c", "not applicable")),
        *(check("d", "failed", Code.GAP, Code.FACT_UNKNOWN), check("e", "failed", Code.FACT_UNKNOWN)),
    ]
    run = read_run(with_step(document_of(), preflight={"checks": checks}))

    assert {"a": "", "b": "", "c": "skipped", "d": "failure", "e": "error"} == results(run, "preflight")


@pytest.mark.parametrize(
    ("changes", "result"),
    [
        ({}, ""),
        ({"verdict": "FAIL"}, "failure"),
        ({"whole_verdict": "FAIL", "whole": {**WHOLE, "proved": False}}, "failure"),
        ({"verdict": "NOT_VERIFIABLE", "whole": {**WHOLE, "proved": False}}, "skipped"),
        ({"whole": {**WHOLE, "proved": False, "pending_generations": [3]}}, "skipped"),
        ({"whole": None}, "skipped"),
    ],
)
def test_results_of_topics(changes: dict[str, Any], result: str) -> None:
    """A topic passes only if it is proved; a difference is a failure, and what is not compared is skipped."""
    assert {"orders": result} == results(run_of("sync", topics=[{**TOPIC, **changes}]), "topics")


@pytest.mark.parametrize(
    ("mode", "verdict", "outcome", "result"),
    [
        ("cutover", "ready", "moved", ""),
        ("cutover", "ready", "already_moved", ""),
        ("cutover", "ready", "not written", "failure"),
        ("cutover", "left out", "not written", "failure"),
        ("cutover", "ready", "refused", "failure"),
        ("cutover", "ready", "unknown", "error"),
        ("fail_back", "nothing to do", "not written", "skipped"),
        ("rehearse", "ready", "not written", ""),
        ("rehearse", "provisional", "not written", ""),
        ("rehearse", "left out", "not written", "skipped"),
    ],
)
def test_results_of_groups(mode: str, verdict: str, outcome: str, result: str) -> None:
    """A group passes if it was moved, or if a rehearsal would move it; an unknown outcome is an error."""
    run = run_of(mode, groups=[{**READY, "verdict": verdict, "outcome": outcome}])

    assert {"billing": result} == results(run, "groups")


@pytest.mark.parametrize(
    ("outcome", "result"), [("success", ""), ("failed", "failure"), ("behind", "skipped"), ("partly done", "skipped")]
)
def test_run_has_a_case_of_its_own(outcome: str, result: str) -> None:
    """A run that failed before it judged anything has a failure, and a run that is not complete does not pass."""
    assert {"sync": result} == results(run_of("sync", outcome=outcome, topics=[], groups=[]), "run")


@pytest.mark.parametrize("text", [*HOSTILE, ODD])
def test_texts_stay_texts(text: str) -> None:
    """Any name and reason is the text of an attribute or an element; control characters are written out."""
    run = run_of("cutover", groups=[{**READY, "group": text, "outcome": "refused", "reasons": [text]}], run_id=text)
    (case,) = suites_of(run)["groups"].iter("testcase")

    assert 1 == len(case)
    assert all(each.isprintable() for each in case.attrib["name"] + (case[0].text or "").replace("\n", ""))
    assert len(case.attrib["name"]) >= len(text.strip())
