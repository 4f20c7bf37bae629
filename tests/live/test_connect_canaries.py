"""No secret of a migration on Kafka Connect is left anywhere: its connector has references to files of the workers."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from kafka_migration.core.connections.java_properties import java_properties
from kafka_migration.core.kafka.cluster import Side
from sandbox.security.listeners import Way
from tests.live.canaries import Canaries, rows_of
from tests.live.connect_world import ConnectWorld, connect_world
from tests.live.granting import grant_what_a_cutover_needs
from tests.live.migrations import LiveMigration
from tests.live.worlds import own_world

pytestmark = [pytest.mark.live, pytest.mark.campaign, pytest.mark.runs]

RECORDS = 100
WAY: Way = "scram-sha-512"
SIDES: tuple[Side, ...] = ("source", "target")
WAYS: dict[Side, Way] = dict.fromkeys(SIDES, WAY)
ODD = "\"q'uote\\ $HOME %2F+&"
LOGIN = "sasl.jaas.config"


def provider_of(folder: Path) -> dict[str, str]:
    """Return the workers' settings for references to the files of a folder."""
    return {
        "config.providers": "dir",
        "config.providers.dir.class": "org.apache.kafka.common.config.provider.DirectoryConfigProvider",
        "config.providers.dir.param.allowed.paths": str(folder),
    }


def connect_logins(world: ConnectWorld, folder: Path) -> dict[str, str]:
    """Store a connection with a login for each side, and the files of the workers; return the passwords by name."""
    secrets = {}
    for side, security in world.live.sandbox.security.items():
        security.change_password(world.live.sandbox.bootstraps[side], f"{ODD}{security.password}")
        settings = security.connection(WAY)
        world.live.api.add_connection(f"{side}_{WAY}", "kafka", settings)
        (folder / side).write_text(java_properties(side, settings)[LOGIN])
        secrets[f"password of the {side}"] = settings["sasl.password"]
    return secrets


def migration_of(world: ConnectWorld, name: str) -> LiveMigration:
    """Return a migration whose clusters need logins."""
    made = world.migration(name, source=f"source_{WAY}", target=f"target_{WAY}")
    grant_what_a_cutover_needs(world.live.sandbox, made.path, WAYS)
    made.produce(RECORDS)
    return made


def references(folder: Path) -> str:
    """Return the references to both logins, as a flow mapping of YAML."""
    named = ", ".join(f'{side}: {{{LOGIN}: "${{dir:{folder}:{side}}}"}}' for side in SIDES)
    return f"secrets: {{{named}}}"


def test_no_secret_is_left_with_connectors(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A run that passes and one that is refused: no file, table, topic, log or process shows a password."""
    root, began = tmp_path_factory.mktemp("connect-canaries"), time.time()
    files = root / "workers-secrets"
    files.mkdir()
    with (
        own_world(root) as live,
        connect_world(live, root / "connect", settings=provider_of(files), secrets=references(files)) as world,
    ):
        canaries = Canaries(connect_logins(world, files))
        with canaries.watching_processes(live.sandbox.sandbox_id):
            passed = migration_of(world, "referred").run("sync")
            world.secrets = ""
            refused = migration_of(world, "plain").run("sync")
        assert ("success", "PASS") == (passed["state"], passed["verdict"]), passed["findings"]
        assert "CONNECT_SECRET_PLAIN" in [each["code"] for each in refused["findings"]]
        for table, rows in rows_of(live.sandbox.state.environment["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"]):
            canaries.look_at(rows, f"table {table}")
        sandbox = live.sandbox.state.root
        own = {files, sandbox / "security", *(sandbox / side / "server.properties" for side in SIDES)}
        read = canaries.look_below(root, but=own)
        read += canaries.look_below(Path("/dev/shm"), since=began)
    assert (set(), True) == (canaries.hits, read > 500)
