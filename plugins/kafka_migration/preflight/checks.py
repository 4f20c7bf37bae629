"""The checks of a run, in order."""

from __future__ import annotations

from kafka_migration.preflight.clusters import (
    clusters_checks,
    keys_check,
    limits_check,
    other_mirrors_check,
    target_checks,
    topics_checks,
)
from kafka_migration.preflight.files import connections_checks, request_checks
from kafka_migration.preflight.host import machine_checks, mirror_checks, target_space_check, tools_checks
from kafka_migration.preflight.scene.check import Check
from kafka_migration.preflight.spark import spark_checks

# The checks of a party stand together.
CHECKS: tuple[Check, ...] = (
    # What the copy of earlier runs depends on comes first: other findings may only follow from it.
    request_checks.EARLIER_RUNS,
    connections_checks.CONNECTIONS,
    connections_checks.SECURITY,
    request_checks.SCHEDULE,
    request_checks.OVERLAP,
    connections_checks.ALERTS,
    request_checks.PHASE,
    request_checks.FOLLOW,
    request_checks.GENERATIONS,
    clusters_checks.CLUSTERS,
    clusters_checks.CERTIFICATES,
    clusters_checks.RIGHTS,
    topics_checks.TOPICS,
    target_checks.BROKERS,
    limits_check.TOPIC_LIMITS,
    topics_checks.CREATION,
    target_checks.OWN_TOPICS,
    keys_check.KEYS,
    other_mirrors_check.OTHER_MIRROR,
    topics_checks.GROUPS,
    topics_checks.TRANSACTIONS,
    clusters_checks.REGISTRIES,
    spark_checks.SPARK,
    spark_checks.SPARK_VERSIONS,
    spark_checks.EVIDENCE,
    spark_checks.SPARK_CLIENT,
    machine_checks.HOST,
    mirror_checks.MIRROR,
    mirror_checks.VERSIONS,
    machine_checks.HOST_DISK,
    machine_checks.HOST_FILES,
    machine_checks.HOST_CLOCK,
    machine_checks.HOST_NAMES,
    tools_checks.HOST_BROKERS,
    tools_checks.CLUSTER_CLOCKS,
    target_space_check.TARGET_SPACE,
    tools_checks.QUOTAS,
)
