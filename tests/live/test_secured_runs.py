"""Whole cutovers between clusters that require a login: each way to log in, with both engines, Spark here and there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox.security.listeners import Way
from tests.live.conftest import LiveWorld
from tests.live.describing import described
from tests.live.granting import grant_what_a_cutover_needs
from tests.live.groups import awaiting, commit, committed, decide, ends
from tests.live.spark_cluster import spark_cluster

pytestmark = [pytest.mark.live, pytest.mark.campaign]

RECORDS = 200
SECURED: tuple[Way, ...] = ("tls", "mtls", "scram-sha-512", "oauthbearer")


@pytest.fixture(scope="module")
def places(live: LiveWorld, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The Spark connection of each place: Airflow's worker, and a protected standalone cluster."""
    with spark_cluster(tmp_path_factory.mktemp("spark")) as cluster:
        extra = {"deploy-mode": "client", **cluster.conf}
        live.api.add_connection("standalone_spark", "spark", extra, host=cluster.master)
        yield {"local": "demo_spark", "standalone": "standalone_spark"}


@pytest.mark.usefixtures("secured_connections")
@pytest.mark.parametrize("place", ["local", "standalone"])
@pytest.mark.parametrize("engine", ["mirrormaker2", "mirrormaker1"])
@pytest.mark.parametrize("way", SECURED)
def test_cutover_between_secured_clusters(
    live: LiveWorld, places: dict[str, str], way: Way, engine: str, place: str
) -> None:
    """With the rights that `acls` prints and no more, a cutover proves the copy, moves the group, changes no source."""
    assert_moved(live, f"secured-{way}-{engine}-{place}", way, engine, places[place])


def assert_moved(live: LiveWorld, name: str, way: Way, engine: str, spark: str) -> None:
    """Cut a new topic over: the copy is proved, the group stands at the end, and nothing is changed on the source."""
    settings = {"source": f"source_{way}", "target": f"target_{way}", "spark": spark}
    migration = live.migration(name, mirror=f"  engine: {engine}", **settings)
    grant_what_a_cutover_needs(live.sandbox, migration.path, {"source": way, "target": way})
    migration.produce(RECORDS)
    group, at_end = f"{name}-group", ends(migration.source, name)
    commit(migration.source, group, name, at_end)
    # The position of MirrorMaker 1 is a group of its own.
    own_group = f"kafka-migration-mirror-{name}"
    before = described(migration.source, ignored_group=own_group)
    run_id = awaiting(migration)
    decide(live.api, migration, run_id, "Approve")

    assert "success" == migration.finished(run_id).state
    document = migration.document(run_id)
    assert ("PASS", {name: {"source": RECORDS, "target": RECORDS}}) == (document["verdict"], document["records"])
    assert sum(at_end.values()) == sum(committed(migration.target, group, name).values())
    assert ([], None) == (migration.mirror_pids(), migration.reservation)
    assert before == described(migration.source, ignored_group=own_group)
