"""The process of a migration on a real Kafka Connect cluster of two workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from uuid import uuid4

import pytest

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.connect.connect_config import ConnectLaunch, copier_name, reservation_name
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.mirror.mirror_process import ProcessState
from sandbox.sandbox import Sandbox
from tests.contract.connect_process_contract import ConnectProcessContract
from tests.live.connect_cluster import ConnectCluster, connect_cluster, one_topic

pytestmark = [pytest.mark.live, pytest.mark.campaign]


@pytest.fixture(scope="module")
def cluster(brokers: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectCluster]:
    """Two workers for all tests of this file."""
    with connect_cluster(brokers, tmp_path_factory.mktemp("connect"), group=f"process-{uuid4().hex[:6]}") as running:
        yield running


@pytest.fixture(scope="module")
def topic(brokers: Sandbox) -> str:
    """A topic of two partitions on both clusters, without records."""
    name = f"process-{uuid4().hex[:8]}"
    for bootstrap in brokers.bootstraps.values():
        ConfluentCluster("", {"bootstrap.servers": bootstrap}).create_topics([NewTopic(name, 2, 1, {})])
    return name


class TestConnectProcess(ConnectProcessContract):
    """Two real workers."""

    @pytest.fixture(autouse=True)
    def _setup(self, cluster: ConnectCluster, topic: str) -> Iterator[None]:
        """Begin with a migration that the cluster does not know; leave nothing of it."""
        self.cluster, self.topic = cluster, topic
        self.name = f"shop-{uuid4().hex[:8]}"
        self.process = cluster.process(self.name)
        yield
        with closing(cluster.rest()) as rest, closing(self.process):
            for name in (copier_name(self.name), reservation_name(self.name)):
                rest.delete(name)

    def launch(self, behaviour: str = "serve") -> ConnectLaunch:
        """A connector of one topic; one that ends at once cannot load a class that its task needs."""
        config = dict(one_topic(self.cluster, self.topic)(self.name).config)
        if behaviour == "exit":
            config["source.consumer.fetch.max.wait.ms"] = "no number"
        return ConnectLaunch(config)

    def kill_process(self) -> None:
        """Let a task start again, as an operator may do with Connect's own command."""
        with closing(self.cluster.rest()) as rest:
            rest._service.request("POST", f"/connectors/{copier_name(self.name)}/restart?includeTasks=true")
            rest.wait(lambda: self.process.status().state is ProcessState.DEAD, "the restart of the tasks")

    def free(self) -> None:
        """Delete the reservation by REST."""
        with closing(self.cluster.rest()) as rest:
            rest.delete(reservation_name(self.name))
