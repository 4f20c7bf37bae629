"""Services of Airflow connections of type `http`: each connection is read, masked in logs and checked before use."""

from __future__ import annotations

from kafka_migration.airflow_adapters.airflow_connections import extra_of, mask, read_connection
from kafka_migration.core.connections.http import CA, CONNECTION_TYPE, HttpSettings, address, http_findings
from kafka_migration.core.discovery.described_cluster import ClusterManager
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.kafka.schema_registry import SchemaRegistry


def http_settings(connection_id: str) -> HttpSettings:
    """Return the settings of an `http` connection.

    Raises `Refused` if it cannot be used, `TransientError` if Airflow does not return it.
    """
    connection = read_connection(connection_id, CONNECTION_TYPE)
    extra = extra_of(connection)
    mask({"login": connection.login, "password": connection.password})
    settings = HttpSettings(
        connection_id,
        address(connection.host or "", connection.schema or "", connection.port),
        connection.login or "",
        connection.password or "",
        str(extra.get(CA, "")),
    )
    findings = tuple(http_findings(settings, extra))
    if findings:
        raise Refused(findings)
    return settings


def registry_named(side: Side, connection_id: str) -> SchemaRegistry:
    """Return the schema registry of a connection; raises like `http_settings`."""
    # Only runs whose migration file names registries need the client.
    from kafka_migration.adapters.http.registry_client import HttpSchemaRegistry

    return HttpSchemaRegistry(f"the {side}'s schema registry", http_settings(connection_id))


def manager_named(connection_id: str) -> ClusterManager:
    """Return Ambari or Cloudera Manager of a connection; raises like `http_settings` and `manager_of`."""
    # Only `kafka-migration discover` needs the client.
    from kafka_migration.adapters.http.cluster_managers import manager_of

    return manager_of(http_settings(connection_id))
