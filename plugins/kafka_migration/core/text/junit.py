"""JUnit XML, the form of results that CI systems show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from xml.etree import ElementTree

from kafka_migration.core.text.terminal_text import shown


class CaseOutcome(StrEnum):
    """How a case ended; the value is the name of its element, which a case that passed does not have."""

    PASSED = ""
    FAILED = "failure"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class JunitCase:
    """One case of a suite. `message` is one line about an outcome that is not passed, `text` all lines about it.

    The text of a case that passed is its standard output.
    """

    name: str
    outcome: CaseOutcome = CaseOutcome.PASSED
    message: str = ""
    text: str = ""
    seconds: float | None = None


def junit_xml(suite: str, cases: Sequence[JunitCase]) -> str:
    """Return one suite as XML in ASCII, so that no encoding of a terminal or a file changes it.

    Characters that XML cannot have are written as escapes (`\\u001b`).
    """
    outcomes = (CaseOutcome.FAILED, CaseOutcome.ERROR, CaseOutcome.SKIPPED)
    failures, errors, skipped = (str(sum(case.outcome is each for case in cases)) for each in outcomes)
    counts = {"tests": str(len(cases)), "failures": failures, "errors": errors}
    root = ElementTree.Element("testsuites", counts)
    element = ElementTree.SubElement(root, "testsuite", {"name": shown(suite), **counts, "skipped": skipped})
    for case in cases:
        _add_case(element, suite, case)
    ElementTree.indent(root)
    return str(ElementTree.tostring(root, encoding="us-ascii", xml_declaration=True), "ascii")


def _add_case(parent: ElementTree.Element, suite: str, case: JunitCase) -> None:
    time = {} if case.seconds is None else {"time": f"{case.seconds:.3f}"}
    element = ElementTree.SubElement(parent, "testcase", {"classname": shown(suite), "name": shown(case.name), **time})
    message = {"message": shown(case.message)} if case.outcome else {}
    if case.outcome or case.text:
        ElementTree.SubElement(element, case.outcome or "system-out", message).text = _lines(case.text) or None


def _lines(text: str) -> str:
    return "\n".join(map(shown, text.split("\n")))
