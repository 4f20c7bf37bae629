"""A standalone Spark cluster of one master and one worker on loopback, from pyspark's own jars."""

from __future__ import annotations

import json
import secrets
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.environment import base_environment
from sandbox.parts import HOST, Part, PartSpec, free_ports, wait_ready

CORES, MEMORY_MB = 2, 1024
# One executor takes all that the worker has.
EXECUTOR = {"spark.executor.memory": "640m"}
ANSWER_S = 10


@dataclass(frozen=True)
class SparkCluster:
    """A running cluster: where applications are submitted to, and where the master tells what runs."""

    master: str
    pages: str

    def state(self) -> dict[str, Any]:
        """Return what the master tells of itself."""
        with urllib.request.urlopen(f"{self.pages}/json/", timeout=ANSWER_S) as answer:
            state: dict[str, Any] = json.load(answer)
            return state

    @property
    def active(self) -> list[str]:
        """The ids of the applications that the master takes for running."""
        return [application["id"] for application in self.state()["activeapps"]]


@contextmanager
def spark_cluster(folder: Path) -> Iterator[SparkCluster]:
    """Start master and worker, and stop both by their pids at the end."""
    port, pages, worker_port, worker_pages = free_ports(4)
    cluster = SparkCluster(f"spark://{HOST}:{port}", f"http://{HOST}:{pages}")
    size = ("--cores", str(CORES), "--memory", f"{MEMORY_MB}m", "--work-dir", str(folder / "work"))
    master = _part(folder, "Master", (port, pages), (), lambda log: "New state: ALIVE" in log)
    worker = _part(
        folder,
        "Worker",
        (worker_port, worker_pages),
        (*size, cluster.master),
        lambda log: "Successfully registered" in log and cluster.state()["aliveworkers"] == 1,
    )
    try:
        for part in (master, worker):
            part.start()
            wait_ready([part])
        yield cluster
    finally:
        worker.stop()
        master.stop()


def _part(
    folder: Path, name: str, ports: tuple[int, int], arguments: tuple[str, ...], is_ready: Callable[[str], bool]
) -> Part:
    daemon = f"org.apache.spark.deploy.{name.lower()}.{name}"
    addresses = ("--host", HOST, "--port", str(ports[0]), "--webui-port", str(ports[1]))
    command = (str(Path(sys.executable).parent / "spark-class"), daemon, *addresses, *arguments)
    return Part(PartSpec(f"Spark {name}", command, _environment(), folder / f"{name}.log", is_ready))


def _environment() -> Mapping[str, str]:
    own = {"SPARK_LOCAL_IP": HOST, "SPARK_DAEMON_MEMORY": "256m", "PYSPARK_PYTHON": sys.executable}
    return {**base_environment(secrets.token_hex(8)), **own}
