"""Names and limits of the target allow the copy."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.mirror.target_limits import LIMITS, collision_findings, limit_warnings, replica_findings
from kafka_migration.core.mirror.target_topics import plan_topics
from kafka_migration.preflight.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    if not subject.mode.mirrors or subject.mode is Mode.INTERVAL:
        return
    created = plan_topics(subject.migration, subject.source_topics, subject.target_topics, subject.ledger).create
    if created:
        existing = frozenset(map(subject.migration.target_topic, subject.target.topic_names()))
        yield from collision_findings(subject.migration, [topic.topic for topic in created], existing)
    yield from replica_findings(subject.migration, created)


def _warn(subject: Subject) -> Iterable[Finding]:
    if not subject.mode.mirrors:
        return
    # Of the topics that the migration created, it sets these limits itself.
    foreign = [topic for topic in subject.target_topics if topic not in subject.ledger.topics]
    if foreign:
        source, target = (side.effective_configs(foreign, *LIMITS) for side in (subject.source, subject.target))
        yield from limit_warnings(subject.migration, source, target)


CHECK = Check("limits", _check, needs=("topics",), warn=_warn)
