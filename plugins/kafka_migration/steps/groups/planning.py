"""Reads both clusters for the offsets plan; the rules are in core."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.groups.moved_topics import changed_since_cutover
from kafka_migration.core.groups.plan import CommittedGroup, OffsetsPlan, committed_positions
from kafka_migration.core.groups.rules import Accepted, Translated, plan_groups
from kafka_migration.core.groups.rules_by_topic import Vectors
from kafka_migration.core.kafka.cluster import IsolationLevel, KafkaCluster, RecordPrint, TopicDescription
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.translation.by_partition import (
    OffsetRange,
    PartitionCopy,
    Position,
    Prints,
    copies_of,
    counts_needed,
    source_probes,
    target_probes,
    translate,
)
from kafka_migration.steps.groups.reading import answered, as_translated, log_starts, read_groups
from kafka_migration.steps.mirror.state import every_value
from kafka_migration.steps.run import MigrationRun, partitions_of

T = TypeVar("T")


def make_offsets_plan(run: MigrationRun, *, final: bool) -> OffsetsPlan:
    """Return the offsets plan for the present state of both clusters, with every planned offset proved; read-only.

    A `final` plan is meant to be written: it leaves out groups about which a rehearsal only warns. Raises
    `TransientError` when a value cannot be read: nothing is planned on unknown values.
    """
    at, ledger = run.now(), run.ledger.known()
    partitions = partitions_of(run.describe("source", run.topics_of_groups))
    # Read commits before ends, so that a group that keeps reading does not appear to be beyond the end.
    groups = read_groups(run, ledger, partitions)
    source_ends = every_value(run.source.log_end_offsets(partitions, "read_uncommitted"), partitions, "source end")
    target = run.describe("target", run.topics_of_groups)
    source_start = log_starts(run.source, partitions, "source")
    target_start = log_starts(run.target, partitions_of(target), "target")
    seen = answered(run, ledger)
    groups = groups if final else as_translated(groups, seen)
    mine = _Ends.of(run, source_ends, target)
    copies = copies_of(ledger, source_start, source_ends, mine.target, target_start)
    vectors = replace(seen.vectors, target_log_start=target_start)
    cutover = run.migration.cutover
    return OffsetsPlan(
        at=at,
        is_final=final,
        source_end_offsets=mine.source,
        mirror_positions={partition: copies[partition].mirror_position for partition in mine.source},
        target_end_offsets=mine.target,
        groups=plan_groups(
            groups,
            _translated(run, copies, groups, vectors),
            is_final=final,
            accepted=Accepted(cutover.may_be_active, cutover.may_rewind),
            blocked=changed_since_cutover(ledger, run.moved_topics, source_ends, target),
        ),
        unconcerned=sum(not group.is_concerned for group in groups),
    )


@dataclass(frozen=True, slots=True)
class _Ends:
    """The log end offsets of the topics that this run moves. Topics that are already cut over are left out."""

    source: Offsets
    target: Offsets

    @classmethod
    def of(cls, run: MigrationRun, source_ends: Offsets, target: Mapping[str, TopicDescription]) -> _Ends:
        """Return the ends; a partition that is missing on the target has no target end."""
        topics = run.migration.topics
        there = partitions_of({topic: target[topic] for topic in topics if topic in target})
        target_ends = every_value(run.target.log_end_offsets(there, "read_uncommitted"), there, "target end")
        return cls({p: end for p, end in source_ends.items() if p.topic in topics}, target_ends)


def _translated(
    run: MigrationRun,
    copies: Mapping[TopicPartition, PartitionCopy],
    groups: Iterable[CommittedGroup],
    vectors: Vectors,
) -> Translated:
    """Count, translate, and read the next record on both sides of every translated position."""
    positions = {p for p in committed_positions(groups) if p.partition.topic not in vectors.topics}
    isolation = run.migration.mirror.isolation_level
    counts = visible_counts(run.source, counts_needed(copies, positions), isolation)
    translations = translate(copies, positions, counts)
    source_prints = record_prints(run.source, source_probes(copies, translations), isolation, "source")
    probes = target_probes(copies, translations, source_prints)
    target_prints = record_prints(run.target, frozenset(probes.values()), isolation, "target")
    return Translated(copies, translations, source_prints, probes, target_prints, vectors)


def visible_counts(
    source: KafkaCluster, ranges: Iterable[OffsetRange], isolation: IsolationLevel
) -> dict[OffsetRange, int]:
    """Return the number of visible records of every range; `TransientError` when one cannot be counted."""
    counts: dict[OffsetRange, int] = {}
    for round_ in _rounds(ranges, lambda range_: range_.partition):
        start = {partition: range_.start for partition, range_ in round_.items()}
        end = {partition: range_.end for partition, range_ in round_.items()}
        found = every_value(source.count_visible(start, end, isolation), start, "number of records")
        counts |= {range_: found[partition] for partition, range_ in round_.items()}
    return counts


def record_prints(cluster: KafkaCluster, positions: Iterable[Position], isolation: IsolationLevel, side: str) -> Prints:
    """Return the first visible record at or after every position; `TransientError` when one cannot be read."""
    prints: dict[Position, RecordPrint | None] = {}
    for round_ in _rounds(sorted(positions), lambda position: position.partition):
        found = cluster.records_at({partition: position.offset for partition, position in round_.items()}, isolation)
        missing = sorted(set(round_) - set(found))
        if missing:
            raise TransientError(
                f"the record at {side} offset {round_[missing[0]].offset:,} of {missing[0]} cannot be read now "
                f"({len(missing)} partition(s))"
            )
        prints |= {position: found[partition] for partition, position in round_.items()}
    return prints


def _rounds(items: Iterable[T], partition_of: Callable[[T], TopicPartition]) -> Iterator[Mapping[TopicPartition, T]]:
    """Yield the items in as few rounds as possible, each with at most one item per partition.

    A reader reads a partition from one offset at a time, but groups have different committed offsets.
    """
    waiting: dict[TopicPartition, list[T]] = {}
    for item in items:
        waiting.setdefault(partition_of(item), []).append(item)
    for number in range(max(map(len, waiting.values()), default=0)):
        yield {partition: mine[number] for partition, mine in waiting.items() if number < len(mine)}
