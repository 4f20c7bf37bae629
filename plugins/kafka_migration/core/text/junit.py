"""JUnit XML, the form of results that CI systems show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True)
class JunitSuite:
    """A suite of cases. `package` is what several suites belong to, `at` when they ended in UTC, without a zone."""

    name: str
    cases: Sequence[JunitCase]
    package: str = ""
    at: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)


def junit_xml(*suites: JunitSuite) -> str:
    """Return suites as XML in ASCII, so that no encoding of a terminal or a file changes it.

    Elements and attributes are those that the schemas of Ant and Jenkins both allow. Characters that XML cannot have
    are written as escapes (`\\u001b`).
    """
    root = ElementTree.Element("testsuites")
    for number, suite in enumerate(suites):
        _add_suite(root, number, suite)
    ElementTree.indent(root)
    return str(ElementTree.tostring(root, encoding="us-ascii", xml_declaration=True), "ascii")


def _add_suite(root: ElementTree.Element, number: int, suite: JunitSuite) -> None:
    outcomes = (CaseOutcome.FAILED, CaseOutcome.ERROR, CaseOutcome.SKIPPED)
    failures, errors, skipped = (str(sum(case.outcome is each for case in suite.cases)) for each in outcomes)
    counts = {"tests": str(len(suite.cases)), "failures": failures, "errors": errors, "skipped": skipped}
    names = {"id": str(number), "name": shown(suite.name), "package": shown(suite.package), "hostname": "localhost"}
    time = f"{sum(case.seconds or 0 for case in suite.cases):.3f}"
    timestamp = {"timestamp": suite.at} if suite.at else {}
    element = ElementTree.SubElement(root, "testsuite", {**names, **counts, "time": time, **timestamp})
    properties = ElementTree.SubElement(element, "properties")
    for name, value in suite.properties.items():
        ElementTree.SubElement(properties, "property", {"name": name, "value": shown(value)})
    classname = ".".join(filter(None, (suite.package, suite.name)))
    for case in suite.cases:
        _add_case(element, classname, case)
    for stream in ("system-out", "system-err"):
        ElementTree.SubElement(element, stream)


def _add_case(parent: ElementTree.Element, classname: str, case: JunitCase) -> None:
    time = {} if case.seconds is None else {"time": f"{case.seconds:.3f}"}
    names = {"classname": shown(classname), "name": shown(case.name)}
    element = ElementTree.SubElement(parent, "testcase", {**names, **time})
    message = {"message": shown(case.message)} if case.outcome else {}
    kind = {"type": str(case.outcome)} if case.outcome in {CaseOutcome.FAILED, CaseOutcome.ERROR} else {}
    if case.outcome or case.text:
        tag = case.outcome or "system-out"
        ElementTree.SubElement(element, tag, {**kind, **message}).text = _lines(case.text) or None


def _lines(text: str) -> str:
    return "\n".join(map(shown, text.split("\n")))
