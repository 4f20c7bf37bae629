"""The Kafka connections have the form, the login and the protection that clients need; nothing is connected."""

from __future__ import annotations

from kafka_migration.preflight.check import Check

CHECK = Check(
    "security",
    lambda subject: subject.kafka_findings[0],
    needs=("connections",),
    warn=lambda subject: subject.kafka_findings[1],
)
