"""The advice about MirrorMaker's heap and tasks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.migration.engine_table import EngineName
from kafka_migration.core.migration.settings import Migration
from kafka_migration.preflight.clusters.heap_check import heap_findings
from kafka_migration.preflight.host.round_trip_check import task_findings

FAR_US, LIMIT = 300_000, 1_048_588


def test_heap_that_is_enough_is_not_mentioned(migration: Migration) -> None:
    """The default heap holds the buffers of a usual migration."""
    assert [] == list(heap_findings(migration.mirror, 12, LIMIT))


def test_small_heap_is_advice_with_the_heap_to_set(migration: Migration) -> None:
    """A heap that is too small for the partitions and tasks is named with one that is enough."""
    (finding,) = heap_findings(replace(migration.mirror, heap_mb=256), 8_000, LIMIT)

    assert Code.MIRROR_HEAP_SMALL is finding.code
    assert "Set mirror.heap_mb to 1024," in finding.remedy
    assert [] == list(heap_findings(replace(migration.mirror, heap_mb=1024), 8_000, LIMIT))


@pytest.mark.parametrize(
    ("engine", "side", "tasks"),
    [
        ("mirrormaker2", "source", 12),
        ("mirrormaker2", "target", 12),
        ("mirrormaker1", "source", 12),
        ("mirrormaker1", "target", None),
    ],
)
def test_long_round_trip_needs_more_tasks(
    migration: Migration, engine: EngineName, side: Side, tasks: int | None
) -> None:
    """Few tasks at a long round trip are named with the number to set; MirrorMaker 1 has one producer anyway."""
    mirror = replace(migration.mirror, engine=engine)
    found = list(task_findings(mirror, side, FAR_US, 12, 1, LIMIT))

    assert ([Code.MIRROR_TASKS_FEW] if tasks else []) == [finding.code for finding in found]
    assert all(finding.remedy.endswith(f"set mirror.tasks to {tasks}.") for finding in found)


def test_more_tasks_may_need_more_heap(migration: Migration) -> None:
    """The advice about tasks names the heap that they need."""
    (finding,) = task_findings(replace(migration.mirror, heap_mb=128), "source", FAR_US, 12, 1, LIMIT)

    assert finding.remedy.endswith("set mirror.tasks to 12 and mirror.heap_mb to 256.")


def test_short_round_trip_needs_no_more_tasks(migration: Migration) -> None:
    """Clusters that are near need no more tasks."""
    assert [] == list(task_findings(migration.mirror, "source", 1_000, 12, 1, LIMIT))
