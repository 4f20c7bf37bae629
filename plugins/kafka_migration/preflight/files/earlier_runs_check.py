"""The migration file has the engine, alias and topic names of earlier runs; removed topics are a warning."""

from __future__ import annotations

from kafka_migration.core.ledger.copy_basis import changed_settings
from kafka_migration.core.target.target_topics import removed_topic_warnings
from kafka_migration.preflight.scene.check import Asked, Check, Findings
from kafka_migration.preflight.scene.scene import Scene


def _check(scene: Scene) -> Findings:
    return changed_settings(scene.ledger.basis, scene.migration)


def _warn(scene: Scene) -> Findings:
    return removed_topic_warnings(scene.migration, scene.ledger)


CHECK = Check("earlier runs", _check, asks={Asked.FILE}, warn=_warn)
