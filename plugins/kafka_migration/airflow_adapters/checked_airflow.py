"""This Airflow and its worker, as the checks of a run see them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from airflow.sdk.bases.hook import BaseHook
from airflow.sdk.exceptions import AirflowNotFoundException

from kafka_migration.adapters.kafka.listeners import own_certificates, principal_of
from kafka_migration.adapters.system.this_machine import addresses_of
from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.airflow_adapters.airflow_connections import connection_config, extra_of, findings_of_side
from kafka_migration.airflow_adapters.airflow_settings import min_masked_length, spark_jars
from kafka_migration.airflow_adapters.installed_spark import (
    installed_packages,
    python_versions,
    spark_client_findings,
    spark_target,
)
from kafka_migration.airflow_adapters.kept_versions import spark_versions
from kafka_migration.airflow_adapters.notifiers import notifier_problem
from kafka_migration.airflow_adapters.task_thread import at_once, in_task_thread
from kafka_migration.core.connections.java_properties import spark_options
from kafka_migration.core.connections.secrets import unmasked_names
from kafka_migration.core.evidence.root import EvidencePlace
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.cluster import Certificate
from kafka_migration.core.migration.settings import Cluster
from kafka_migration.core.spark.spark_target import SparkTarget, has_login
from kafka_migration.core.spark.spark_versions import (
    package_findings,
    unknown_findings,
    version_findings,
)


class ThisAirflow:
    """What the checks ask of Airflow (`preflight.scene.scene.CheckedAirflow`)."""

    # Why a notifier cannot be created, the addresses of a host name on this worker, and works at the same time.
    notifier_problem = staticmethod(notifier_problem)
    look_up = staticmethod(addresses_of)
    at_once = staticmethod(at_once)

    def __init__(self) -> None:
        self.connections = self.spark = AirflowConnections()

    @property
    def evidence_place(self) -> EvidencePlace:
        """The evidence root, as Airflow and Spark spell it."""
        return settings.evidence_place()

    @property
    def alerts_file(self) -> Path | None:
        """The file with the alert settings of all migrations; `None` without one."""
        return settings.alerts_file()

    @property
    def asks_tools(self) -> bool:
        """Whether the clusters may be asked from the MirrorMaker host."""
        return settings.host_tools()


class AirflowConnections:
    """Airflow's connections and this worker's Spark; settings and Spark's version are read once.

    It is a `preflight.scene.scene.Connections` and a `preflight.scene.scene.InstalledSpark`.
    """

    kafka_findings = staticmethod(findings_of_side)
    spark_client_findings = staticmethod(spark_client_findings)

    def __init__(self) -> None:
        self._config = cache(lambda cluster: connection_config(cluster.connection, cluster.insecure))
        self._spark_versions = cache(spark_versions)
        # Returns the target of a Spark connection. Raises `Refused` if it cannot be used.
        self.spark_target = cache(spark_target)

    @in_task_thread
    def connection_type(self, connection_id: str) -> str | None:
        """Return the type of a connection, or `None` if it does not exist."""
        try:
            return str(BaseHook.get_connection(connection_id).conn_type)
        except AirflowNotFoundException:
            return None

    @in_task_thread
    def unmasked_secrets(self, connection_id: str) -> tuple[str, ...]:
        """Return the settings of a connection whose secrets Airflow does not mask; empty if it does not exist."""
        try:
            connection = BaseHook.get_connection(connection_id)
            fields = {"password": connection.password, **extra_of(connection)}
        except (AirflowNotFoundException, Refused):
            return ()
        return unmasked_names(fields, min_masked_length())

    def principal(self, cluster: Cluster) -> str:
        """Return the broker's probable name for the user of a Kafka connection."""
        return principal_of(self._config(cluster))

    def certificates(self, cluster: Cluster) -> tuple[Certificate, ...]:
        """Return the client certificates of a Kafka connection."""
        return own_certificates(self._config(cluster))

    def spark_numbers(self, target: SparkTarget) -> tuple[int, ...]:
        """Return the first three numbers of Spark's version.

        Raises `Refused` (`SPARK_VERSION_MISMATCH`) if it is unknown.
        """
        versions = self._spark_versions(target.binary)
        if unknown := unknown_findings(versions, None):
            raise Refused(unknown)
        return versions.numbers

    def has_login(self, cluster: Cluster) -> bool:
        """Return whether a Kafka connection has a login. Raises `Refused` if it cannot be translated."""
        return has_login(spark_options(cluster.connection, self._config(cluster)))

    def spark_version_findings(self, connection_id: str) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
        """Return which versions cannot work together, and which are unknown. Raises `Refused` like `spark_target`."""
        target = self.spark_target(connection_id)
        versions, python = self._spark_versions(target.binary), python_versions(target)
        found = (*package_findings(installed_packages()), *version_findings(versions, python, spark_jars()))
        return found, unknown_findings(versions, python)
