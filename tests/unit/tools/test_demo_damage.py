"""Rules of the damage that the demo does: exactly one record, at the place that is reported."""

from __future__ import annotations

from itertools import zip_longest

import pytest

from sandbox.data.damage import Damage, damaged
from sandbox.data.records import Record, orders, spread

COUNT = 101
MIDDLE = COUNT // 2


@pytest.fixture
def history() -> list[Record]:
    """Distinct records, neighbours of one key among them."""
    return list(orders(spread(1_760_000_000_000, COUNT)))


@pytest.mark.parametrize("damage", Damage)
def test_rank_is_the_first_difference(damage: Damage, history: list[Record]) -> None:
    """Records before the rank are unchanged, the record at the rank differs, and the input is not modified."""
    before = list(history)
    result = damaged(damage, history)
    first = next(n for n, (a, b) in enumerate(zip_longest(history, result.records)) if a != b)

    assert first == result.rank
    assert result.rank >= MIDDLE
    assert history == before


def test_drop_leaves_one_record_out(history: list[Record]) -> None:
    """All records but one stay, in order."""
    result = damaged(Damage.DROP, history)

    assert result.records == [*history[: result.rank], *history[result.rank + 1 :]]


def test_alter_changes_one_bit_of_one_value(history: list[Record]) -> None:
    """Key, headers, time and all other values stay; one byte of the value differs."""
    result = damaged(Damage.ALTER, history)
    was, now = history[result.rank], result.records[result.rank]

    assert [n for n, (a, b) in enumerate(zip(history, result.records, strict=True)) if a != b] == [result.rank]
    assert was._replace(value=None) == now._replace(value=None)
    assert sum(a != b for a, b in zip(was.value or b"", now.value or b"", strict=True)) == 1


def test_duplicate_sends_one_record_twice(history: list[Record]) -> None:
    """The second of the two is at the rank; all others stay, in order."""
    result = damaged(Damage.DUPLICATE, history)

    assert result.records[result.rank] == result.records[result.rank - 1]
    assert [*result.records[: result.rank], *result.records[result.rank + 1 :]] == history


def test_reorder_swaps_neighbours_of_one_key(history: list[Record]) -> None:
    """The same records are there; two of one key have changed places."""
    result = damaged(Damage.REORDER, history)
    one, other = history[result.rank], history[result.rank + 1]

    assert one.key == other.key
    assert result.records == [*history[: result.rank], other, one, *history[result.rank + 2 :]]


def test_identical_neighbours_are_passed_over() -> None:
    """A record that equals the next one is not chosen, because the damage could not be located."""
    same, other = Record(b"k", b"v", (), 1), Record(b"k", b"w", (), 2)

    assert damaged(Damage.DROP, [same, same, same, other]).rank == 2
    assert damaged(Damage.DUPLICATE, [same, same, same, other]).rank == 3


def test_nothing_to_damage_is_an_error() -> None:
    """If no record fits the damage, it is an error."""
    with pytest.raises(ValueError, match="can be damaged"):
        damaged(Damage.ALTER, [Record(b"k", None, (), 1)])
    with pytest.raises(ValueError, match="can be damaged"):
        damaged(Damage.REORDER, [Record(None, b"v", (), 1), Record(None, b"w", (), 2)])
