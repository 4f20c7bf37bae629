"""The migration's phase allows the mode."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.ledger.ledger import phase_findings
from kafka_migration.preflight.scene.check import Asked, Check
from kafka_migration.preflight.scene.scene import Scene


def _check(scene: Scene) -> Iterable[Finding]:
    migration = scene.migration
    requested = scene.run.request.topics
    return phase_findings(scene.ledger, migration.name, scene.mode, migration.topics, requested)


CHECK = Check("phase", _check, asks={Asked.FILE})
