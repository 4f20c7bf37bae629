"""Topics that MirrorMaker 2 silently skips or copies under another name (from the classes of Kafka 3.9.1)."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.reserved_topics import is_heartbeats, is_replica
from kafka_migration.core.migration.settings import Migration


def never_copied_findings(migration: Migration) -> Iterable[Finding]:
    """Return one finding per topic that MirrorMaker 2 would not copy to its `Migration.target_topic`."""
    for topic in migration.topics if migration.mirror.engine == "mirrormaker2" else ():
        problem = _problem(migration, topic)
        if problem:
            yield Finding(
                Code.TOPIC_NEVER_COPIED,
                f"{migration.name}.yaml: topics, {topic}",
                problem[0],
                "topics that MirrorMaker 2 copies under the names in the migration file",
                problem[1],
                happened=f"Topic {topic} has {problem[0]}.",
                matters="Its records would be missing on the target, or in another topic than the file says.",
            )


def _problem(migration: Migration, topic: str) -> tuple[str, str] | None:
    """Return the problem of a topic and its remedy; `None` if it is copied."""
    naming = migration.mirror.topic_names.naming
    if is_replica(topic):
        return "a name that MirrorMaker 2 skips by default (.*\\.replica)", "Copy it with engine mirrormaker1."
    if naming == "identity" and is_heartbeats(topic):
        return (
            f"a name that MirrorMaker 2 treats as its heartbeats topic and copies to {migration.source.alias}.{topic}",
            "Copy it with engine mirrormaker1, or in a separate migration file with topic_names.naming prefixed.",
        )
    if naming == "prefixed" and migration.target.alias in topic.split(".")[:-1]:
        return (
            f"a name that contains the target's alias {migration.target.alias}, which MirrorMaker 2 treats as a cycle",
            "Give the migration another name: the alias is derived from it.",
        )
    return None
