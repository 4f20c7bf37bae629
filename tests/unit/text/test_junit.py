"""Rules of JUnit XML: any parser reads it, whatever the texts are."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.findings.junit_cases import findings_case
from kafka_migration.core.text.junit import CaseOutcome, JunitCase, JunitSuite, junit_xml
from kafka_migration.core.text.terminal_text import shown

TEXTS = st.text(st.characters(), max_size=30)
CASES = st.builds(JunitCase, TEXTS, st.sampled_from(CaseOutcome), TEXTS, TEXTS)


@given(st.lists(CASES, max_size=4))
def test_each_case_is_read_back(cases: list[JunitCase]) -> None:
    """Names, outcomes and messages are those that were given, with escapes for what XML cannot have."""
    found = list(ElementTree.fromstring(junit_xml(JunitSuite("checks", cases))).iter("testcase"))

    assert [(shown(case.name), case.outcome) for case in cases] == [
        (case.get("name"), outcome_of(case)) for case in found
    ]
    for case, element in zip(cases, found, strict=True):
        messages = [each.get("message") for each in element if each.tag != "system-out"]
        assert ([shown(case.message)] if case.outcome else []) == messages


def outcome_of(case: ElementTree.Element) -> str:
    return next((each.tag for each in case if each.tag != "system-out"), "")


def test_counts_are_those_of_the_cases() -> None:
    """CI systems show the counts of the suite."""
    cases = [JunitCase(outcome.name, outcome, seconds=1.5) for outcome in CaseOutcome]
    root = ElementTree.fromstring(junit_xml(JunitSuite("checks", cases)))

    assert ["4", "1", "1", "1", "6.000"] == [
        root[0].get(name) for name in ("tests", "failures", "errors", "skipped", "time")
    ]
    assert ["1.500"] * 4 == [case.get("time") for case in root.iter("testcase")]


def test_markup_in_a_name_stays_text() -> None:
    """The text is XML in ASCII, so that neither markup in it nor the encoding of a terminal changes it."""
    text = junit_xml(JunitSuite("checks", [JunitCase('<x a="1">&ü', CaseOutcome.FAILED, "]]>", "a\n<b>\x1b")]))

    assert text.isascii()
    (case,) = ElementTree.fromstring(text).iter("testcase")
    assert ('<x a="1">&ü', "a\n<b>\\u001b") == (case.get("name"), case[0].text)


def test_case_of_findings_has_their_sentences() -> None:
    """A case with findings fails with the first one and how many more; one without passes, also with warnings."""
    findings = [Finding(Code.GAP, f"topic {name}", name * 30, "y", name * 40, happened=f"{name}.") for name in "ab"]
    failed, passed = findings_case("gaps", findings), findings_case("gaps", [], findings)

    assert (CaseOutcome.FAILED, "GAP · topic a and 1 more") == (failed.outcome, failed.message)
    assert (CaseOutcome.PASSED, "", failed.text) == (passed.outcome, passed.message, passed.text)
