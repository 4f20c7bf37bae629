"""Topics whose copy is not proved: whether the groups of the other topics can be planned without them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.validation.coverage import TopicCoverage
from kafka_migration.core.validation.coverage_rules import coverage_of
from kafka_migration.core.validation.judge_document import JudgeDocument

_WHY_PROVED = "On a copy that is not proved, a translated offset could make a group skip records."


def unproved_copies(ledger: Ledger, topics: Iterable[str]) -> dict[str, Finding]:
    """Return every copied topic whose copy is not proved as a whole, with the reason.

    A rank is only reliable if all windows before it are proved, whichever run copied them.
    """
    covered = coverage_of(ledger)
    return {t: _unproved_copy(covered[t]) for t in topics if t in covered and not covered[t].is_proved}


def stopping_findings(
    unproved: Mapping[str, Finding], topics: Collection[str], judged: JudgeDocument
) -> tuple[Finding, ...]:
    """Return why no group of any topic can be planned; empty if the unproved topics can be left out.

    A copy that differs stops all: another client may write to the target. So does a bad verdict that the unproved
    topics do not explain, and a run without a proved topic.

    :param judged: the document of `judge`
    """
    verdict = judged.verdict
    if not verdict.is_good and not (verdict is Verdict.NOT_VERIFIABLE and _explain(unproved, judged)):
        return tuple(unproved.values()) or (_bad_verdict(verdict),)
    differs = any(finding.code is Code.COPY_DIFFERS for finding in unproved.values())
    return tuple(unproved.values()) if differs or unproved.keys() >= set(topics) else ()


def _explain(unproved: Mapping[str, Finding], judged: JudgeDocument) -> bool:
    """Return whether every finding of `judge` is about a topic that is left out."""
    found = {each.topic for each in judged.topics if each.findings}
    return bool(unproved) and found <= unproved.keys()


def _unproved_copy(covered: TopicCoverage) -> Finding:
    reason = next(covered.reasons(), "nothing was validated")
    return Finding(
        Code.COPY_DIFFERS if covered.verdict is Verdict.FAIL else Code.RECORDS_NOT_VERIFIABLE,
        f"topic {covered.topic}",
        f"verdict {covered.standing} on the whole topic ({reason})",
        "PASS or WARN on the whole copy of the topic",
        "Run mode validate for the topic. If the verdict stays the same, copy the topic again or leave it out of the "
        "run.",
        happened=f"The copy of topic {covered.topic} is not proved: its verdict is {covered.standing} ({reason}).",
        matters=_WHY_PROVED,
    )


def _bad_verdict(verdict: Verdict) -> Finding:
    return Finding(
        Code.COPY_DIFFERS if verdict is Verdict.FAIL else Code.RECORDS_NOT_VERIFIABLE,
        "the verdict of this run",
        str(verdict),
        f"{Verdict.PASS} or {Verdict.WARN}",
        "Read the differences in the run's report, and remove their cause. Then trigger a new run.",
        happened=f"The verdict of this run is {verdict}.",
        matters=_WHY_PROVED,
    )
