"""Topics that MirrorMaker 2 leaves out, or copies to another name, without a word (read in Kafka 3.9.1's classes)."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Migration


def never_copied_findings(migration: Migration) -> Iterable[Finding]:
    """Return one finding per topic that would not get where `Migration.target_topic` says."""
    for topic in migration.topics:
        problem = _problem(migration, topic)
        if problem:
            yield Finding(
                Code.TOPIC_NEVER_COPIED,
                f"{migration.name}.yaml: topics, {topic}",
                problem[0],
                "topics that MirrorMaker 2 copies under the names that the file says",
                problem[1],
            )


def _problem(migration: Migration, topic: str) -> tuple[str, str] | None:
    """Return what happens to a topic and what to do; `None` for one that is copied."""
    naming = migration.mirror.topic_names.naming
    if topic.endswith(".replica"):
        return "a name that MirrorMaker 2 leaves out by default (.*\\.replica)", "Copy it with engine mirrormaker1."
    if naming == "identity" and topic.endswith("heartbeats"):
        return (
            f"a name that MirrorMaker 2 takes for its own heartbeats and copies to {migration.source.alias}.{topic}",
            "Copy it with engine mirrormaker1, or in a file of its own with topic_names.naming prefixed.",
        )
    if naming == "prefixed" and migration.target.alias in topic.split(".")[:-1]:
        return (
            f"a name with the target's alias {migration.target.alias} in it, which MirrorMaker 2 takes for a cycle",
            "Give the migration file another name: the alias is made of it.",
        )
    return None
