"""The checks of a run, in order."""

from __future__ import annotations

from kafka_migration.preflight.clusters import brokers_check as brokers
from kafka_migration.preflight.clusters import certificates_check as certificates
from kafka_migration.preflight.clusters import clusters_check as clusters
from kafka_migration.preflight.clusters import creation_check as creation
from kafka_migration.preflight.clusters import groups_check as groups
from kafka_migration.preflight.clusters import keys_check as keys
from kafka_migration.preflight.clusters import limits_check as limits
from kafka_migration.preflight.clusters import own_topics_check as own_topics
from kafka_migration.preflight.clusters import registries_check as registries
from kafka_migration.preflight.clusters import rights_check as rights
from kafka_migration.preflight.clusters import topics_check as topics
from kafka_migration.preflight.clusters import transactions_check as transactions
from kafka_migration.preflight.files import alerts_check as alerts
from kafka_migration.preflight.files import connections_check as connections
from kafka_migration.preflight.files import earlier_runs_check as earlier_runs
from kafka_migration.preflight.files import evidence_check as evidence
from kafka_migration.preflight.files import follow_check as follow
from kafka_migration.preflight.files import generations_check as generations
from kafka_migration.preflight.files import overlap_check as overlap
from kafka_migration.preflight.files import phase_check as phase
from kafka_migration.preflight.files import schedule_check as schedule
from kafka_migration.preflight.files import security_check as security
from kafka_migration.preflight.host import cluster_clocks_check as cluster_clocks
from kafka_migration.preflight.host import host_brokers_check as host_brokers
from kafka_migration.preflight.host import host_check as host
from kafka_migration.preflight.host import host_clock_check as host_clock
from kafka_migration.preflight.host import host_disk_check as host_disk
from kafka_migration.preflight.host import host_files_check as host_files
from kafka_migration.preflight.host import host_names_check as host_names
from kafka_migration.preflight.host import mirror_check as mirror
from kafka_migration.preflight.host import other_mirrors_check as other_mirrors
from kafka_migration.preflight.host import quotas_check as quotas
from kafka_migration.preflight.host import target_space_check as target_space
from kafka_migration.preflight.host import versions_check as versions
from kafka_migration.preflight.spark import spark_check as spark
from kafka_migration.preflight.spark import spark_versions_check as spark_versions

# What the checks ask from this one on; `preflight` shows it while they run.
PHASES = {
    earlier_runs.CHECK.name: "the migration file and Airflow's connections",
    clusters.CHECK.name: "both clusters",
    schedule.CHECK.name: "the schedule, Spark and the evidence",
    topics.CHECK.name: "the topics on both clusters",
    host.CHECK.name: "the MirrorMaker host",
    host_brokers.CHECK.name: "both clusters from the MirrorMaker host, with Kafka's own tools",
}
# What the copy of earlier runs depends on comes first: other findings may only follow from it.
CHECKS = (
    earlier_runs.CHECK,
    connections.CHECK,
    security.CHECK,
    clusters.CHECK,
    schedule.CHECK,
    overlap.CHECK,
    spark.CHECK,
    spark_versions.CHECK,
    evidence.CHECK,
    alerts.CHECK,
    phase.CHECK,
    follow.CHECK,
    generations.CHECK,
    certificates.CHECK,
    rights.CHECK,
    spark.CLIENT_CHECK,
    registries.CHECK,
    topics.CHECK,
    brokers.CHECK,
    limits.CHECK,
    creation.CHECK,
    own_topics.CHECK,
    keys.CHECK,
    other_mirrors.CHECK,
    groups.CHECK,
    host.CHECK,
    mirror.CHECK,
    versions.CHECK,
    host_disk.CHECK,
    host_files.CHECK,
    host_clock.CHECK,
    host_names.CHECK,
    host_brokers.CHECK,
    cluster_clocks.CHECK,
    target_space.CHECK,
    quotas.CHECK,
    transactions.CHECK,
)
