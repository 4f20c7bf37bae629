"""A real Kafka Connect cluster on loopback: workers in distributed mode, from the jars of the sandbox's brokers."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.environment import base_environment, java
from sandbox.jars import KAFKA_VERSION, kafka_home
from sandbox.kafka import SHORT_LIVED
from sandbox.parts import HOST, Part, PartSpec, free_ports, wait_ready
from sandbox.private import write_private
from sandbox.shared_classes import kafka_options

HEAP_MB = 512
ANSWER_S = 5.0
# Lost tasks wait this long for their worker; Kafka's default is five minutes.
REBALANCE_DELAY_MS = 5_000
_LOG4J = """log4j.rootLogger=INFO, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=[%d] %p %m (%c)%n
log4j.logger.org.reflections=ERROR
"""
# The same for Kafka 4.0 and newer.
_LOG4J2 = """rootLogger.level=INFO
rootLogger.appenderRef.stdout.ref=stdout
appender.stdout.type=Console
appender.stdout.name=stdout
appender.stdout.layout.type=PatternLayout
appender.stdout.layout.pattern=[%d] %p %m (%c)%n
"""


@dataclass(frozen=True)
class ConnectWorker:
    """One worker of the Connect cluster `group`, whose Kafka is `bootstrap`.

    `settings` are further properties, and replace the others. `java_options` are those of its JVM.
    """

    name: str
    folder: Path
    bootstrap: str
    port: int
    group: str = "connect"
    settings: Mapping[str, str] = field(default_factory=dict)
    java_options: tuple[str, ...] = SHORT_LIVED
    version: str = KAFKA_VERSION

    @property
    def url(self) -> str:
        """The address of its REST interface."""
        return f"http://{HOST}:{self.port}"

    @property
    def worker_id(self) -> str:
        """Its name in the status of connectors and tasks."""
        return f"{HOST}:{self.port}"

    def part(self, environment: Mapping[str, str], logs: Path) -> PartSpec:
        """Return the worker as a part, and write its files."""
        self._write_files()
        logging = (
            f"-Dlog4j.configuration=file:{self.folder / 'log4j.properties'}",
            f"-Dlog4j2.configurationFile=file:{self.folder / 'log4j2.properties'}",
        )
        options = (*kafka_options(self.version), *self.java_options, f"-Xmx{HEAP_MB}m", *logging)
        return PartSpec(
            name=self.name,
            command=(
                *(java(environment), *options, "-cp", f"{kafka_home(self.version) / 'libs'}/*"),
                *("org.apache.kafka.connect.cli.ConnectDistributed", str(self._properties)),
            ),
            environment=environment,
            log=logs / f"{self.name}.log",
            is_ready=lambda _: answers(self.url),
        )

    def properties(self) -> dict[str, str]:
        """Return the worker's configuration, with one replica of each internal topic and short waits."""
        return {
            "bootstrap.servers": self.bootstrap,
            "group.id": self.group,
            "listeners": self.url,
            "rest.advertised.host.name": HOST,
            "rest.advertised.port": str(self.port),
            "key.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            **{
                f"{kind}.storage.{key}": value
                for kind in ("config", "offset", "status")
                for key, value in {"topic": f"{self.group}-{kind}", "replication.factor": "1"}.items()
            },
            "offset.storage.partitions": "3",
            "status.storage.partitions": "2",
            "offset.flush.interval.ms": "5000",
            "scheduled.rebalance.max.delay.ms": str(REBALANCE_DELAY_MS),
            # As short as a broker allows, so that a killed worker is noticed soon.
            "session.timeout.ms": "10000",
            "heartbeat.interval.ms": "2000",
            "plugin.discovery": "only_scan" if self.version.startswith("3.") else "hybrid_warn",
            **self.settings,
        }

    def _write_files(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{key}={value}\n" for key, value in self.properties().items())
        write_private(self._properties, text)
        (self.folder / "log4j.properties").write_text(_LOG4J)
        (self.folder / "log4j2.properties").write_text(_LOG4J2)

    @property
    def _properties(self) -> Path:
        return self.folder / "worker.properties"


def answers(url: str) -> bool:
    """Whether a worker's REST interface answers, which it does once it has read its topics and joined its group."""
    try:
        with urllib.request.urlopen(f"{url}/connectors", timeout=ANSWER_S) as answer:
            return isinstance(json.load(answer), list)
    except (urllib.error.URLError, TimeoutError, ConnectionError, ValueError):
        return False


@contextmanager
def running_workers(workers: tuple[ConnectWorker, ...], logs: Path) -> Iterator[dict[str, Part]]:
    """Run workers until the end of the block; yield their parts by name."""
    parts = {each.name: Part(each.part(base_environment(each.name), logs)) for each in workers}
    try:
        for part in parts.values():
            part.start()
        wait_ready(parts.values())
        yield parts
    finally:
        for part in parts.values():
            part.stop()


def workers_of(
    folder: Path, bootstrap: str, count: int, group: str = "connect", **more: object
) -> tuple[ConnectWorker, ...]:
    """Return the workers of one Connect cluster, each on a free port."""
    return workers_on(free_ports(count), folder, bootstrap, group, **more)


def workers_on(
    ports: Sequence[int], folder: Path, bootstrap: str, group: str = "connect", **more: object
) -> tuple[ConnectWorker, ...]:
    """Return the workers of one Connect cluster, one on each of these ports; named `connect-1` and so on."""
    names = [f"{group}-{number}" for number in range(1, len(ports) + 1)]
    return tuple(
        ConnectWorker(name, folder / name, bootstrap, port, group, **more)  # type: ignore[arg-type]
        for name, port in zip(names, ports, strict=True)
    )
