"""The source's access control lists, read from a real broker with an authorizer by a login with few rights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_migration.cli.main import main
from kafka_migration.cli.shell.output import ExitCode
from kafka_migration.core.kafka.cluster import THE_CLUSTER, Operation, Resource
from kafka_migration.core.rights.rights import Client, Need, Right
from sandbox.sandbox import Sandbox
from sandbox.security.kdc import USER
from tests.live.granting import Rights
from tests.live.stage import Stage, connect_by, set_the_stage

pytestmark = [pytest.mark.live, pytest.mark.campaign]


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Both clusters with all ways to log in, and users without rights."""
    with Sandbox(tmp_path_factory.mktemp("secured"), airflow=False, secured=True) as sandbox:
        yield sandbox


def right(resource: Resource, operation: Operation) -> Right:
    """Return a right for any need."""
    return Right(resource, operation, Client.AIRFLOW, Need.SYNC)


def test_lists_of_a_real_cluster(
    secured: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without Describe on the cluster the lists are refused by name; with it each one is a command for the target."""
    set_the_stage(secured, tmp_path, monkeypatch)
    connect_by("scram-sha-512", secured, monkeypatch)
    stage = Stage(secured, "listed", tmp_path, ["orders"])
    stage.create("orders")
    bootstrap = secured.bootstraps["source"]
    app, own = Rights(bootstrap, "User:app"), Rights(bootstrap, f"User:{USER}")
    app.grant([right(Resource("topic", "ord", is_prefix=True), Operation.WRITE)])
    own.grant([right(Resource("topic", "orders"), Operation.READ)])
    command = ["source-acls", "listed", "--migrations", str(tmp_path / "migrations")]

    assert ExitCode.REFUSED == main(command)
    assert "RIGHT_MISSING" in capsys.readouterr().err
    own.grant([right(THE_CLUSTER, Operation.DESCRIBE)])
    assert ExitCode.DONE == main(command)
    lines = capsys.readouterr().out.splitlines()
    start = 'kafka-acls.sh --bootstrap-server "$TARGET" --command-config admin.properties --add'
    assert f"{start} --allow-principal User:app --allow-host '*' --operation Write --topic orders" in lines
