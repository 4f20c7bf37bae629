"""The migration's phase allows the mode."""

from __future__ import annotations

from kafka_migration.core.ledger.ledger import phase_findings
from kafka_migration.preflight.scene.check import Asked, Check, Findings
from kafka_migration.preflight.scene.scene import Scene


def _check(scene: Scene) -> Findings:
    topics, requested = scene.migration.topics, scene.run.request.topics
    return phase_findings(scene.ledger, scene.migration.name, scene.mode, topics, requested)


CHECK = Check("phase", _check, asks={Asked.FILE})
