"""A real Kafka cluster of one node on loopback, with ZooKeeper, as Kafka had it before 4.0."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sandbox.kafka import KafkaCluster
from sandbox.parts import HOST, PartSpec

# The Kafka versions that this sandbox runs with ZooKeeper.
WITH_ZOOKEEPER = frozenset({"2.4.1", "3.2.0"})
CONNECT_TIMEOUT_S = 5


@dataclass(frozen=True)
class ZooKeeperCluster(KafkaCluster):
    """A one-node cluster whose `controller_port` is that of its ZooKeeper."""

    def format(self, environment: Mapping[str, str]) -> None:
        """Write the configurations; there is no storage to format."""
        self._write_files()
        self._zookeeper.write_text(f"""dataDir={self.folder / "zookeeper"}
clientPort={self.controller_port}
clientPortAddress={HOST}
maxClientCnxns=0
admin.enableServer=false
""")

    def parts(self, environment: Mapping[str, str], logs: Path) -> tuple[PartSpec, ...]:
        """Return ZooKeeper and the broker, which waits for it."""
        zookeeper = PartSpec(
            name=f"{self.name}-zookeeper",
            command=(
                *self.java_command(environment),
                "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                str(self._zookeeper),
            ),
            environment=environment,
            log=logs / f"{self.name}-zookeeper.log",
            is_ready=lambda _: self._accepts(),
        )
        return (zookeeper, self.part(environment, logs))

    def _identity(self, more_listeners: str) -> str:
        return f"""broker.id=1
zookeeper.connect={HOST}:{self.controller_port}
zookeeper.connection.timeout.ms=240000
listeners=PLAINTEXT://{self.bootstrap}{more_listeners}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT{self._protocols()}"""

    def _accepts(self) -> bool:
        with suppress(OSError), socket.create_connection((HOST, self.controller_port), CONNECT_TIMEOUT_S):
            return True
        return False

    @property
    def _zookeeper(self) -> Path:
        return self.folder / "zookeeper.properties"
