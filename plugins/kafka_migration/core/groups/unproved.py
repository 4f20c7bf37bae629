"""Topics whose copy is not proved, or that changed after their cutover: which groups can be moved without them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.cluster import TopicDescription
from kafka_migration.core.kafka.offsets import Offsets
from kafka_migration.core.ledger.generations import StopCertificate
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.validation.coverage import TopicCoverage
from kafka_migration.core.validation.coverage_rules import coverage_of
from kafka_migration.core.validation.judge_document import JudgeDocument

_WHY_PROVED = (
    "On a copy that is not proved, a translated offset could make a group skip records. So no group that reads this "
    "copy is moved."
)


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
        "Trigger a run in mode validate for the topic. If the verdict stays the same, copy the topic again with a "
        "second migration file, or leave it out of the cutover.",
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


def changed_since_cutover(
    ledger: Ledger, moved: Collection[str], source_ends: Offsets, target: Mapping[str, TopicDescription]
) -> dict[str, Finding]:
    """Return the moved topics that changed since their cutover, with the change; no group can be moved for them.

    They have producers on the target and are no longer copied, so another run cannot repair the change.
    """
    # The coverage of a long ledger is expensive, and most runs have no such topics.
    if not moved:
        return {}
    stop, covered = ledger.last_stop, coverage_of(ledger)
    changes = {topic: _changes(ledger, stop, topic, source_ends, target, covered.get(topic)) for topic in moved}
    return {topic: _finding(topic, found) for topic, each in changes.items() if (found := next(each, None))}


def _changes(
    ledger: Ledger,
    stop: StopCertificate | None,
    topic: str,
    source_ends: Offsets,
    target: Mapping[str, TopicDescription],
    covered: TopicCoverage | None,
) -> Iterator[str]:
    created = ledger.topics.get(topic)
    reached = {} if stop is None else stop.mirror_positions
    copied = {} if stop is None else stop.target_end_offsets
    if topic not in target:
        yield "no such topic on the target"
    elif created is not None and target[topic].is_another_than(created.topic_id):
        yield "the topic was deleted and created again on the target"
    elif target[topic].partitions > len([p for p in copied if p.topic == topic]):
        yield f"{target[topic].partitions} partitions on the target, more than when it was copied"
    for partition, end in sorted(source_ends.items()):
        if partition.topic == topic and end > reached.get(partition, 0):
            yield f"{partition} of the source ends at {end:,}; the copy ends at {reached.get(partition, 0):,}"
    if covered is not None and not covered.is_proved:
        yield f"verdict {covered.standing} on the whole topic ({next(covered.reasons(), 'nothing was validated')})"


def _finding(topic: str, found: str) -> Finding:
    return Finding(
        Code.MOVED_TOPIC_CHANGED,
        f"topic {topic}",
        found,
        "no change since its cutover",
        "Move these groups by hand: find the record at the group's source offset on the target, and set the group to "
        "its target offset. The source offsets at the cutover are in its offsets-before-source.csv.",
        happened=f"Topic {topic} has changed since its cutover: {found}.",
        matters="No run can translate source offsets of this topic any more. So groups that still read it on the "
        "source cannot be moved by a run. Other groups are not affected.",
    )
