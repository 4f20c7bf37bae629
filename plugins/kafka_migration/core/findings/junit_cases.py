"""Findings as a case of JUnit XML."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.by_cause import by_cause, finding_lines
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.text.junit import CaseOutcome, JunitCase


def findings_case(name: str, findings: Iterable[Finding], notes: Iterable[Finding] = ()) -> JunitCase:
    """Return a case that fails with the findings, or passes without one; the notes change nothing but its text."""
    found = by_cause(findings)
    text = "\n".join(line for each in (*found, *by_cause(notes)) for line in finding_lines(each))
    if not found:
        return JunitCase(name, text=text)
    more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
    return JunitCase(name, CaseOutcome.FAILED, f"{found[0].code} · {found[0].subject}{more}", text)
