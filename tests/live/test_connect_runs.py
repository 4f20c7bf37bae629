"""Whole migrations on a real Kafka Connect cluster, with a live Airflow: from the first sync to the way back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_migration.core.connect.connect_config import copier_name, reservation_name
from kafka_migration.core.findings.verdict import Verdict
from sandbox.data.reading import read_records
from sandbox.jars import KAFKA_VERSION
from tests.live.conftest import LiveWorld
from tests.live.connect_world import ConnectWorld, connect_world
from tests.live.groups import approve, awaiting, commit, committed, ends, read_on
from tests.live.migrations import LiveMigration
from tests.topic_verdicts import topic_verdict

pytestmark = [pytest.mark.live, pytest.mark.campaign]


@pytest.fixture(scope="module", params=[KAFKA_VERSION, "4.2.0"])
def world(
    live: LiveWorld, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[ConnectWorld]:
    """Two workers of the tested releases of Kafka."""
    with connect_world(live, tmp_path_factory.mktemp("connect"), version=request.param) as running:
        yield running


def records(side: dict[str, str], topic: str) -> list[object]:
    """Return every record of a topic with its partition, headers included."""
    return [
        (number, each.record)
        for number, found in read_records(side["bootstrap.servers"], topic).items()
        for each in found
    ]


def test_migration_from_the_first_sync_to_the_rollback(world: ConnectWorld) -> None:
    """Syncs copy only what is new, a cutover moves groups exactly, a rollback moves them back; the copy is equal."""
    release = world.cluster.workers[0].version.replace(".", "-")
    migration = world.migration(f"connect-{release}")
    migration.produce(500)
    at_end = ends(migration.source, migration.name)
    middle = {p: end // 2 for p, end in at_end.items()}
    commit(migration.source, f"{migration.name}-end", migration.name, at_end)
    commit(migration.source, f"{migration.name}-middle", migration.name, middle)

    first = migration.run()
    migration.produce(30, first=500)
    second = migration.run()
    name = migration.name
    assert [("success", "PASS")] * 2 == [(each["state"], each["verdict"]) for each in (first, second)], first[
        "findings"
    ]
    assert [{name: {"source": 500, "target": 500}}, {name: {"source": 30, "target": 30}}] == [
        each["records"] for each in (first, second)
    ]

    migration.produce(20, first=530)
    approve(world.live.api, migration, awaiting(migration))
    require_moved(migration, at_end, middle)
    assert records(migration.source, name) == records(migration.target, name)
    require_quiet(world, migration)

    back = migration.way_back()
    approve(world.live.api, back, awaiting(back, mode="restore"))
    assert {} == committed(migration.target, f"{name}-end", name)


def require_moved(migration: LiveMigration, at_end: dict[int, int], middle: dict[int, int]) -> None:
    """Each group has exactly its offsets of the source, because MirrorMaker kept partitions and offsets."""
    name = migration.name
    assert [at_end, middle] == [committed(migration.target, f"{name}-{group}", name) for group in ("end", "middle")]
    until = ends(migration.target, name)
    assert sum(until.values()) - sum(middle.values()) == len(read_on(migration.target, f"{name}-middle", name, until))
    assert Verdict.PASS is topic_verdict(migration.ledger, name)
    assert all(g.stop is not None and g.stop.graceful for g in migration.ledger.generations)


def require_quiet(world: ConnectWorld, migration: LiveMigration) -> None:
    """The reservation is free, and the copier is stopped and has no task."""
    rest = world.cluster.rest()
    status = rest.status(copier_name(migration.name)) or {}
    assert rest.config(reservation_name(migration.name)) is None
    assert ("STOPPED", []) == (status["connector"]["state"], status["tasks"])
    rest.close()
