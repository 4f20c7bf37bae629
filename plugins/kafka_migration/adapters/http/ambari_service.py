"""Ambari, the manager of HDInsight and of Hortonworks' clusters, through its REST API."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_migration.adapters.http.manager_service import ManagerService, escaped_name
from kafka_migration.core.discovery import ambari_answers as ambari
from kafka_migration.core.discovery.described_cluster import DiscoveredCluster
from kafka_migration.core.discovery.json_answer import Answer

_HOSTS = "fields=host_components/HostRoles/host_name"


class Ambari:
    """The clusters of an Ambari server."""

    def __init__(self, service: ManagerService) -> None:
        self._service = service

    def clusters(self) -> Sequence[str]:
        """Return the names of the clusters that have brokers."""
        names = ambari.cluster_names(self._service.get("/api/v1/clusters"))
        return [name for name in names if self._hosts(name, "KAFKA", "KAFKA_BROKER")]

    def cluster(self, name: str) -> DiscoveredCluster:
        """Return one cluster."""
        path = f"/api/v1/clusters/{escaped_name(name)}"
        cluster = self._service.get(f"{path}?fields=Clusters/desired_configs,Clusters/version,Clusters/security_type")
        tag = escaped_name(ambari.tag_of_settings(cluster))
        answer = self._service.get(f"{path}/configurations?type={ambari.KAFKA_SETTINGS}&tag={tag}")
        return ambari.described(
            name,
            cluster,
            ambari.settings_of(answer),
            self._hosts(name, "KAFKA", "KAFKA_BROKER") or (),
            self._hosts(name, "ZOOKEEPER", "ZOOKEEPER_SERVER"),
            self._kafka_version(cluster),
        )

    def close(self) -> None:
        """Close the connection."""
        self._service.close()

    def _hosts(self, cluster: str, service: str, component: str) -> tuple[str, ...] | None:
        """Return the hosts of a component, `None` if the cluster does not have it."""
        path = f"/api/v1/clusters/{escaped_name(cluster)}/services/{service}/components/{component}?{_HOSTS}"
        found = self._service.get_if_there(path)
        return None if found is None else ambari.component_hosts(found)

    def _kafka_version(self, cluster: Answer) -> str | None:
        """Return the version of Kafka in the definition of the stack."""
        stack = ambari.stack_of(cluster)
        if stack is None:
            return None
        name, version = map(escaped_name, stack)
        path = f"/api/v1/stacks/{name}/versions/{version}/services/KAFKA?fields=StackServices/service_version"
        found = self._service.get_if_there(path)
        return None if found is None else found.part("StackServices").maybe_text("service_version")
