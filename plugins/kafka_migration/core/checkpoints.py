"""MirrorMaker 2's own checkpoints beside the plan: where it would put each group, and what explains the difference.

Since 3.5 it translates an offset to the nearest pair of offsets that it knows before it, so it may stand further back.
Further ahead it must never stand: then one of the two is wrong, and a person looks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from kafka_migration.core.group_offsets import OffsetsPlan, PlannedOffset
from kafka_migration.core.markdown import shown, table
from kafka_migration.core.offsets import TopicPartition


class Checkpoint(NamedTuple):
    """What MirrorMaker made of a group's committed offset on the source."""

    source_offset: int
    target_offset: int


Checkpoints = Mapping[tuple[str, TopicPartition], Checkpoint]
"""The newest checkpoint by group and partition, under the topic's name on the source."""


@dataclass(frozen=True, slots=True)
class CheckpointComparison:
    """The partitions of one group with a checkpoint for just the planned offset.

    :param equal: how many stand where the plan puts them
    :param behind: how many offsets all others stand further back: so much more would be read again
    :param ahead: the partitions that stand further ahead, where records could be skipped
    """

    group: str
    equal: int
    behind: int
    ahead: tuple[TopicPartition, ...]

    def to_document(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        ahead = [[p.topic, p.partition] for p in self.ahead]
        return {"group": self.group, "equal": self.equal, "behind": self.behind, "ahead": ahead}


def compared(plan: OffsetsPlan, checkpoints: Checkpoints) -> tuple[CheckpointComparison, ...]:
    """Compare the partition-wise offsets of every planned group; one without a checkpoint to compare is left out."""
    found = ((group.group, tuple(_pairs(group.group, group.offsets, checkpoints))) for group in plan.planned)
    return tuple(_comparison(name, pairs) for name, pairs in found if pairs)


def _comparison(group: str, pairs: tuple[tuple[PlannedOffset, Checkpoint], ...]) -> CheckpointComparison:
    further = [(planned.partition, checkpoint.target_offset - planned.target_offset) for planned, checkpoint in pairs]
    return CheckpointComparison(
        group,
        equal=sum(difference == 0 for _, difference in further),
        behind=-sum(min(difference, 0) for _, difference in further),
        ahead=tuple(partition for partition, difference in further if difference > 0),
    )


def _pairs(
    group: str, offsets: Iterable[PlannedOffset], checkpoints: Checkpoints
) -> Iterable[tuple[PlannedOffset, Checkpoint]]:
    for planned in offsets:
        checkpoint = checkpoints.get((group, planned.partition))
        # One of an earlier commit says nothing of this one.
        if checkpoint is not None and checkpoint.source_offset == planned.source_offset:
            yield planned, checkpoint


def render_comparison(comparisons: Iterable[CheckpointComparison]) -> str:
    """Return a section for the plan's text; empty without anything to compare."""
    rows = [
        (shown(each.group), f"{each.equal:,}", f"{each.behind:,}", ", ".join(map(_named, each.ahead)) or "none")
        for each in comparisons
    ]
    header = ("Group", "Same offsets", "Records that it would deliver again besides", "Further ahead")
    words = (
        "MirrorMaker's own checkpoints of the same committed offsets, for comparison; nothing of them is written. They "
        "are coarse, so they may stand further back. One that stands further ahead would skip records: look into it "
        "before you approve."
    )
    return f"### Beside MirrorMaker's checkpoints\n\n{words}\n\n{table(header, rows)}\n" if rows else ""


def _named(partition: TopicPartition) -> str:
    return f"{shown(partition.topic)} {partition.partition}"
