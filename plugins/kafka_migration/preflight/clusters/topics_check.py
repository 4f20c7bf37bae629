"""The source has every topic, and the target topics allow a same-partition copy."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.migration.topic_list_rules import topic_list_findings, topic_list_warnings
from kafka_migration.core.run.run_conf import unknown_findings
from kafka_migration.core.target.drift import TopicsSeen, drift_findings
from kafka_migration.core.target.target_topics import missing_topic_findings, recreated_findings, target_topic_findings
from kafka_migration.core.text.shortened import some
from kafka_migration.preflight.scene.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    found = subject.find_topic_list()
    if found is not None and not subject.mode.rolls_back:
        yield from topic_list_findings(subject.migration, found, subject.mode)
    yield from _unknown_requested(subject)
    if not subject.mode.rolls_back:
        yield from missing_topic_findings(subject.migration, subject.source_topics)
    # Only the plan of a backfill shows whether there is anything to copy; the plan checks the target too.
    if not subject.mode.mirrors or subject.mode is Mode.INTERVAL:
        return
    partitions = [p for topic in subject.target_topics.values() for p in topic.topic_partitions]
    ends = subject.target.log_end_offsets(partitions, "read_uncommitted")
    yield from target_topic_findings(
        subject.migration, subject.source_topics, subject.target_topics, ends, subject.ledger
    )
    yield from recreated_findings(subject.target_topics, subject.ledger)


def _unknown_requested(subject: Subject) -> Iterable[Finding]:
    known = frozenset(subject.file_topics)
    unknown = [topic for topic in subject.requested_topics if topic not in known]
    yield from unknown_findings("topics", unknown, f"topics of the migration: {some(subject.file_topics)}")


def _warn(subject: Subject) -> Iterable[Finding]:
    found = subject.find_topic_list()
    if found is not None:
        yield from topic_list_warnings(subject.migration, found, subject.mode)
    if subject.mode.mirrors:
        yield from drift_findings(
            TopicsSeen(subject.migration, subject.source_topics, subject.target_topics, subject.ledger)
        )


CHECK = Check("topics", _check, needs=("earlier runs", "clusters"), warn=_warn)
