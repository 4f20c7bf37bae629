"""Cloudera Manager, through its REST API in the newest version that the server has."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_migration.adapters.http.manager_service import ManagerService, escaped_name
from kafka_migration.core.discovery import cloudera
from kafka_migration.core.discovery.cloudera import Role, Settings
from kafka_migration.core.discovery.described_cluster import DiscoveredCluster


class ClouderaManager:
    """The Kafka services of a Cloudera Manager, each named `cluster/service`."""

    def __init__(self, service: ManagerService, version: str) -> None:
        self._service = service
        self._root = f"/api/{version}"

    def clusters(self) -> Sequence[str]:
        """Return the Kafka services of all clusters."""
        clusters = self._service.get(f"{self._root}/clusters").items("items")
        return [
            found
            for name in (each.text("name") for each in clusters)
            for found in cloudera.service_names(name, self._service.get(f"{self._cluster(name)}/services"))
        ]

    def cluster(self, name: str) -> DiscoveredCluster:
        """Return one Kafka service."""
        cluster, _, service = name.rpartition("/")
        path = f"{self._cluster(cluster)}/services/{escaped_name(service)}"
        roles = self._roles(path)
        settings = self._settings(f"{path}/config?view=full")
        groups = {role.group for role in cloudera.of_kind(roles, cloudera.BROKER)}
        of_group = {
            group: self._settings(f"{path}/roleConfigGroups/{escaped_name(group)}/config?view=full")
            for group in sorted(groups)
        }
        brokers = {
            role.name: {**of_group[role.group], **self._settings(f"{path}/roles/{escaped_name(role.name)}/config")}
            for role in cloudera.of_kind(roles, cloudera.BROKER)
        }
        release = cloudera.release_of(self._service.get(f"{self._root}/clusters"), cluster)
        zookeepers = self._zookeepers(cluster, settings)
        return cloudera.described(name, release, roles, settings, brokers, zookeepers)

    def close(self) -> None:
        """Close the connection."""
        self._service.close()

    def _cluster(self, name: str) -> str:
        return f"{self._root}/clusters/{escaped_name(name)}"

    def _roles(self, service: str) -> list[Role]:
        roles = self._service.get(f"{service}/roles")
        has_names = not cloudera.needs_hosts(roles)
        return cloudera.roles_of(
            roles, {} if has_names else cloudera.hosts_by_id(self._service.get(f"{self._root}/hosts"))
        )

    def _settings(self, path: str) -> Settings:
        return cloudera.settings_of(self._service.get(path))

    def _zookeepers(self, cluster: str, settings: Settings) -> tuple[str, ...] | None:
        name = settings.get("zookeeper_service")
        if name is None:
            return None
        roles = self._roles(f"{self._cluster(cluster)}/services/{escaped_name(name)}")
        return tuple(role.host for role in cloudera.of_kind(roles, cloudera.ZOOKEEPER))
