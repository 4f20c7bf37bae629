"""Transactions that are open before a run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.kafka.records import RecordPrint
from kafka_migration.core.watching.fence import (
    OPEN_FOR,
    held_back,
    held_back_findings,
    held_offsets,
    open_transaction_findings,
)

P0, P1, P2 = (TopicPartition("orders", number) for number in range(3))
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def first(age: timedelta) -> RecordPrint:
    """Return the first uncommitted record, of this age."""
    return RecordPrint(5, "", int((NOW - age).timestamp() * 1000), "")


def test_offsets_from_the_stable_one_to_the_end_are_held_back() -> None:
    """A transaction is open where the last stable offset, which was read later, is lower than the end."""
    held = held_back({P0: 33, P1: 7, P2: 4}, {P0: 11, P1: 7, P2: 5})

    assert {P0: (11, 33)} == held
    assert 22 == held_offsets(held)


@pytest.mark.parametrize(
    ("record", "since"), [(first(timedelta(0)), True), (RecordPrint(5, "", -1, ""), False), (None, False)]
)
def test_each_open_transaction_is_a_warning_from_its_first_moment(record: RecordPrint | None, since: bool) -> None:
    """One warning per topic counts the offsets and names them, with the time of the first record if it is known."""
    (finding,) = held_back_findings({P0: (11, 33), P1: (4, 5)}, {P0: record})

    assert (Code.SOURCE_TRANSACTION_OPEN, "topic orders") == (finding.code, finding.subject)
    assert finding.found.startswith("23 offsets after an open transaction: orders[0] offsets 11–32")
    assert finding.found.endswith("; orders[1] offsets 4–4")
    assert since is (", first record of 2026-01-02T00:00:00+00:00;" in finding.found)
    assert "not copied yet" in finding.matters
    assert "describe-producers --topic orders --partition 0" in finding.remedy
    assert "abort --topic orders --partition 0 --start-offset 11" in finding.remedy


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
