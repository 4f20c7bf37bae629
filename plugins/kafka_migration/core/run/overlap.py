"""Two migrations must not write to the same topic or copy in a loop: each would find the other's records.

Clusters are identified by their Airflow connections: two connections to one cluster count as two clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.text.shortened import some


def overlap_findings(migration: Migration, others: Iterable[Migration]) -> tuple[Finding, ...]:
    """Return the conflicts of this migration with the others, at most one of each kind per other migration."""
    met = ((other, shared_topics(migration, other), looping_topics(migration, other)) for other in others)
    return tuple(
        finding
        for other, shared, looping in met
        for finding in (*_overlaps(migration, other, shared), *_loops(migration, other, looping))
    )


def shared_topics(migration: Migration, other: Migration) -> tuple[str, ...]:
    """Return the topics of `migration` that `other` copies between the same clusters or writes on the same target."""
    if migration.target.connection != other.target.connection:
        return ()
    is_same_source = migration.source.connection == other.source.connection
    copies, writes = copying(other), _writing(other)
    return tuple(
        sorted(
            topic
            for topic in migration.topics
            if (is_same_source and copies(topic)) or writes(migration.target_topic(topic))
        )
    )


def looping_topics(migration: Migration, other: Migration) -> tuple[str, ...]:
    """Return the topics that one of two migrations in opposite directions writes and the other one copies."""
    ends = (migration.source.connection, migration.target.connection)
    if ends != (other.target.connection, other.source.connection):
        return ()
    copied_back = filter(copying(other), map(migration.target_topic, migration.topics))
    return tuple(sorted({*copied_back, *filter(_writing(other), migration.topics)}))


def copying(migration: Migration) -> Callable[[str], bool]:
    """Return what tells whether the migration copies a source topic, or would if the topic existed.

    It is asked for each topic of another file, and a file may have thousands.
    """
    named, finds = frozenset(migration.topics), migration.rules.finds
    return lambda topic: topic in named or finds(topic)


def _writing(migration: Migration) -> Callable[[str], bool]:
    """Return what tells whether the migration writes a target topic, or would if its source existed."""
    copies, source_topic = copying(migration), migration.source_topic
    return lambda target_topic: (topic := source_topic(target_topic)) is not None and copies(topic)


def _overlaps(migration: Migration, other: Migration, topics: tuple[str, ...]) -> Iterable[Finding]:
    if topics:
        yield Finding(
            Code.MIGRATIONS_OVERLAP,
            f"{migration.name}.yaml: topics",
            f"{some(topics)}, also in {other.name}.yaml or written by it to the same target topic",
            "each source topic and each target topic in only one migration file",
            "Remove these topics from one of the two files, but not from a file that has already copied them.",
            happened=f"The files {migration.name}.yaml and {other.name}.yaml both copy the topics {some(topics)}, or "
            "write to the same target topics.",
            matters="Two MirrorMakers would write the same records to one target topic, so each copy would be wrong.",
        )


def _loops(migration: Migration, other: Migration, topics: tuple[str, ...]) -> Iterable[Finding]:
    if topics:
        yield Finding(
            Code.REPLICATION_LOOP,
            f"{migration.name}.yaml: topics",
            f"{some(topics)}, copied in a loop between this file and {other.name}.yaml",
            "no topic that one file writes among the topics of the other",
            "Remove these topics from one of the two files, or set topic_names.naming to prefixed in both.",
            happened=f"The files {migration.name}.yaml and {other.name}.yaml copy the topics {some(topics)} in a loop.",
            matters="Each record would be copied back and forth without end, and both clusters would fill up.",
        )
