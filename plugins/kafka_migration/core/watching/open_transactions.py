"""Transactions that are open on the source, and the offsets after them that a run does not copy yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.offsets import Offsets, Ranges, TopicPartition
from kafka_migration.core.kafka.records import RecordPrint
from kafka_migration.core.text.shell import shell_word
from kafka_migration.core.watching.fence import NAMED_PARTITIONS, abort_command

# Brokers allow no longer timeout by default (`transaction.max.timeout.ms`), so an older transaction hangs.
OPEN_FOR = timedelta(minutes=15)


def held_back(ends: Offsets, stable: Offsets) -> dict[TopicPartition, tuple[int, int]]:
    """Return [last stable offset, end) of each partition on which a transaction is open.

    The ends were read first: a record that arrived in between is then in both, and is no transaction.
    """
    return {p: (stable[p], end) for p, end in sorted(ends.items()) if p in stable and stable[p] < end}


def held_back_findings(held: Ranges, firsts: Mapping[TopicPartition, RecordPrint | None]) -> Iterator[Finding]:
    """Yield a warning per topic with offsets after an open transaction; `firsts` are its first records."""
    for topic in sorted({partition.topic for partition in held}):
        mine = {p: offsets for p, offsets in held.items() if p.topic == topic}
        named = [f"{p} offsets {a:,}–{b - 1:,}{_since(firsts.get(p))}" for p, (a, b) in sorted(mine.items())]
        more = f" and {len(named) - NAMED_PARTITIONS:,} more" if len(named) > NAMED_PARTITIONS else ""
        held_here = (
            f"{held_offsets(mine):,} offsets after an open transaction: {'; '.join(named[:NAMED_PARTITIONS])}{more}"
        )
        yield Finding(
            Code.SOURCE_TRANSACTION_OPEN,
            f"topic {topic}",
            held_here,
            "no open transaction",
            f"Find its producer with {_producer_command(min(mine))}, and let it end the transaction. "
            f"{_only_then_abort(min(mine), mine[min(mine)][0])}",
            happened=f"The source's topic {topic} has {held_here}.",
            matters="Only committed records are read, so these offsets are not copied yet and no verdict covers them. "
            "The run after the end of the transaction copies them.",
        )


def held_offsets(held: Ranges) -> int:
    """Return the number of offsets after open transactions."""
    return sum(end - stable for stable, end in held.values())


def open_transaction_findings(
    opened: Offsets, firsts: Mapping[TopicPartition, RecordPrint | None], now: datetime
) -> Iterator[Finding]:
    """Yield a warning per partition whose first uncommitted record is older than any transaction may be."""
    for partition, offset in sorted(opened.items()):
        began = _began(firsts.get(partition))
        if began is not None and began < now - OPEN_FOR:
            yield _hanging(partition, offset, began)


def _began(first: RecordPrint | None) -> datetime | None:
    """Return the timestamp of a transaction's first record; `None` if it has none, or one that no date can have."""
    try:
        return datetime.fromtimestamp(first.timestamp_ms / 1000, UTC) if first and first.timestamp_ms >= 0 else None
    except (OverflowError, ValueError, OSError):
        return None


def _since(first: RecordPrint | None) -> str:
    began = _began(first)
    return f", first record of {began.isoformat(timespec='seconds')}" if began else ""


def _hanging(partition: TopicPartition, offset: int, began: datetime) -> Finding:
    return Finding(
        Code.SOURCE_TRANSACTION_OPEN,
        f"topic {partition.topic}",
        f"an open transaction on {partition} whose first record, at offset {offset:,}, has the timestamp "
        f"{began.isoformat(timespec='seconds')}",
        f"transactions that end within {int(OPEN_FOR.total_seconds()) // 60} minutes",
        f"Let its producer end the transaction. {_only_then_abort(partition, offset)}",
        happened=f"On {partition} a transaction is open whose first record (offset {offset:,}, timestamp "
        f"{began.isoformat(timespec='seconds')}) is older than {int(OPEN_FOR.total_seconds()) // 60} minutes.",
        matters="Records after this offset are not read as committed: a run does not copy or validate them, and a "
        "cutover is refused.",
    )


def _producer_command(partition: TopicPartition) -> str:
    return (
        "`kafka-transactions.sh --bootstrap-server <source bootstrap servers> describe-producers "
        f"--topic {shell_word(partition.topic)} --partition {partition.partition}`"
    )


def _only_then_abort(partition: TopicPartition, offset: int) -> str:
    return f"Only if its producer no longer runs, abort it: {abort_command(partition, offset)}."
