"""No other MirrorMaker copies the topics: no group of MirrorMaker 1 reads them, no MirrorMaker 2 runs on the target."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.engines.mirrormaker2_topics import copied_topics
from kafka_migration.preflight.scene.asking_host import only_with_mirrormaker
from kafka_migration.preflight.scene.broker_settings import not_checked
from kafka_migration.preflight.scene.check import Check, Subject
from kafka_migration.preflight.scene.foreign_mirrors import (
    heartbeat_findings,
    heartbeat_topics,
    offsets_topic,
    reader_findings,
    worker_aliases,
    worker_findings,
)


def _warn(subject: Subject) -> Iterable[Finding]:
    yield from _known("the groups on the source", _readers, subject)
    yield from _known("the groups on the target", _workers, subject)
    yield from _known("heartbeats on the target", _heartbeats, subject)


def _known(what: str, look: Callable[[Subject], Iterable[Finding]], subject: Subject) -> Iterable[Finding]:
    """Return what was found, or that the login may not look."""
    try:
        return tuple(look(subject))
    except Refused as refused:
        why = refused.findings[0].found
        unknown = "whether another MirrorMaker copies the topics"
        return (not_checked(what, why, unknown, "Grant the right that the cluster names, or look yourself."),)


def _readers(subject: Subject) -> Iterable[Finding]:
    listed = subject.source.list_groups()
    active = [each.group for each in listed if each.kind == "classic" and not each.state.is_inactive]
    described = subject.source.describe_groups(active) if active else {}
    return reader_findings(described.values(), subject.migration.topics, subject.migration.name)


def _workers(subject: Subject) -> Iterable[Finding]:
    aliases = worker_aliases(subject.target.list_groups(), subject.migration.name)
    return worker_findings({alias: _copied(subject, alias) for alias in aliases})


def _copied(subject: Subject, alias: str) -> frozenset[str] | None:
    """Return the topics of the migration of which a MirrorMaker 2 has positions; `None` if they are not known.

    They may not be read, or there are none yet: it stores the first ones a minute after its start.
    """
    try:
        rows = tuple(subject.target.read_table(offsets_topic(alias)))
    except Refused:
        return None
    return copied_topics(rows, subject.migration.topics) if rows else None


def _heartbeats(subject: Subject) -> Iterable[Finding]:
    found = heartbeat_topics(subject.target.topic_names(), subject.migration.source.alias)
    return heartbeat_findings({topic: age for topic in found if (age := _age_s(subject, topic)) is not None})


def _age_s(subject: Subject, topic: str) -> float | None:
    """Return the age of the newest heartbeat; `None` if there is none or its time is not known."""
    ends = subject.target.log_end_offsets([TopicPartition(topic, 0)], "read_uncommitted")
    newest = subject.target.records_at({p: max(end - 1, 0) for p, end in ends.items()}, "read_uncommitted")
    times = [record.timestamp_ms for record in newest.values() if record is not None and record.timestamp_ms >= 0]
    return subject.now.timestamp() - max(times) / 1000 if times else None


# A copy that another MirrorMaker makes fails the check of the topics, and this one still has to name it.
CHECK = Check("other mirror", only_with_mirrormaker(lambda _: ()), needs=("earlier runs", "clusters"), warn=_warn)
