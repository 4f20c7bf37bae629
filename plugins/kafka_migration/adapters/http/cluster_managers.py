"""Servers that manage Kafka clusters: Ambari and Cloudera Manager."""

from __future__ import annotations

from kafka_migration.adapters.http.ambari_service import Ambari
from kafka_migration.adapters.http.cloudera_manager import ClouderaManager
from kafka_migration.adapters.http.http_service import DEADLINE_S
from kafka_migration.adapters.http.manager_service import ManagerService
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.discovery.cloudera import is_version
from kafka_migration.core.discovery.described_cluster import ClusterManager


def manager_of(settings: HttpSettings, *, deadline_s: float = DEADLINE_S) -> ClusterManager:
    """Return the manager of a connection. The server shows which one it is: only Cloudera Manager has `/api/version`.

    `deadline_s` is for a whole request. Raises `Refused` or `TransientError` like `ManagerService.get`.
    """
    service = ManagerService(settings, deadline_s=deadline_s)
    try:
        version = service.text("/api/version")
    except Exception:
        service.close()
        raise
    return ClouderaManager(service, version.strip()) if version and is_version(version) else Ambari(service)
