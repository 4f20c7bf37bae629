"""The checks of a run, in order."""

from __future__ import annotations

from importlib import import_module

from kafka_migration.preflight.scene.check import Check

# Each line names the module of one check. The checks of a party stand together.
_MODULES = (
    # What the copy of earlier runs depends on comes first: other findings may only follow from it.
    "files.earlier_runs_check",
    "files.connections_check",
    "files.security_check",
    "files.schedule_check",
    "files.overlap_check",
    "files.alerts_check",
    "files.phase_check",
    "files.follow_check",
    "files.generations_check",
    "clusters.clusters_check",
    "clusters.certificates_check",
    "clusters.rights_check",
    "clusters.topics_check",
    "clusters.brokers_check",
    "clusters.limits_check",
    "clusters.creation_check",
    "clusters.own_topics_check",
    "clusters.keys_check",
    "clusters.other_mirrors_check",
    "clusters.groups_check",
    "clusters.transactions_check",
    "clusters.registries_check",
    "spark.spark_check",
    "spark.spark_versions_check",
    "spark.evidence_check",
    "spark.spark_client_check",
    "host.host_check",
    "host.mirror_check",
    "host.versions_check",
    "host.host_disk_check",
    "host.host_files_check",
    "host.host_clock_check",
    "host.host_names_check",
    "host.host_brokers_check",
    "host.cluster_clocks_check",
    "host.target_space_check",
    "host.quotas_check",
)
CHECKS: tuple[Check, ...] = tuple(import_module(f"kafka_migration.preflight.{name}").CHECK for name in _MODULES)
