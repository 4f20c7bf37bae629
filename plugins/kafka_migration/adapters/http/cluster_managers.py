"""Servers that manage Kafka clusters, Ambari and Cloudera Manager, through their REST APIs."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from kafka_migration.adapters.http.http_service import HttpAnswer, HttpService
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.discovery import ambari_answers as ambari
from kafka_migration.core.discovery import cloudera
from kafka_migration.core.discovery.cloudera import Role, Settings, is_version
from kafka_migration.core.discovery.described_cluster import ClusterManager, DiscoveredCluster
from kafka_migration.core.discovery.json_answer import Answer
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError

_EXPECTED = "answers of Ambari's API v1 or of Cloudera Manager's API"
_HOSTS = "fields=host_components/HostRoles/host_name"


def manager_of(settings: HttpSettings) -> ClusterManager:
    """Return the manager of a connection. The server shows which one it is: only Cloudera Manager has `/api/version`.

    Raises `Refused` or `TransientError` like `ManagerService.get`.
    """
    service = ManagerService(settings)
    try:
        version = service.text("/api/version")
    except Exception:
        service.close()
        raise
    return ClouderaManager(service, version.strip()) if version and is_version(version) else Ambari(service)


class Ambari:
    """The clusters of an Ambari server, the manager of HDInsight and of Hortonworks' clusters."""

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


class ClouderaManager:
    """The Kafka services of a Cloudera Manager, each named `cluster/service`, by the newest API that the server has."""

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


class ManagerService:
    """A manager's REST interface: each answer is a JSON document, or the request is refused."""

    def __init__(self, settings: HttpSettings) -> None:
        self._name = f"the manager ({settings.connection}, {settings.url})"
        self._subject = f"connection {settings.connection}"
        self._service = HttpService(self._name, settings, self._refused)

    def text(self, path: str) -> str | None:
        """Return an answer as it is, `None` unless the request succeeds; a refused login is no error here."""
        answer = self._service.get(path)
        return answer.body.decode(errors="replace") if answer.status == HTTPStatus.OK else None

    def get(self, path: str) -> Answer:
        """Return the document of a path.

        Raises `Refused` if the server refuses the request or gives no JSON, `TransientError` if it does not answer.
        """
        found = self.get_if_there(path)
        if found is None:
            raise self._refused(f"no {path} (status 404)")
        return found

    def get_if_there(self, path: str) -> Answer | None:
        """Return the document of a path, `None` if the server has no such thing (404). Raises like `get`."""
        answer = self._service.get(path)
        if answer.status == HTTPStatus.NOT_FOUND:
            return None
        return Answer(self._document(answer, path), path.partition("?")[0])

    def close(self) -> None:
        """Close the connection."""
        self._service.close()

    def _document(self, answer: HttpAnswer, path: str) -> Any:
        if answer.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            raise self._refused(f"a refused login or right for {path} (status {answer.status})")
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise TransientError(f"{self._name} answered {path} with status {answer.status}")
        if answer.status != HTTPStatus.OK:
            raise self._refused(f"status {answer.status} for {path}")
        document = answer.document()
        if document is None:
            raise self._refused(f"an answer for {path} that is no JSON document")
        return document

    def _refused(self, found: str) -> Refused:
        return Refused(
            [
                Finding(
                    Code.MANAGER_REFUSED,
                    self._subject,
                    f"{found} from {self._name}",
                    _EXPECTED,
                    "Correct address, login and ssl.ca.pem of the Airflow connection, or grant its user the right to "
                    "read the cluster. Then run the command again.",
                    happened=f"The cluster manager {self._name} did not describe the cluster: {found}.",
                    matters="Without its answer the command can propose no connection and no migration file.",
                )
            ]
        )


def escaped_name(name: str) -> str:
    """Return a name as one part of a path."""
    return quote(name, safe="", errors="replace")
