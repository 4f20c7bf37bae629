"""The checks of a run, in order."""

from __future__ import annotations

from kafka_migration.preflight.clusters import (
    clusters_checks,
    connect_cluster_checks,
    heap_check,
    keys_check,
    limits_check,
    other_mirrors_check,
    target_checks,
    topics_checks,
)
from kafka_migration.preflight.connect import config_check, worker_checks
from kafka_migration.preflight.files import connect_file_checks, connections_checks, request_checks
from kafka_migration.preflight.host import (
    machine_checks,
    mirror_checks,
    round_trip_check,
    target_space_check,
    tools_checks,
)
from kafka_migration.preflight.scene.check import Check
from kafka_migration.preflight.spark import spark_checks

# The checks of a party stand together.
CHECKS: tuple[Check, ...] = (
    # What the copy of earlier runs depends on comes first: other findings may only follow from it.
    request_checks.earlier_runs,
    connections_checks.connections,
    connections_checks.security,
    request_checks.schedule,
    request_checks.overlap,
    connections_checks.alerts,
    request_checks.phase,
    request_checks.follow,
    request_checks.generations,
    connect_file_checks.connect_secrets,
    connect_file_checks.connect_lease,
    clusters_checks.clusters,
    clusters_checks.certificates,
    clusters_checks.rights,
    topics_checks.topics,
    target_checks.brokers,
    limits_check.topic_limits,
    heap_check.mirror_heap,
    topics_checks.creation,
    target_checks.own_topics,
    keys_check.keys,
    other_mirrors_check.other_mirror,
    topics_checks.groups,
    topics_checks.transactions,
    connect_cluster_checks.connect_topics,
    connect_cluster_checks.connect_tasks,
    clusters_checks.registries,
    spark_checks.spark,
    spark_checks.spark_versions,
    spark_checks.evidence,
    spark_checks.spark_client,
    worker_checks.connect,
    worker_checks.connect_kafka,
    worker_checks.connect_workers,
    config_check.connect_configuration,
    machine_checks.host,
    mirror_checks.mirror,
    mirror_checks.versions,
    machine_checks.host_disk,
    machine_checks.host_files,
    machine_checks.host_clock,
    machine_checks.host_names,
    tools_checks.host_brokers,
    tools_checks.cluster_clocks,
    target_space_check.target_space,
    tools_checks.quotas,
    round_trip_check.mirror_tasks,
)
