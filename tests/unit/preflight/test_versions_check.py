"""Rules of brokers that are too old for MirrorMaker."""

from __future__ import annotations

import pytest

from kafka_migration.core.migration.settings import Migration
from kafka_migration.preflight.host import mirror_checks
from kafka_migration.preflight.host.mirror_checks import PROTOCOL, old_broker_findings
from kafka_migration.preflight.scene.check import run_checks
from tests.checked_scene import Run, alone, scene_of


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [("2.0-IV1", 1), ("0.11.0-IV2", 1), ("2.1-IV2", 0), ("3.9-IV0", 0), ("", 0)],
)
def test_kafka_4_needs_brokers_of_2_1(protocol: str, expected: int) -> None:
    """MirrorMaker of Kafka 4 refuses older brokers; brokers of Kafka 4 do not have the setting at all."""
    brokers = {1: {PROTOCOL: "3.9-IV0"}, 2: {PROTOCOL: protocol}, 3: {}}

    assert expected == len(list(old_broker_findings("source", brokers, "4.0.0")))


@pytest.mark.parametrize(
    ("mirror", "state"), [("4.0.0", "passed"), ("4.2.1", "passed"), ("3.9.1", "not applicable"), ("", "not applicable")]
)
def test_only_mirrormaker_of_kafka_4_asks_for_the_brokers(migration: Migration, mirror: str, state: str) -> None:
    """An older MirrorMaker works with every broker; an unknown version has its own finding."""
    run = Run(migration)
    run.host.facts["kafka"] = mirror
    (result,) = run_checks([alone(mirror_checks.versions)], scene_of(run))

    assert state == result.state
