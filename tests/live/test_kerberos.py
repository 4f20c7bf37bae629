"""Clusters that accept Kerberos only: Airflow's client and MirrorMaker, with real tickets from a real Kerberos server.

Python's client must be the one that `make kerberos-client` builds; `make campaign-kerberos` runs these tests with it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.airflow_adapters.airflow_connections import cluster_named, has_feature
from kafka_migration.core.connections.client_settings import KERBEROS_FEATURE
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.kafka.cluster import THE_CLUSTER, Operation, Side
from kafka_migration.core.rights.rights import Client, Need, Right
from sandbox.environment import program
from sandbox.kafka import SHORT_LIVED
from sandbox.parts import HOST, Part, free_ports, running
from sandbox.sandbox import Sandbox
from sandbox.security.kdc import ONE_REALM, USER, Kdc, KerberosLogin, Realm
from sandbox.security.listeners import Way
from tests.live.granting import Rights, grant_what_a_cutover_needs
from tests.live.host_scene import ALL_ANSWERED, AskedFromHost, host_scene, silent_port
from tests.live.stage import Stage, connect_by, set_the_stage
from tests.live.test_refused_connections import LIMIT_S
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign, pytest.mark.kerberos]


PRINCIPAL = ONE_REALM.principal(USER)
# What a login needs to answer all questions of the host.
ASKING = tuple(
    Right(THE_CLUSTER, operation, Client.AIRFLOW, Need.SYNC)
    for operation in (Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS)
)


@contextmanager
def running_kdc(folder: Path, *realms: Realm) -> Iterator[Kdc]:
    """Run a Kerberos server with the principals of the brokers and of the migration."""
    assert has_feature(KERBEROS_FEATURE), "run `make campaign-kerberos`: this Python client has no Kerberos"
    (port,) = free_ports(1)
    made = Kdc(folder / "kdc", port, realms)
    made.prepare()
    with running(Part(made.part(folder))):
        yield made


@pytest.fixture(scope="module")
def kdc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kdc]:
    """A Kerberos server with one realm."""
    with running_kdc(tmp_path_factory.mktemp("kerberos"), ONE_REALM) as made:
        yield made


@contextmanager
def clusters(folder: Path, kdc: Kdc, logins: Mapping[str, KerberosLogin]) -> Iterator[Sandbox]:
    """Run both clusters, which ask the Kerberos server, and the MirrorMaker host."""
    options = (*SHORT_LIVED, kdc.java_option)
    with Sandbox(folder, airflow=False, secured=True, kerberos=logins, java_options=options) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def secured(kdc: Kdc, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Both clusters in one realm."""
    login = KerberosLogin(kdc)
    with clusters(tmp_path_factory.mktemp("secured"), kdc, {"source": login, "target": login}) as sandbox:
        yield sandbox


def use_kerberos(sandbox: Sandbox, kdc: Kdc, patch: pytest.MonkeyPatch) -> None:
    """Let both connections use Kerberos; the ticket comes from the keytab, without `kinit`."""
    for name, value in kdc.environment(PRINCIPAL).items():
        patch.setenv(name, value)
    connect_by("kerberos", sandbox, patch)


@pytest.mark.parametrize("engine", ["mirrormaker2", "mirrormaker1"])
def test_copy_between_clusters_with_kerberos(
    secured: Sandbox, kdc: Kdc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """Both engines copy every record, with the rights that `acls` prints and no more."""
    set_the_stage(secured, tmp_path, monkeypatch)
    use_kerberos(secured, kdc, monkeypatch)

    assert_copied(secured, tmp_path, f"kerberos-{engine}", engine)


def assert_copied(sandbox: Sandbox, folder: Path, name: str, engine: str) -> None:
    """A new topic arrives whole."""
    stage = Stage(sandbox, name, folder, [name], engine)
    file = folder / "migrations" / f"{name}.yaml"
    grant_what_a_cutover_needs(sandbox, file, {"source": "kerberos", "target": "kerberos"})
    outcome, sent, copied = stage.copied(name)

    assert "drained" == outcome
    assert sent == copied


def test_airflow_runs_no_command_for_a_ticket(secured: Sandbox, kdc: Kdc, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checked connection switches `kinit` off, and still connects: the ticket comes from the keytab."""
    use_kerberos(secured, kdc, monkeypatch)
    cluster = cluster_named("source", "demo_source")

    assert isinstance(cluster, ConfluentCluster)
    assert 0 == cluster._config["sasl.kerberos.min.time.before.relogin"]
    assert 1 == cluster.facts().brokers


@contextmanager
def asked_with_kerberos_and_oauth(sandbox: Sandbox, folder: Path, of_kerberos: Side) -> Iterator[AskedFromHost]:
    """Yield what the host asks with Kerberos about this side and with OAuth about the other one."""
    ways: dict[str, Way] = {"source": "oauthbearer", "target": "oauthbearer", of_kerberos: "kerberos"}
    logins = {side: security.connection(ways[side]) for side, security in sandbox.security.items()}
    rights = [Rights(sandbox.bootstraps[side], each.principal(ways[side])) for side, each in sandbox.security.items()]
    for each in rights:
        each.grant(ASKING)
    try:
        with host_scene(sandbox, folder) as scene:
            yield AskedFromHost.of(scene, logins["source"], logins["target"])
    finally:
        for each in rights:
            each.revoke_all()


@pytest.mark.parametrize("of_kerberos", ["source", "target"])
def test_host_asks_with_kerberos_and_oauth_at_once(secured: Sandbox, tmp_path: Path, of_kerberos: Side) -> None:
    """One program on the host logs in with Kerberos to one cluster and with OAuth to the other, and asks both."""
    with asked_with_kerberos_and_oauth(secured, tmp_path, of_kerberos) as asked:
        assert {"source": ALL_ANSWERED, "target": ALL_ANSWERED} == {side: asked.exits(side) for side in asked.answers}
        for side, answers in asked.answers.items():
            way: Way = "kerberos" if side == of_kerberos else "oauthbearer"
            address = secured.security[side].connection(way)["bootstrap.servers"]
            assert {address: ""} == answers["brokers"].output


@pytest.mark.parametrize("of_kerberos", ["source", "target"])
def test_silent_kerberos_servers_delay_no_other_side(
    secured: Sandbox, kdc: Kdc, tmp_path: Path, of_kerberos: Side
) -> None:
    """While a login waits for Kerberos servers that answer nothing, all questions about the other side are answered."""
    config = kdc.config.read_text()
    with silent_port() as port:
        # Java waits for each server 90 s, so for these longer than the program has time.
        kdc.config.write_text(config.replace(f"  kdc = {HOST}:{kdc.port}\n", f"  kdc = {HOST}:{port}\n" * 2))
        try:
            with asked_with_kerberos_and_oauth(secured, tmp_path, of_kerberos) as asked:
                (other,) = asked.answers.keys() - {of_kerberos}
                assert ALL_ANSWERED == asked.exits(other)
                assert "0" not in asked.exits(of_kerberos).values()
        finally:
            kdc.config.write_text(config)


# Environment variables and settings with which Kerberos fails, and the code.
WRONG = {
    "no keytab": ({"KRB5_CLIENT_KTNAME": "FILE:/nowhere/me.keytab"}, {}, Code.KERBEROS_KEYTAB_WRONG),
    "a keytab of an unknown principal": ({"KRB5_CLIENT_KTNAME": "FILE:{stranger}"}, {}, Code.KERBEROS_KEYTAB_WRONG),
    "a keytab with an old key": ({"KRB5_CLIENT_KTNAME": "FILE:{outdated}"}, {}, Code.KERBEROS_KEYTAB_WRONG),
    "a ticket that has ended": (
        {"KRB5_CLIENT_KTNAME": "FILE:/nowhere", "KRB5CCNAME": "FILE:{ended}"},
        {},
        Code.KERBEROS_TICKET_EXPIRED,
    ),
    "no server": ({"KRB5_CONFIG": "{elsewhere}"}, {}, Code.KERBEROS_FAILED),
    "another service": ({}, {"sasl.kerberos.service.name": "other"}, Code.KERBEROS_FAILED),
}


@pytest.mark.parametrize("case", WRONG)
def test_kerberos_that_fails_is_named(
    secured: Sandbox, kdc: Kdc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    """Without a ticket that the brokers accept, the connection is refused at once, with a code for the reason."""
    use_kerberos(secured, kdc, monkeypatch)
    variables, settings, code = WRONG[case]
    elsewhere = tmp_path / "krb5.conf"
    elsewhere.write_text(kdc.config.read_text().replace(f":{kdc.port}", ":1"))
    ended = kdc.tickets(tmp_path, lifetime_s=1)
    wait_until(lambda: kdc.has_ended(ended), what="the end of the ticket")
    places = {
        "stranger": str(kdc.stranger(tmp_path)),
        "outdated": str(kdc.outdated(tmp_path)),
        "ended": str(ended),
        "elsewhere": str(elsewhere),
    }
    environment = {**kdc.environment(PRINCIPAL), "KRB5CCNAME": f"FILE:{tmp_path / 'cache'}"}
    for name, value in {**environment, **variables}.items():
        monkeypatch.setenv(name, value.format(**places))
    extra = {**secured.security["source"].connection("kerberos"), **settings}
    monkeypatch.setenv("AIRFLOW_CONN_DEMO_SOURCE", json.dumps({"conn_type": "kafka", "extra": extra}))
    asked = time.monotonic()
    with pytest.raises(Refused) as refused:
        cluster_named("source", "demo_source").facts()

    assert time.monotonic() - asked < LIMIT_S
    assert [code] == [finding.code for finding in refused.value.findings]


ASK = """\
from kafka_migration.airflow_adapters.airflow_connections import cluster_named
from kafka_migration.core.findings.errors import Refused

try:
    cluster_named("source", "demo_source").facts()
except Refused as refused:
    print(*(finding.code for finding in refused.findings))
    print(refused)
"""


def test_clock_that_is_wrong_is_named(
    secured: Sandbox, kdc: Kdc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker whose clock is two hours fast is refused, if its Kerberos library may not correct that."""
    use_kerberos(secured, kdc, monkeypatch)
    config = tmp_path / "krb5.conf"
    config.write_text(kdc.config.read_text().replace("[libdefaults]\n", "[libdefaults]\n kdc_timesync = 0\n"))
    own = {
        "KRB5_CONFIG": str(config),
        "KRB5CCNAME": f"FILE:{tmp_path / 'cache'}",
        "PYTHONPATH": os.pathsep.join(sys.path),
        # Threads that wait for a while use the monotonic clock, which must stay as it is.
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    done = subprocess.run(
        (program("faketime"), "-f", "+2h", sys.executable, "-c", ASK),
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert Code.KERBEROS_CLOCK_SKEW in done.stdout.splitlines(), done.stdout + done.stderr
