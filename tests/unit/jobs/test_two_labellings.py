"""By position, the first difference and the labels of keys each see what the other cannot (ADR 0025)."""

from __future__ import annotations

import pytest

from kafka_migration.core.findings.verdict import Verdict
from tests.compaction.cleaner import Log, Record
from tests.compaction.histories import History, Side
from tests.compaction.product import verdict_on


def side(records: str) -> Side:
    """Return a partition whose records are written as key and value, `a0 b1`; equal words are identical records."""
    log = Log(delete_retention=0, compacts=False)
    for word in records.split():
        log.append(Record(ord(word[0]), int(word[1:]), int(word[1:])))
    return Side([log], [(0, log.end)])


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        pytest.param("b0 a1 a2", "a1 b0 a2 a2", Verdict.FAIL, id="swapped before a replay"),
        pytest.param("b0 b1 b2 a3", "b0 b1 b1 a3 b2", Verdict.FAIL, id="swapped directly after a replayed record"),
        pytest.param("d1 c0 b1 d1", "d1 d1 c0 b1 d1", Verdict.WARN, id="replay among identical records"),
        pytest.param(
            "a0 a1 a2 a3 a4 b5 a6", "a0 a1 a1 a2 a3 a4 b5 a6 a4 b5 a6", Verdict.WARN, id="two replays with two keys"
        ),
    ],
)
def test_order_between_keys_around_a_replay(source: str, target: str, expected: Verdict) -> None:
    """A replay is a warning; records of different keys that changed places at the first difference fail."""
    made = History(False, side(source), side(target), killed={1}, last=2)

    assert expected is verdict_on(made)[0]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        pytest.param("a0 b1 a2 b1", Verdict.NOT_VERIFIABLE, id="at the end"),
        pytest.param("a0 c9 b1 a2", Verdict.FAIL, id="in the middle"),
    ],
)
def test_only_the_end_of_the_target_is_a_tail(target: str, expected: Verdict) -> None:
    """A killed generation may leave additional records at the end of its window, and nowhere else."""
    made = History(False, side("a0 b1 a2"), side(target), killed={1}, last=1)

    assert expected is verdict_on(made)[0]
