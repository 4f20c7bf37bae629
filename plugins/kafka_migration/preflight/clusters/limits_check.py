"""Names, replicas and limits of the topics on the target allow the copy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Mode
from kafka_migration.preflight.scene.asking_host import only_with_mirrormaker
from kafka_migration.preflight.scene.broker_settings import topic_defaults
from kafka_migration.preflight.scene.check import Check, Subject
from kafka_migration.preflight.scene.target_limits import (
    after_limits,
    collision_findings,
    large_record_findings,
    late_record_warnings,
    limit_warnings,
    lowered_limits,
    replica_findings,
    replica_warnings,
)

# A sample of more topics would take long; their limits are warnings in any case.
MAX_SAMPLED = 20


def _check(subject: Subject) -> Iterable[Finding]:
    if subject.mode is Mode.INTERVAL:
        return
    created = subject.new_topics
    if created:
        yield from collision_findings(subject.migration, [topic.topic for topic in created], _names_on_target(subject))
    yield from replica_findings(subject.migration, created, _min_insync(subject))
    lowered = lowered_limits(*subject.limits)
    if lowered:
        sampled = subject.newest_records(tuple(lowered)[:MAX_SAMPLED])
        largest = {topic: max(record.size for record in records) for topic, records in sampled.items() if records}
        yield from large_record_findings(subject.migration, lowered, largest)


def _names_on_target(subject: Subject) -> frozenset[str]:
    """Return the real names of all topics on the target, which shows those of the migration by their source names."""
    own = {*subject.file_topics, *subject.ledger.copied_topics}
    shown = subject.target.topic_names()
    return frozenset(subject.migration.target_topic(name) if name in own else name for name in shown)


def _warn(subject: Subject) -> Iterable[Finding]:
    yield from replica_warnings(subject.migration, subject.new_topics, _min_insync(subject))
    source, target = subject.limits
    yield from limit_warnings(subject.migration, source, target)
    limits = after_limits(target)
    yield from late_record_warnings(subject.migration, limits, _with_later_records(subject, limits))


def _min_insync(subject: Subject) -> str:
    return topic_defaults(subject.target_brokers).get("min.insync.replicas", "")


def _with_later_records(subject: Subject, limits: Mapping[str, int]) -> list[str]:
    """Return the topics whose source has a record with a later timestamp than the target takes now."""
    found: set[str] = set()
    for limit in set(limits.values()):
        topics = (subject.source_topics[topic] for topic, own in limits.items() if own == limit)
        partitions = [partition for topic in topics for partition in topic.topic_partitions]
        # Read the ends first: without such a record, the offset for a time is a later end.
        ends = subject.source.log_end_offsets(partitions, "read_uncommitted")
        late = subject.source.offsets_for_time(
            partitions, subject.now + timedelta(milliseconds=limit), "read_uncommitted"
        )
        found |= {partition.topic for partition, offset in late.items() if offset < ends.get(partition, 0)}
    return sorted(found)


CHECK = Check("limits", only_with_mirrormaker(_check), needs=("topics",), warn=_warn)
