"""A real YARN on loopback: a ResourceManager and a NodeManager of Hadoop, for Spark's master `yarn`.

Hadoop's jars are fetched by the first sandbox that wants YARN. Each port is a free one, so several can run.
"""

from __future__ import annotations

import json
import secrets
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from sandbox import jars
from sandbox.environment import base_environment, java
from sandbox.kafka import SHORT_LIVED
from sandbox.parts import HOST, Part, PartSpec, free_ports, running
from sandbox.processes import MARKER, end_all

JARS = "hadoop-yarn-3.4.1"
HEAP_MB = 400
ANSWER_S = 5.0
CORES, MEMORY_MB = 4, 4096
STEP_MB = 128
# The part of the memory that the applications of a queue may have, in percent: one that starts an application but gives
# it no executor, and one that starts none.
QUEUES = {"default": (70, 100), "narrow": (29, 29), "starved": (1, 1)}
PORTS = 8
_NODE_PORTS = ("address", "localizer.address", "webapp.address")
_MANAGER_PORTS = ("address", "scheduler.address", "resource-tracker.address", "admin.address", "webapp.address")
_JAVA_OPTIONS = tuple(f"spark.{part}.extraJavaOptions" for part in ("driver", "executor", "yarn.am"))
_MANAGER = "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager"
_NODE = "org.apache.hadoop.yarn.server.nodemanager.NodeManager"
_LOG4J = """log4j.rootLogger=INFO, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=[%d] %p %m (%c)%n
"""


@dataclass(frozen=True)
class YarnCluster:
    """One ResourceManager and one NodeManager below a folder, with a port for each of `PORTS` addresses."""

    folder: Path
    ports: tuple[int, ...]
    java_options: tuple[str, ...] = SHORT_LIVED

    @property
    def conf(self) -> Path:
        """The folder that `HADOOP_CONF_DIR` names."""
        return self.folder / "conf"

    @property
    def url(self) -> str:
        """The address of the ResourceManager's pages."""
        return f"http://{HOST}:{self.ports[4]}"

    @property
    def spark_settings(self) -> dict[str, str]:
        """What a connection to it needs: protection, a folder for what Spark ships, and one small executor."""
        return {
            "spark.authenticate": "true",
            "spark.network.crypto.enabled": "true",
            "spark.yarn.stagingDir": f"file:{self.folder / 'staging'}",
            "spark.executor.instances": "1",
            "spark.executor.cores": "2",
            "spark.executor.memory": "640m",
            "spark.driver.memory": "768m",
            # YARN knows no variables of this process; a driver gives them to its executors.
            "spark.yarn.appMasterEnv.SPARK_LOCAL_IP": HOST,
            # A busy machine may let a process wait for minutes; Spark would take it for lost.
            "spark.network.timeout": "600s",
            **dict.fromkeys(_JAVA_OPTIONS, " ".join(SHORT_LIVED)),
            # Nothing of Spark itself is copied: containers find it where this process does.
            "spark.yarn.jars": f"local:{_pyspark()}/jars/*",
        }

    def manager_part(self, environment: Mapping[str, str], logs: Path) -> PartSpec:
        """Return the ResourceManager, and write the files of both."""
        self._write_files(environment)
        return self._part("yarn-manager", _MANAGER, environment, logs)

    def node_part(self, environment: Mapping[str, str], logs: Path) -> PartSpec:
        """Return the NodeManager, which is ready when the ResourceManager gives it containers."""
        return self._part("yarn-node", _NODE, environment, logs)

    def nodes(self) -> list[dict[str, Any]]:
        """Return the running nodes, as the ResourceManager tells them; none while it does not answer."""
        try:
            found = self.asked("nodes?states=RUNNING")["nodes"]
        except (urllib.error.URLError, TimeoutError, ConnectionError, ValueError):
            return []
        return list((found or {}).get("node", ()))

    def applications(self, *states: str) -> list[dict[str, Any]]:
        """Return the applications in these states, or all; the newest last."""
        found = self.asked(f"apps?states={','.join(states)}" if states else "apps")["apps"]
        return sorted((found or {}).get("app", ()), key=lambda application: str(application["id"]))

    def asked(self, path: str) -> dict[str, Any]:
        """Return an answer of the ResourceManager."""
        with urllib.request.urlopen(f"{self.url}/ws/v1/cluster/{path}", timeout=ANSWER_S) as answer:
            document: dict[str, Any] = json.load(answer)
            return document

    def _part(self, name: str, program: str, environment: Mapping[str, str], logs: Path) -> PartSpec:
        options = ("--add-opens", "java.base/java.lang=ALL-UNNAMED", *self.java_options, f"-Xmx{HEAP_MB}m")
        classes = f"{self.conf}:{jars.jar_set(JARS).libs}/*"
        return PartSpec(
            name=name,
            command=(java(environment), *options, "-cp", classes, program),
            environment={**environment, "JAVA_HOME": _java_home(environment)},
            log=logs / f"{name}.log",
            is_ready=lambda log: bool(self.nodes()) if program == _NODE else "Transitioned to active state" in log,
        )

    def _write_files(self, environment: Mapping[str, str]) -> None:
        self.conf.mkdir(parents=True, exist_ok=True)
        for name in ("staging", "local", "container-logs"):
            (self.folder / name).mkdir(exist_ok=True)
        for file, settings in {
            "core-site.xml": {"fs.defaultFS": "file:///", "hadoop.tmp.dir": str(self.folder / "tmp")},
            "yarn-site.xml": {**self._addresses(), **self._node(environment)},
            "capacity-scheduler.xml": _queues(),
        }.items():
            (self.conf / file).write_text(_xml(settings))
        (self.conf / "log4j.properties").write_text(_LOG4J)

    def _addresses(self) -> dict[str, str]:
        names = (
            *(f"yarn.resourcemanager.{name}" for name in _MANAGER_PORTS),
            *(f"yarn.nodemanager.{name}" for name in _NODE_PORTS),
        )
        return {
            "yarn.resourcemanager.hostname": HOST,
            "yarn.resourcemanager.bind-host": HOST,
            "yarn.nodemanager.hostname": HOST,
            "yarn.nodemanager.bind-host": HOST,
            **{name: f"{HOST}:{port}" for name, port in zip(names, self.ports, strict=True)},
        }

    def _node(self, environment: Mapping[str, str]) -> dict[str, str]:
        return {
            "yarn.nodemanager.local-dirs": str(self.folder / "local"),
            "yarn.nodemanager.log-dirs": str(self.folder / "container-logs"),
            "yarn.nodemanager.vmem-check-enabled": "false",
            "yarn.nodemanager.pmem-check-enabled": "false",
            "yarn.nodemanager.resource.memory-mb": str(MEMORY_MB),
            "yarn.nodemanager.resource.cpu-vcores": str(CORES),
            "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99.5",
            # What runs in a container belongs to the sandbox too, and ends with it.
            "yarn.nodemanager.admin-env": f"{MARKER}={environment.get(MARKER, '')}",
            "yarn.scheduler.minimum-allocation-mb": str(STEP_MB),
            "yarn.scheduler.maximum-allocation-mb": str(MEMORY_MB),
            # The jars of Hadoop that an application needs are Spark's own.
            "yarn.application.classpath": "",
        }


def _queues() -> dict[str, str]:
    root = "yarn.scheduler.capacity.root"
    return {
        "yarn.scheduler.capacity.maximum-am-resource-percent": "1.0",
        f"{root}.queues": ",".join(QUEUES),
        **{f"{root}.{name}.capacity": str(share) for name, (share, _) in QUEUES.items()},
        **{f"{root}.{name}.maximum-capacity": str(most) for name, (_, most) in QUEUES.items()},
    }


def _xml(settings: Mapping[str, str]) -> str:
    each = "\n".join(
        f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>"
        for name, value in settings.items()
    )
    return f"<configuration>\n{each}\n</configuration>\n"


def _pyspark() -> Path:
    return next(jars.PROJECT.glob(".venv/lib/python*/site-packages/pyspark"))


def _java_home(environment: Mapping[str, str]) -> str:
    """Return the folder of the Java that containers use; YARN knows no PATH."""
    return str(Path(java(environment)).resolve().parents[1])


def fetched(say: Callable[[str], None]) -> None:
    """Fetch Hadoop's jars if they are missing; raises `JarsError`."""
    jars.ensure_sets([JARS], say)


@dataclass(frozen=True)
class RunningYarn:
    """A YARN without the rest of the sandbox, and the marker of all its processes, those in containers included."""

    cluster: YarnCluster
    marker: str


@contextmanager
def running_yarn(folder: Path) -> Iterator[RunningYarn]:
    """Run a YARN until the end of the block; what then still runs in containers is ended too."""
    fetched(print)
    cluster, marker = YarnCluster(folder, tuple(free_ports(PORTS))), secrets.token_hex(8)
    environment = base_environment(marker)
    try:
        with running(Part(cluster.manager_part(environment, folder)), Part(cluster.node_part(environment, folder))):
            yield RunningYarn(cluster, marker)
    finally:
        end_all(marker)
