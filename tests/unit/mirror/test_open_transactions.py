"""Transactions that are open before a run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.kafka.cluster import RecordPrint
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.mirror.open_transactions import OPEN_FOR, open_partitions, open_transaction_findings

P0, P1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def first(age: timedelta) -> RecordPrint:
    """Return the first uncommitted record, of this age."""
    return RecordPrint(5, "", int((NOW - age).timestamp() * 1000), "")


def test_open_partition_has_a_lower_stable_offset() -> None:
    """A transaction is open where the last stable offset is lower than the end."""
    assert {P0: 5} == open_partitions({P0: 5, P1: 7}, {P0: 6, P1: 7})


def test_old_transaction_is_warned_of() -> None:
    """A transaction that is older than any may be is warned of, with the command that aborts it."""
    (finding,) = open_transaction_findings({P0: 5}, {P0: first(OPEN_FOR + timedelta(seconds=1))}, NOW)

    assert (Code.SOURCE_TRANSACTION_OPEN, "topic orders") == (finding.code, finding.subject)
    assert "abort --topic orders --partition 0 --start-offset 5" in finding.remedy


@pytest.mark.parametrize(
    "found", [None, first(OPEN_FOR), RecordPrint(5, "", -1, ""), RecordPrint(5, "", 1_700_000_000_000_000, "")]
)
def test_young_transaction_is_none_of_ours(found: RecordPrint | None) -> None:
    """A transaction that may still end by itself, or whose age is unknown, is no warning; the fence decides later."""
    assert [] == list(open_transaction_findings({P0: 5}, {P0: found}, NOW))
