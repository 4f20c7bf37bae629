"""Two migrations must not copy one topic between the same clusters: each would find the other's records."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.codes import Code
from kafka_migration.core.errors import Finding
from kafka_migration.core.migration import Migration


def overlap_findings(migration: Migration, others: Iterable[Migration]) -> tuple[Finding, ...]:
    """Return one finding per other migration that copies a topic of this one from the same source to the same target.

    Clusters are told apart by their Airflow connections: two connections to one cluster are taken for two clusters.
    """
    shared = ((other.name, migration.shared_topics(other)) for other in others)
    return tuple(
        Finding(
            Code.MIGRATIONS_OVERLAP,
            f"{migration.name}.yaml: topics",
            f"{', '.join(topics)}, which {name}.yaml names too, with the same source and target",
            "each topic in one migration file",
            "Take the topic out of one of the two files. The one that has copied it already must keep it.",
        )
        for name, topics in shared
        if topics
    )
