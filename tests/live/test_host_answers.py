"""The program on the MirrorMaker host and clusters that refuse, delay or do not answer, or have another version."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.relay import Relay
from kafka_migration.core.findings.codes import Code
from kafka_migration.preflight.scene.check import CheckResult
from sandbox.brokers import SecondBroker, running_broker
from sandbox.kafka import LOGIN_USER, KafkaCluster, Listener, login_listener
from sandbox.parts import HOST, free_ports
from sandbox.sandbox import Sandbox
from sandbox.security.listeners import AUTHORIZER
from sandbox.zookeeper import WITH_ZOOKEEPER
from tests.live.host_scene import ALL_ANSWERED, QUESTIONS, TOOLS, AskedFromHost, HostScene, host_scene, silent_port

pytestmark = pytest.mark.live

# Kafka's versions on the host: the oldest, and the newest, that are supported.
HOSTS = ("3.8.1", "4.2.0")
# Kafka's versions of the source and of the target. The source of 3.2.0 has ZooKeeper.
PAIRS = (("3.2.0", "3.8.1"), ("4.2.0", "3.9.1"))


@pytest.fixture(scope="module")
def scene(brokers: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostScene]:
    """One migration for all tests, which start nothing."""
    with host_scene(brokers, tmp_path_factory.mktemp("answers")) as made:
        yield made


def state_and_codes(result: CheckResult) -> tuple[str, list[Code]]:
    """Return the state of a check with the codes of its findings and warnings."""
    return result.state, [finding.code for finding in (*result.findings, *result.warnings)]


@pytest.mark.parametrize("kafka", HOSTS)
def test_oldest_and_newest_kafka_on_the_host_ask_everything(scene: HostScene, kafka: str) -> None:
    """With the client of each version on the host, all questions are answered, and all checks pass."""
    asked = AskedFromHost.of(scene, kafka=kafka)

    assert {"source": ALL_ANSWERED, "target": ALL_ANSWERED} == {side: asked.exits(side) for side in asked.answers}
    assert dict.fromkeys(TOOLS, ("passed", [])) == {
        name: state_and_codes(result) for name, result in asked.results().items()
    }


@pytest.fixture(scope="module")
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[HostScene, bool]]:
    """A migration between clusters of other versions, and whether its source has ZooKeeper."""
    versions = dict(zip(("source", "target"), request.param, strict=True))
    root = tmp_path_factory.mktemp("versions")
    with Sandbox(root / "sandbox", airflow=False, versions=versions) as sandbox, host_scene(sandbox, root) as made:
        yield made, versions["source"] in WITH_ZOOKEEPER


@pytest.mark.campaign
@pytest.mark.parametrize("kafka", ["3.8.1", "3.9.1", "4.2.0"])
@pytest.mark.parametrize("pair", PAIRS, indirect=True, ids="-to-".join)
def test_clusters_of_other_versions_answer(pair: tuple[HostScene, bool], kafka: str) -> None:
    """Each client asks each cluster; what a cluster with ZooKeeper does not have is unknown and hides nothing else."""
    scene, has_zookeeper = pair
    asked = AskedFromHost.of(scene, kafka=kafka)

    assert ALL_ANSWERED == asked.exits("target")
    assert {**ALL_ANSWERED, **({"clock": "1"} if has_zookeeper else {})} == asked.exits("source")
    assert has_zookeeper == ("UnsupportedVersionException" in asked.answers["source"]["clock"].errors)
    clocks: tuple[str, list[Code]] = ("not applicable", []) if has_zookeeper else ("passed", [])
    assert {**dict.fromkeys(TOOLS, ("passed", [])), "cluster clocks": clocks} == {
        name: state_and_codes(result) for name, result in asked.results().items()
    }


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[Listener]:
    """The listener of a broker on which the user has no rights."""
    port, controller_port, login_port = free_ports(3)
    login = login_listener(login_port)
    with running_broker(KafkaCluster("strict", tmp_path / "strict", port, controller_port, (login,), AUTHORIZER)):
        yield login


def test_login_without_rights_is_reached_and_unknown(scene: HostScene, strict: Listener) -> None:
    """A refusal proves that a broker is reached; what the login may not read is unknown, and names the right."""
    (password,) = (text.split('"')[1] for text in strict.properties.values() if LOGIN_USER in text)
    login = {"sasl.mechanism": "PLAIN", "sasl.username": LOGIN_USER, "sasl.password": password}
    address = {"bootstrap.servers": strict.address, "security.protocol": "SASL_PLAINTEXT"}
    asked = AskedFromHost.of(scene, target={**address, **login})
    results = asked.results()

    assert ALL_ANSWERED == asked.exits("source")
    assert {**dict.fromkeys(QUESTIONS, "1"), "brokers": "0", "round_trip": "0"} == asked.exits("target")
    assert {strict.address: ""} == asked.answers["target"]["brokers"].output
    unknown = ("passed", [Code.FACT_UNKNOWN])
    for name in ("cluster clocks", "target space", "quotas"):
        assert unknown == state_and_codes(results[name])
        assert "Grant Describe" in results[name].warnings[0].remedy


@pytest.mark.campaign
def test_cluster_that_answers_nothing_hides_no_other(scene: HostScene) -> None:
    """Each question about a broker that accepts connections and answers nothing is unknown; the source's are known."""
    with silent_port() as port:
        asked = AskedFromHost.of(scene, target={"bootstrap.servers": f"{HOST}:{port}"})
    results = asked.results()

    assert ALL_ANSWERED == asked.exits("source")
    assert dict.fromkeys(QUESTIONS, "1") == asked.exits("target")
    assert all("TimeoutException" in answer.errors for answer in asked.answers["target"].values())
    assert [Code.HOST_CANNOT_CONNECT] == [finding.code for finding in results["host brokers"].findings]
    assert {"target.connection"} == {each.subject for result in results.values() for each in result.warnings}


@contextmanager
def two_brokers(root: Path, advertised_port: int) -> Iterator[tuple[KafkaCluster, SecondBroker]]:
    """Run a cluster of two brokers, of which clients are told this port for the second one."""
    port, controller_port = free_ports(2)
    first = KafkaCluster("first", root / "first", port, controller_port)
    with running_broker(first):
        second = SecondBroker.of(first.folder, root, advertised_port)
        with running_broker(second):
            yield first, second


def test_slow_broker_is_reached(scene: HostScene, tmp_path: Path) -> None:
    """A broker whose answers take a second more is reached, and leaves nothing unknown."""
    (port,) = free_ports(1)
    with two_brokers(tmp_path, port) as (first, second), Relay(port, second.port, one_way_s=0.5):
        asked = AskedFromHost.of(scene, target={"bootstrap.servers": first.bootstrap})

    assert {"source": ALL_ANSWERED, "target": ALL_ANSWERED} == {side: asked.exits(side) for side in asked.answers}
    assert {first.bootstrap: "", f"{HOST}:{port}": ""} == asked.answers["target"]["brokers"].output


@pytest.mark.campaign
def test_silent_broker_hides_no_other(scene: HostScene, tmp_path: Path) -> None:
    """Beside a broker that answers nothing, the other one is reached, and the controller's answers are known.

    The space is unknown, because it is that of all brokers.
    """
    with silent_port() as port, two_brokers(tmp_path, port) as (first, _):
        asked = AskedFromHost.of(scene, target={"bootstrap.servers": first.bootstrap})
    silent, target = f"{HOST}:{port}", asked.answers["target"]

    assert ALL_ANSWERED == asked.exits("source")
    assert {**ALL_ANSWERED, "space": "1"} == asked.exits("target")
    assert isinstance(target["brokers"].output, dict)
    assert {first.bootstrap: True, silent: False} == {at: not error for at, error in target["brokers"].output.items()}
    assert "TimeoutException" in target["brokers"].output[silent]
