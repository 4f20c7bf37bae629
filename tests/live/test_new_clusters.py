"""A cluster that nothing has used yet: it has no coordinator of groups."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin import NewTopic as ClientTopic

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.kafka.cluster import NewTopic, Resource
from kafka_migration.core.kafka.offsets import CommittedOffset, TopicPartition
from sandbox.brokers import running_broker
from sandbox.kafka import KafkaCluster
from sandbox.parts import free_ports
from sandbox.sandbox import Sandbox
from tests.waiting import wait_until

pytestmark = pytest.mark.live

GROUP = Resource("group", "billing")
PLACE = TopicPartition("orders", 0)
OFFSETS = "__consumer_offsets"
# The broker cannot create the topic of groups itself, as long as it is alone.
ALONE = {"offsets.topic.replication.factor": "3"}
# Longer than librdkafka asks with its usual pauses.
LONGER_S = 1


@contextmanager
def connected(bootstrap: str) -> Iterator[ConfluentCluster]:
    """Return a new client, which is gone before the brokers are, or librdkafka waits for them."""
    cluster = ConfluentCluster("target", {"bootstrap.servers": bootstrap})
    try:
        yield cluster
    finally:
        cluster.close()


@pytest.mark.campaign
@pytest.mark.parametrize("version", ["3.2.0", "3.9.1"])
def test_rights_on_groups_are_known(version: str, tmp_path: Path) -> None:
    """The first question about a group gets an answer, although the brokers create the topic of groups only then."""
    with (
        Sandbox(tmp_path / "sandbox", airflow=False, versions={"source": version, "target": version}) as sandbox,
        connected(sandbox.state.target_bootstrap) as cluster,
    ):
        assert GROUP in cluster.granted([GROUP])


CALLS: dict[str, Callable[[ConfluentCluster], Any]] = {
    "write": lambda cluster: cluster.alter_offsets("billing", {PLACE: CommittedOffset(0)}),
    "ask for rights": lambda cluster: GROUP in cluster.granted([GROUP]),
}


@pytest.mark.parametrize("call", CALLS)
def test_coordinator_may_appear_during_a_call(call: str, tmp_path: Path) -> None:
    """A call that begins before the cluster has a coordinator is answered once it has one, within the time of a call.

    Regression: librdkafka asked three times within half a second, and was then silent for the rest of the time.
    """
    port, controller_port = free_ports(2)
    kafka = KafkaCluster("new", tmp_path / "new", port, controller_port, settings=ALONE)
    with running_broker(kafka), connected(kafka.bootstrap) as cluster, ThreadPoolExecutor(1) as thread:
        cluster.create_topics([NewTopic("orders", 1, 1, {})])
        answer = thread.submit(CALLS[call], cluster)
        log = tmp_path / "new.log"
        wait_until(lambda: "INVALID_REPLICATION_FACTOR" in log.read_text(), what="the first question")
        time.sleep(LONGER_S)
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
        admin.create_topics([ClientTopic(OFFSETS, 8, 1)])[OFFSETS].result(60)

        assert answer.result(300) in (None, True)
