"""Rules of bounds and of what is copied for an interval."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.offsets import Offsets
from kafka_migration.core.ledger.interval_bounds import (
    Bound,
    BoundsResolved,
    IntervalAnswer,
    IntervalBounds,
    PartitionAnswer,
    TopicAnswer,
    between_known,
    lacking_bounds,
)
from kafka_migration.core.run.run_window import Interval
from tests.folded import fold
from tests.unit.partitions import AUDIT, P0, P1

NIGHTS = [datetime(2030, 1, 1, tzinfo=UTC) + timedelta(days=n) for n in range(5)]


def resolved(bounds: dict[datetime, Offsets], log_start: int = 0) -> BoundsResolved:
    return BoundsResolved("dag/run#1", "t", bounds, {p: log_start for offsets in bounds.values() for p in offsets})


def test_bounds_are_asked_once() -> None:
    """What the ledger holds is not asked again; a partition that came later is."""
    known = resolved({NIGHTS[0]: {P0: 5}}).added_to({})

    assert {NIGHTS[0]: (P1,), NIGHTS[1]: (P0, P1)} == lacking_bounds(known, NIGHTS[:2], (P0, P1))
    assert {} == lacking_bounds(known, NIGHTS[:1], (P0,))


def test_known_bounds_stay_as_they_are() -> None:
    """A later entry adds partitions and times, and changes none."""
    entries = [resolved({NIGHTS[0]: {P0: 5}}), resolved({NIGHTS[0]: {P0: 9, P1: 2}, NIGHTS[1]: {P0: 7}}, log_start=1)]

    ledger = fold(entry.to_document() for entry in entries)

    assert {NIGHTS[0]: {P0: Bound(5, 0), P1: Bound(2, 1)}, NIGHTS[1]: {P0: Bound(7, 1)}} == ledger.bounds


def test_new_bound_lies_between_those_of_earlier_and_later_times() -> None:
    """Late records, or a log that was deleted since, never turn two intervals around."""
    known = resolved({NIGHTS[0]: {P0: 10}, NIGHTS[1]: {P1: 4}, NIGHTS[3]: {P0: 20, P1: 30}}).added_to({})

    assert {P0: 10, P1: 5} == between_known(known, NIGHTS[2], {P0: 8, P1: 5})
    assert {P0: 20, P1: 4} == between_known(known, NIGHTS[2], {P0: 25, P1: 0})
    assert {P0: 25} == between_known(known, NIGHTS[4], {P0: 25})


@pytest.mark.parametrize(
    ("bound", "is_first_held"),
    [(Bound(0, 0), False), (Bound(5, 0), False), (Bound(5, 4), False), (Bound(5, 5), True), (Bound(5, 6), True)],
)
def test_bound_at_the_log_start_may_hide_deleted_records(bound: Bound, is_first_held: bool) -> None:
    """Only where the log was whole, or a record before the bound was still held, is nothing deleted before it."""
    assert bound.is_first_held is is_first_held


def test_goal_is_what_the_interval_lacks() -> None:
    """A run copies up to the interval's end, never back, and nothing where the interval has no records."""
    bounds = IntervalBounds.of(
        resolved({NIGHTS[0]: {P0: 5, P1: 7}, NIGHTS[1]: {P0: 9, P1: 7}}).added_to({}),
        Interval(NIGHTS[0], NIGHTS[1]),
        ["orders"],
    )

    assert {P0: 9, P1: 3} == bounds.goals({P0: 2, P1: 3}, {P0: 20, P1: 20})
    assert {P0: 15, P1: 20} == bounds.goals({P0: 15, P1: 20}, {P0: 20, P1: 20})


def test_interval_has_the_partitions_whose_bounds_are_both_known() -> None:
    """A partition without one of the bounds, or of another topic, has no range."""
    bounds = resolved({NIGHTS[0]: {P0: 5, P1: 7, AUDIT: 1}, NIGHTS[1]: {P0: 9, AUDIT: 2}}).added_to({})
    interval = Interval(NIGHTS[0], NIGHTS[1])

    assert [P0] == list(IntervalBounds.of(bounds, interval, ["orders"]).start)
    assert [AUDIT, P0] == list(IntervalBounds.of(bounds, interval, ["orders", "audit"]).start)
    assert [] == list(IntervalBounds.of(bounds, Interval(NIGHTS[1], NIGHTS[2]), ["orders"]).start)


def answer(*partitions: PartitionAnswer) -> IntervalAnswer:
    return IntervalAnswer(
        "dag/run#1", "t", Interval(NIGHTS[0], NIGHTS[1]), {"orders": TopicAnswer(dict(enumerate(partitions)))}
    )


GOOD = PartitionAnswer(Verdict.PASS, (5, 9), (4, 8), 4)
UNKNOWN = PartitionAnswer(Verdict.NOT_VERIFIABLE, (5, 9), None, None)


@pytest.mark.parametrize(
    ("partitions", "verdict", "records"),
    [((), Verdict.PASS, 0), ((GOOD, GOOD), Verdict.PASS, 8), ((GOOD, UNKNOWN), Verdict.NOT_VERIFIABLE, None)],
)
def test_answer_is_the_worst_of_its_partitions(
    partitions: tuple[PartitionAnswer, ...], verdict: Verdict, records: int | None
) -> None:
    """One count that is not known makes the sum unknown; an interval without records is as it should be."""
    found = answer(*partitions)

    assert (verdict, records) == (found.verdict, found.topics["orders"].records)
    assert (found.topics["orders"].verdict is None) is (not partitions)


def test_newest_answer_of_an_interval_counts() -> None:
    """The ledger holds one answer per interval, as it was given."""
    ledger = fold([answer(UNKNOWN).to_document(), answer(GOOD, UNKNOWN).to_document()])

    assert {Interval(NIGHTS[0], NIGHTS[1]): answer(GOOD, UNKNOWN)} == ledger.answers
