"""A real Kafka cluster of one KRaft node on loopback."""

from __future__ import annotations

import base64
import secrets
import subprocess
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.environment import java
from sandbox.errors import SandboxError
from sandbox.jars import kafka_home
from sandbox.parts import HOST, PartSpec

HEAP_MB = 512
READY_LINE = "Kafka Server started"
METADATA_TIMEOUT_S = 5
LOGIN_USER = "somebody"
# A short-lived broker spends most of its processor time in the JVM's second compiler and garbage collector threads;
# without them it starts in half the time. For throughput measurements, use the JVM's defaults.
SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_LOG4J = """log4j.rootLogger=INFO, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=[%d] %p %m (%c)%n
"""


@dataclass(frozen=True)
class KafkaCluster:
    """A one-node cluster: its name, its folder, and the ports of its broker and its controller.

    With a `login_port` it also listens there for clients that log in as `LOGIN_USER`, without encryption.
    `java_options` are those of its broker and of its storage tool.
    """

    name: str
    folder: Path
    port: int
    controller_port: int
    login_port: int | None = None
    login_password: str = field(default_factory=lambda: secrets.token_urlsafe(16), repr=False)
    java_options: tuple[str, ...] = SHORT_LIVED

    @property
    def bootstrap(self) -> str:
        """`host:port` for clients."""
        return f"{HOST}:{self.port}"

    @property
    def login_bootstrap(self) -> str:
        """`host:port` for clients that log in."""
        return f"{HOST}:{self.login_port}"

    def format(self, environment: Mapping[str, str]) -> None:
        """Write the node's configuration and format its empty log folder.

        Raises:
            SandboxError: Kafka's storage tool refused; the text is its output.
        """
        self.folder.mkdir(parents=True)
        self._properties.touch(mode=0o600)
        self._properties.write_text(self.properties() + self.login_properties())
        self._log4j.write_text(_LOG4J)
        command = (*self._java(environment), "kafka.tools.StorageTool", "format", "-t", cluster_id())
        done = subprocess.run(
            (*command, "-c", str(self._properties)),
            env=dict(environment),
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        if done.returncode != 0:
            raise SandboxError(f"{self.name}: formatting its storage failed:\n{done.stdout}{done.stderr}")

    def part(self, environment: Mapping[str, str], logs: Path) -> PartSpec:
        """Return the broker as a part named after the cluster."""
        command = (*self._java(environment), f"-Xmx{HEAP_MB}m", f"-Dlog4j.configuration=file:{self._log4j}")
        return PartSpec(
            name=self.name,
            command=(*command, "kafka.Kafka", str(self._properties)),
            environment=environment,
            log=logs / f"{self.name}.log",
            is_ready=self._is_ready,
        )

    def properties(self) -> str:
        """Render `server.properties` for a single node with short time-outs."""
        login = f",LOGIN://{self.login_bootstrap}" if self.login_port else ""
        listeners = f"PLAINTEXT://{self.bootstrap},CONTROLLER://{HOST}:{self.controller_port}{login}"
        return f"""process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{HOST}:{self.controller_port}
controller.listener.names=CONTROLLER
listeners={listeners}
advertised.listeners=PLAINTEXT://{self.bootstrap}{login}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,LOGIN:SASL_PLAINTEXT
log.dirs={self.folder / "data"}
auto.create.topics.enable=false
group.initial.rebalance.delay.ms=0
offsets.topic.replication.factor=1
offsets.topic.num.partitions=8
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=8
log.retention.check.interval.ms=5000
log.cleaner.backoff.ms=1000
"""

    def login_properties(self) -> str:
        """Render the properties of the login listener; empty without a login port."""
        if self.login_port is None:
            return ""
        module = "org.apache.kafka.common.security.plain.PlainLoginModule"
        return f"""listener.name.login.sasl.enabled.mechanisms=PLAIN
listener.name.login.plain.sasl.jaas.config={module} required user_{LOGIN_USER}="{self.login_password}";
"""

    def _is_ready(self, log: str) -> bool:
        return READY_LINE in log and answers_metadata(self.bootstrap)

    def _java(self, environment: Mapping[str, str]) -> tuple[str, ...]:
        return (java(environment), *self.java_options, "-cp", f"{kafka_home() / 'libs'}/*")

    @property
    def _properties(self) -> Path:
        return self.folder / "server.properties"

    @property
    def _log4j(self) -> Path:
        return self.folder / "log4j.properties"


def cluster_id() -> str:
    """Return a new cluster id in Kafka's form: a UUID in URL-safe base 64 that does not start with `-`.

    Kafka's own generator also skips ids with a leading dash, because they would look like an option.
    """
    while True:
        found = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not found.startswith("-"):
            return found


def answers_metadata(bootstrap: str) -> bool:
    """True if a broker answers a metadata request with its own address."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    client = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0, "error_cb": lambda _: None})
    try:
        return bool(client.list_topics(timeout=METADATA_TIMEOUT_S).brokers)
    except KafkaException:
        return False
