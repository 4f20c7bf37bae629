"""The process of a migration on a real Kafka Connect cluster of two workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from uuid import uuid4

import pytest

from kafka_migration.adapters.connect.connect_process import ConnectProcess
from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.connect.connect_config import ConnectLaunch, copier_name, reservation_name
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.mirror.mirror_process import ProcessState
from sandbox.sandbox import Sandbox
from tests.contract.process_contract import GRACE_S, ME, OTHER, ProcessContract, codes
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


class TestConnectProcess(ProcessContract):
    """The suite of every process; a Connect cluster takes the count of the run where it has no connector."""

    process: ConnectProcess

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

    def make_way(self) -> bool:
        """A connector that failed is still there, and its other tasks copy: it must be stopped."""
        return self.process.stop(ME, None, GRACE_S).state is ProcessState.STOPPED

    def kill_process(self) -> None:
        """Let a task start again, as somebody may do with Connect's own command."""
        with closing(self.cluster.rest()) as rest:
            rest._service.request("POST", f"/connectors/{copier_name(self.name)}/restart?includeTasks=true")
            rest.wait(lambda: self.process.status().state is ProcessState.DEAD, "the restart of the tasks")

    def test_stop_needs_no_reservation_but_respects_one(self) -> None:
        """Stop works on a free migration; where another run holds it, it does not, and the connector runs on."""
        self.started()
        self.process.reserve(OTHER, take_over_from=ME)
        with pytest.raises(Refused) as error:
            self.process.stop(ME, 1, GRACE_S)
        kept = self.process.status()
        with closing(self.cluster.rest()) as rest:
            rest.delete(reservation_name(self.name))

        assert {Code.RESERVED_BY} == codes(error)
        assert ProcessState.RUNNING is kept.state
        assert ProcessState.STOPPED is self.process.stop(ME, 1, GRACE_S).state

    def test_death_is_seen(self) -> None:
        """A restart of a task ends the generation, and the next one starts once it was stopped."""
        self.started()
        self.kill_process()

        reply = self.process.renew(ME, 1)

        assert (ProcessState.DEAD, None) == (reply.state, reply.pid)
        assert "restarted on worker" in reply.exit_reason
        stopped = self.process.stop(ME, 1, GRACE_S)
        assert (ProcessState.STOPPED, True, False) == (stopped.state, stopped.resent, stopped.is_orderly)
        assert self.process.start(ME, 2, self.launch()).is_running

    def test_orderly_stop_is_proved_by_the_workers(self) -> None:
        """After a stop each task has ended in order, and nothing was sent again."""
        self.started()
        tasks = self.process.status().tasks
        reply = self.process.stop(ME, 1, GRACE_S)

        assert 2 == len(tasks or ())
        assert (True, False, None) == (reply.is_orderly, reply.resent, reply.tasks)
