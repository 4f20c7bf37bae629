"""Reads the records that MirrorMaker may have sent twice, and finds their places on the target."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from kafka_migration.core.kafka.cluster import IsolationLevel, KafkaCluster
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.translation.by_partition import MAX_COMPARED
from kafka_migration.core.translation.copies import FromTheRight, Resent, ResentRange
from kafka_migration.steps.run.migration_run import MigrationRun

# Target offsets of a partition that are read in addition to as many as the source has to compare.
BLOCK_OFFSETS = 20_000


def read_resent(
    run: MigrationRun, ranges: Iterable[ResentRange], target_log_start: Offsets, untimed: Collection[str]
) -> dict[TopicPartition, Resent]:
    """Return the places of the records of these ranges, for some partitions at a time.

    The target is read backwards, only as far as records are left. Raises `TransientError` when a range cannot be read.
    """
    isolation, found = run.migration.mirror.isolation_level, dict[TopicPartition, Resent]()
    for some in _at_once(ranges):
        searches = _searches(run.source, some, isolation, untimed)
        _search(run.target, searches, target_log_start, isolation)
        found |= {partition: search.found() for partition, search in searches.items()}
    return found


def _at_once(ranges: Iterable[ResentRange]) -> Iterator[list[ResentRange]]:
    """Yield the ranges in groups whose records fit into memory together."""
    some, offsets = list[ResentRange](), 0
    for each in ranges:
        length = each.source_end - each.source_start
        if some and offsets + length > MAX_COMPARED:
            yield some
            some, offsets = [], 0
        some.append(each)
        offsets += length
    if some:
        yield some


def _searches(
    source: KafkaCluster, ranges: Iterable[ResentRange], isolation: IsolationLevel, untimed: Collection[str]
) -> dict[TopicPartition, FromTheRight]:
    wanted = {each.partition: each for each in ranges}
    start = {partition: each.source_start for partition, each in wanted.items()}
    end = {partition: each.source_end for partition, each in wanted.items()}
    records = source.prints_between(start, end, isolation)
    return {p: FromTheRight(wanted[p], each, timestamps=p.topic not in untimed) for p, each in records.items()}


def _search(
    target: KafkaCluster,
    searches: Mapping[TopicPartition, FromTheRight],
    log_start: Offsets,
    isolation: IsolationLevel,
) -> None:
    first = {p: max(search.range.target_start, log_start.get(p, 0)) for p, search in searches.items()}
    ends = {p: search.range.target_end for p, search in searches.items()}
    while left := [p for p, search in searches.items() if not search.is_done and first[p] < ends[p]]:
        size = {p: len(searches[p].records) + BLOCK_OFFSETS for p in left}
        start = {p: max(first[p], ends[p] - size[p]) for p in left}
        blocks = target.prints_between(start, {p: ends[p] for p in left}, isolation)
        for partition in left:
            searches[partition].take(blocks.get(partition, ()))
        # What lies before a record that cannot be read is not searched.
        ends |= {p: start[p] if p in blocks else first[p] for p in left}
