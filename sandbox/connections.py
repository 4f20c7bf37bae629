"""The Airflow connections of the sandbox, as environment variables."""

from __future__ import annotations

import json
from typing import Any

from sandbox.kafka import KafkaCluster
from sandbox.parts import HOST
from sandbox.ssh import SshHost


def connection_variables(source: KafkaCluster, target: KafkaCluster, host: SshHost) -> dict[str, str]:
    """Return `AIRFLOW_CONN_DEMO_SOURCE`, `…_TARGET`, `…_MIRROR_HOST` and `…_SPARK`."""
    connections = {
        "DEMO_SOURCE": _kafka(source),
        "DEMO_TARGET": _kafka(target),
        "DEMO_MIRROR_HOST": _ssh(host),
        "DEMO_SPARK": {"conn_type": "spark", "host": "local[2]", "extra": {"deploy-mode": "client"}},
    }
    return {f"AIRFLOW_CONN_{name}": json.dumps(value) for name, value in connections.items()}


def _kafka(cluster: KafkaCluster) -> dict[str, Any]:
    return {"conn_type": "kafka", "extra": {"bootstrap.servers": cluster.bootstrap}}


def _ssh(host: SshHost) -> dict[str, Any]:
    extra = {"key_file": str(host.key_file), "host_key": host.host_key, "no_host_key_check": False}
    return {"conn_type": "ssh", "host": HOST, "port": host.port, "login": host.user, "extra": extra}
