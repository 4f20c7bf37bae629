"""The Airflow connections of the sandbox, as environment variables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sandbox.connect import ConnectWorker
from sandbox.kafka import KafkaCluster
from sandbox.parts import HOST
from sandbox.ssh import SshHost
from sandbox.yarn import YarnCluster


def connection_variables(
    source: KafkaCluster,
    target: KafkaCluster,
    host: SshHost,
    workers: Sequence[ConnectWorker] = (),
    yarn: YarnCluster | None = None,
) -> dict[str, str]:
    """Return `AIRFLOW_CONN_DEMO_SOURCE`, `…_TARGET`, `…_MIRROR_HOST`, and `…_SPARK`.

    With workers also `…_CONNECT`; with YARN `…_YARN_CLIENT` and `…_YARN_CLUSTER`, one per deploy mode.
    """
    connections = {
        "DEMO_SOURCE": _kafka(source),
        "DEMO_TARGET": _kafka(target),
        "DEMO_MIRROR_HOST": _ssh(host),
        "DEMO_SPARK": {"conn_type": "spark", "host": "local[2]", "extra": {"deploy-mode": "client"}},
        **({"DEMO_CONNECT": _connect(workers[0])} if workers else {}),
        **({f"DEMO_YARN_{mode.upper()}": _yarn(yarn, mode) for mode in ("client", "cluster")} if yarn else {}),
    }
    return {f"AIRFLOW_CONN_{name}": json.dumps(value) for name, value in connections.items()}


def _kafka(cluster: KafkaCluster) -> dict[str, Any]:
    return {"conn_type": "kafka", "extra": {"bootstrap.servers": cluster.bootstrap}}


def _connect(worker: ConnectWorker) -> dict[str, Any]:
    return {"conn_type": "http", "host": f"http://{HOST}", "port": worker.port}


def _yarn(yarn: YarnCluster, mode: str) -> dict[str, Any]:
    return {"conn_type": "spark", "host": "yarn", "extra": {"deploy-mode": mode, **yarn.spark_settings}}


def _ssh(host: SshHost) -> dict[str, Any]:
    extra = {"key_file": str(host.key_file), "host_key": host.host_key, "no_host_key_check": False}
    return {"conn_type": "ssh", "host": HOST, "port": host.port, "login": host.user, "extra": extra}
