"""The engine of a migration."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.mirror.engine import AnyEngine
from kafka_migration.engines.kafka_connect import KafkaConnect
from kafka_migration.engines.mirrormaker1 import MirrorMaker1
from kafka_migration.engines.mirrormaker2 import MirrorMaker2


def engine_of(migration: Migration, source: KafkaCluster, target: KafkaCluster) -> AnyEngine:
    """Return the engine of the migration file for the migration's two clusters."""
    return BUILDERS[migration.mirror.engine](migration, source, target)


BUILDERS: Mapping[str, Callable[[Migration, KafkaCluster, KafkaCluster], AnyEngine]] = {
    "connect": KafkaConnect,
    "mirrormaker1": MirrorMaker1,
    "mirrormaker2": MirrorMaker2,
}
