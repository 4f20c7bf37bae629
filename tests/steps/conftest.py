"""The small world without Airflow, for every test of this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_migration.core.cutover.approval import Ask
from tests.steps.fixtures import clock, copied, made_in, quicken, scene
from tests.steps.world import World

__all__ = ["clock", "copied", "scene"]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Add the marker `unit`, by which a commit hook selects these tests."""
    item.add_marker(pytest.mark.unit)


@pytest.fixture
def world(tmp_path: Path, migration_text: str, monkeypatch: pytest.MonkeyPatch) -> World:
    """Two clusters with the source's topics, a host, and the migration file `shop`."""
    made = made_in(World, tmp_path, migration_text)
    quicken(made, monkeypatch)
    return made


@pytest.fixture
def asked(world: World) -> list[Ask]:
    """The approvals for which the run has asked so far."""
    return world.asked
