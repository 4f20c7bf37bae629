"""Facts that a check could not read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.preflight.scene.check import NotApplicable

NO_DESCRIBE_CONFIGS = "the login has no right DescribeConfigs on the cluster"


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that a check reads: `words` complete the sentence "It is unknown …", `matters` says why.

    `right` is what a login needs to read it.
    """

    words: str
    matters: str
    right: str = ""


@dataclass(frozen=True, slots=True)
class UnknownFact:
    """A fact that could not be read, and why; `remedy` is empty if these versions cannot answer.

    `is_failure`: the tool ran and failed, for example because no broker answered.
    """

    fact: Fact
    reason: str
    remedy: str = ""
    is_failure: bool = False

    def __str__(self) -> str:
        return f"it is unknown {self.fact.words}: {self.reason}"


def unknown_finding(subject: str, unknown: UnknownFact) -> Finding:
    """Return the warning that a check could not read a fact about `subject`."""
    return Finding(
        Code.FACT_UNKNOWN,
        subject,
        unknown.reason,
        unknown.fact.words,
        unknown.remedy or "These versions of Kafka cannot answer. Look at the cluster yourself.",
        happened=f"It is unknown {unknown.fact.words}: {unknown.reason}.",
        matters=unknown.fact.matters,
    )


def unknown_warnings(unknowns: Mapping[str, UnknownFact], *, is_more_known: bool = False) -> Iterator[Finding]:
    """Yield a warning per unknown fact that can be made readable; `unknowns` are named by what they are about.

    If all are facts that these versions cannot answer, `NotApplicable` is raised, or if more is known, they are
    warnings too.
    """
    is_warned = is_more_known or any(unknown.remedy for unknown in unknowns.values())
    if unknowns and not is_warned:
        raise NotApplicable("; ".join(f"{where}: {unknown}" for where, unknown in unknowns.items()))
    yield from (unknown_finding(where, unknown) for where, unknown in unknowns.items())
