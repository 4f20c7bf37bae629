"""A standalone Spark cluster of one master and one worker on loopback, from pyspark's own jars."""

from __future__ import annotations

import json
import secrets
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox.environment import base_environment
from sandbox.kafka import SHORT_LIVED
from sandbox.parts import HOST, Part, PartSpec, free_ports, running

CORES, MEMORY_MB = 2, 1024
# One executor takes all that the worker has.
EXECUTOR = {"spark.executor.memory": "640m", "spark.executor.extraJavaOptions": " ".join(SHORT_LIVED)}
ANSWER_S = 10
# Its cipher is the default one, because the other one does not work in Spark 4.0.0.
ACCEPTED = "accept: [SPARK_CIPHER_WEAK]\n"


@dataclass(frozen=True)
class SparkCluster:
    """A running cluster: its address and settings for applications, and where the master tells what runs."""

    master: str
    pages: str
    settings: Mapping[str, str] = field(default_factory=dict)

    def state(self) -> dict[str, Any]:
        """Return what the master tells of itself."""
        with urllib.request.urlopen(f"{self.pages}/json/", timeout=ANSWER_S) as answer:
            state: dict[str, Any] = json.load(answer)
            return state

    @property
    def conf(self) -> dict[str, str]:
        """What an application is submitted with."""
        return {**EXECUTOR, **self.settings}

    @property
    def active(self) -> list[str]:
        """The ids of the applications that the master takes for running."""
        return [application["id"] for application in self.state()["activeapps"]]


@contextmanager
def spark_cluster(
    folder: Path, *, is_protected: bool = True, more: Mapping[str, str] | None = None
) -> Iterator[SparkCluster]:
    """Start master and worker, with more in their environment, and stop both by their pids at the end."""
    port, pages, worker_port, worker_pages = free_ports(4)
    cluster = SparkCluster(f"spark://{HOST}:{port}", f"http://{HOST}:{pages}", _protection() if is_protected else {})
    _write_defaults(folder, cluster.settings)
    environment = {**_environment(folder), **(more or {})}
    size = ("--cores", str(CORES), "--memory", f"{MEMORY_MB}m", "--work-dir", str(folder / "work"))
    master = _part(folder, environment, "Master", (port, pages), (), lambda log: "New state: ALIVE" in log)
    worker = _part(
        folder,
        environment,
        "Worker",
        (worker_port, worker_pages),
        (*size, cluster.master),
        lambda log: "Successfully registered" in log and cluster.state()["aliveworkers"] == 1,
    )
    with running(master, worker):
        yield cluster


def _part(
    folder: Path,
    environment: Mapping[str, str],
    name: str,
    ports: tuple[int, int],
    arguments: tuple[str, ...],
    is_ready: Callable[[str], bool],
) -> Part:
    daemon = f"org.apache.spark.deploy.{name.lower()}.{name}"
    addresses = ("--host", HOST, "--port", str(ports[0]), "--webui-port", str(ports[1]))
    command = (str(Path(sys.executable).parent / "spark-class"), daemon, *addresses, *arguments)
    return Part(PartSpec(f"Spark {name}", command, environment, folder / f"{name}.log", is_ready))


def _protection() -> dict[str, str]:
    return {
        "spark.authenticate": "true",
        "spark.authenticate.secret": secrets.token_hex(16),
        "spark.network.crypto.enabled": "true",
    }


def _write_defaults(folder: Path, settings: Mapping[str, str]) -> None:
    """Write what master and worker read when they start; applications are given it otherwise."""
    path = folder / "spark-defaults.conf"
    path.touch(mode=0o600)
    path.write_text("".join(f"{name} {value}\n" for name, value in settings.items()))


def _environment(folder: Path) -> Mapping[str, str]:
    own = {
        "SPARK_CONF_DIR": str(folder),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": " ".join(SHORT_LIVED),
        "PYSPARK_PYTHON": sys.executable,
    }
    return {**base_environment(secrets.token_hex(8)), **own}
