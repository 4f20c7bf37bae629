"""The fixtures of the small world, which tests with and without Airflow share."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest

from kafka_migration.adapters.store import document_files, evidence_store
from kafka_migration.adapters.store.local_files import LocalPath, local_path
from kafka_migration.core.kafka.cluster import NewTopic
from tests.contract.fake_cluster import FakeCluster
from tests.contract.fake_mirror_host import FakeMirrorHost
from tests.steps.clock import FakeClock
from tests.steps.cutover import judge_cutover
from tests.steps.world import FOUR_RECORDS, P0, World

W = TypeVar("W", bound=World)


def made_in(kind: type[W], folder: Path, migration_text: str) -> W:
    """Return two clusters with the source's topics, a host, and the migration file `shop`."""
    migrations = folder / "migrations"
    migrations.mkdir()
    (migrations / "shop.yaml").write_text(migration_text)
    made = kind(
        root=folder / "evidence",
        migrations=migrations,
        source=FakeCluster("old"),
        target=FakeCluster("new"),
        host=FakeMirrorHost("shop"),
    )
    made.source.create_topics([NewTopic("orders", 2, 1, {"retention.ms": "1000"}), NewTopic("audit", 1, 1, {})])
    return made


def quicken(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the pauses for other processes: none writes evidence, or to the target, in the small world.

    Files are opened from the evidence root on, as in a deployment, although tests look at them by paths of their own.
    """
    root = f"{world.root}/"

    def below_root(path: Any) -> LocalPath:
        text = str(path)
        return LocalPath(root, tuple(text[len(root) :].split("/"))) if text.startswith(root) else local_path(path)

    monkeypatch.setattr(document_files, "local_path", below_root)
    monkeypatch.setattr(evidence_store, "_LOOK_AGAIN_AFTER_S", (0, 0))
    monkeypatch.setattr("kafka_migration.steps.mirror.start_stop.time", SimpleNamespace(sleep=lambda seconds: None))


@pytest.fixture
def copied(world: World) -> World:
    """A first run has copied all four records; a second one begins, with one more record."""
    world.source.produce("orders", 0, *FOUR_RECORDS)
    world.copy({P0: 4})
    world.next_run()
    world.source.produce("orders", 0, (b"k", b"4"))
    return world


@pytest.fixture
def clock(world: World) -> FakeClock:
    """A clock of all runs of the world, which a test moves."""
    made = FakeClock()
    world.deployed["clock"] = made
    return made


@pytest.fixture
def scene(world: World) -> World:
    """A cutover before its offsets plan."""
    judge_cutover(world)
    return world
