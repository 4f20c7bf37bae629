"""No other migration file copies a topic of this one between the same clusters."""

from __future__ import annotations

from pathlib import Path

from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.run.overlap import overlap_findings
from kafka_migration.migration_file.loading import load_migrations
from kafka_migration.preflight.scene.check import Asked, Check, Findings
from kafka_migration.preflight.scene.scene import Scene


def _check(scene: Scene) -> Findings:
    others = other_migrations(scene.run.deployment.migrations_folder, scene.migration)
    return overlap_findings(scene.migration, others)


def other_migrations(folder: Path, migration: Migration) -> tuple[Migration, ...]:
    """Return the migrations of all other files of the folder that can be read."""
    return tuple(other for other in load_migrations(folder) if other.name != migration.name)


CHECK = Check("overlap", _check, asks={Asked.FILE})
