"""A partition copied by MirrorMaker, as plain lists, and groups that committed on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kafka_migration.core.groups.clusters_seen import CommittedGroup
from kafka_migration.core.groups.group_rules import Translated, plan_groups
from kafka_migration.core.groups.offsets_plan import GroupPlan, OffsetsMove, Proof
from kafka_migration.core.kafka.cluster import GroupDescription, GroupMember, GroupState
from kafka_migration.core.kafka.offsets import CommittedOffset, TopicPartition
from kafka_migration.core.kafka.records import RecordPrint
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.translation.by_partition import (
    OffsetRange,
    Position,
    counts_needed,
    source_probes,
    target_probes,
    translate,
)
from kafka_migration.core.translation.copies import PartitionCopy
from tests.unit.partitions import P0

HOLE = None
Log = list[str | None]


@dataclass
class CopiedPartition:
    """A partition on both sides: its logs as lists (`None` is a hole), cut into generations at source offsets.

    Each generation appends the visible records of its range to the target, as MirrorMaker does.
    """

    source: Log
    cuts: tuple[int, ...]
    target: Log = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)
    log_start: int = 0

    def __post_init__(self) -> None:
        for number, (start, end) in enumerate(zip(self.cuts, self.cuts[1:], strict=False), start=1):
            target_start = len(self.target)
            self.target += [record for record in self.source[start:end] if record is not HOLE]
            self.windows.append(Window(number, "orders", "orders", 0, start, end, target_start, len(self.target)))

    @property
    def copy(self) -> PartitionCopy:
        """The copy as the ledger and the source show it; the validation found each record on the target once."""
        dense = (w for w in self.windows if w.source_end - w.source_start == w.target_end - w.target_start)
        numbers = frozenset(window.generation for window in dense)
        return PartitionCopy(tuple(self.windows), self.log_start, len(self.source), dense=numbers)

    def purge(self, log_start: int) -> None:
        """Let the source delete everything before an offset."""
        self.source[:log_start] = [HOLE] * log_start
        self.log_start = log_start

    def count(self, wanted: OffsetRange) -> int:
        """Count the visible records of a range; reading what is deleted is an error."""
        assert wanted.start >= self.log_start
        return sum(record is not HOLE for record in self.source[wanted.start : wanted.end])

    def translated(self, *offsets: int) -> Translated:
        """Do with the lists what the plan does with clusters."""
        copies, positions = {P0: self.copy}, [Position(P0, offset) for offset in offsets]
        counts = {wanted: self.count(wanted) for wanted in counts_needed(copies, positions)}
        translations = translate(copies, positions, counts)
        source = {p: first_record(self.source, p.offset) for p in source_probes(copies, translations)}
        probes = target_probes(copies, translations, source)
        target = {p: first_record(self.target, p.offset) for p in probes.values()}
        return Translated(copies, translations, source, probes, target)

    def plan(self, offset: int, *, final: bool = True, **group: Any) -> GroupPlan:
        """Plan one group that committed one offset."""
        made = committed({P0: offset}, **group)
        (plan,) = plan_groups([made], self.translated(offset), is_final=final)
        return plan

    def target_offset(self, offset: int) -> int:
        """Return the proved translation of one offset."""
        plan = self.plan(offset)
        assert () == plan.refusals
        return proposed(plan.moves[0])


def moved(
    source_offset: int,
    target_offset: int,
    proof: Proof,
    *,
    again: int = 0,
    before: int | None = None,
    metadata: str = "note",
    partition: TopicPartition = P0,
) -> OffsetsMove:
    """Return the move of one partition."""
    return OffsetsMove(
        partition.topic,
        {partition: CommittedOffset(source_offset, metadata)},
        {} if before is None else {partition: before},
        {partition: CommittedOffset(target_offset, metadata)},
        proof,
        again,
    )


def proposed(move: OffsetsMove) -> int:
    """Return the offset that is proposed for the only partition of a move."""
    ((_, commit),) = move.proposed.items()
    return commit.offset


def first_record(log: Log, offset: int) -> RecordPrint | None:
    return next(
        (RecordPrint(n, record, -1, record) for n, record in enumerate(log) if n >= offset and record is not HOLE), None
    )


def committed(
    commits: Mapping[TopicPartition, int],
    *,
    name: str = "billing",
    target: Mapping[TopicPartition, int] | None = None,
    source_members: Iterable[GroupMember] = (),
    target_members: Iterable[GroupMember] = (),
    commits_elsewhere: bool = False,
) -> CommittedGroup:
    source_members, target_members = tuple(source_members), tuple(target_members)
    return CommittedGroup(
        GroupDescription(name, GroupState.STABLE if source_members else GroupState.EMPTY, source_members),
        GroupDescription(name, GroupState.STABLE if target_members else GroupState.DEAD, target_members),
        {p: CommittedOffset(offset, "note") for p, offset in commits.items()},
        {p: CommittedOffset(offset) for p, offset in (target or {}).items()},
        commits_elsewhere,
    )


def records(count: int) -> Log:
    return [f"record {number}" for number in range(count)]


DENSE = CopiedPartition(["gone", "gone", *records(8)], cuts=(2, 10))
HOLEY = CopiedPartition(["a", HOLE, "b", HOLE, "c", "d", HOLE, "e", HOLE, HOLE], cuts=(0, 10))
MEMBER = GroupMember("app-1-77", "app-1", "/10.0.0.7")
