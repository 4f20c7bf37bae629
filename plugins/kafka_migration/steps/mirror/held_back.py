"""Reads which offsets of the source are after an open transaction, so that MirrorMaker does not copy them yet."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress

from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.offsets import Ranges, TopicPartition
from kafka_migration.core.kafka.records import RecordPrint
from kafka_migration.core.watching.fence import held_back, held_back_findings
from kafka_migration.steps.reading.exact_reads import every_value
from kafka_migration.steps.run.migration_run import MigrationRun


def read_held_back(run: MigrationRun, partitions: Collection[TopicPartition]) -> Ranges:
    """Return [last stable offset, end) of each partition with an open transaction; none if MirrorMaker copies them.

    Raises `TransientError` when an offset cannot be read.
    """
    if run.migration.mirror.isolation_level != "read_committed" or not partitions:
        return {}
    ends = run.source.log_end_offsets(partitions, "read_uncommitted")
    stable = run.source.log_end_offsets(partitions, "read_committed")
    return held_back(*(every_value(each, partitions, "source end") for each in (ends, stable)))


def held_back_warnings(run: MigrationRun, held: Ranges) -> tuple[Finding, ...]:
    """Return the findings about these offsets, with the time of a transaction's first record if known."""
    firsts: Mapping[TopicPartition, RecordPrint | None] = {}
    with suppress(TransientError, Refused):
        firsts = run.source.records_at({p: stable for p, (stable, _) in held.items()}, "read_uncommitted")
    return tuple(held_back_findings(held, firsts))
