"""Single brokers: one that runs until the end of a block, and a second one of a cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sandbox.environment import base_environment
from sandbox.kafka import SHORT_LIVED, KafkaCluster
from sandbox.parts import HOST, Part, free_ports, running


@contextmanager
def running_broker(kafka: KafkaCluster) -> Iterator[None]:
    """Run a broker until the end of the block; its log is beside its folder."""
    environment = base_environment(kafka.name)
    kafka.format(environment)
    with running(Part(kafka.part(environment, kafka.folder.parent))):
        yield


@dataclass(frozen=True)
class SecondBroker(KafkaCluster):
    """Node 2 of the cluster with this id. Clients are told `advertised_port`."""

    cluster_id: str = ""
    advertised_port: int = 0

    @classmethod
    def of(
        cls, first: Path, root: Path, advertised_port: int = 0, java_options: tuple[str, ...] = SHORT_LIVED
    ) -> SecondBroker:
        """Return a second broker, below `root`, of the cluster whose first node runs in the folder `first`."""
        controller = re.search(r"quorum.voters=1@.*:(\d+)", (first / "server.properties").read_text())
        cluster = re.search(r"cluster.id=(.*)", (first / "data" / "meta.properties").read_text())
        assert controller
        assert cluster
        name, (port,) = f"{first.name}-2", free_ports(1)
        return cls(
            name,
            root / name,
            port,
            int(controller[1]),
            java_options=java_options,
            cluster_id=cluster[1],
            advertised_port=advertised_port or port,
        )

    def format(self, environment: Mapping[str, str]) -> None:
        """Write the configuration, and the file by which the log folder belongs to the cluster."""
        self._write_files()
        (self.folder / "data").mkdir()
        text = f"version=1\ncluster.id={self.cluster_id}\nnode.id=2\n"
        (self.folder / "data" / "meta.properties").write_text(text)

    def properties(self) -> str:
        """Render `server.properties` with the address that clients are told."""
        own = f"advertised.listeners=PLAINTEXT://{HOST}"
        return super().properties().replace(f"{own}:{self.port}", f"{own}:{self.advertised_port}")

    def _identity(self, more_listeners: str) -> str:
        return f"""process.roles=broker
node.id=2
controller.quorum.voters=1@{HOST}:{self.controller_port}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://{self.bootstrap}{more_listeners}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT{self._protocols()}"""
