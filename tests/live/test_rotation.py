"""Logins and certificates that end while MirrorMaker runs: the run ends with their own code, the next one goes on."""

from __future__ import annotations

import json
import os
import signal
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.orchestration.task.failures import FailedForGood
from sandbox.parts import HOST
from sandbox.sandbox import Sandbox
from sandbox.security.listeners import client_certificate
from tests.live.stage import Stage, connect_by, set_the_stage
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]

ENGINES = pytest.mark.parametrize("engine", ["mirrormaker2", "mirrormaker1"])
SOON = timedelta(seconds=5)
# num.network.threads of a broker, unless it is set.
NETWORK_THREADS = 3


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Both clusters with all ways to log in, and the MirrorMaker host."""
    with Sandbox(tmp_path_factory.mktemp("secured"), airflow=False, secured=True) as sandbox:
        for side, bootstrap in sandbox.bootstraps.items():
            sandbox.security[side].allow_everything(bootstrap)
        yield sandbox


def started(sandbox: Sandbox, folder: Path, name: str, engine: str) -> Stage:
    """Return a migration whose MirrorMaker runs."""
    stage = Stage(sandbox, name, folder, [name], engine)
    stage.create(name)
    stage.produce(name, *(b"%d" % number for number in range(50)))
    stage.start()
    return stage


def kill_mirror(stage: Stage) -> None:
    """Kill MirrorMaker, so that the watch has to start it again."""
    pid = stage.run.process.status().pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)


def refused(stage: Stage) -> list[str]:
    """Watch until the run fails; return the codes, once no MirrorMaker runs.

    The stop fails too, after the process has ended: its certificate needs the clusters. The next run writes it.
    """
    event = stage.watch()
    assert "failed" == event["outcome"]
    with pytest.raises(FailedForGood):
        stage.stop()
    assert not stage.run.process.status().is_running
    stage.next_run()
    return [finding["code"] for finding in event["findings"]]


@ENGINES
def test_password_that_changes_ends_the_run(
    secured: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """A restart of MirrorMaker logs in by the connection first: the old password is refused, the new one goes on."""
    set_the_stage(secured, tmp_path, monkeypatch)
    connect_by("scram-sha-512", secured, monkeypatch)
    source = secured.security["source"]
    stage = started(secured, tmp_path, f"rotated-{engine}", engine)
    try:
        source.change_password(secured.bootstraps["source"])
        kill_mirror(stage)

        assert [Code.LOGIN_REFUSED] == refused(stage)

        connect_by("scram-sha-512", secured, monkeypatch)
        assert "drained" == stage.sync()["outcome"]
    finally:
        stage.end()
    assert 50 == len(set(stage.copied_values(stage.name)))


@ENGINES
def test_password_that_changes_is_read_for_a_restart(
    secured: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """If the connection has the new password in time, MirrorMaker is started again with it, in the same run."""
    set_the_stage(secured, tmp_path, monkeypatch)
    connect_by("scram-sha-256", secured, monkeypatch)
    stage = started(secured, tmp_path, f"renewed-{engine}", engine)
    try:
        secured.security["source"].change_password(secured.bootstraps["source"])
        connect_by("scram-sha-256", secured, monkeypatch)
        kill_mirror(stage)

        assert "drained" == stage.watch()["outcome"]
        stage.stop()
    finally:
        stage.end()
    assert 2 == stage.run.ledger.read().generations[-1].number
    assert 50 == len(set(stage.copied_values(stage.name)))


def test_broker_certificate_that_ends_ends_the_run(
    secured: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker's certificate that has ended is named when MirrorMaker would be started again; a new one goes on."""
    set_the_stage(secured, tmp_path, monkeypatch)
    connect_by("tls", secured, monkeypatch)
    stage = started(secured, tmp_path, "broker-ended", "mirrormaker2")
    ends = datetime.now(UTC) + SOON
    try:
        show_certificate(secured, ends)
        wait_until(lambda: datetime.now(UTC) > ends, what="the end of the certificate")
        kill_mirror(stage)

        assert [Code.CERTIFICATE_EXPIRED] == refused(stage)

        show_certificate(secured)
        assert "drained" == stage.sync()["outcome"]
    finally:
        show_certificate(secured)
        stage.end()


def show_certificate(secured: Sandbox, ends: datetime | None = None) -> None:
    """Let the source's broker show another certificate to clients without one of their own, from now on."""
    source = secured.security["source"]
    issued = source.change_certificate(secured.bootstraps["source"], "tls", ends)
    at = (HOST, source.ports["tls"])
    # Each network thread of the broker changes its certificate on its own, and they take connections in turn.
    wait_until(
        lambda: all(ssl.get_server_certificate(at) == issued for _ in range(2 * NETWORK_THREADS)),
        what="the broker's new certificate",
    )


def test_certificate_that_ends_ends_the_run(secured: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client certificate that has ended is named when MirrorMaker would be started again; a new one goes on."""
    set_the_stage(secured, tmp_path, monkeypatch)
    connect_by("mtls", secured, monkeypatch)
    stage = started(secured, tmp_path, "ended", "mirrormaker2")
    ends = datetime.now(UTC) + SOON
    try:
        issued = secured.security["source"].authority.issue("migration", ends=ends)
        extra = {**secured.security["source"].connection("mtls"), **client_certificate(issued)}
        monkeypatch.setenv("AIRFLOW_CONN_DEMO_SOURCE", json.dumps({"conn_type": "kafka", "extra": extra}))
        wait_until(lambda: datetime.now(UTC) > ends, what="the end of the certificate")
        kill_mirror(stage)

        assert [Code.CERTIFICATE_EXPIRED] == refused(stage)

        connect_by("mtls", secured, monkeypatch)
        assert "drained" == stage.sync()["outcome"]
    finally:
        stage.end()
