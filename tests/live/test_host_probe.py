"""The checks that ask the MirrorMaker host: real brokers, a real sshd, the program that asks both clusters there.

Worker, host and brokers are one machine here, so some things are made up: a broker that only the cluster's description
has, a worker whose clock is wrong, and a target with a huge replication factor.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from confluent_kafka import Producer

from kafka_migration.adapters.system.this_machine import SystemClock
from kafka_migration.airflow_adapters.ssh import SshMirrorHost
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.mirror.host import HostProbe, HostReply
from kafka_migration.preflight.checks import CHECKS
from kafka_migration.preflight.scene.check import run_checks
from sandbox.parts import free_ports
from sandbox.sandbox import Sandbox
from tests.checked_scene import Airflow, Deployed, alone
from tests.live.host_scene import TOOLS, HostScene, host_scene

pytestmark = pytest.mark.live

# The checks that ask the host; those that they need are taken to have passed.
ASKING = (
    "host disk",
    "host files",
    "host clock",
    "host names",
    "host brokers",
    "cluster clocks",
    "target space",
    "quotas",
    "mirror tasks",
    "transactions",
)


class _Late(SystemClock):
    """The clock of a worker that is two minutes late."""

    def now(self) -> datetime:
        """Return the time of two minutes ago."""
        return super().now() - timedelta(minutes=2)


@dataclass(frozen=True)
class _OtherHost:
    """A host whose answers about each cluster are changed."""

    host: SshMirrorHost
    change: Callable[[dict[str, Any]], None]

    def probe(self, probe: HostProbe) -> HostReply:
        """Return the changed answers."""
        reply = self.host.probe(probe)
        answers = json.loads(reply.facts["output"])
        for each in answers.values():
            self.change(each)
        return replace(reply, facts={**reply.facts, "output": json.dumps(answers)})


def late(answers: dict[str, Any]) -> None:
    """Let the host's clock be an hour late."""
    for moment in ("before", "after"):
        answers["clock"]["output"][moment] -= 3_600_000


def far(answers: dict[str, Any]) -> None:
    """Let the host wait 300 ms longer for an answer of the cluster."""
    answers["round_trip"]["output"] += 300_000


@pytest.fixture(scope="module")
def scene(brokers: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostScene]:
    """One migration for all tests, which start nothing."""
    with host_scene(brokers, tmp_path_factory.mktemp("probes")) as made:
        yield made


@pytest.mark.campaign
def test_healthy_host_passes_every_check(scene: HostScene) -> None:
    """A host that reaches all brokers passes every check without a warning, and each answer is understood."""
    results = run_checks([alone(check) for check in CHECKS if check.name in ASKING], scene.checked())

    assert [(name, "passed") for name in sorted(ASKING)] == sorted((r.name, r.state) for r in results)
    assert [] == [warning for result in results for warning in result.warnings]


def test_unresolved_name_is_refused_with_its_line(scene: HostScene) -> None:
    """A broker whose name the host does not resolve is refused, with the worker's address for /etc/hosts."""
    airflow = Airflow(on_worker={"b9.kafka.invalid": ("10.9.9.9",)})
    result = scene.check("host names", airflow, source=scene.source_with("b9.kafka.invalid:9092"))

    assert [Code.HOST_CANNOT_RESOLVE] == [finding.code for finding in result.findings]
    assert "\n10.9.9.9 b9.kafka.invalid\n" in result.findings[0].remedy


@pytest.mark.campaign
def test_broker_that_does_not_answer_is_refused(scene: HostScene) -> None:
    """A broker that the cluster advertises and a client on the host does not reach is refused by its address."""
    result = scene.check("host brokers", source=scene.source_with("127.0.0.1:1"))

    assert [Code.HOST_CANNOT_CONNECT] == [finding.code for finding in result.findings]
    assert "127.0.0.1:1 (no answer)" in result.findings[0].found


@pytest.mark.campaign
def test_closed_port_is_refused(scene: HostScene) -> None:
    """Where the client reaches no broker at all, its error is the reason."""
    (port,) = free_ports(1)
    closed = Deployed(client_settings=lambda _: {"bootstrap.servers": f"127.0.0.1:{port}"})
    result = scene.check("host brokers", deployment=closed)

    assert {Code.HOST_CANNOT_CONNECT} == {finding.code for finding in result.findings}
    assert "TimeoutException: " in result.findings[0].found


def test_wrong_clock_is_warned_of(scene: HostScene) -> None:
    """A worker whose clock is two minutes late sees a host that is ahead."""
    result = scene.check("host clock", clock=_Late())

    assert [Code.CLOCKS_DIFFER] == [warning.code for warning in result.warnings]
    assert "s ahead" in result.warnings[0].found


@pytest.mark.campaign
def test_wrong_clock_of_a_cluster_is_warned_of(scene: HostScene) -> None:
    """A host whose clock is an hour late sees both clusters ahead."""
    result = scene.check("cluster clocks", second_host=_OtherHost(scene.second_host, late))

    assert [Code.CLOCKS_DIFFER] * 2 == [warning.code for warning in result.warnings]


@pytest.mark.campaign
def test_target_without_room_is_refused(scene: HostScene) -> None:
    """A copy that needs more than the brokers report as free is refused."""
    huge = replace(scene.migration, target_replication_factor=2**50)
    result = scene.check("target space", migration=huge)

    assert [Code.TARGET_SPACE_TOO_SMALL] == [finding.code for finding in result.findings]
    assert "MiB free on 1 broker(s)" in result.findings[0].found


@pytest.mark.campaign
def test_quota_is_warned_of(scene: HostScene) -> None:
    """A quota for every client is a warning on the side that it slows."""
    everyone = ("--entity-type", "clients", "--entity-default")
    scene.configure("--add-config", "consumer_byte_rate=4096,producer_byte_rate=1", *everyone)
    try:
        result = scene.check("quotas")
    finally:
        scene.configure("--delete-config", "consumer_byte_rate,producer_byte_rate", *everyone)

    assert [Code.QUOTA_SLOWS_MIRROR] == [warning.code for warning in result.warnings]
    assert "the default client-id: consumer_byte_rate=4096.0" in result.warnings[0].found


@pytest.mark.campaign
def test_few_tasks_at_a_long_round_trip_are_warned_of(scene: HostScene) -> None:
    """One task for two partitions is too few on both sides of a host that is far from both."""
    one = replace(scene.migration, mirror=replace(scene.migration.mirror, tasks=1))
    result = scene.check("mirror tasks", migration=one, second_host=_OtherHost(scene.second_host, far))

    assert [Code.MIRROR_TASKS_FEW] * 2 == [warning.code for warning in result.warnings]
    assert all(warning.remedy.endswith("set mirror.tasks to 2.") for warning in result.warnings)
    assert "passed" == result.state


def test_open_transaction_is_warned_of(scene: HostScene) -> None:
    """A transaction whose first record is old is a warning until it ends."""
    producer = Producer({**scene.stage.source, "transactional.id": scene.topic})
    producer.init_transactions(60)
    producer.begin_transaction()
    an_hour_ago = datetime.now(UTC) - timedelta(hours=1)
    producer.produce(scene.topic, value=b"open", partition=1, timestamp=int(an_hour_ago.timestamp() * 1000))
    assert producer.flush(60) == 0
    result = scene.check("transactions")
    producer.abort_transaction(60)

    assert [Code.SOURCE_TRANSACTION_OPEN] == [warning.code for warning in result.warnings]
    assert f"an open transaction on {scene.topic}[1]" in result.warnings[0].found


@pytest.mark.parametrize("name", TOOLS)
def test_without_tools_their_checks_are_not_applicable(scene: HostScene, name: str) -> None:
    """Where the deployment leaves the tools out, their checks say so and do not pass."""
    result = scene.check(name, Airflow(asks_tools=False))

    assert ("not applicable", "[kafka_migration] host_tools is False") == (result.state, result.reason)
