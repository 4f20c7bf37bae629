"""What is read from Ambari and Cloudera Manager, and what their faults become, with servers of the tests."""

from __future__ import annotations

import base64
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.adapters.http import http_service
from kafka_migration.adapters.http.cluster_managers import manager_of
from kafka_migration.adapters.http.http_service import HttpService
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.discovery.described_cluster import Broker, BrokerListener, DiscoveredCluster, ManagerKind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.steps.discovery.read_managers import discovered
from sandbox.security.authority import Authority
from tests.contract.manager_servers import (
    AMBARI_SETTINGS,
    BROKERS,
    CLUSTER,
    GROUP_SETTINGS,
    ROLES,
    SERVICE_SETTINGS,
    SETTINGS,
    STACK,
    ZOOKEEPERS,
    ManagerServer,
    V,
    ambari_answers,
    cloudera_answers,
    items,
    tls_of,
)

LOGIN, SECRET = "ada", "s3cret-of-the-manager"


def found(answers: dict[str, Any], wanted: str | None = None) -> DiscoveredCluster:
    """Return what a server with these answers says of the cluster."""
    with ManagerServer(answers) as server:
        settings = HttpSettings("manager", server.url, LOGIN, SECRET)
        return discovered(partial(manager_of, settings), "manager", wanted)


def refused(answers: dict[str, Any], wanted: str | None = None) -> Finding:
    """Return the only finding of a server with these answers; it shows no login."""
    with pytest.raises(Refused) as error:
        found(answers, wanted)
    (finding,) = error.value.findings
    assert SECRET not in str(finding)
    return finding


def test_cluster_of_ambari() -> None:
    """Hosts come from the components, the rest from the settings of the brokers and the stack."""
    hosts = ("wn0-demo.example.com", "wn1-demo.example.com")

    assert found(ambari_answers()) == DiscoveredCluster(
        ManagerKind.AMBARI,
        "demo",
        tuple(Broker(host, (BrokerListener(host, 9092, "PLAINTEXT"),)) for host in hosts),
        release="HDP-4.1",
        kafka_version="2.4.1",
        zookeepers=("zk0-demo.example.com", "zk1-demo.example.com"),
        auto_create_topics=False,
        kerberos=False,
        mirror_makers=None,
    )


@pytest.mark.parametrize("has_host_names", [True, False])
def test_cluster_of_cloudera_manager(has_host_names: bool) -> None:
    """A set value counts more than a default; hosts that roles name by id are looked up."""
    hosts = ("host1.example.com", "host2.example.com")

    assert found(cloudera_answers(has_host_names)) == DiscoveredCluster(
        ManagerKind.CLOUDERA,
        "Cluster 1/kafka",
        tuple(Broker(host, (BrokerListener(host, 9093, "SASL_SSL"),)) for host in hosts),
        release="7.1.7",
        kafka_version=None,
        zookeepers=("host4.example.com", "host5.example.com"),
        auto_create_topics=True,
        kerberos=True,
        mechanism="GSSAPI",
        mirror_makers=("host3.example.com",),
    )


def test_setting_of_a_role_counts_most() -> None:
    """A broker with a port of its own has it in its address; settings on which brokers differ are not known."""
    own = {f"{ROLES}/kafka-KAFKA_BROKER-2/config": items({"ssl_port": ("9443", None)})}
    own_rule = {f"{ROLES}/kafka-KAFKA_BROKER-1/config": items({"auto.create.topics.enable": ("false", None)})}
    cluster = found(cloudera_answers() | own | own_rule)

    assert [9093, 9443] == [broker.listeners[0].port for broker in cluster.brokers]
    assert cluster.auto_create_topics is None


def test_what_a_server_does_not_say_is_not_known() -> None:
    """Nothing is guessed: neither from another setting nor from a default of the platform."""
    ambari = ambari_answers({})
    ambari.pop(ZOOKEEPERS)
    ambari.pop(STACK)
    ambari[CLUSTER]["Clusters"].pop("security_type")
    cloudera = cloudera_answers() | {SERVICE_SETTINGS: {"items": []}, GROUP_SETTINGS: {"items": []}}

    for cluster in (found(ambari), found(cloudera)):
        assert [()] * 2 == [broker.listeners for broker in cluster.brokers]
        assert (None,) * 4 == (
            cluster.kafka_version,
            cluster.zookeepers,
            cluster.auto_create_topics,
            cluster.kerberos,
        )


def test_only_reading_requests_with_the_login() -> None:
    """Each request carries the login of the connection; the server of the tests answers only GET."""
    with ManagerServer(cloudera_answers()) as server:
        discovered(partial(manager_of, HttpSettings("m", server.url, LOGIN, SECRET)), "m", None)

    expected = base64.b64encode(f"{LOGIN}:{SECRET}".encode()).decode()
    assert {f"Basic {expected}"} == {authorization for _, authorization in server.asked}


FAULTS: dict[str, tuple[dict[str, Any], Code, str]] = {
    "wrong password": ({"/api/v1/clusters": (401, "")}, Code.MANAGER_REFUSED, "a refused login or right for"),
    "no right": ({SETTINGS: (403, "{}")}, Code.MANAGER_REFUSED, "a refused login or right for"),
    "another service": ({"/api/v1/clusters": (404, "")}, Code.MANAGER_REFUSED, "no /api/v1/clusters (status 404)"),
    "redirect to a login page": ({"/api/v1/clusters": (302, "")}, Code.MANAGER_REFUSED, "status 302"),
    "page": ({"/api/v1/clusters": "<html>"}, Code.MANAGER_REFUSED, "no JSON document"),
    "deep": ({"/api/v1/clusters": "[" * 100_000}, Code.MANAGER_REFUSED, "no JSON document"),
    "server error": ({"/api/v1/clusters": (500, "")}, Code.MANAGER_UNREACHABLE, "status 500"),
    "list": ({"/api/v1/clusters": []}, Code.MANAGER_ANSWER_UNREADABLE, "a list in /api/v1/clusters"),
    "no items": ({"/api/v1/clusters": {}}, Code.MANAGER_ANSWER_UNREADABLE, "nothing in /api/v1/clusters, items"),
    "number": (
        {"/api/v1/clusters": {"items": [{"Clusters": {"cluster_name": 7}}]}},
        Code.MANAGER_ANSWER_UNREADABLE,
        "7 in /api/v1/clusters, items[0], Clusters, cluster_name",
    ),
    "no cluster": ({"/api/v1/clusters": {"items": []}}, Code.MANAGED_CLUSTER_UNKNOWN, "no cluster with Kafka"),
    "no Kafka": ({BROKERS: (404, "{}")}, Code.MANAGED_CLUSTER_UNKNOWN, "no cluster with Kafka"),
    "no settings": ({SETTINGS: {"items": []}}, Code.MANAGER_ANSWER_UNREADABLE, "a list in"),
    "no tag": (
        {CLUSTER: {"Clusters": {"desired_configs": {}}}},
        Code.MANAGER_ANSWER_UNREADABLE,
        "nothing in /api/v1/clusters/demo, Clusters, desired_configs, kafka-broker",
    ),
    "host with a command": (
        {BROKERS: {"host_components": [{"HostRoles": {"host_name": "a'; rm -rf ~; '"}}]}},
        Code.MANAGER_ANSWER_UNREADABLE,
        "host_name",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_of_ambari_is_one_finding(fault: str) -> None:
    """Each fault has a code, and the finding names what was found and where."""
    answers, code, text = FAULTS[fault]
    finding = refused(ambari_answers() | answers)

    assert finding.code is code
    assert text in finding.found
    assert "connection manager" == finding.subject


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("listeners", "PLAINTEXT//localhost:9092"),
        ("listeners", "PLAINTEXT://localhost:99999"),
        ("listeners", "PLAINTEXT://a b:9092"),
        ("advertised.listeners", "x"),
        ("auto.create.topics.enable", "perhaps"),
    ],
)
def test_setting_with_a_wrong_value_is_one_finding(name: str, value: str) -> None:
    """A setting that cannot be read is named with its value, and not skipped."""
    finding = refused(ambari_answers({**AMBARI_SETTINGS, name: value}))

    assert finding.code is Code.MANAGER_ANSWER_UNREADABLE
    assert f"'{value}' in" in finding.found
    assert name in finding.found


@pytest.mark.parametrize(
    ("answers", "code", "text"),
    [
        ({f"{V}/clusters": (401, "")}, Code.MANAGER_REFUSED, "a refused login"),
        ({f"{V}/clusters": {"items": [{"name": 1}]}}, Code.MANAGER_ANSWER_UNREADABLE, "1 in"),
        ({ROLES: {"items": [{"name": "a", "type": "KAFKA_BROKER"}]}}, Code.MANAGER_ANSWER_UNREADABLE, "hostRef"),
        ({GROUP_SETTINGS: items({"ssl_enabled": ("maybe", None)})}, Code.MANAGER_ANSWER_UNREADABLE, "ssl_enabled"),
        (
            {GROUP_SETTINGS: items({"ssl_enabled": ("true", None), "ssl_port": ("0", None)})},
            Code.MANAGER_ANSWER_UNREADABLE,
            "'0' in the settings of kafka-KAFKA_BROKER-1, ssl_port",
        ),
        ({f"{V}/clusters/Cluster 1/services": {"items": []}}, Code.MANAGED_CLUSTER_UNKNOWN, "no cluster with Kafka"),
    ],
)
def test_fault_of_cloudera_manager_is_one_finding(answers: dict[str, Any], code: Code, text: str) -> None:
    """Each fault has a code, and the finding names what was found and where."""
    finding = refused(cloudera_answers() | answers)

    assert finding.code is code
    assert text in finding.found


@pytest.mark.parametrize("wanted", ["Cluster 1", "Cluster 1/kafka", None])
def test_cluster_may_be_named(wanted: str | None) -> None:
    """The name of the cluster is enough if it has one Kafka service, and none is needed if there is one cluster."""
    assert "Cluster 1/kafka" == found(cloudera_answers(), wanted).name


def test_one_of_several_clusters_must_be_named() -> None:
    """The finding lists the clusters; a wrong name is no reason to take another cluster."""
    two = {f"{V}/clusters/Cluster 1/services": {"items": [{"name": n, "type": "KAFKA"} for n in ("kafka", "logs")]}}
    answers = cloudera_answers() | two

    assert "several clusters: Cluster 1/kafka, Cluster 1/logs" == refused(answers).found
    assert "several clusters: Cluster 1/kafka, Cluster 1/logs" == refused(answers, "Cluster 1").found
    assert "no Kafka cluster kafka, but Cluster 1/kafka, Cluster 1/logs" == refused(answers, "kafka").found
    assert "Cluster 1/kafka" == found(answers, "Cluster 1/kafka").name


def test_server_that_does_not_run() -> None:
    """A server that does not answer has a code of its own."""
    with ManagerServer({}) as server:
        settings = HttpSettings("manager", server.url)

    with pytest.raises(Refused) as error:
        discovered(partial(manager_of, settings), "manager", None)
    assert [Code.MANAGER_UNREACHABLE] == [finding.code for finding in error.value.findings]


def test_certificate_of_another_authority(tmp_path: Path) -> None:
    """A server is trusted by the CA in the connection, and by no other."""
    authority = Authority("managers")
    with ManagerServer(ambari_answers(), tls=tls_of(authority, tmp_path)) as server:
        url = server.url
        trusted = HttpSettings("m", url, LOGIN, SECRET, authority.certificate)
        assert "demo" == discovered(partial(manager_of, trusted), "m", None).name
        with pytest.raises(Refused, match=r"MANAGER_REFUSED .* a TLS connection that failed"):
            discovered(partial(manager_of, HttpSettings("m", url, LOGIN, SECRET)), "m", None)


def _service(server: ManagerServer) -> HttpService:
    return HttpService("server", HttpSettings("s", server.url), _refusal)


def _refusal(found: str) -> Refused:
    return Refused([Finding(Code.MANAGER_REFUSED, "s", found, "", "")])


def test_answer_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that is too large is refused before all of it is read."""
    with ManagerServer({"/": "x" * 100}) as server:
        monkeypatch.setattr(http_service, "MAX_ANSWER_BYTES", 99)
        with pytest.raises(Refused, match="an answer of more than 99 bytes"):
            _service(server).get("/")
