"""What the questions to the host itself carry."""

from __future__ import annotations

import pytest

from kafka_migration.core.kafka.cluster import ClusterFacts
from kafka_migration.core.migration.settings import Migration
from kafka_migration.preflight.host.asking_host import MOST_NAMES, machine
from tests.checked_scene import Run, scene_of


def test_names_are_bounded(migration: Migration, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host is asked once, and for no more names than mirrorctl accepts."""
    many = tuple(f"b{number}:9092" for number in range(MOST_NAMES + 1))
    run = Run(migration)
    monkeypatch.setattr(run.source, "facts", lambda: ClusterFacts("id", len(many), many))
    scene = scene_of(run)

    assert machine(scene) is machine(scene)
    assert [MOST_NAMES] == [len(probe.names) for probe in run.host.probes]
