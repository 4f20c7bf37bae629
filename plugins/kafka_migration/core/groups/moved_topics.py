"""Topics that an earlier cutover moved: whether groups that remained on the source can still be moved."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import TopicDescription
from kafka_migration.core.kafka.offsets import Offsets
from kafka_migration.core.ledger.generations import StopCertificate
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.validation.coverage import TopicCoverage
from kafka_migration.core.validation.coverage_rules import coverage_of


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
        "Move the groups that remained on the source and read this topic by hand: their source offsets are in that "
        "cutover's offsets-before-source.csv.",
        happened=f"Since its cutover, topic {topic} has changed: {found}.",
        matters="Offsets of the groups that remained on the source can no longer be translated for it. Other groups "
        "are not affected.",
    )
