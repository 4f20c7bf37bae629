"""The place to go on from is the rightmost that loses nothing: tried against every place there is."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_digest.translate.rightmost import Copies, Log, rightmost
from tests.copy_scenarios import Partitions, Scenario, random_scenario

SCENARIOS = st.randoms(use_true_random=False).map(random_scenario)


def log_of(partitions: Partitions, start: dict[int, int] | None = None) -> Log:
    rows = sorted(
        (key, number, offset, hash((key, value)))
        for number, log in partitions.items()
        for offset, (key, value) in enumerate(log)
        if offset >= (start or {}).get(number, 0)
    )
    keys, numbers, offsets, records = zip(*rows, strict=True) if rows else ((), (), (), ())
    hashes = np.array(records, np.int64)
    return Log(np.array(keys, np.int64), np.array(numbers, np.int32), np.array(offsets, np.int64), hashes, hashes)


def found(
    scenario: Scenario, start: dict[int, int] | None = None, *, is_compacted: bool = False
) -> tuple[Copies, Log, Log]:
    source, target = log_of(scenario.source, start), log_of(scenario.target)
    return rightmost(source, target, is_compacted=is_compacted), source, target


def places_of(scenario: Scenario, start: dict[int, int] | None = None, *, is_compacted: bool = False) -> dict[int, int]:
    """Return the group's new offset in each target partition; the end of one that holds nothing unread."""
    copies, source, target = found(scenario, start, is_compacted=is_compacted)
    places = {number: len(log) for number, log in scenario.target.items()}
    for ours, theirs in zip(copies.source, copies.target, strict=True):
        if source.offsets[ours] >= scenario.committed[int(source.partitions[ours])]:
            number = int(target.partitions[theirs])
            places[number] = min(places[number], int(target.offsets[theirs]))
    return places


@settings(max_examples=300)
@given(scenario=SCENARIOS)
def test_the_place_is_the_best_of_all(scenario: Scenario) -> None:
    """Of all places in a target partition it is the last from which every key's unread records follow in order."""
    assert scenario.best == places_of(scenario)


@settings(max_examples=100)
@given(scenario=SCENARIOS, data=st.data())
def test_one_look_serves_all_groups(scenario: Scenario, data: st.DataObject) -> None:
    """A look that begins further left, for a group that has read less, gives a group the same places."""
    start = {number: data.draw(st.integers(0, at)) for number, at in scenario.committed.items()}

    assert places_of(scenario, start) == places_of(scenario, scenario.committed)


@settings(max_examples=200)
@given(scenario=SCENARIOS, rng=st.randoms(use_true_random=False))
def test_keys_in_several_partitions_lose_nothing(scenario: Scenario, rng: random.Random) -> None:
    """Keys in several partitions have no order, but every unread record is still read as often as it exists."""
    source = {number: [(key and key // 2, value) for key, value in log] for number, log in scenario.source.items()}
    target: Partitions = {0: [], 1: []}
    for log in scenario.target.values():
        for key, value in log:
            target[rng.randrange(2)].append((key and key // 2, value))
    scattered = Scenario(source, target, scenario.committed)

    places = places_of(scattered)
    read = Counter(record for number, log in target.items() for record in log[places[number] :])

    assert not Counter(record for log in scattered.unread.values() for record in log) - read


def test_a_record_that_is_not_there_is_missing() -> None:
    """A record without a copy is named, and no copy of the records before it counts."""
    scenario = Scenario({0: [(0, 1), (0, 2), (0, 3)]}, {0: [(0, 1), (0, 3)]}, {0: 0})
    copies, source, _ = found(scenario)

    assert ([1], [2]) == (source.offsets[copies.missing].tolist(), copies.source.tolist())


def test_compaction_leaves_the_newest_record() -> None:
    """On a compacted target a record is read as the next of its key that is left; the newest must be there."""
    source: Partitions = {0: [(0, 1), (0, 2), (0, 3)]}
    compacted, _, _ = found(Scenario(source, {0: [(0, 1), (0, 3)]}, {0: 0}), is_compacted=True)
    lost, _, _ = found(Scenario(source, {0: [(0, 1), (0, 2)]}, {0: 0}), is_compacted=True)

    assert ([], [2, 0]) == (compacted.missing.tolist(), compacted.source.tolist())
    assert [2] == lost.missing.tolist()


def test_only_one_copy_is_the_only_choice() -> None:
    """Without an order, a place is known to be the best if a record has one copy, but not if it has two."""
    records: Partitions = {0: [(7, 1)], 1: [(7, 2)]}
    once: Partitions = {0: [(7, 1), (7, 2)], 1: []}
    twice: Partitions = {0: [(7, 1), (7, 2)], 1: [(7, 1)]}
    choices = [found(Scenario(records, target, {0: 0, 1: 0}))[0].is_only_choice.tolist() for target in (once, twice)]

    assert [[True, True], [False, False, True]] == [sorted(found) for found in choices]


def test_copies_that_compaction_has_left_count() -> None:
    """Regression: of equal records of a key in several target partitions, those that were left counted as replaced."""
    source: Partitions = {0: [(0, 1), (0, 1), (0, 2)]}
    copies, _, _ = found(Scenario(source, {0: [(0, 1)], 1: [(0, 2)]}, {0: 0}), is_compacted=True)

    assert ([], [2, 1, 0]) == (copies.missing.tolist(), copies.source.tolist())
    assert ([True, False, False], [True, True, False]) == (copies.is_only_choice.tolist(), copies.is_own.tolist())


@pytest.mark.parametrize(("first", "is_known"), [(1, False), (3, True)])
def test_it_is_unknown_which_of_equal_records_compaction_has_left(first: int, is_known: bool) -> None:
    """A record without a copy is delivered as a later one; among equal records that one may be another's copy."""
    source: Partitions = {0: [(0, first), (0, 2), (0, 1)]}
    copies, _, _ = found(Scenario(source, {0: [(0, first), (0, 1)]}, {0: 0}), is_compacted=True)

    assert is_known == copies.is_only_choice.all()
    assert [2, 0] == copies.source[copies.is_own].tolist()


def test_copy_before_a_record_that_compaction_removed_may_be_that_of_another() -> None:
    """Regression: among equal records, a copy before a removed record was certain, and the plan said to be minimal."""
    source: Partitions = {0: [(0, 1), (0, 2), (0, 1)]}
    copies, _, _ = found(Scenario(source, {0: [(0, 1), (0, 1)]}, {0: 0}), is_compacted=True)

    found_certain = zip(copies.source.tolist(), copies.is_only_choice.tolist(), strict=True)
    assert {2: True, 1: False, 0: False} == dict(found_certain)


def test_compacted_key_must_end_with_the_newest_record() -> None:
    """Compaction never leaves a copy of the newest record before others of its key."""
    source: Partitions = {0: [(0, 1), (0, 2), (0, 1)]}
    copies, _, _ = found(Scenario(source, {0: [(0, 1), (0, 2)]}, {0: 0}), is_compacted=True)

    assert ([2], []) == (copies.missing.tolist(), copies.source.tolist())


def test_order_is_that_of_each_source_partition() -> None:
    """A key in several source partitions may interleave; records of one of them in another order are missing."""
    source: Partitions = {0: [(0, 1), (0, 2)], 1: [(0, 3)]}
    right: Partitions = {0: [(0, 1), (0, 3), (0, 2)]}
    wrong: Partitions = {0: [(0, 2), (0, 1), (0, 3)]}
    missing = [found(Scenario(source, target, {0: 0, 1: 0}))[0].missing.tolist() for target in (right, wrong)]

    assert [[], [0]] == missing


A, B = (0, 1), (0, 2)


@pytest.mark.parametrize(
    ("source", "target", "is_compacted", "places", "missing"),
    [
        # Each target partition may be where the unread ones are, whichever ends with them.
        ({0: [A, A]}, {0: [A, A], 1: [A, A]}, False, {0: 0, 1: 0}, []),
        # Of equal records of several source partitions it is unknown whose copy is the last.
        ({0: [A], 1: [A]}, {0: [A, A, A]}, False, {0: 0}, []),
        # One copy for two records: one of them is lost, and it is unknown which.
        ({0: [A], 1: [A]}, {0: [A]}, False, {0: 1}, [(0, 0), (1, 0)]),
        # Two source partitions are not one order after the other.
        ({0: [A, B], 1: [B, A]}, {0: [B, A, A, B]}, False, {0: 0}, []),
        # What compaction leaves of a key in several source partitions cannot be told.
        ({0: [A], 1: [B]}, {0: [B]}, True, {0: 0}, [(0, 0)]),
        ({0: [A], 1: [B]}, {0: [B], 1: [B]}, True, {0: 0, 1: 0}, [(0, 0)]),
    ],
)
def test_key_in_several_partitions(
    source: Partitions, target: Partitions, is_compacted: bool, places: dict[int, int], missing: list[tuple[int, int]]
) -> None:
    """If a key is in several partitions, the first copies count, and a record without a known copy is missing."""
    scenario = Scenario(source, target, dict.fromkeys(source, 0))
    copies, ours, _ = found(scenario, is_compacted=is_compacted)

    assert places == places_of(scenario, is_compacted=is_compacted)
    assert missing == sorted({(int(ours.partitions[at]), int(ours.offsets[at])) for at in copies.missing})


def test_equal_records_of_several_partitions_are_no_only_choice() -> None:
    """With as many copies as records, each may be of either: a group that has read one may be given it again."""
    copies, _, _ = found(Scenario({0: [A], 1: [A]}, {0: [A, A]}, {0: 0, 1: 0}))

    assert [False, False] == copies.is_only_choice.tolist()


@pytest.mark.parametrize("side", ["source", "target"])
def test_an_empty_side(side: str) -> None:
    """Nothing unread needs no copy, and on an empty target everything is missing."""
    filled: Partitions = {0: [(0, 1), (1, 1)]}
    sides: dict[str, Partitions] = {"source": filled, "target": filled, side: {0: []}}
    copies, _, _ = found(Scenario(sides["source"], sides["target"], {0: 0}))

    assert ([], len(sides["source"][0])) == (copies.source.tolist(), len(copies.missing))


def test_record_without_a_timestamp_has_a_copy_with_any() -> None:
    """Its hash is that of its content, which a copy has too; a record with a timestamp has a copy with the same one."""
    untimed, timed = 5, 6
    one = np.zeros(3, np.int64)
    source = Log(
        one, one.astype(np.int32), np.arange(3), np.array([untimed, timed, 9]), np.array([untimed, untimed, 8])
    )
    target = replace(source, records=np.array([7, timed, 9]), contents=np.array([untimed, untimed, 8]))
    altered = replace(target, records=np.array([timed, 7, 9]))

    assert [0, 1, 2] == sorted(rightmost(source, target).target.tolist())
    assert [0] == rightmost(source, altered).missing.tolist()


def test_two_records_need_two_copies_whichever_has_a_timestamp() -> None:
    """Regression: without an order, the copy of a record with a timestamp counted also as that of one without."""
    records, contents = np.array([5, 6]), np.array([5, 5])
    zeros = np.zeros(2, np.int64)
    source = Log(zeros, np.array([0, 1], np.int32), zeros, records, contents)
    only = Log(zeros[:1], np.zeros(1, np.int32), zeros[:1], records[1:], contents[1:])

    assert 0 in rightmost(source, only).missing
