"""Rules of the drain test, the gap guard and lag."""

from __future__ import annotations

import pytest

from kafka_migration.core.documents.codec import read, written
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.kafka.cluster import Probe
from kafka_migration.core.kafka.offsets import Known, Offsets, TopicPartition, Unknown, total
from kafka_migration.core.watching.drain import (
    Drain,
    PartitionReading,
    TopicLag,
    drain_of,
    expected_next,
    gap_findings,
    gaps_of,
    lag_of,
    topics_behind,
)
from tests.unit.partitions import P0, P1


@pytest.mark.parametrize(
    ("reading", "expected"),
    [
        (PartitionReading(goal=10, source_log_start=0, expected_next=10), Drain.DRAINED),
        (PartitionReading(goal=10, source_log_start=0, expected_next=12), Drain.DRAINED),
        (PartitionReading(goal=10, source_log_start=0, expected_next=9), Drain.COPYING),
        (PartitionReading(goal=10, source_log_start=10, expected_next=10), Drain.DRAINED),
        (PartitionReading(goal=0, source_log_start=0, expected_next=0), Drain.DRAINED),
        # The trailing commit marker of a transaction: stored 19, end 21, and a reader meets the end at once.
        (PartitionReading(21, 0, 20, Probe(offset=21, is_end=True)), Drain.DRAINED),
        (PartitionReading(21, 0, 20, Probe(offset=20, is_end=False)), Drain.COPYING),
        # A hole left by compaction: the next record lies beyond the goal.
        (PartitionReading(25, 0, 17, Probe(offset=30, is_end=False)), Drain.DRAINED),
        # A probe that ends before the goal proves nothing: an open transaction hides what follows.
        (PartitionReading(25, 0, 17, Probe(offset=20, is_end=True)), Drain.COPYING),
        (PartitionReading(goal=10, source_log_start=7, expected_next=5), Drain.GAP),
        (PartitionReading(goal=10, source_log_start=10, expected_next=5), Drain.GAP),
        (PartitionReading(goal=10, source_log_start=None, expected_next=10), Drain.UNKNOWN),
        (PartitionReading(goal=10, source_log_start=0, expected_next=None), Drain.UNKNOWN),
    ],
)
def test_drain_of_a_reading(reading: PartitionReading, expected: Drain) -> None:
    """Gap is tested first, then the position, then an empty log, at last the probe; unread is unknown."""
    assert expected == drain_of(reading)


def test_lag_is_zero_only_where_drained_is_proved() -> None:
    """A residue of markers counts as lag until a probe proves it empty."""
    assert Known(1) == lag_of(PartitionReading(21, 0, 20))
    assert Known(0) == lag_of(PartitionReading(21, 0, 20, Probe(21, True)))


def test_unknown_lag_is_not_summable() -> None:
    """One partition that cannot be read makes the whole lag unknown."""
    unread = lag_of(PartitionReading(goal=10, source_log_start=0, expected_next=None))

    assert isinstance(total([Known(5), unread]), Unknown)
    assert Known(7) == total([Known(5), Known(2)])


def test_worst_topics_come_first() -> None:
    """A topic with an unknown lag precedes the largest one, a drained topic is none, and at most 20 are named."""
    many = {TopicPartition(f"t{n:02}", 0): PartitionReading(100, 0, n) for n in range(1, 41)}
    orders = {P0: PartitionReading(10, 0, 10), P1: PartitionReading(10, 0, None)}
    done = {TopicPartition("done", 0): PartitionReading(10, 0, 10)}
    found = topics_behind({**many, **orders, **done})

    assert [TopicLag(P0.topic, None), TopicLag("t01", 99), TopicLag("t02", 98)] == list(found[:3])
    assert 20 == len(found)


def test_lag_of_a_topic_is_that_of_all_its_partitions() -> None:
    """The lags of its partitions are added up."""
    assert (TopicLag(P0.topic, 7),) == topics_behind({P0: PartitionReading(10, 0, 8), P1: PartitionReading(10, 0, 5)})


def test_gap_names_the_lost_range() -> None:
    """A gap finding gives the first and the last offset that were lost."""
    (finding,) = gap_findings(gaps_of({P0: 5, P1: 9}, {P0: 8, P1: 9}))

    assert finding.code is Code.GAP
    assert finding.subject == "orders[0]"
    assert "The source deleted offsets 5–7 of orders[0] before they were copied." == finding.happened


def test_expected_next_is_the_highest_that_is_known() -> None:
    """The position at the start, the stored one and a proved end: the highest counts."""
    assert {P0: 7, P1: 9} == expected_next({P0: 5, P1: 9}, stored={P0: 7}, proved={P1: 8})


def test_offsets_document_round_trip() -> None:
    """Offsets come back from JSON as they went in."""
    offsets = {P1: 3, P0: 0, TopicPartition("a.b", 12): 7}

    assert offsets == read(Offsets, written(offsets))
    assert ["a.b", "orders"] == list(written(offsets))
