"""The checks of a run, in order."""

from __future__ import annotations

from kafka_migration.preflight import (
    alerts,
    clusters,
    connections,
    evidence,
    follow,
    generations,
    groups,
    host,
    mirror,
    overlap,
    phase,
    schedule,
    topics,
)

CHECKS = (
    schedule.CHECK,
    overlap.CHECK,
    connections.CHECK,
    evidence.CHECK,
    alerts.CHECK,
    phase.CHECK,
    follow.CHECK,
    generations.CHECK,
    clusters.CHECK,
    topics.CHECK,
    groups.CHECK,
    host.CHECK,
    mirror.CHECK,
)
