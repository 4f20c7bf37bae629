"""Clusters that accept Kerberos only: Airflow's client and MirrorMaker, with real tickets from a real Kerberos server.

Python's client must be the one that `make kerberos-client` builds; `make campaign-kerberos` runs these tests with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_migration.adapters.kafka import ConfluentCluster
from kafka_migration.airflow_adapters.connections import cluster_named, has_feature
from kafka_migration.core.connections.settings import KERBEROS_FEATURE
from sandbox.kafka import SHORT_LIVED
from sandbox.parts import Part, free_ports, wait_ready
from sandbox.sandbox import Sandbox
from sandbox.security.kdc import BROKER_HOST, SERVICE, Kdc
from sandbox.security.listeners import USER
from tests.live.granting import grant_what_a_cutover_needs
from tests.live.stage import Stage, set_the_stage

pytestmark = [pytest.mark.live, pytest.mark.campaign, pytest.mark.kerberos]


@pytest.fixture(scope="module")
def kdc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kdc]:
    """A Kerberos server with the principals of the brokers and of the migration."""
    assert has_feature(KERBEROS_FEATURE), "run `make campaign-kerberos`: this Python client has no Kerberos"
    folder = tmp_path_factory.mktemp("kerberos")
    (port,) = free_ports(1)
    made = Kdc(folder / "kdc", port)
    made.prepare(f"{SERVICE}/{BROKER_HOST}", USER)
    part = Part(made.part(folder))
    part.start()
    try:
        wait_ready([part])
        yield made
    finally:
        part.stop()


@pytest.fixture(scope="module")
def secured(kdc: Kdc, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Both clusters, which ask the Kerberos server, and the MirrorMaker host."""
    options = (*SHORT_LIVED, kdc.java_option)
    root = tmp_path_factory.mktemp("secured")
    with Sandbox(root, airflow=False, secured=True, kdc=kdc, java_options=options) as sandbox:
        yield sandbox


def use_kerberos(sandbox: Sandbox, kdc: Kdc, patch: pytest.MonkeyPatch) -> None:
    """Let both connections use Kerberos; the ticket comes from the keytab, without `kinit`."""
    for name, value in kdc.environment(USER).items():
        patch.setenv(name, value)
    for side in ("source", "target"):
        connection = {"conn_type": "kafka", "extra": sandbox.security[side].connection("kerberos")}
        patch.setenv(f"AIRFLOW_CONN_DEMO_{side.upper()}", json.dumps(connection))


@pytest.mark.parametrize("engine", ["mirrormaker2", "mirrormaker1"])
def test_copy_between_clusters_with_kerberos(
    secured: Sandbox, kdc: Kdc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """Both engines copy every record, with the rights that `acls` prints and no more."""
    set_the_stage(secured, tmp_path, monkeypatch)
    use_kerberos(secured, kdc, monkeypatch)
    topic = f"orders-{engine}"
    stage = Stage(secured, f"kerberos-{engine}", tmp_path, [topic], engine)
    file = tmp_path / "migrations" / f"kerberos-{engine}.yaml"
    grant_what_a_cutover_needs(secured, file, {"source": "kerberos", "target": "kerberos"})
    stage.create(topic)
    values = [b"%d" % number for number in range(50)]
    stage.produce(topic, *values)
    try:
        assert "drained" == stage.sync()["outcome"]
    finally:
        stage.end()

    assert values == stage.copied_values(topic)


def test_airflow_runs_no_command_for_a_ticket(secured: Sandbox, kdc: Kdc, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checked connection switches `kinit` off, and still connects: the ticket comes from the keytab."""
    use_kerberos(secured, kdc, monkeypatch)
    cluster = cluster_named("source", "demo_source")

    assert isinstance(cluster, ConfluentCluster)
    assert 0 == cluster._config["sasl.kerberos.min.time.before.relogin"]
    assert 1 == cluster.facts().brokers
