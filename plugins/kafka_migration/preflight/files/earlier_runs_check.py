"""The migration file has the engine, alias and topic names of earlier runs; removed topics are a warning."""

from __future__ import annotations

from kafka_migration.core.ledger.copy_basis import changed_settings
from kafka_migration.core.target.target_topics import removed_topic_warnings
from kafka_migration.preflight.scene.check import Asked, Check

CHECK = Check(
    "earlier runs",
    lambda scene: changed_settings(scene.ledger.basis, scene.migration),
    asks={Asked.FILE},
    warn=lambda scene: removed_topic_warnings(scene.migration, scene.ledger),
)
