"""No secret is left anywhere: after whole runs, failing runs and kills, everything is searched for them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from sandbox.security.authority import Authority
from sandbox.security.listeners import Way
from tests.live.canaries import Canaries, of_key, rows_of
from tests.live.conftest import LiveWorld
from tests.live.faults import Faults, command_line
from tests.live.granting import grant_what_a_cutover_needs
from tests.live.groups import approve, awaiting, commit, decide, ends
from tests.live.migrations import LiveMigration
from tests.live.spark_cluster import SparkCluster, spark_cluster
from tests.live.worlds import own_world
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign, pytest.mark.runs]

RECORDS = 100
# Letters that JSON, URLs, JAAS and shells write in another way.
ODD = "\"q'uote\\ $HOME %2F+&"
TEMPORARY = Path("/tmp")


@dataclass
class Scene:
    """A sandbox of its own, its Spark cluster, the connections to it, and the secrets in them."""

    world: LiveWorld
    spark: SparkCluster
    began: float
    connections: dict[str, dict[str, str]] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)

    def connect(self, name: str, settings: dict[str, str]) -> None:
        """Store a connection in Airflow's database; its secrets are canaries from now on."""
        self.world.api.add_connection(name, "kafka", settings)
        self.connections[name] = settings
        for setting in ("sasl.password", "sasl.oauthbearer.client.secret"):
            if setting in settings:
                self.secrets[f"{setting} of {name}"] = settings[setting]
        if "ssl.key.pem" in settings:
            self.secrets[f"ssl.key.pem of {name}"] = of_key(settings["ssl.key.pem"])

    def migration(self, name: str, source: str, target: str, *, grants: bool = True, **settings: str) -> LiveMigration:
        """Return a migration with some records and a group."""
        made = self.world.migration(name, source=source, target=target, **settings)
        if grants:
            ways: dict[Any, Way] = {"source": _way(source), "target": _way(target)}
            grant_what_a_cutover_needs(self.world.sandbox, made.path, ways)
        made.produce(RECORDS)
        commit(made.source, f"{name}-group", name, ends(made.source, name))
        return made


def _way(connection: str) -> Way:
    return cast(Way, connection.partition("_")[2])


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Everything runs; the passwords have letters that are written in many ways."""
    began, root = time.time(), tmp_path_factory.mktemp("canaries")
    (root / "spark").mkdir()
    with own_world(root) as world, spark_cluster(root / "spark") as spark:
        made, sandbox, api = Scene(world, spark, began), world.sandbox, world.api
        for side, security in sandbox.security.items():
            security.change_password(sandbox.bootstraps[side], f"{ODD}{security.password}")
            for way in ("mtls", "scram-sha-512", "oauthbearer"):
                made.connect(f"{side}_{way}", security.connection(way))
        events = root / "events"
        events.mkdir()
        # Spark compresses them by default, and a search would find nothing.
        logged = {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": events.as_uri(),
        }
        api.add_connection("cluster", "spark", {"deploy-mode": "client", **spark.conf, **logged}, host=spark.master)
        yield made


def runs_that_pass(scene: Scene) -> None:
    """A cutover and a sync, with different logins, both engines, Spark on the worker and on a cluster."""
    moved = scene.migration("moved", "source_scram-sha-512", "target_mtls")
    run_id = awaiting(moved)
    approve(scene.world.api, moved, run_id)
    synced = scene.migration(
        "synced", "source_oauthbearer", "target_scram-sha-512", mirror="  engine: mirrormaker1", spark="cluster"
    )
    assert "PASS" == synced.run("sync")["verdict"]


def connections_that_fail(scene: Scene) -> dict[str, str]:
    """Return wrong connections of the source, each with a secret of its own, and the code of its refusal."""
    good, stranger = scene.connections, Authority("stranger").issue("migration")
    wrong = {
        "password": (
            {**good["source_scram-sha-512"], "sasl.password": f"{ODD}wrong-password-4711"},
            "LOGIN_REFUSED",
        ),
        "secret": (
            {**good["source_oauthbearer"], "sasl.oauthbearer.client.secret": "wrong-client-secret-4711"},
            "TOKEN_NOT_GIVEN",
        ),
        "key": (
            {**good["source_mtls"], "ssl.key.pem": stranger.key, "ssl.certificate.pem": stranger.certificate},
            "CLIENT_CERTIFICATE_REFUSED",
        ),
        "setting": (
            {**good["source_scram-sha-512"], "sasl.password": "password-with-an-end-4711\n"},
            "CONNECTION_INVALID",
        ),
        "mechanism": ({**good["source_scram-sha-512"], "sasl.mechanism": "PLAIN"}, "MECHANISM_NOT_OFFERED"),
        "name": ({**good["source_scram-sha-512"], "sasl.pasword": "password-of-a-typo-4711"}, "CONNECTION_INVALID"),
    }
    for name, (settings, _) in wrong.items():
        scene.connect(f"wrong_{name}", settings)
    scene.secrets["sasl.pasword of wrong_name"] = "password-of-a-typo-4711"
    scene.secrets["sasl.password of wrong_setting"] = "password-with-an-end-4711"
    return {f"wrong_{name}": code for name, (_, code) in wrong.items()}


def runs_that_fail(scene: Scene, wrong: dict[str, str]) -> int:
    """Runs that end in each phase, each for its own reason; return how many."""
    codes = []
    for connection, code in wrong.items():
        failed = scene.migration(connection.replace("_", "-"), connection, "target_mtls", grants=False)
        codes.append((code, [finding["code"] for finding in failed.run("sync")["findings"]]))
    scram, mtls = "source_scram-sha-512", "target_mtls"
    nowhere = scene.migration("no-kafka", scram, mtls, mirror="  kafka_home: /nowhere")
    codes.append(("MM_BINARY_NOT_FOUND", [f["code"] for f in nowhere.run("sync")["findings"]]))
    lacking = scene.migration("no-right", scram, mtls, grants=False)
    codes.append(("RIGHT_MISSING", [f["code"] for f in lacking.run("sync")["findings"]]))
    rejected = scene.migration("rejected", scram, mtls)
    run_id = awaiting(rejected)
    decide(scene.world.api, rejected, run_id, "Reject")
    rejected.finished(run_id)
    codes.append(("APPROVAL_REFUSED", rejected.codes(run_id)))
    codes.append(("MIRROR_DEAD", killed_mirror(scene, scene.migration("killed", scram, mtls, mirror="  restarts: 0"))))
    codes.append(("SPARK_FAILED", killed_spark(scene.migration("no-spark", scram, mtls))))
    lapsed = scene.migration("lapsed", scram, mtls, lease="30s")
    codes.append(("", lease_that_ends(scene, lapsed)))
    for expected, found in codes:
        assert not expected or expected in found, codes
    return len(codes)


def killed_mirror(scene: Scene, migration: LiveMigration) -> list[str]:
    """MirrorMaker is killed in a run that may not start it again."""
    run_id = migration.trigger("follow")
    Faults(scene.world.sandbox, migration).kill_mirror()
    migration.finished(run_id)
    return migration.codes(run_id)


def killed_spark(migration: LiveMigration) -> list[str]:
    """Each driver of the validation is killed, until Airflow gives up."""
    run_id, state = migration.trigger("sync"), ""
    while not state:
        for pid in (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()):
            words = command_line(pid)
            if "org.apache.spark.deploy.SparkSubmit" in words and any(migration.name in word for word in words):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.2)
        state = migration.state(run_id) if migration.has_document(run_id, 1) else ""
    migration.finished(run_id)
    return migration.codes(run_id)


def lease_that_ends(scene: Scene, migration: LiveMigration) -> list[str]:
    """The triggerer and the supervisor are killed, so only the lease ends MirrorMaker."""
    faults = Faults(scene.world.sandbox, migration)
    run_id = migration.trigger("follow")
    migration.wait_for_task(run_id, "watch_lag", ["deferred"])
    wait_until(migration.mirror_pids, 120, "MirrorMaker to run")
    faults.kill_part("triggerer")
    faults.kill_supervisor()
    wait_until(lambda: not migration.mirror_pids(), 240, "the end of MirrorMaker")
    secrets = [path for path in migration.host_folder.rglob("*") if "secrets" in path.name]
    assert [] == [path for path in secrets if path.name == "secrets"], "the lease has left secrets"
    faults.mend()
    # The triggerer has started MirrorMaker again.
    assert 0 == migration.cli("stop").returncode
    migration.finished(run_id)
    return migration.codes(run_id)


def test_no_secret_is_left(scene: Scene) -> None:
    """A cutover, a sync, twelve failing runs and kills: no file, table, topic, log or process shows a secret.

    The brokers' own configuration has their own keys, and one password of a login that no run uses.
    Other sessions of pytest, which fill their folders meanwhile, have other secrets.
    """
    sandbox = scene.world.sandbox
    wrong = connections_that_fail(scene)
    canaries = Canaries(scene.secrets)
    with canaries.watching_processes(sandbox.sandbox_id):
        runs_that_pass(scene)
        failed = runs_that_fail(scene, wrong)
    assert failed >= 12
    root, read = sandbox.state.root, 0
    for table, rows in rows_of(sandbox.state.environment["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"]):
        canaries.look_at(rows, f"table {table}")
    own = {root / "security", *(root / side / "server.properties" for side in ("source", "target"))}
    read += canaries.look_below(root.parent, but=own)
    own_session, all_sessions = root.parents[1], root.parents[-3]
    read += canaries.look_below(own_session, but={root.parent}, since=scene.began)
    read += canaries.look_below(TEMPORARY, but={all_sessions}, since=scene.began)
    read += canaries.look_below(Path("/dev/shm"), since=scene.began)

    assert set() == canaries.hits
    assert read > 1000
