"""The settings, login and protections of the Kafka connections are valid; no connection is opened."""

from __future__ import annotations

from kafka_migration.preflight.scene.check import Check

CHECK = Check(
    "security",
    lambda subject: subject.kafka_findings[0],
    needs=("connections",),
    warn=lambda subject: subject.kafka_findings[1],
)
