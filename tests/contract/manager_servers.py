"""Servers on loopback that answer like Ambari and Cloudera Manager.

The shapes of the answers are those of the public documentation of both REST interfaces. Neither server could be had, so
nothing proves that the real servers answer like this.
"""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sandbox.security.authority import Authority


@dataclass
class ManagerServer:
    """Serves documents by path with query; a text is sent as it is, and a pair is a status with a text.

    `asked` are the paths of all requests, with the header `Authorization`. `tls` makes it a server of https.
    """

    answers: dict[str, Any]
    asked: list[tuple[str, str]] = field(default_factory=list)
    tls: ssl.SSLContext | None = None

    def __enter__(self) -> ManagerServer:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        if self.tls:
            # Each connection is shaken by its own thread.
            self._server.socket = self.tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        threading.Thread(target=self._server.serve_forever, args=[0.02], daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self._server.server_port}"

    def answer(self, path: str) -> tuple[int, str]:
        """Return status and body of a request."""
        found = self.answers.get(unquote(path), (404, '{"status": 404, "message": "not found"}'))
        if isinstance(found, tuple):
            return found
        return 200, found if isinstance(found, str) else json.dumps(found)


def tls_of(authority: Authority, folder: Path) -> ssl.SSLContext:
    """Return the settings of a server with a certificate of the authority, which is kept in the folder."""
    own, file = authority.issue("manager"), folder / "manager.pem"
    file.write_text(own.key + own.certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def _handler_of(server: ManagerServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.asked.append((self.path, self.headers.get("Authorization", "")))
            status, body = server.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    return Handler


AMBARI_SETTINGS = {
    "listeners": "PLAINTEXT://localhost:9092",
    "auto.create.topics.enable": "false",
    "security.inter.broker.protocol": "PLAINTEXT",
    "zookeeper.connect": "zk0-demo.example.com:2181,zk1-demo.example.com:2181",
}
C = "/api/v1/clusters/demo"
BROKERS = f"{C}/services/KAFKA/components/KAFKA_BROKER?fields=host_components/HostRoles/host_name"
ZOOKEEPERS = f"{C}/services/ZOOKEEPER/components/ZOOKEEPER_SERVER?fields=host_components/HostRoles/host_name"
CLUSTER = f"{C}?fields=Clusters/desired_configs,Clusters/version,Clusters/security_type"
SETTINGS = f"{C}/configurations?type=kafka-broker&tag=version7"
STACK = "/api/v1/stacks/HDP/versions/4.1/services/KAFKA?fields=StackServices/service_version"


def ambari_answers(settings: Mapping[str, str] = AMBARI_SETTINGS, security: str = "NONE") -> dict[str, Any]:
    """Return the answers of an Ambari with one cluster of two brokers."""
    return {
        "/api/v1/clusters": {"items": [{"Clusters": {"cluster_name": "demo", "version": "HDP-4.1"}}]},
        CLUSTER: {
            "Clusters": {
                "cluster_name": "demo",
                "version": "HDP-4.1",
                "security_type": security,
                "desired_configs": {
                    "kafka-broker": {"tag": "version7", "version": 7},
                    "kafka-env": {"tag": "version1", "version": 1},
                },
            }
        },
        SETTINGS: {"items": [{"type": "kafka-broker", "tag": "version7", "version": 7, "properties": dict(settings)}]},
        BROKERS: _component("KAFKA_BROKER", "wn1-demo.example.com", "wn0-demo.example.com"),
        ZOOKEEPERS: _component("ZOOKEEPER_SERVER", "zk0-demo.example.com", "zk1-demo.example.com"),
        STACK: {"StackServices": {"service_name": "KAFKA", "service_version": "2.4.1", "stack_name": "HDP"}},
    }


def _component(name: str, *hosts: str) -> dict[str, Any]:
    return {
        "ServiceComponentInfo": {"cluster_name": "demo", "component_name": name},
        "host_components": [
            {"HostRoles": {"cluster_name": "demo", "component_name": name, "host_name": host}} for host in hosts
        ],
    }


V = "/api/v41"
KAFKA = f"{V}/clusters/Cluster 1/services/kafka"
GROUP = "kafka-KAFKA_BROKER-BASE"
GROUP_SETTINGS = f"{KAFKA}/roleConfigGroups/{GROUP}/config?view=full"
SERVICE_SETTINGS = f"{KAFKA}/config?view=full"
ROLES = f"{KAFKA}/roles"


def cloudera_answers(has_host_names: bool = True, has_kerberos: bool = True) -> dict[str, Any]:
    """Return the answers of a Cloudera Manager with one Kafka service of two brokers and a MirrorMaker that runs."""
    kafka = [("KAFKA_BROKER", "1", "STARTED"), ("KAFKA_BROKER", "2", "STARTED"), ("KAFKA_MIRROR_MAKER", "3", "STARTED")]
    answers = {
        "/api/version": "v41",
        f"{V}/clusters": {"items": [{"name": "Cluster 1", "displayName": "Cluster 1", "fullVersion": "7.1.7"}]},
        f"{V}/clusters/Cluster 1/services": {
            "items": [{"name": "hdfs", "type": "HDFS"}, {"name": "kafka", "type": "KAFKA"}]
        },
        f"{V}/hosts": {"items": [{"hostId": f"id-{n}", "hostname": f"host{n}.example.com"} for n in "12345"]},
        ROLES: roles("kafka", kafka, has_host_names),
        f"{V}/clusters/Cluster 1/services/zookeeper/roles": roles(
            "zookeeper", [("SERVER", "4", "STARTED"), ("SERVER", "5", "STOPPED")], has_host_names
        ),
        SERVICE_SETTINGS: items(
            {
                "kerberos.auth.enable": ("true" if has_kerberos else None, "false"),
                "zookeeper_service": ("zookeeper", None),
            },
        ),
        GROUP_SETTINGS: items(
            {
                "ssl_enabled": ("true", "false"),
                "port": (None, "9092"),
                "ssl_port": (None, "9093"),
                "auto.create.topics.enable": (None, "true"),
                "ssl_server_keystore_password": (None, None),
            }
        ),
    }
    return answers | {f"{ROLES}/kafka-KAFKA_BROKER-{n}/config": {"items": []} for n in "12"}


def roles(service: str, found: list[tuple[str, str, str]], has_host_names: bool = True) -> dict[str, Any]:
    """Return the roles of a service: type, number of the host, state."""
    return {
        "items": [
            {
                "name": f"{service}-{kind}-{number}",
                "type": kind,
                "hostRef": {"hostId": f"id-{number}"}
                | ({"hostname": f"host{number}.example.com"} if has_host_names else {}),
                "serviceRef": {"clusterName": "Cluster 1", "serviceName": service},
                "roleState": state,
                "roleConfigGroupRef": {"roleConfigGroupName": f"{service}-{kind}-BASE"},
            }
            for kind, number, state in found
        ]
    }


def items(settings: Mapping[str, tuple[str | None, str | None]]) -> dict[str, Any]:
    """Return settings as items with value and default, which are left out if there is none."""
    return {
        "items": [
            {"name": name, **({"value": value} if value else {}), **({"default": default} if default else {})}
            for name, (value, default) in settings.items()
        ]
    }
