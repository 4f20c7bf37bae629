"""The settings, login and protections of the Kafka connections are valid; no connection is opened."""

from __future__ import annotations

from kafka_migration.core.findings.errors import Finding
from kafka_migration.preflight.scene.check import Asked, Check
from kafka_migration.preflight.scene.scene import SIDES, Scene, asked_once


@asked_once
def _findings(scene: Scene) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Return the findings that prevent the use of the Kafka connections, and the insecure settings that are allowed."""
    sides = [scene.airflow.connections.kafka_findings(scene.named(side)) for side in SIDES]
    return tuple(f for found, _ in sides for f in found), tuple(f for _, allowed in sides for f in allowed)


CHECK = Check(
    "security",
    lambda scene: _findings(scene)[0],
    asks={Asked.FILE},
    needs=("connections",),
    warn=lambda scene: _findings(scene)[1],
)
