"""Preflight of engine connect on real workers: what they answer, and what each check finds of them."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from signal import SIGKILL
from uuid import uuid4

import pytest

from kafka_migration.adapters.connect.rest_connect_tools import RestConnectTools
from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import NewTopic, Side
from kafka_migration.core.migration.settings import ConnectSettings, Migration
from kafka_migration.engines.required_versions import KafkaVersion
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.preflight.checks import CHECKS
from kafka_migration.preflight.connect import worker_checks
from kafka_migration.preflight.scene.check import CheckResult, run_checks
from sandbox.connect import ANSWER_S, ConnectWorker, running_workers, workers_of
from sandbox.parts import Part
from sandbox.sandbox import Sandbox
from tests.checked_scene import OF_CONNECT, Deployed, Run, alone, on_connect, scene_of
from tests.conftest import MIGRATION_TEXT
from tests.contract.connect_tools_contract import ConnectToolsContract
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]
OVERRIDES = {"connector.client.config.override.policy": "None"}


@dataclass
class RealWorkers:
    """Two workers of one group, whose Kafka is the target of the sandbox; the second one allows no override."""

    brokers: Sandbox
    workers: tuple[ConnectWorker, ConnectWorker]
    parts: dict[str, Part]
    topic: str = field(default_factory=lambda: f"connect-preflight-{uuid4().hex[:8]}")

    def cluster(self, side: Side) -> ConfluentCluster:
        """Return a cluster of the sandbox."""
        return ConfluentCluster(side, {"bootstrap.servers": self.brokers.bootstraps[side]})

    @property
    def group(self) -> str:
        """The group of the workers."""
        return self.workers[0].group

    def settings(self, number: int = 0) -> HttpSettings:
        """Return the connection to a worker."""
        return HttpSettings("shop_connect", self.workers[number].url)

    @property
    def named(self) -> ConnectSettings:
        """What a migration file can name of the workers."""
        status, config, offset = (f"{self.group}-{kind}" for kind in ("status", "config", "offset"))
        return ConnectSettings(status, config, offset, self.group)

    def migration(self, tasks: int = 2, named: ConnectSettings | None = None) -> Migration:
        """Return a migration of one topic on these workers."""
        text = on_connect(MIGRATION_TEXT).replace("topics: [orders, audit]", f"topics: [{self.topic}]")
        made = load_migration(text, where="shop.yaml")
        return replace(made, mirror=replace(made.mirror, tasks=tasks, connect=named or self.named))

    def result(self, name: str, migration: Migration | None = None, **run: object) -> CheckResult:
        """Return the result of a check."""
        (check,) = [each for each in CHECKS if each.name == name]
        tools = RestConnectTools(self.settings())
        parts = {"source": self.cluster("source"), "target": self.cluster("target"), "connect": tools, **run}
        deployed = Deployed(client_settings=lambda _: {"bootstrap.servers": self.brokers.state.target_bootstrap})
        made = Run(migration or self.migration(), deployment=deployed, **parts)  # type: ignore[arg-type]
        try:
            return run_checks([alone(check)], scene_of(made))[0]
        finally:
            tools.close()


@pytest.fixture(scope="module")
def real(brokers: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealWorkers]:
    """The workers, until the end of the module."""
    folder = tmp_path_factory.mktemp("workers")
    first, second = workers_of(folder, brokers.state.target_bootstrap, 2, f"connect-{uuid4().hex[:8]}")
    workers = first, replace(second, settings=OVERRIDES)
    with running_workers(workers, folder) as parts:
        made = RealWorkers(brokers, workers, parts)
        made.cluster("source").create_topics([NewTopic(made.topic, 3, 1, {})])
        yield made


class TestRestConnectTools(ConnectToolsContract):
    """The tools of real workers."""

    @pytest.fixture(autouse=True)
    def _workers(self, real: RealWorkers) -> Iterator[None]:
        self.tools = RestConnectTools(real.settings())
        self.second = real.workers[1].url
        self.cluster_id = real.cluster("target").facts().cluster_id
        yield
        self.tools.close()


def test_group_names_the_address_of_each_worker(real: RealWorkers) -> None:
    """Kafka names the REST address of every worker of a group, of no other group, and of no group of consumers."""
    target = real.cluster("target")

    assert tuple(sorted(f"{worker.url}/" for worker in real.workers)) == target.connect_workers(real.group)
    assert () == target.connect_workers(f"{real.group}-other")


def test_good_cluster_passes_but_for_what_nobody_tells(real: RealWorkers) -> None:
    """On good workers no check finds anything; the lease and the flush interval are warnings in every run."""
    names = [name for name in OF_CONNECT if name != "connect configuration"]
    results = {name: real.result(name) for name in names}

    assert [] == [str(finding) for each in results.values() for finding in each.findings]
    warned = {name: [each.code for each in found.warnings] for name, found in results.items() if found.warnings}
    assert {"connect lease": [Code.CONNECT_NO_LEASE], "connect topics": [Code.CONNECT_UNKNOWN]} == warned
    assert [] == [name for name, found in results.items() if not found.has_passed]


def test_old_workers_are_refused(real: RealWorkers, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version that workers say is compared with the oldest that works."""
    monkeypatch.setattr(worker_checks, "OLDEST_CONNECT", KafkaVersion(99, 0))

    assert [Code.CONNECT_TOO_OLD] == codes(real.result("connect").findings)


def test_workers_of_another_cluster_are_refused(real: RealWorkers) -> None:
    """Workers whose Kafka is the source are refused before anything is created."""
    (finding,) = real.result("connect kafka", source=real.cluster("target"), target=real.cluster("source")).findings

    assert (Code.CONNECT_OTHER_KAFKA, True) == (finding.code, "back into the source" in str(finding.matters))


def codes(findings: tuple[Finding, ...]) -> list[Code]:
    """Return the codes of findings."""
    return [finding.code for finding in findings]


def test_override_policy_is_shown_by_its_worker(real: RealWorkers) -> None:
    """A worker that allows no override refuses the configuration, by its address and with the policy's words."""
    found = real.result("connect configuration")

    assert {Code.CONNECT_CONFIG_REFUSED} == set(codes(found.findings))
    assert [True] * len(found.findings) == [real.workers[1].url in each.found for each in found.findings]
    assert [True] * len(found.findings) == ["producer.override." in each.subject for each in found.findings]


def test_exactly_once_needs_workers_that_support_it(real: RealWorkers) -> None:
    """Workers without exactly-once support refuse a configuration that requires it."""
    migration = real.migration()
    found = real.result(
        "connect configuration", replace(migration, mirror=replace(migration.mirror, exactly_once=True))
    )

    assert "exactly.once.support" in " ".join(each.subject for each in found.findings)


@pytest.mark.parametrize(("offset_topic", "expected"), [("never-made", [Code.CONNECT_TOPIC_UNSAFE]), (None, [])])
def test_internal_topics_are_looked_at(real: RealWorkers, offset_topic: str | None, expected: list[Code]) -> None:
    """The real internal topics of workers are safe; one that does not exist is refused, one without a name unknown."""
    found = real.result("connect topics", real.migration(named=replace(real.named, offset_topic=offset_topic)))

    assert (expected, [Code.CONNECT_UNKNOWN]) == (codes(found.findings), codes(found.warnings))


def test_topic_of_records_is_no_internal_topic(real: RealWorkers) -> None:
    """A topic of another kind is refused as a status topic: it is not compacted."""
    name = f"{real.topic}-records"
    real.cluster("target").create_topics([NewTopic(name, 1, 1, {})])

    assert [Code.CONNECT_TOPIC_UNSAFE] == codes(
        real.result("connect topics", real.migration(named=replace(real.named, status_topic=name))).findings
    )


def test_idle_workers_are_warned_of(real: RealWorkers) -> None:
    """One task for two workers and three partitions leaves a worker idle."""
    assert [Code.CONNECT_TASKS] == codes(real.result("connect tasks", real.migration(tasks=1)).warnings)


def test_unknown_group_is_warned_of(real: RealWorkers) -> None:
    """A group in which Kafka shows no worker is unknown, and only one worker is asked."""
    found = real.result("connect workers", real.migration(named=replace(real.named, group="nobody")))

    assert ([], [Code.CONNECT_UNKNOWN]) == (codes(found.findings), codes(found.warnings))


def test_nothing_is_left_on_the_workers(real: RealWorkers) -> None:
    """Validation creates no connector."""
    with urllib.request.urlopen(f"{real.workers[0].url}/connectors", timeout=ANSWER_S) as answer:
        assert [] == json.load(answer)


def test_worker_that_is_gone_is_warned_of(real: RealWorkers) -> None:
    """A killed worker is in its group until its session ends, does not answer, and is a warning; then it is gone."""
    gone = real.workers[1]
    real.parts[gone.name].kill(SIGKILL)
    (warning,) = real.result("connect workers").warnings

    assert (Code.CONNECT_UNKNOWN, True) == (warning.code, gone.url in warning.found)
    target = real.cluster("target")
    wait_until(lambda: target.connect_workers(real.group) == (f"{real.workers[0].url}/",), 60, "its end in the group")
