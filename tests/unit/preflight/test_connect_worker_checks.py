"""What is found of the workers of a Kafka Connect cluster, and what stays unknown."""

from __future__ import annotations

import pytest

from kafka_migration.core.connect.connect_tools import SOURCE_CONNECTOR
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Migration, Mode
from kafka_migration.engines.required_versions import KafkaVersion, worker_release
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.preflight.clusters.connect_cluster_checks import NO_GROUP, WorkerAddresses
from kafka_migration.preflight.connect.asking_connect import MOST_WORKERS, ConnectWorker
from kafka_migration.preflight.connect.worker_checks import (
    connect,
    connect_kafka,
    connect_workers,
    newer_version_warnings,
    operator_warnings,
    plain_warnings,
    plugin_findings,
    unknown_workers_warnings,
    version_findings,
)
from kafka_migration.preflight.scene.check import Check, CheckResult, run_checks
from kafka_migration.steps.run.run_request import RunRequest
from tests.checked_scene import Run, alone, on_connect, scene_of
from tests.contract.fake_cluster import FakeCluster
from tests.contract.fake_connect_tools import FakeConnectTools, FakeWorker

GROUP, FIRST, SECOND = "connect-cluster", "http://127.0.0.1:8083", "http://127.0.0.1:8084"


@pytest.fixture
def on_workers(migration_text: str) -> Migration:
    """A migration on Kafka Connect that names the group of the workers."""
    return load_migration(on_connect(migration_text), where="shop.yaml")


@pytest.fixture
def tools() -> FakeConnectTools:
    """Two workers."""
    return FakeConnectTools(workers={FIRST: FakeWorker(), SECOND: FakeWorker()})


@pytest.fixture
def target() -> FakeCluster:
    """A target that names both in their group."""
    made = FakeCluster("target")
    made.workers[GROUP] = (FIRST, SECOND)
    return made


def result(check: Check, migration: Migration, tools: FakeConnectTools, target: FakeCluster) -> CheckResult:
    """Return the result of a check."""
    (found,) = run_checks([alone(check)], scene_of(Run(migration, connect=tools, target=target)))
    return found


def codes(found: CheckResult) -> tuple[list[Code], list[Code]]:
    """Return the codes of findings and warnings."""
    return [each.code for each in found.findings], [each.code for each in found.warnings]


@pytest.mark.parametrize("check", [connect, connect_kafka, connect_workers], ids=lambda check: check.name)
def test_good_workers_pass(check: Check, on_workers: Migration, tools: FakeConnectTools, target: FakeCluster) -> None:
    """Workers of the target's group, of one new version and with the plugin, have neither finding nor warning."""
    assert ([], []) == codes(result(check, on_workers, tools, target))


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("3.9.1", (3, 9, 1)),
        ("4.1.0", (4, 1, 0)),
        ("3.4.1.7.2.18.0-641", (3, 4, 1)),
        ("7.6.1-ccs", (3, 6, 0)),
        ("7.9.1-ce", (3, 9, 0)),
        ("6.2.0-ccs", (2, 8, 0)),
        ("8.1.0-ccs", (4, 1, 0)),
        ("99.0.0-ccs", None),
        ("unknown", None),
        ("", None),
    ],
)
def test_release_of_a_worker(version: str, release: tuple[int, int, int] | None) -> None:
    """Vendors' numbers stand for a release of Kafka; an unknown one stands for none."""
    assert worker_release(version) == (KafkaVersion(*release) if release else None)


@pytest.mark.parametrize(
    ("version", "refused"),
    [("3.6.2", True), ("7.6.1-ccs", True), ("", True), ("x", True), ("3.7.0", False), ("7.7.0-ccs", False)],
)
def test_old_worker_is_refused_with_the_reason(version: str, refused: bool) -> None:
    """A worker before 3.7, or of an unknown release, is refused: it cannot create a connector that does not start."""
    found = list(version_findings("connection shop_connect", version))

    assert [Code.CONNECT_TOO_OLD] * refused == [each.code for each in found]
    assert ["KIP-980" in str(each.matters) for each in found] == [True] * refused


@pytest.mark.parametrize(
    ("version", "refused", "warned"),
    [("4.2.1", 0, 0), ("4.3.0", 0, 1), ("8.3.0-ccs", 0, 1), ("5.0.0", 1, 0), ("", 1, 0)],
)
def test_newer_worker_than_tested(version: str, refused: int, warned: int) -> None:
    """A later minor release than the newest tested one is a warning, a later major one is refused."""
    assert refused == len(list(version_findings("worker w1", version)))
    assert [Code.MIRROR_VERSION_UNTESTED] * warned == [
        each.code for each in newer_version_warnings("worker w1", version)
    ]


@pytest.mark.parametrize(
    ("cluster_id", "where"),
    [("source", "back into the source"), ("other", "that cluster"), ("", "an unknown cluster")],
)
def test_workers_of_another_kafka_are_refused(
    on_workers: Migration, tools: FakeConnectTools, target: FakeCluster, cluster_id: str, where: str
) -> None:
    """Workers whose Kafka is not the target are refused, and the finding says where the records would go."""
    tools.workers[FIRST].cluster_id = cluster_id
    (finding,) = result(connect_kafka, on_workers, tools, target).findings

    assert (Code.CONNECT_OTHER_KAFKA, True) == (finding.code, where in str(finding.matters))


@pytest.mark.parametrize(
    ("address", "warned"),
    [
        ("http://connect:8083", True),
        ("http://10.0.0.7", True),
        ("https://connect", False),
        ("http://127.0.0.1:8083", False),
        ("http://localhost:8083", False),
    ],
)
def test_plain_rest_is_warned_of(address: str, warned: bool) -> None:
    """REST without TLS is a warning, unless it never leaves this machine."""
    assert [Code.CONNECT_REST_PLAIN] * warned == [each.code for each in plain_warnings("shop_connect", address)]


def test_plugin_must_be_on_every_worker(on_workers: Migration, tools: FakeConnectTools, target: FakeCluster) -> None:
    """A worker without MirrorMaker's connector is refused by its address."""
    tools.workers[SECOND].plugins = {"io.debezium.X": "1"}
    (finding,) = result(connect_workers, on_workers, tools, target).findings

    assert (Code.CONNECT_PLUGIN_MISSING, True, False) == (finding.code, SECOND in finding.found, FIRST in finding.found)


def test_plugin_must_be_of_one_version() -> None:
    """Two versions of MirrorMaker's connector on the workers are refused, with a worker of each."""
    (finding,) = plugin_findings([worker("a", "3.9.1"), worker("b", "3.9.1"), worker("c", "4.0.0")])

    assert "'3.9.1' (b), '4.0.0' (c)" in finding.found


def worker(address: str, version: str) -> ConnectWorker:
    """Return a worker with a version of the plugin."""
    return ConnectWorker(address, plugins={SOURCE_CONNECTOR: version})


def test_old_worker_among_new_ones_is_found(
    on_workers: Migration, tools: FakeConnectTools, target: FakeCluster
) -> None:
    """Each worker must be new enough, not only the one that answers at the address of the connection."""
    tools.workers[SECOND].version = "3.6.0"
    (finding,) = result(connect_workers, on_workers, tools, target).findings

    assert (Code.CONNECT_TOO_OLD, f"worker {SECOND}") == (finding.code, finding.subject)


def test_silent_worker_is_unknown_and_hides_no_other(
    on_workers: Migration, tools: FakeConnectTools, target: FakeCluster
) -> None:
    """A worker that does not answer Airflow is a warning that says what cannot be proved; the others are checked."""
    target.workers[GROUP] = (FIRST, SECOND, "http://w3:8083", "NOTUSED")
    tools.workers[FIRST].plugins = {}
    tools.workers[SECOND].is_down = True
    found = result(connect_workers, on_workers, tools, target)

    assert ([Code.CONNECT_PLUGIN_MISSING], [Code.CONNECT_UNKNOWN] * 3) == codes(found)
    assert [True] * 3 == ["a stop cannot be proved" in str(each.matters) for each in found.warnings]
    assert found.findings[0].found.endswith(FIRST)


def test_without_a_group_one_worker_is_asked(migration_text: str, tools: FakeConnectTools, target: FakeCluster) -> None:
    """Without the group, only the worker at the connection's address is asked, and that is said; nothing is listed."""
    text = on_connect(migration_text).replace("    group: connect-cluster\n", "")
    found = result(connect_workers, load_migration(text, where="shop.yaml"), tools, target)

    assert ([], [Code.CONNECT_UNKNOWN]) == codes(found)
    assert "mirror.connect.group" in found.warnings[0].remedy
    assert {"root", "plugins"} == set(tools.calls)


def test_empty_group_is_unknown(on_workers: Migration, tools: FakeConnectTools, target: FakeCluster) -> None:
    """A group in which the target shows no worker is no cluster without workers."""
    target.workers.clear()
    found = result(connect_workers, on_workers, tools, target)

    assert ([], [Code.CONNECT_UNKNOWN]) == codes(found)
    assert "shows no worker in the group connect-cluster" in found.warnings[0].happened


def test_workers_beyond_the_limit_are_unknown() -> None:
    """Of a very large cluster the first workers are asked, and the others are named as unknown."""
    many = WorkerAddresses(tuple(f"http://w{number}" for number in range(MOST_WORKERS + 1)))

    assert [f"{MOST_WORKERS} of {MOST_WORKERS + 1} workers"] == [
        each.found for each in unknown_workers_warnings(many, ())
    ]
    assert [Code.CONNECT_UNKNOWN] == [each.code for each in unknown_workers_warnings(NO_GROUP, ())]


@pytest.mark.parametrize(
    ("address", "resource"),
    [
        ("http://shop-connect-0.shop-connect.kafka.svc:8083/", "shop"),
        ("https://my-connect-connect-12.my-connect-connect.a-b.svc:8083", "my-connect"),
        ("http://shop-connect-0.shop-connect.kafka.svc.cluster.local:8083", "shop"),
        ("http://shop-connect-api:8083", "shop"),
        ("http://shop-connect-api.kafka.svc:8083", "shop"),
        ("http://shop-connect-0.other-connect.kafka.svc:8083", ""),
        ("http://connect-0.kafka.svc:8083", ""),
        ("http://127.0.0.1:8083", ""),
        ("http://shop-connect.example:8083", ""),
        ("NOTUSED", ""),
        ("http://[worker-1/", ""),
    ],
)
def test_workers_of_strimzi_are_known_by_their_names(address: str, resource: str) -> None:
    """Names of Strimzi's pods and services warn of its operator, with the command that switches it off."""
    found = list(operator_warnings([address]))

    assert [f"KafkaConnect {resource}"] * bool(resource) == [each.subject for each in found]
    assert [True] * len(found) == ["strimzi.io/use-connector-resources-)" in each.remedy for each in found]


def test_operator_is_warned_of_by_a_worker(on_workers: Migration, tools: FakeConnectTools, target: FakeCluster) -> None:
    """The names in the group show the operator also if the connection leads to a balancer of another name."""
    target.workers[GROUP] = ("http://shop-connect-0.shop-connect.kafka.svc:8083/",)

    assert Code.CONNECT_OPERATOR in codes(result(connect_workers, on_workers, tools, target))[1]


def test_silent_cluster_does_not_hide_the_target(
    on_workers: Migration, tools: FakeConnectTools, target: FakeCluster
) -> None:
    """If no worker answers, the check of the cluster fails and those that need it do not apply."""
    tools.workers.clear()
    found = run_checks([alone(connect), connect_after()], scene_of(Run(on_workers, connect=tools, target=target)))

    assert [Code.CONNECT_UNREACHABLE] == [each.code for each in found[0].findings]
    assert "the check connect did not pass" == found[1].not_applicable


def connect_after() -> Check:
    """Return the check of the workers that needs the one of the cluster alone."""
    return Check("after", asks=connect_workers.asks, needs=("connect",))


def test_down_target_does_not_hide_the_cluster(
    on_workers: Migration, tools: FakeConnectTools, target: FakeCluster
) -> None:
    """The check of the cluster needs no Kafka cluster."""
    target.cluster_id, target.is_down = "target (new_kafka, b2:9092)", True
    findings = {check.name: codes(result(check, on_workers, tools, target))[0] for check in (connect, connect_kafka)}

    assert {"connect": [], "connect kafka": [Code.CLUSTER_UNREACHABLE]} == findings


@pytest.mark.parametrize(
    ("mode", "asked"), [(Mode.SYNC, True), (Mode.FAIL_BACK, True), (Mode.RESTORE, True), (Mode.VALIDATE, False)]
)
def test_rollback_asks_the_cluster_too(on_workers: Migration, tools: FakeConnectTools, mode: Mode, asked: bool) -> None:
    """A rollback needs the answer that nothing copies, and a validation needs no worker."""
    (found,) = run_checks([alone(connect)], scene_of(Run(on_workers, RunRequest(mode=mode), connect=tools)))

    assert (asked, asked) == (bool(tools.calls), found.has_passed)


def test_refused_login_is_no_missing_worker(
    on_workers: Migration, tools: FakeConnectTools, target: FakeCluster
) -> None:
    """A worker that refuses the login fails the check with its own finding."""
    tools.refuses_login = FIRST
    (finding,) = result(connect, on_workers, tools, target).findings

    assert isinstance(finding, Finding)
    assert Code.CONNECTION_INVALID is finding.code
