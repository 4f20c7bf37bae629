"""Brokers of Kafka 2.4.1 keep a consumer that is killed while it joins its group (KAFKA-9752).

The runbook names the remedy: restart the group's coordinator.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.kafka.cluster import GroupState, NewTopic
from kafka_migration.core.kafka.offsets import CommittedOffset, TopicPartition
from sandbox.sandbox import Sandbox
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]

# After its assignment it stays a member, but joins no later rebalance, because it no longer polls.
MEMBER = """
import sys, time
from confluent_kafka import Consumer
consumer = Consumer({"bootstrap.servers": sys.argv[1], "group.id": sys.argv[2], "session.timeout.ms": 6000})
consumer.subscribe(["orders"])
while not consumer.assignment():
    consumer.poll(0.2)
time.sleep(600)
"""


@pytest.fixture
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """An old source; the target is not used."""
    versions = {"source": "2.4.1", "target": "3.2.0"}
    with Sandbox(tmp_path_factory.mktemp("brokers"), airflow=False, versions=versions) as running:
        yield running


def test_restarted_coordinator_removes_a_member_that_died_while_it_joined(brokers: Sandbox) -> None:
    """The dead member outlives its session timeout; a restart of the coordinator empties the group."""
    source = ConfluentCluster("source", {"bootstrap.servers": brokers.state.source_bootstrap})
    source.create_topics([NewTopic("orders", 1, 1, {})])
    with _member(brokers, "moved") as first:
        wait_until(lambda: _shape(source, "moved") == (GroupState.STABLE, 1), what="the first member")
        with _member(brokers, "moved") as joining:
            wait_until(lambda: _shape(source, "moved") == (GroupState.PREPARING_REBALANCING, 2), what="a second one")
            joining.kill()
            first.kill()
    wait_until(lambda: _shape(source, "moved") == (GroupState.COMPLETING_REBALANCING, 1), what="the dead one alone")
    _let_a_session_end(brokers, source)

    with pytest.raises(Refused) as refused:
        source.alter_offsets("moved", {TopicPartition("orders", 0): CommittedOffset(0)})
    brokers.restart("source")

    assert [finding.code for finding in refused.value.findings] == [Code.GROUP_ACTIVE]
    # A rebalance that the restart begins can last as long as the members may take between two polls: five minutes.
    wait_until(lambda: _shape(source, "moved") == (GroupState.EMPTY, 0), what="an empty group", timeout_s=600)


def _let_a_session_end(brokers: Sandbox, source: ConfluentCluster) -> None:
    """Kill the only member of another group, and wait until the broker has removed it."""
    with _member(brokers, "witness") as member:
        wait_until(lambda: _shape(source, "witness") == (GroupState.STABLE, 1), what="the witness")
        member.kill()
    wait_until(lambda: _shape(source, "witness") == (GroupState.EMPTY, 0), what="the end of its session")


@contextmanager
def _member(brokers: Sandbox, group: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", MEMBER, brokers.state.source_bootstrap, group]
    with subprocess.Popen(command) as process:
        try:
            yield process
        finally:
            process.kill()


def _shape(source: ConfluentCluster, group: str) -> tuple[GroupState, int] | None:
    """Return the state and the number of members; nothing while the broker starts."""
    try:
        description = source.describe_groups([group])[group]
    except TransientError:
        return None
    return description.state, len(description.members)
