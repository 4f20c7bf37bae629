"""The checks of a run, in order."""

from __future__ import annotations

from kafka_migration.preflight import clusters, connections, host, topics

CHECKS = (connections.CHECK, clusters.CHECK, topics.CHECK, host.CHECK)
