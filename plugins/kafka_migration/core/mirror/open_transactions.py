"""Transactions on the source that have been open for too long before a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import RecordPrint
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.mirror.fence import abort_command

# Brokers allow no longer timeout by default (`transaction.max.timeout.ms`), so an older transaction hangs.
OPEN_FOR = timedelta(minutes=15)


def open_partitions(stable: Offsets, ends: Offsets) -> Offsets:
    """Return the last stable offset of each partition on which a transaction is open, or was a moment ago."""
    return {partition: offset for partition, offset in stable.items() if offset < ends.get(partition, offset)}


def open_transaction_findings(
    opened: Offsets, firsts: Mapping[TopicPartition, RecordPrint | None], now: datetime
) -> Iterator[Finding]:
    """Yield a warning per partition whose first uncommitted record is older than any transaction may be."""
    for partition, offset in sorted(opened.items()):
        first = firsts.get(partition)
        # A producer may set any timestamp, also one beyond the last year that a date can have.
        if first is not None and 0 <= first.timestamp_ms < (now - OPEN_FOR).timestamp() * 1000:
            yield _hanging(partition, offset, datetime.fromtimestamp(first.timestamp_ms / 1000, UTC))


def _hanging(partition: TopicPartition, offset: int, began: datetime) -> Finding:
    return Finding(
        Code.SOURCE_TRANSACTION_OPEN,
        f"topic {partition.topic}",
        f"an open transaction on {partition} whose first record, at offset {offset:,}, has the timestamp "
        f"{began.isoformat(timespec='seconds')}",
        f"transactions that end within {int(OPEN_FOR.total_seconds()) // 60} minutes",
        "Records after this offset are not read as committed: a run does not copy or validate them, and a cutover is "
        f"refused. Only if its producer no longer runs, abort it: {abort_command(partition, offset)}.",
    )
