"""MirrorMaker 2's own checkpoints are read as it writes them, and compared with the plan."""

from __future__ import annotations

import struct

import pytest

from kafka_migration.core.checkpoints import Checkpoint, CheckpointComparison, compared, render_comparison
from kafka_migration.core.group_offsets import GroupPlan, OffsetsPlan, PlannedOffset, Proof
from kafka_migration.core.offsets import TopicPartition
from kafka_migration.engines.mirrormaker2_topics import stored_checkpoints

pytestmark = pytest.mark.unit

P0, P1, P2, P3 = (TopicPartition("orders", number) for number in range(4))


def text(content: str) -> bytes:
    return struct.pack(">h", len(content.encode())) + content.encode()


def row(group: str, partition: TopicPartition, source: int, target: int, version: int = 0) -> tuple[bytes, bytes]:
    """Return a row as MirrorMaker writes it."""
    key = text(group) + text(partition.topic) + struct.pack(">i", partition.partition)
    return key, struct.pack(">hqq", version, source, target) + text("note")


def test_rows_are_read():
    """Group and topic are whatever they are called; what was reset, is of another version or none is left out."""
    rows = [
        row("ü b", P0, 7, 5),
        row("billing", P1, 1, 1, version=9),
        (row("billing", P0, 1, 1)[0], None),
        (None, b""),
        (b"\x00\x09x", b"y"),
    ]

    assert {("ü b", P0): Checkpoint(7, 5)} == stored_checkpoints(rows)


def plan() -> OffsetsPlan:
    offsets = tuple(PlannedOffset(p, 10, None, 20, 0, Proof.RECORD) for p in (P0, P1, P2, P3))
    return OffsetsPlan("now", True, {}, {}, {}, (GroupPlan("billing", offsets), GroupPlan("other", offsets)))


def test_differences_are_explained():
    """The same, further back, further ahead; one of another commit says nothing, nor does a group without any."""
    checkpoints = {
        ("billing", P0): Checkpoint(10, 20),
        ("billing", P1): Checkpoint(10, 13),
        ("billing", P2): Checkpoint(10, 21),
        ("billing", P3): Checkpoint(9, 19),
    }

    (found,) = compared(plan(), checkpoints)

    assert CheckpointComparison("billing", 1, 7, (P2,)) == found
    assert "| `billing` | 1 | 7 | `orders` 2 |" in render_comparison([found])
    assert "" == render_comparison(compared(plan(), {}))
