"""The folders and ports of one sandbox's parts; the environment and the state file are derived from them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sandbox import jars
from sandbox.airflow import USER, Airflow, AirflowFolders
from sandbox.connect import ConnectWorker, workers_on
from sandbox.connections import connection_variables
from sandbox.environment import base_environment
from sandbox.kafka import SHORT_LIVED, KafkaCluster, login_listener
from sandbox.parts import HOST, free_ports, require_free
from sandbox.postgres import Postgres
from sandbox.security.kdc import KerberosLogin
from sandbox.security.listeners import AUTHORIZER, PORTS, Security, token_endpoints
from sandbox.shared_classes import FOLDER
from sandbox.ssh import SshHost
from sandbox.state import SandboxState
from sandbox.yarn import PORTS as YARN_PORTS
from sandbox.yarn import YarnCluster
from sandbox.zookeeper import WITH_ZOOKEEPER, ZooKeeperCluster


@dataclass(frozen=True)
class Layout:
    """The parts below one root folder, each with its own port."""

    root: Path
    sandbox_id: str
    source: KafkaCluster
    target: KafkaCluster
    host: SshHost
    airflow: Airflow
    security: Mapping[str, Security] = field(default_factory=dict)
    workers: tuple[ConnectWorker, ...] = ()
    yarn: YarnCluster | None = None

    @property
    def logs(self) -> Path:
        """The folder with one log per part."""
        return self.root / "logs"

    @property
    def evidence(self) -> Path:
        """The evidence store's folder."""
        return self.root / "evidence"

    def base_environment(self) -> dict[str, str]:
        """The environment of Kafka and sshd."""
        return base_environment(self.sandbox_id)

    def airflow_environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        """The environment of Airflow's parts and of `airflow` commands; `extra` wins.

        The host's keys must exist already: the SSH connection names them.
        """
        return {**self.base_environment(), **self.own_environment(extra)}

    def own_environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        """The variables of `airflow_environment` that are specific to this sandbox."""
        spark_jars = ",".join(str(jar) for jar in jars.spark_jars())
        return {
            **self.airflow.settings(),
            "AIRFLOW__KAFKA_MIGRATION__EVIDENCE_ROOT": str(self.evidence),
            "AIRFLOW__KAFKA_MIGRATION__MIGRATIONS_FOLDER": str(self.airflow.folders.migrations),
            "AIRFLOW__KAFKA_MIGRATION__SPARK_JARS": spark_jars,
            "AIRFLOW__KAFKA_MIGRATION__CLASS_ARCHIVES": str(FOLDER),
            "AIRFLOW__KAFKA_MIGRATION__TOKEN_ENDPOINTS": token_endpoints(self.security.values()),
            # Airflow uses a deprecated pathspec name for `.airflowignore`; each task's log would contain the warning.
            "PYTHONWARNINGS": "ignore:GitWildMatchPattern:DeprecationWarning",
            # Otherwise Spark's driver listens on the machine's external address.
            "SPARK_LOCAL_IP": "127.0.0.1",
            # Spark refuses a worker Python that differs from the driver's.
            "PYSPARK_PYTHON": sys.executable,
            **connection_variables(self.source, self.target, self.host, self.workers, self.yarn),
            **self._yarn_environment(),
            **extra,
        }

    def _yarn_environment(self) -> dict[str, str]:
        """The variables with which `spark-submit` finds YARN, and a driver on a node the evidence."""
        if self.yarn is None:
            return {}
        return {
            "HADOOP_CONF_DIR": str(self.yarn.conf),
            "AIRFLOW__KAFKA_MIGRATION__SPARK_EVIDENCE_ROOT": self.evidence.as_uri(),
        }

    def state(self, pids: Mapping[str, int], environment: Mapping[str, str], *, with_airflow: bool) -> SandboxState:
        """Return the content of `state.json` while the parts run."""
        return SandboxState(
            sandbox_id=self.sandbox_id,
            supervisor_pid=os.getpid(),
            root=self.root,
            airflow_url=self.airflow.url if with_airflow else None,
            airflow_user=USER,
            airflow_password=self.airflow.password,
            airflow_home=self.airflow.home,
            evidence_root=self.evidence,
            source_bootstrap=self.source.bootstrap,
            target_bootstrap=self.target.bootstrap,
            connect_urls={worker.name: worker.url for worker in self.workers},
            ssh_host=HOST,
            ssh_port=self.host.port,
            ssh_user=self.host.user,
            ssh_key_file=self.host.key_file,
            ssh_host_key=self.host.host_key,
            mirror_home=self.host.mirror_home,
            kafka_home=jars.kafka_home(),
            spark_jars=jars.spark_jars(),
            logs=self.logs,
            pids=dict(pids),
            environment=dict(environment),
        )


def plan_layout(
    root: Path,
    sandbox_id: str,
    folders: AirflowFolders,
    airflow_port: int | None,
    java_options: tuple[str, ...] = SHORT_LIVED,
    *,
    secured: bool = False,
    kerberos: Mapping[str, KerberosLogin] | None = None,
    versions: Mapping[str, str] | None = None,
    connect: int = 0,
    yarn: bool = False,
) -> Layout:
    """Choose ports and folders; `java_options` are for the JVMs of Kafka, brokers and MirrorMaker alike.

    `versions` are the Kafka versions of `source`, `target` and `connect`. `connect` is the number of Connect workers.

    Raises:
        PortTaken: `airflow_port` was given and is in use.
    """
    asked_for = [require_free(airflow_port, "Airflow")] if airflow_port is not None else []
    ports = iter([*asked_for, *free_ports(8 + connect + 2 * len(PORTS) + YARN_PORTS)])
    airflow, ssh, database = next(ports), next(ports), next(ports)
    security = {
        side: Security(
            root / "security" / side, {name: next(ports) for name in PORTS}, kerberos=(kerberos or {}).get(side)
        )
        for side in (("source", "target") if secured else ())
    }
    login = (login_listener(next(ports)),)
    kafka = {**dict.fromkeys(("source", "target", "connect"), jars.KAFKA_VERSION), **(versions or {})}
    clusters = {
        side: (ZooKeeperCluster if kafka[side] in WITH_ZOOKEEPER else KafkaCluster)(
            side,
            root / side,
            next(ports),
            next(ports),
            (*(login if side == "source" else ()), *(security[side].listeners() if secured else ())),
            AUTHORIZER if secured else {},
            java_options,
            kafka[side],
        )
        for side in ("source", "target")
    }
    workers = workers_on(
        [next(ports) for _ in range(connect)],
        root / "connect",
        clusters["target"].bootstrap,
        java_options=java_options,
        version=kafka["connect"],
    )
    return Layout(
        root=root,
        sandbox_id=sandbox_id,
        source=clusters["source"],
        target=clusters["target"],
        host=SshHost(root / "ssh", ssh, root / "mirror-host", java_options),
        airflow=Airflow(root / "airflow", airflow, Postgres(root / "postgres", database), folders),
        security=security,
        workers=workers,
        yarn=YarnCluster(root / "yarn", tuple(next(ports) for _ in range(YARN_PORTS)), java_options) if yarn else None,
    )
