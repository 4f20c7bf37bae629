"""A finding as lines of text, for logs and terminals."""

from __future__ import annotations

import textwrap

from kafka_migration.core.findings.errors import Finding

# A longer line does not fit the task log in a browser window of 1440 pixels.
_LINE_WIDTH = 96


def finding_lines(finding: Finding) -> list[str]:
    """Return code and subject, then what happened, why it matters and what to do, each on a line of its own.

    A document of an older version has no sentences and becomes one line.
    """
    if not finding.happened:
        return [str(finding)]
    return [f"{finding.code} · {finding.subject}", *(f"  {sentence}" for sentence in finding.sentences)]


def wrapped_lines(finding: Finding) -> list[str]:
    """Return the lines of a finding for a page that does not wrap them."""
    parts = finding.sentences if finding.happened else _of_data(finding)
    return [f"{finding.code} · {finding.subject}", *(line for part in parts for line in _wrapped(part))]


def _of_data(finding: Finding) -> tuple[str, ...]:
    return f"Found: {finding.found}", f"Expected: {finding.expected}", f"What to do: {finding.remedy}"


def _wrapped(sentence: str) -> list[str]:
    return textwrap.wrap(
        sentence,
        _LINE_WIDTH,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
