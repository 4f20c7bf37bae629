"""Which engine a migration has."""

from __future__ import annotations

from kafka_migration.core.cluster import KafkaCluster
from kafka_migration.core.engine import MirrorEngine
from kafka_migration.core.migration import Migration
from kafka_migration.engines.mirrormaker2 import MirrorMaker2


def engine_of(migration: Migration, source: KafkaCluster, target: KafkaCluster) -> MirrorEngine:
    """Return the engine that the migration file names, over the migration's two clusters."""
    return _ENGINES[migration.mirror.engine](migration, source, target)


_ENGINES = {"mirrormaker2": MirrorMaker2}
