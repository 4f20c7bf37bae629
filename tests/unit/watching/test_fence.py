"""Rules of the fence: when the producers count as stopped."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.watching.fence import FenceProof, FenceStatus, FenceWatch, SourceEnds
from tests.unit.partitions import AUDIT, P0, P1

QUIET_S, WAIT_S = 60, 600


def a_fence() -> FenceWatch:
    return FenceWatch(QUIET_S, WAIT_S, announced_s=0)


def look(
    at_s: float, high: Offsets, stable: Offsets | None = None, partitions: set[TopicPartition] | None = None
) -> SourceEnds:
    return SourceEnds(at_s, frozenset(partitions or high), high, high if stable is None else stable)


def takes(fence: FenceWatch, *looks: SourceEnds) -> list[FenceStatus]:
    return [fence.take(ends) for ends in looks]


def test_fenced_when_every_end_stood_still_long_enough() -> None:
    """The ends are fenced once all of them stood still for the quiet time, not before."""
    ends = {P0: 10, P1: 0}

    early, almost, fenced = takes(a_fence(), *(look(at_s, ends) for at_s in (5, 64, 65)))

    assert (None, None, ends) == (early.ends, almost.ends, fenced.ends)
    assert "ends unchanged for 59 of 60 s" == str(almost)


def test_one_moving_partition_keeps_all_from_being_fenced() -> None:
    """A record in any partition restarts the quiet time, and the status shows its offsets."""
    statuses = takes(a_fence(), look(0, {P0: 10, P1: 5}), look(50, {P0: 10, P1: 125}), look(60, {P0: 10, P1: 125}))

    assert all(status.ends is None for status in statuses)
    assert {P1: (5, 125)} == {p: (m.before, m.after) for p, m in statuses[2].moving.items()}
    assert "orders[1] still moves (+120)" == str(statuses[2])


def test_stand_still_is_counted_from_the_last_movement() -> None:
    """After the last record the whole quiet time must pass, and then nothing counts as moving."""
    fence = a_fence()
    takes(fence, look(0, {P0: 10}), look(50, {P0: 11}))

    assert fence.take(look(109, {P0: 11})).ends is None
    assert fence.take(look(110, {P0: 11})).ends == {P0: 11}


@pytest.mark.parametrize(
    "looks",
    [
        pytest.param(
            (look(0, {P0: 10}), look(30, {P0: 8}), look(60, {P0: 8})), id="an end fell in an unclean election"
        ),
        pytest.param([look(at_s, {}, {P0: 1}, {P0}) for at_s in (0, 100)], id="no high watermark"),
        pytest.param([look(at_s, {P0: 1}, {}, {P0}) for at_s in (0, 100)], id="no last stable offset"),
        pytest.param([look(at_s, {}) for at_s in (0, 100)], id="no partition"),
    ],
)
def test_other_ends_prove_nothing(looks: Sequence[SourceEnds]) -> None:
    """Only partitions whose two ends are known and stand still for the whole time are fenced."""
    assert {None} == {status.ends for status in takes(a_fence(), *looks)}


def test_open_transaction_keeps_the_fence_open() -> None:
    """Ends that stand still are not fenced while a last stable offset lies before one."""
    fence = a_fence()
    statuses = takes(fence, look(0, {P0: 10}, {P0: 7}), look(60, {P0: 10}, {P0: 7}), look(70, {P0: 11}, {P0: 11}))

    assert [None, None, None] == [status.ends for status in statuses]
    assert {P0: (7, 10)} == statuses[1].open_transactions
    assert "open transaction on orders[0]" == str(statuses[1])
    assert fence.take(look(130, {P0: 11})).ends == {P0: 11}


def test_unreadable_partition_is_not_still() -> None:
    """A partition that could not be read, even once, must stand still for the whole time again."""
    fence, both = a_fence(), {P0, P1}
    takes(fence, look(0, {P0: 10, P1: 5}))
    lost = fence.take(look(30, {P0: 10}, partitions=both))

    assert (None, (P1,), "orders[1] cannot be read") == (lost.ends, lost.unreadable, str(lost))
    assert fence.take(look(60, {P0: 10, P1: 5})).ends is None
    assert fence.take(look(120, {P0: 10, P1: 5})).ends == {P0: 10, P1: 5}


def test_record_between_the_two_looks_is_a_movement_and_no_transaction() -> None:
    """A last stable offset above the high watermark means that records came in between the two calls."""
    fence = a_fence()
    takes(fence, look(0, {P0: 10}))
    status = fence.take(look(60, {P0: 10}, {P0: 12}))

    assert (None, {}) == (status.ends, status.open_transactions)
    assert (10, 12) == (status.moving[P0].before, status.moving[P0].after)


def test_refused_after_the_wait_with_one_finding_per_topic() -> None:
    """After the wait, each topic that still moves is named with its rate; a topic that stands still is not."""
    fence = a_fence()
    for at_s in range(0, WAIT_S, 30):
        assert fence.take(look(at_s, {P0: at_s, P1: 2 * at_s, AUDIT: 7})).findings == ()
    (finding,) = fence.take(look(WAIT_S, {P0: WAIT_S, P1: 2 * WAIT_S, AUDIT: 7})).findings

    assert (Code.FENCE_MOVING, "topic orders") == (finding.code, finding.subject)
    assert "orders[0] 540 → 600 (+60, 1.0/s); orders[1] 1,080 → 1,200 (+120, 2.0/s)" == finding.found
    assert "60 s (cutover.fence_quiet) within 600 s" in finding.expected


def test_refused_after_the_wait_for_an_open_transaction() -> None:
    """A transaction that stays open is a finding of its own, also next to a topic that moves."""
    fence = a_fence()
    takes(fence, *(look(at, {P0: at, AUDIT: 9}, {P0: at, AUDIT: 4}) for at in range(0, WAIT_S, 30)))
    findings = fence.take(look(WAIT_S, {P0: WAIT_S, AUDIT: 9}, {P0: WAIT_S, AUDIT: 4})).findings

    assert [(Code.FENCE_MOVING, "topic orders"), (Code.FENCE_OPEN_TRANSACTION, "topic audit")] == [
        (finding.code, finding.subject) for finding in findings
    ]
    assert "audit[0] last stable offset 4, end 9" == findings[1].found


def test_open_transaction_comes_with_the_command_that_aborts_it() -> None:
    """The first open transaction starts at the last stable offset; the command has its topic, partition and offset."""
    ends = look(WAIT_S, {P0: 9, P1: 12_000}, {P0: 9, P1: 11_000})
    (alone,) = a_fence().take(ends).findings
    (several,) = a_fence().take(look(WAIT_S, {P0: 9, P1: 12_000}, {P0: 7, P1: 11_000})).findings

    assert "abort --topic orders --partition 1 --start-offset 11000`. Then" in alone.remedy
    assert "abort --topic orders --partition 0 --start-offset 7`. Do the same on the other partitions" in several.remedy
    assert "orders[1] last stable offset 11,000, end 12,000" in several.found


def test_transaction_of_a_producer_that_still_writes_is_not_to_be_aborted() -> None:
    """A producer that was not stopped has open transactions too; to abort one of them would lose its records."""
    fence = a_fence()
    takes(fence, *(look(at, {P0: at + 5}, {P0: at}) for at in range(0, WAIT_S, 30)))
    moving, opened = fence.take(look(WAIT_S, {P0: WAIT_S + 5}, {P0: WAIT_S})).findings

    assert (Code.FENCE_MOVING, Code.FENCE_OPEN_TRANSACTION) == (moving.code, opened.code)
    assert "Only if that producer no longer runs, abort" in opened.remedy


def test_refused_after_the_wait_for_what_cannot_be_read() -> None:
    """A partition that cannot be read when the time is over is named: unknown is not still."""
    (finding,) = a_fence().take(look(WAIT_S, {P0: 1}, partitions={P0, P1})).findings

    assert (Code.FENCE_MOVING, "orders[1] cannot be read") == (finding.code, finding.found)


def test_many_partitions_are_counted_after_the_first_ten() -> None:
    """A finding names ten partitions of a topic and counts the rest."""
    (finding,) = (
        a_fence().take(look(WAIT_S, {P0: 1}, partitions={TopicPartition("orders", n) for n in range(14)})).findings
    )

    assert finding.found.endswith("orders[10] cannot be read and 3 more")


def test_proof_after_the_wait_still_counts() -> None:
    """Ends that stood still long enough are fenced, also at the first look after the wait."""
    fence = a_fence()
    takes(fence, look(0, {P0: 1}), look(WAIT_S - QUIET_S - 1, {P0: 2}))

    assert fence.take(look(WAIT_S + 5, {P0: 2})).ends == {P0: 2}


@pytest.mark.parametrize(
    ("second", "ends", "codes"),
    [(look(QUIET_S, {P0: 5}), {P0: 5}, []), (look(15, {P0: 6}), None, [Code.FENCE_MOVING])],
    ids=["nothing moves", "a record arrives"],
)
def test_watcher_restarted_after_the_wait(second: SourceEnds, ends: Offsets | None, codes: list[Code]) -> None:
    """A restart does not extend the wait: the quiet time may still pass, but the first movement is refused."""
    fence = FenceWatch(QUIET_S, WAIT_S, announced_s=-WAIT_S)
    first, last = takes(fence, look(0, {P0: 5}), second)

    assert ((), ends) == (first.findings, last.ends)
    assert codes == [finding.code for finding in last.findings]


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        ([look(0, {P0: 1}), look(60, {P0: 1})], (None, 0)),
        (
            [look(0, {P0: 1, P1: 1}), look(15, {P0: 2, P1: 1}), look(30, {P0: 2, P1: 2}), look(90, {P0: 2, P1: 2})],
            (15, 30),
        ),
    ],
)
def test_last_growth_lies_between_two_readings(
    looks: Sequence[SourceEnds], expected: tuple[float | None, float]
) -> None:
    """The last end that moved did so before the reading that saw it, and after the one before; else it is open."""
    fence = a_fence()
    takes(fence, *looks)

    assert expected == fence.last_growth_s


EARLY, AFTER, WITHIN, BEFORE, LATE = (f"2030-01-01T00:0{minute}:00+00:00" for minute in range(5))


@pytest.mark.parametrize(
    ("newest", "after", "expected"),
    [
        (WITHIN, AFTER, WITHIN),
        pytest.param(EARLY, AFTER, AFTER, id="producers that set the time of an event"),
        pytest.param(LATE, AFTER, BEFORE, id="a producer whose clock is fast"),
        pytest.param(EARLY, None, EARLY, id="producers that stopped before they were told to"),
        pytest.param(LATE, None, BEFORE, id="a fast clock, and no growth was seen"),
        pytest.param(None, AFTER, BEFORE, id="records without a timestamp"),
        pytest.param(None, None, None, id="nothing is known"),
    ],
)
def test_last_record_is_in_the_time_in_which_the_source_grew(
    newest: str | None, after: str | None, expected: str | None
) -> None:
    """A timestamp counts as far as the readings of the fence allow it; unknown stays unknown."""
    proof = FenceProof(announced_at="then", quiet_s=QUIET_S, ends={}, grew_after=after, grew_before=BEFORE)

    assert expected == proof.last_record_at(newest)
