"""A real Kafka cluster of one node on loopback, with KRaft."""

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
from sandbox.jars import KAFKA_VERSION, kafka_home
from sandbox.parts import HOST, PartSpec
from sandbox.private import write_private
from sandbox.shared_classes import kafka_options

HEAP_MB = 512
# The properties of a MirrorMaker 2 whose clusters have one broker each.
ONE_REPLICA = "".join(
    f"{topics}replication.factor = 1\n"
    for topics in (
        *("", "checkpoints.topic.", "heartbeats.topic.", "offset-syncs.topic."),
        *("offset.storage.", "status.storage.", "config.storage."),
    )
)
# Brokers with ZooKeeper write `[KafkaServer id=1] started`.
READY_LINES = ("Kafka Server started", "[KafkaServer id=1] started")
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
# The same for Kafka 4.0 and newer.
_LOG4J2 = """rootLogger.level=INFO
rootLogger.appenderRef.stdout.ref=stdout
appender.stdout.type=Console
appender.stdout.name=stdout
appender.stdout.layout.type=PatternLayout
appender.stdout.layout.pattern=[%d] %p %m (%c)%n
"""


@dataclass(frozen=True)
class Listener:
    """A further listener for clients; `properties` are without the prefix `listener.name.<name>.`."""

    name: str
    port: int
    protocol: str
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    host: str = HOST

    @property
    def address(self) -> str:
        """`host:port` for clients."""
        return f"{self.host}:{self.port}"

    def broker_properties(self) -> dict[str, str]:
        """Return the properties as a broker reads them."""
        return {f"listener.name.{self.name}.{key}": text for key, text in self.properties.items()}

    def __str__(self) -> str:
        return f"{self.name.upper()}://{self.address}"


def login_listener(port: int) -> Listener:
    """Return a listener on which clients log in as `LOGIN_USER`, without encryption, with a random password."""
    return Listener("login", port, "SASL_PLAINTEXT", plain_login(LOGIN_USER, secrets.token_urlsafe(16)))


def plain_login(user: str, password: str) -> dict[str, str]:
    """Return the properties of a listener on which one user logs in with SASL PLAIN."""
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    login = f'{module} required user_{user}="{password}";'
    return {"sasl.enabled.mechanisms": "PLAIN", "plain.sasl.jaas.config": login}


@dataclass(frozen=True)
class KafkaCluster:
    """A one-node cluster: its name, its folder, and the ports of its broker and its controller.

    `listeners` are further ones, and `settings` further properties of the broker. `java_options` are those of its
    broker and of its storage tool. `version` is that of its Kafka.
    """

    name: str
    folder: Path
    port: int
    controller_port: int
    listeners: tuple[Listener, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    java_options: tuple[str, ...] = SHORT_LIVED
    version: str = KAFKA_VERSION

    @property
    def bootstrap(self) -> str:
        """`host:port` for clients."""
        return f"{HOST}:{self.port}"

    def format(self, environment: Mapping[str, str]) -> None:
        """Write the node's configuration and format its empty log folder.

        Raises:
            SandboxError: Kafka's storage tool refused; the text is its output.
        """
        self._write_files()
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

    def parts(self, environment: Mapping[str, str], logs: Path) -> tuple[PartSpec, ...]:
        """Return the processes of the cluster."""
        return (self.part(environment, logs),)

    def part(self, environment: Mapping[str, str], logs: Path) -> PartSpec:
        """Return the broker as a part named after the cluster."""
        return PartSpec(
            name=self.name,
            command=(*self.java_command(environment), "kafka.Kafka", str(self._properties)),
            environment=environment,
            log=logs / f"{self.name}.log",
            is_ready=self._is_ready,
        )

    def java_command(self, environment: Mapping[str, str]) -> tuple[str, ...]:
        """Return the command line of a JVM with this Kafka, to which a main class and its arguments are added."""
        return (*self._java(environment), f"-Xmx{HEAP_MB}m", *self._logging())

    def properties(self) -> str:
        """Render `server.properties` for a single node with short time-outs."""
        more = "".join(f",{each}" for each in self.listeners)
        settings = (*(each.broker_properties() for each in self.listeners), self.settings)
        lines = "".join(f"{key}={text}\n" for each in settings for key, text in each.items())
        return f"""{self._identity(more)}
advertised.listeners=PLAINTEXT://{self.bootstrap}{more}
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
{lines}"""

    def _identity(self, more_listeners: str) -> str:
        """Render the settings of the node and of its listeners."""
        return f"""process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{HOST}:{self.controller_port}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://{self.bootstrap},CONTROLLER://{HOST}:{self.controller_port}{more_listeners}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT{self._protocols()}"""

    def _protocols(self) -> str:
        return "".join(f",{each.name.upper()}:{each.protocol}" for each in self.listeners)

    def _write_files(self) -> None:
        self.folder.mkdir(parents=True)
        write_private(self._properties, self.properties())
        (self.folder / "log4j.properties").write_text(_LOG4J)
        (self.folder / "log4j2.properties").write_text(_LOG4J2)

    def _logging(self) -> tuple[str, str]:
        """Return one option for Kafka before 4.0, and one for newer versions."""
        return (
            f"-Dlog4j.configuration=file:{self.folder / 'log4j.properties'}",
            f"-Dlog4j2.configurationFile=file:{self.folder / 'log4j2.properties'}",
        )

    def _is_ready(self, log: str) -> bool:
        return any(line in log for line in READY_LINES) and answers_metadata(self.bootstrap)

    def _java(self, environment: Mapping[str, str]) -> tuple[str, ...]:
        options = (*kafka_options(self.version), *self.java_options)
        return (java(environment), *options, "-cp", f"{kafka_home(self.version) / 'libs'}/*")

    @property
    def _properties(self) -> Path:
        return self.folder / "server.properties"


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
