"""Rules of the comparison with which live tests check what runs say: it sees each kind of damage."""

from __future__ import annotations

import pytest

from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.ledger.generations import ReadOffsets
from sandbox.data.reading import Placed
from sandbox.data.records import Record
from tests.live.plain_copy import Both, Told, best_place, run_must_say, whole_must_say

P0 = TopicPartition("orders", 0)


def side(letters: str) -> list[Placed]:
    """Return one record per letter; a dash is an offset without a record."""
    return [Placed(n, Record(b"k", letter.encode(), (), 5)) for n, letter in enumerate(letters) if letter != "-"]


def test_copy_with_replayed_records_is_complete() -> None:
    """Records that are there twice are counted, and nothing else is wrong."""
    both = Both(side("ab-c"), side("ababc"))
    both.require_copied()

    assert 2 == both.twice
    assert Told("WARN", 3, 5) == whole_must_say("orders", {P0: both})


@pytest.mark.parametrize(
    ("target", "words"),
    [("ab", "missing"), ("aab", "missing"), ("abcx", "foreign"), ("bac", "out of order"), ("", "missing")],
)
def test_damage_is_seen(target: str, words: str) -> None:
    """A missing, a foreign and a moved record each fail the comparison."""
    with pytest.raises(AssertionError, match=words):
        Both(side("abc"), side(target)).require_copied()


@pytest.mark.parametrize(
    ("target", "verdict"), [("xxab", "PASS"), ("xxaab", "WARN"), ("xxa", "FAIL"), ("xxabx", "FAIL"), ("xxba", "FAIL")]
)
def test_run_is_judged_by_the_offsets_that_it_read(target: str, verdict: str) -> None:
    """What lies before these offsets neither counts nor excuses a difference after them."""
    read = [ReadOffsets(0, 1, 2, 9, 2, 9)]
    seen = {P0: Both(side("xx-a-b"), side(target)), TopicPartition("other", 0): Both(side("a"), side(""))}

    assert Told(verdict, 2, len(target) - 2) == run_must_say("orders", read, seen)


def test_best_place_is_the_highest_that_skips_nothing() -> None:
    """Of several places from which all unread records follow, it is the last; holes do not count."""
    both = Both(side("a-b-a"), side("abaaba"))

    assert [3, 4, 4, 5, 5, 6] == [best_place(both, offset) for offset in range(6)]
