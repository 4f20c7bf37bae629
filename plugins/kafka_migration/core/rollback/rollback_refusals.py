"""What refuses a whole rollback: records that only the target has, and a source that is no longer the one copied."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.offsets_plan import TargetOnly
from kafka_migration.core.kafka.cluster import TopicDescription
from kafka_migration.core.kafka.offsets import Offsets
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.text.shortened import some


def target_only_findings(target_only: Iterable[TargetOnly], accepted: Collection[str]) -> tuple[Finding, ...]:
    """Refuse to leave records only on the target, except for topics that an operator named."""
    return tuple(
        Finding(
            Code.TARGET_ONLY_RECORDS,
            f"topic {each.topic}",
            f"{each.count} records on the target that the source does not have, from {_first_offsets(each)} on",
            "no records on the target after the end of the copy, or the topic named in leave_records_of",
            "If you need them, copy them back with reverse-migration.yaml from this run's evidence. Then, or to give "
            "them up, name the topic in leave_records_of.",
            happened=f"The target's topic {each.topic} has {each.count} records that the source does not have (first "
            f"offset per partition: {_first_offsets(each)}).",
            matters="Consumers on the source would never read them.",
        )
        for each in target_only
        if each.topic not in accepted
    )


def _first_offsets(each: TargetOnly) -> str:
    return some([f"{p.partition}: {at:,}" for p, at in sorted(each.first_offsets.items())])


def changed_source_findings(
    ledger: Ledger, topics: Iterable[str], source: Mapping[str, TopicDescription], source_ends: Offsets
) -> tuple[Finding, ...]:
    """Name every topic whose source is no longer the one that was copied: no rollback to it is possible."""
    found = ((topic, next(_source_changes(ledger, topic, source, source_ends), None)) for topic in topics)
    return tuple(
        Finding(
            Code.SOURCE_TOPIC_RECREATED if topic in source else Code.SOURCE_TOPIC_MISSING,
            f"topic {topic}",
            change,
            "the topic on the source that was copied",
            "Stay on the target, or move the groups by hand.",
            happened=f"The source's topic {topic} is not the one that was copied: {change}."
            if topic in source
            else f"Topic {topic} no longer exists on the source.",
            matters="The groups cannot resume there where they stopped, so a rollback is not possible.",
        )
        for topic, change in found
        if change
    )


def _source_changes(
    ledger: Ledger, topic: str, source: Mapping[str, TopicDescription], source_ends: Offsets
) -> Iterator[str]:
    stop = ledger.last_stop
    if topic not in source:
        yield "no such topic on the source"
    elif stop is not None:
        known = stop.remembered.source_topic_ids.get(topic)
        if source[topic].is_another_than(known):
            yield f"topic id {source[topic].topic_id}, but {known} when it was copied"
        for partition, position in sorted(stop.mirror_positions.items()):
            if partition.topic == topic and source_ends.get(partition, 0) < position:
                yield f"{partition} ends at {source_ends.get(partition, 0):,}, but was copied up to {position:,}"
