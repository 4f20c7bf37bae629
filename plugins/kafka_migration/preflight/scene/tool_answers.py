"""The answer of one of Kafka's tools on the MirrorMaker host, or why there is none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding

# The longest quote of a tool's error.
LONGEST_REASON = 500
_NO_CLASS = "Could not find or load main class"
_DENIED = re.compile(r"AuthorizationException|AUTHORIZATION_FAILED|not authorized", re.IGNORECASE)
_UNSUPPORTED = re.compile(r"UnsupportedVersion|does not support|UnsupportedOperationException|not a recognized option")
_ERROR = re.compile(r"Exception|Error|Caused by:")


@dataclass(frozen=True, slots=True)
class UnknownFact:
    """A fact that could not be read, and why; `remedy` is empty if these versions cannot answer.

    `is_failure`: the tool ran and failed, for example because no broker answered.
    """

    fact: str
    reason: str
    remedy: str = ""
    is_failure: bool = False

    def __str__(self) -> str:
        return f"{self.fact} is unknown: {self.reason}"


# The exit of a tool that was not run, because other probes of the migration were.
LOCKED = "locked"


def answer_of(fact: str, facts: Mapping[str, str], right: str) -> str | UnknownFact:
    """Return the output of a tool, or why `fact` is unknown; `right` is what the tool's login needs."""
    tool, code = facts.get("tool", "the tool"), facts.get("exit", "")
    # Some tools print an exception and exit with 0.
    failed = code != "0" or _DENIED.search(facts.get("errors", ""))
    return _why(fact, tool, code, facts.get("errors", ""), right) if failed else facts.get("output", "")


def _why(fact: str, tool: str, code: str, errors: str, right: str) -> UnknownFact:
    if code == LOCKED:
        return UnknownFact(
            fact,
            "the host answered other preflights of this migration for over two minutes",
            "Run preflight again when they have ended.",
            is_failure=True,
        )
    if code == "timeout":
        return UnknownFact(
            fact, f"{tool} did not end within 120 s", "Check the load and the network of the host.", is_failure=True
        )
    if code == "large":
        return UnknownFact(fact, f"{tool} printed more than 4 MiB")
    if _NO_CLASS in errors:
        return UnknownFact(
            fact, f"Kafka on the host has no {tool}", "Install a whole Kafka distribution on the MirrorMaker host."
        )
    if _DENIED.search(errors):
        return UnknownFact(fact, f"the login has no right to run {tool}", f"Grant {right}.")
    if _UNSUPPORTED.search(errors):
        return UnknownFact(fact, f"{tool}: {last_error(errors)}")
    return UnknownFact(fact, f"{tool}: {last_error(errors)}", "Fix the cause that the tool names.", is_failure=True)


def last_error(errors: str) -> str:
    """Return the innermost error of a tool's output on stderr."""
    lines = [line.strip() for line in errors.splitlines() if _ERROR.search(line) and not line.startswith("\tat ")]
    found = lines[-1] if lines else errors.strip()[-LONGEST_REASON:] or "no reason"
    return found.removeprefix("Caused by: ")[:LONGEST_REASON]


def unknown_finding(subject: str, unknown: UnknownFact) -> Finding:
    """Return the warning about a fact that a user can make readable."""
    return Finding(
        Code.FACT_UNKNOWN,
        subject,
        str(unknown),
        "an answer; this check says nothing without it",
        unknown.remedy or "These versions of Kafka cannot answer; look at the cluster by hand.",
    )
