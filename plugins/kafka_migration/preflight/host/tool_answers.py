"""The answer of one of Kafka's tools on the MirrorMaker host, or why there is none."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kafka_migration.preflight.scene.unknown_facts import Fact, UnknownFact

# The longest quote of a tool's error.
LONGEST_REASON = 500
# The exit of a tool that was not run, because other probes of the migration were.
LOCKED = "locked"
_NO_CLASS = "Could not find or load main class"
_DENIED = re.compile(r"AuthorizationException|AUTHORIZATION_FAILED|not authorized", re.IGNORECASE)
_UNSUPPORTED = re.compile(r"UnsupportedVersion|does not support|UnsupportedOperationException|not a recognized option")
_ERROR = re.compile(r"Exception|Error|Caused by:")


def answer_of(fact: Fact, facts: Mapping[str, str]) -> str | UnknownFact:
    """Return the output of a tool, or why the fact is unknown."""
    tool, code = facts.get("tool", "the tool"), facts.get("exit", "")
    # Some tools print an exception and exit with 0.
    failed = code != "0" or _DENIED.search(facts.get("errors", ""))
    return _why(fact, tool, code, facts.get("errors", "")) if failed else facts.get("output", "")


def _why(fact: Fact, tool: str, code: str, errors: str) -> UnknownFact:
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
        return UnknownFact(fact, f"the login has no right to run {tool}", f"Grant {fact.right}.")
    if _UNSUPPORTED.search(errors):
        return UnknownFact(fact, f"{tool}: {last_error(errors)}")
    return UnknownFact(fact, f"{tool}: {last_error(errors)}", "Correct the cause that the tool names.", is_failure=True)


def last_error(errors: str) -> str:
    """Return the innermost error of a tool's output on stderr."""
    lines = [line.strip() for line in errors.splitlines() if _ERROR.search(line) and not line.startswith("\tat ")]
    found = lines[-1] if lines else errors.strip()[-LONGEST_REASON:] or "no reason"
    return found.removeprefix("Caused by: ")[:LONGEST_REASON]
