"""The checks of a run, in order."""

from __future__ import annotations

from kafka_migration.preflight import clusters, connections, groups, host, phase, topics

CHECKS = (connections.CHECK, phase.CHECK, clusters.CHECK, topics.CHECK, groups.CHECK, host.CHECK)
