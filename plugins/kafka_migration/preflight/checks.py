"""The checks of a run, in order."""

from __future__ import annotations

from kafka_migration.preflight import (
    alerts,
    certificates,
    clusters,
    connections,
    evidence,
    follow,
    generations,
    groups,
    host,
    limits,
    mirror,
    overlap,
    phase,
    registries,
    rights,
    schedule,
    security,
    spark,
    topics,
)

CHECKS = (
    schedule.CHECK,
    overlap.CHECK,
    connections.CHECK,
    spark.CHECK,
    security.CHECK,
    evidence.CHECK,
    alerts.CHECK,
    phase.CHECK,
    follow.CHECK,
    generations.CHECK,
    clusters.CHECK,
    certificates.CHECK,
    rights.CHECK,
    spark.CLIENT_CHECK,
    registries.CHECK,
    topics.CHECK,
    limits.CHECK,
    groups.CHECK,
    host.CHECK,
    mirror.CHECK,
)
