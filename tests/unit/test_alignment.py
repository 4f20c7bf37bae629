"""Rules of the labels of one key's differences."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_digest import alignment
from kafka_digest.alignment import (
    ALTERED,
    DUPLICATE,
    EXTRA,
    INTERLEAVED,
    MISSING,
    MOVED,
    REORDERED,
    STALE,
    Difference,
    Records,
    align,
    common_subsequence,
)

pytestmark = pytest.mark.unit


class Sent(NamedTuple):
    """A record of the key as a test writes it down."""

    value: int
    timestamp: int
    partition: int = 0
    headers: int = 0


def records(sent: Sequence[Sent]) -> Records:
    """Return records as the drill-down gives them: sorted by partition, hashed."""
    rows = sorted(enumerate(sent), key=lambda row: (row[1].partition, row[0]))
    fields = [np.array([getattr(r, name) for _, r in rows], np.int64) for name in ("value", "headers", "timestamp")]
    hashes = np.array([hash((r.value, r.headers, r.timestamp)) for _, r in rows], np.int64)
    partitions = np.array([r.partition for _, r in rows], np.int32)
    return Records(partitions, np.array([n for n, _ in rows], np.int64), hashes, fields)


SOURCE = [Sent(value, 1000 + value) for value in range(10)]
OTHER = Sent(99, 9999)
SHORT = st.lists(st.integers(0, 4), max_size=14)


def moved_to(sent: Sent, partition: int) -> Sent:
    """Return the record in another partition."""
    return sent._replace(partition=partition)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        pytest.param(SOURCE, [], id="equal"),
        pytest.param(SOURCE[1:], [(MISSING, 0, None)], id="first missing"),
        pytest.param(SOURCE[:-1], [(MISSING, 9, None)], id="last missing"),
        pytest.param([], [(MISSING, n, None) for n in range(10)], id="all missing"),
        pytest.param([*SOURCE[:4], OTHER, *SOURCE[4:]], [(EXTRA, None, 4)], id="extra"),
        pytest.param([*SOURCE, SOURCE[0]], [(STALE, None, 10)], id="first again at the end"),
        pytest.param([*SOURCE, SOURCE[9]], [(DUPLICATE, None, 10)], id="last again"),
        pytest.param([*SOURCE[:3], SOURCE[0], *SOURCE[3:]], [(DUPLICATE, None, 3)], id="first again in the middle"),
        pytest.param([*SOURCE[:5], *SOURCE[2:]], [(DUPLICATE, None, n) for n in (5, 6, 7)], id="replay"),
        pytest.param([*SOURCE[1:], SOURCE[0]], [(REORDERED, 0, 9)], id="first moved behind all"),
        pytest.param([SOURCE[9], *SOURCE[:9]], [(REORDERED, 9, 0)], id="last moved before all"),
        pytest.param([*SOURCE[:3], OTHER, *SOURCE[4:]], [(ALTERED, 3, 3)], id="replaced by another"),
        pytest.param([*SOURCE[:3], moved_to(SOURCE[3], 1), *SOURCE[4:]], [(MOVED, 3, 9)], id="in another partition"),
    ],
)
def test_damage_has_its_label_and_place(target, expected):
    """Each kind of damage is labelled once, at its records on both sides."""
    assert expected == [found[:3] for found in align(records(SOURCE), records(target))]


@pytest.mark.parametrize("place", [0, 4, 9])
@pytest.mark.parametrize("names", [("value",), ("headers",), ("timestamp",), ("value", "headers")])
def test_altered_record_names_its_fields(place, names):
    """Only the fields that differ are named."""
    target = list(SOURCE)
    target[place] = target[place]._replace(**dict.fromkeys(names, 77))

    assert [Difference(ALTERED, place, place, names)] == align(records(SOURCE), records(target))


def test_missing_and_altered_neighbours_are_told_apart():
    """Of two source records against one target record in a gap, the one that shares a field with it is altered."""
    target = [*SOURCE[:3], SOURCE[4]._replace(value=77), *SOURCE[5:]]

    assert {(MISSING, 3, None), (ALTERED, 4, 3)} == {found[:3] for found in align(records(SOURCE), records(target))}


@given(order=st.permutations([0] * 5 + [1] * 5))
def test_records_of_several_source_partitions_may_interleave(order):
    """A key in two source partitions: any interleaving in which each keeps its order is equal."""
    source = [sent._replace(partition=n % 2) for n, sent in enumerate(SOURCE)]
    rows = [iter([s for s in source if s.partition == number]) for number in (0, 1)]
    target = [next(rows[number])._replace(partition=0) for number in order]

    assert [Difference(INTERLEAVED, 0, 0)] == align(records(source), records(target))


def test_key_that_both_sides_hold_in_several_partitions_alike_is_equal():
    """Regression: looked into because of another key of its bucket, its smaller partition was said to have moved."""
    source = [sent._replace(partition=n % 3 // 2) for n, sent in enumerate(SOURCE)]
    target = [sent._replace(partition=2 - n % 3 // 2) for n, sent in enumerate(SOURCE)]

    assert [] == align(records(source), records(target))


def test_order_inside_one_of_several_source_partitions_counts():
    """A key in two source partitions: an exchange inside one of them is reordered."""
    source = [sent._replace(partition=n % 2) for n, sent in enumerate(SOURCE)]
    target = [SOURCE[2], SOURCE[0], *SOURCE[3:], SOURCE[1]]

    assert [INTERLEAVED, REORDERED, REORDERED] == [d.label for d in align(records(source), records(target))]


def test_identical_records_of_several_source_partitions_hide_no_order():
    """Regression: one record that two source partitions hold took back every reordered record of its key."""
    a, b, twin = SOURCE[:3]
    source = [a, b, twin, moved_to(twin, 1)]

    found = align(records(source), records([b, a, twin, twin]))

    assert [INTERLEAVED, REORDERED] == [d.label for d in found]


@given(data=st.data())
def test_clean_interleaving_with_a_replay_is_never_reordered(data):
    """Regression: identical records in several source partitions were taken by the wrong one, and named reordered."""
    ours, theirs = (data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=5)) for _ in range(2))
    order = data.draw(st.permutations([0] * len(ours) + [1] * len(theirs)))
    rows = iter(ours), iter(theirs)
    target = [Sent(next(rows[number]), 0) for number in order]
    again = data.draw(st.integers(0, len(target)))
    source = [*(Sent(v, 0) for v in ours), *(Sent(v, 0, partition=1) for v in theirs)]

    found = align(records(source), records([*target, *target[again:]]))

    assert {d.label for d in found} <= {INTERLEAVED, DUPLICATE, STALE}


@given(source=SHORT, target=SHORT)
def test_common_subsequence_is_the_longest(source, target):
    """As long as the one that a table of all lengths gives, ascending on both sides, of equal records."""
    ours, theirs = common_subsequence(np.array(source, np.int64), np.array(target, np.int64))
    table = [[0] * (len(target) + 1) for _ in range(len(source) + 1)]
    for i, one in enumerate(source):
        for j, other in enumerate(target):
            table[i + 1][j + 1] = table[i][j] + 1 if one == other else max(table[i][j + 1], table[i + 1][j])

    assert table[-1][-1] == len(ours) == len(theirs)
    assert all(np.all(np.diff(places) > 0) for places in (ours, theirs))
    assert [source[i] for i in ours] == [target[j] for j in theirs]


@given(source=SHORT, target=SHORT, split=st.booleans())
def test_differences_account_for_every_record(source, target, split):
    """Without its differences each side is the same sequence; each record is in one difference at most."""
    ours = records([Sent(value, value) for value in source])
    theirs = records([Sent(value, value, partition=n % 2 if split else 0) for n, value in enumerate(target)])
    found = align(ours, theirs)
    at_source = [d.source for d in found if d.source is not None]
    at_target = [d.target for d in found if d.target is not None]
    left_source = np.delete(ours.records, at_source)

    assert (len(at_source), len(at_target)) == (len(set(at_source)), len(set(at_target)))
    assert Counter(left_source.tolist()) == Counter(np.delete(theirs.records, at_target).tolist())
    assert split or left_source.tolist() == np.delete(theirs.records, at_target).tolist()
    for difference in found:
        if difference.label in (REORDERED, MOVED):
            assert ours.records[difference.source] == theirs.records[difference.target]


def test_many_identical_records_do_not_cost_their_square(monkeypatch):
    """Beyond a bound identical records are paired by their number; a clean end stays clean."""
    monkeypatch.setattr(alignment, "_MAX_PAIRS", 10)
    same = [Sent(1, 1)] * 20
    found = align(records([SOURCE[0], *same, SOURCE[2]]), records([SOURCE[3], *same, *same[:3], SOURCE[4]]))

    assert Counter({DUPLICATE: 3, ALTERED: 2}) == Counter(d.label for d in found)


def test_replay_of_very_many_identical_records_is_no_reordering(monkeypatch):
    """Regression: paired by their number, identical records crossed the others between them."""
    monkeypatch.setattr(alignment, "_MAX_PAIRS", 10)
    source = [sent for n in range(50) for sent in (Sent(7, 7), Sent(100 + n, 0))]
    target = [*source[:30], *source[10:60], *source[40:]]

    assert {DUPLICATE} == {d.label for d in align(records(source), records(target))}


@pytest.mark.parametrize("seed", range(40))
def test_several_damages_of_unique_records_are_each_labelled(seed):
    """Damages that do not touch each other are all found, each under its own label."""
    rng = random.Random(seed)
    source = [Sent(value, value) for value in range(60)]
    places = dict(zip(rng.sample(range(2, 58, 5), 4), (MISSING, DUPLICATE, ALTERED, EXTRA), strict=True))
    target: list[Sent] = []
    for place, sent in enumerate(source):
        label = places.get(place)
        target += {
            None: [sent],
            MISSING: [],
            DUPLICATE: [sent, source[place - 2]],
            ALTERED: [sent._replace(value=700 + place)],
            EXTRA: [sent, Sent(1000 + place, 1000 + place)],
        }[label]

    assert Counter(places.values()) == Counter(d.label for d in align(records(source), records(target)))
